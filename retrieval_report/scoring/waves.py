"""The score of a list under random tie order: one by one
if there are few, and by its characteristic function.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.ap import ap_moments
from retrieval_report.kernels.err import err_moments
from retrieval_report.kernels.lists import Floats, Integers, Lists, frozen, running
from retrieval_report.kernels.products import COMPLEX
from retrieval_report.kernels.sums import additive_moments
from retrieval_report.kernels.waves import (
    AP,
    ERR,
    SUM,
    Complex,
    list_wave,
)
from retrieval_report.metrics.terms import HARMONIC
from retrieval_report.scoring.convolution import Spread, merged
from retrieval_report.scoring.run import Run
from retrieval_report.scoring.score_distribution import score_orders
from retrieval_report.scoring.scorer import Scorer, quotient

MOST_STEPS = 1 << 20  # of one list; each term of a Fourier series takes one pass over them
NEGLIGIBLE = 1e-10  # a factor is at most 1 in size, so a product this small stays that small
BLOCK = 1 << 22  # steps times terms that are computed together

FORMS = {additive_moments: SUM, ap_moments: AP, err_moments: ERR}
Wave = Callable[[float, int], Complex]  # step, terms → E exp(i·n·step·score) for n < terms


class TiedList(NamedTuple):
    """What is known of a list's score under random tie order."""

    mean: float
    variance: float
    least: float
    most: float
    spread: Spread | None  # None: too many scores to name
    steps: float  # work for every term of a wave
    wave: Wave | None


def tied_lists(run: Run) -> list[TiedList]:
    """Return the lists of a run of one metric at one cutoff."""
    spreads = {
        (scores.model, scores.query): merged(
            scores.value, scores.chance, 1e-15 * float(np.abs(scores.value).max())
        )
        for scores in score_orders(run)
    }
    (mean, std), (worst, _), (best, _) = map(run.score, ("expected", "worst", "best"))
    reach = (best - worst) ** 2 / 4  # what a variance is at most, if it is not known
    moments = mean, np.where(np.isnan(std), reach, std**2), worst, best
    steps, waves = _waves(run)
    result = []
    for number, name in enumerate(run.prepared.names.rows()):
        spread = spreads.get(name)
        work = float(steps[number])
        wave = partial(waves, number) if work <= MOST_STEPS else None
        if spread is not None and spread.value.size <= work:
            work = float(spread.value.size)
            wave = partial(_of_values, spread)
        scores, square, low, high = (float(part[number, 0]) for part in moments)
        result.append(TiedList(scores, square, low, high, spread, work, wave))
    return result


def scaled(tied_list: TiedList, factor: float) -> TiedList:
    """Return what a list adds to a mean in which its score counts so many times.

    >>> scaled(TiedList(0.5, 0.25, 0.0, 1.0, None, 1.0, None), 0.5)[:4]
    (0.25, 0.0625, 0.0, 0.5)
    """
    if factor == 1:
        return tied_list
    spread, wave = tied_list.spread, tied_list.wave
    return TiedList(
        tied_list.mean * factor,
        tied_list.variance * factor**2,
        tied_list.least * factor,
        tied_list.most * factor,
        None if spread is None else spread._replace(value=spread.value * factor),
        tied_list.steps,
        None if wave is None else lambda step, terms: wave(step * factor, terms),
    )


def characteristic(lists: Sequence[TiedList], period: float, terms: int) -> Complex:
    """Return E exp(i·n·2π/period·sum) for the sum of independent scores, for n = 0 … terms."""
    values = np.ones(terms + 1, np.complex128)
    terms_left = terms + 1
    # The wide and short ones first, so that the product soon becomes negligible and then costs
    # nothing; what is negligible remains an upper bound.
    for one in sorted(lists, key=lambda one: -one.variance / one.steps):
        assert one.wave is not None
        values[:terms_left] *= one.wave(2 * np.pi / period, terms_left)
        terms_left = int(np.flatnonzero(np.abs(values[:terms_left]) >= NEGLIGIBLE)[-1]) + 1
    return values


def _of_values(spread: Spread, step: float, terms: int) -> Complex:
    # Terms of a block lie as far from its first one in every block, so the waves of one block,
    # turned to each beginning, are all of them: of 50 values and 1 000 terms a twelfth of the time.
    size = max(COMPLEX // (2 * spread.value.size), 2)
    angles = 1j * step * spread.value
    block = np.exp(np.outer(np.arange(min(size, terms)), angles))
    turns = np.exp(np.outer(np.arange(0, terms, size), angles)) * spread.chance
    return np.concatenate([block @ turn for turn in turns])[:terms]


def _waves(run: Run) -> tuple[Floats, Callable[[int, float, int], Complex]]:
    """Return the work for a term of every list's wave, infinite if there is no wave, and a function
    that returns waves.
    """
    ((metric, _),) = run.requests
    scorer = run.scorer
    term = metric.term
    ties = run.prepared.ties
    depth = scorer.depths[:, 0]
    if term.kernel not in FORMS:
        return np.full(depth.size, np.inf), lambda *_: np.ones(0, np.complex128)
    divisor = run.where(Scorer.divisor)[:, 0]
    scale = quotient(np.ones(divisor.size), divisor)
    gains = scorer.prepared.gains(term)
    discount = term.weights if term.kernel is additive_moments else HARMONIC
    weights = discount.table(int(depth.max(initial=0))).weight
    steps = _steps(ties, depth)
    added = FORMS[term.kernel], frozen(gains), weights

    def wave(number: int, step: float, terms: int) -> Complex:
        product = np.ones(terms, np.complex128)
        angle = step * float(scale[number])
        size = int(np.clip(BLOCK / steps[number], 16, 512))
        for first in range(0, terms, size):
            part = product[first : first + size]
            list_wave(number, ties, int(depth[number]), added, (first, angle), part)
        return product

    return steps, wave


def _steps(lists: Lists, depth: Integers) -> Floats:
    """Return how many steps from state to state the ties of lists have down to a rank."""
    first = lists.tie[:-1]
    items = lists.items.astype(np.float64)
    size = np.add.reduceat(items, first)
    ends = running(size)
    owner = np.repeat(np.arange(depth.size), np.diff(lists.start))
    slots = np.clip(depth[owner] - (ends[:-1] - ends[lists.start[owner]]), 0.0, size)
    kinds = np.diff(lists.tie)
    states = np.minimum(items, np.repeat(slots, kinds)) + 1  # the largest kind needs no count
    states = np.multiply.reduceat(states, first) / np.maximum.reduceat(states, first)
    return np.bincount(owner, slots * kinds * states, depth.size).astype(np.float64)

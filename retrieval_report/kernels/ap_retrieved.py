"""Moments and extremes of values whose denominator is random: the relevant items above a cutoff
that splits a tie.

That number is hypergeometric. Given it, the counted slots are a uniform tie again, so a sum over
its few likely values is exact. The extremes of such ratios are not "relevant first" and "relevant
last".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.compile import ZERO, allocating, costs, inlined, kernel, squared
from retrieval_report.kernels.lists import (
    Bools,
    Floats,
    Integers,
    Lists,
    Moments,
    Spread,
    Tie,
    cells_of,
    count_relevant,
    pairs_in_ties,
    slots_walked,
    ties_of,
)
from retrieval_report.kernels.sums import slot_spread
from retrieval_report.kernels.tables import Weights

NEGLIGIBLE = 1e-30  # relative to the likeliest value; what is omitted cannot change a float64


@allocating
def hypergeometric_band(size: int, relevant: int, slots: int) -> tuple[int, Floats]:
    """Return the smallest likely x, and the chances of x, x + 1, … relevant items among ``slots``
    of ``size``.

    The walk starts at the mode and uses ratios of neighbours, so nothing overflows, underflows or
    cancels.
    """
    least = max(0, slots - (size - relevant))
    most = min(relevant, slots)
    mode = int((slots + 1.0) * (relevant + 1.0) / (size + 2.0))
    mode = min(max(mode, least), most)
    other = size - relevant - slots
    every = np.empty(most - least + 1)
    every[mode - least] = chance = 1.0
    low = high = mode
    while low > least and chance > NEGLIGIBLE:
        chance *= float(low) * (other + low) / (float(relevant - low + 1) * (slots - low + 1))
        low -= 1
        every[low - least] = chance
    chance = 1.0
    while high < most and chance > NEGLIGIBLE:
        chance *= float(relevant - high) * (slots - high) / (float(high + 1) * (other + high + 1))
        high += 1
        every[high - least] = chance
    chances = every[low - least : high - least + 1]
    total = 0.0
    for index in range(chances.size):
        total += chances[index]
    for index in range(chances.size):
        chances[index] /= total
    return low, chances


@kernel
def mean_and_spread(chances: Floats, means: Floats) -> Spread:
    """Return the mean of ``means`` under ``chances``, and their variance around it."""
    value = spread = 0.0
    for index in range(chances.size):
        value += chances[index] * means[index]
    for index in range(chances.size):
        spread += chances[index] * squared(means[index] - value)
    return value, spread


class Paired(NamedTuple):
    """The terms of AP and WAP: the value of each grade, above 0 exactly for the relevant ones, and
    the table of 1/i.
    """

    values: Floats
    harmonics: Weights


class Ratio(NamedTuple):
    """Terms divided by what is found: those of AP and WAP by its number, the discounts
    (``by_ideal``) by its ideal.
    """

    values: Floats
    weights: Weights
    by_ideal: bool
    best: bool  # whether the highest ratio is wanted, not the lowest


class OwnIdeal(NamedTuple):
    """Which grades are relevant, and the table of discounts."""

    relevant_grade: Bools
    weights: Weights


class Reached(NamedTuple):
    """Contribution of the ties before: relevant items, the sum of their discounts, and its
    variance.
    """

    found: int
    total: float
    spread: float


@inlined
def _held(weights: Weights, t: int, e: int) -> float:
    """Return the sum of the weights of the positions t + 1 … e."""
    total = weights.total
    low = weights.total_low
    held: float = (total[e] - total[t]) + (low[e] - low[t])
    return held


@costs(pairs_in_ties)
@kernel
def own_ideal_moments(
    first: int, last: int, lists: Lists, depths: Integers, ideal: OwnIdeal, out: Moments
) -> None:
    """Write the moments of DCG@k / ideal DCG of the same top k, if all relevances are 0 or one
    grade.
    """
    relevant_grade, weights = ideal
    cutoffs = depths.shape[1]
    for q in range(first, last):
        value_sum = spread = 0.0
        hits = 0
        t = j = ZERO
        for tie in ties_of(q, lists):
            size, relevant = count_relevant(tie, lists, relevant_grade)
            end = t + size
            while j < cutoffs and depths[q, j] <= end:
                cut = Tie(t, size, relevant)
                reached = Reached(hits, value_sum, spread)
                out.mean[q, j], out.variance[q, j] = _own_ideal_at(
                    cut, depths[q, j] - t, reached, weights
                )
                j += 1
            if j == cutoffs:
                break  # the tables reach no farther than the deepest cutoff
            slots = _held(weights, t, end)
            value_sum += slots * relevant / size
            if 0 < relevant < size:
                spread += (
                    slot_spread(weights, t, end, size)
                    * relevant
                    * (size - relevant)
                    / size
                    / (size - 1.0)
                )
            hits += relevant
            t = end


@allocating
def _own_ideal_at(cut: Tie, slots: int, reached: Reached, weights: Weights) -> Spread:
    """Return mean and variance for a cutoff that keeps ``slots`` slots of a tie."""
    t, size, relevant = cut
    hits, value_sum, spread = reached
    total = weights.total
    if slots == 0:
        return (value_sum / total[hits], spread / squared(total[hits])) if hits else (0.0, 0.0)
    held = _held(weights, t, t + slots)
    order = slot_spread(weights, t, t + slots, slots)
    least, chances = hypergeometric_band(size, relevant, slots)
    means = np.zeros(chances.size)
    within = 0.0
    for index in range(chances.size):
        x = least + index
        if hits + x:
            ideal = total[hits + x]
            means[index] = (value_sum + held * x / slots) / ideal
            inner = order * x * (slots - x) / slots / (slots - 1.0) if 0 < x < slots else 0.0
            within += chances[index] * (spread + inner) / squared(ideal)
    value, between = mean_and_spread(chances, means)
    return value, within + between


class Runs(NamedTuple):
    """Room for runs of relevant items of equal value: their lengths and values."""

    items: Integers
    values: Floats


@kernel
def _relevant_runs(
    tie: int, lists: Lists, values: Floats, falling: bool, runs: Runs
) -> tuple[int, int]:
    """Return items and relevant items of a tie; write the latter as runs of equal value, rising or
    falling.
    """
    size = relevant = kinds = 0
    first = lists.tie[tie]
    last = lists.tie[tie + 1] - 1
    for cell in cells_of(tie, lists):
        c = first + last - cell if falling else cell
        size += lists.items[c]
        if values[lists.grade[c]]:
            runs.items[kinds] = lists.items[c]
            runs.values[kinds] = values[lists.grade[c]]
            kinds += 1
            relevant += lists.items[c]
    return size, relevant


@inlined
def _runs_sum(
    runs: Runs, x: int, before: float, position: int, ratio: Ratio
) -> tuple[float, float]:
    """Return the sum over x relevant items placed in the given order right after ``position``, and
    their values'.

    For AP and WAP it is Σ (value sum so far / rank), where ``before`` are the values up to
    ``position``.
    """
    total = ratio.weights.total
    if ratio.by_ideal:
        return total[position + x] - total[position], before
    result = 0.0
    placed = 0
    for run in range(runs.items.size):
        take = min(runs.items[run], x - placed)
        value = runs.values[run]
        a = position + placed
        b = position + placed + take
        # the i-th item of the run sees before + value·(i − a), i = a + 1 … b: (before − value·a)·ΔH
        # + value·take
        if take > a:
            harmonic = _held(ratio.weights, a, b)
            result += (before - value * a) * harmonic + value * take
        else:
            for i in range(a + 1, b + 1):
                result += (before + value * (i - a)) / i
        before += value * take
        placed += take
        if placed == x:
            break
    return result, before


@costs(slots_walked)
@allocating
def ratio_extremes(
    first: int, last: int, lists: Lists, depths: Integers, ratio: Ratio, out: Moments
) -> None:
    """Write the highest or lowest ratio at every depth, over all orders and numbers of relevant
    items found.

    Given how many are found, the best order has the highest grades first and the worst order the
    lowest grades last. Cells of a tie ascend by grade.
    """
    best = ratio.best
    extreme = out.mean
    runs = Runs(np.zeros(ratio.values.size, np.int64), np.zeros(ratio.values.size))
    cutoffs = depths.shape[1]
    for q in range(first, last):
        value_sum = before = 0.0
        hits = ZERO
        t = ZERO
        j = 0
        for tie in ties_of(q, lists):
            size, relevant = _relevant_runs(tie, lists, ratio.values, best, runs)
            while j < cutoffs and depths[q, j] <= t + size:
                slots = depths[q, j] - t
                least = max(0, slots - (size - relevant))
                most = min(relevant, slots)
                chosen = -1.0
                for x in range(least, most + 1):
                    part, _ = _runs_sum(runs, x, before, t if best else t + slots - x, ratio)
                    by = ratio.weights.total[hits + x] if ratio.by_ideal else float(hits + x)
                    value = (value_sum + part) / by if hits + x else 0.0
                    if chosen < 0.0 or (value > chosen) == best:
                        chosen = value
                extreme[q, j] = max(chosen, 0.0)
                j += 1
            if j == cutoffs:
                break  # the tables reach no farther than the deepest cutoff
            part, before = _runs_sum(
                runs, relevant, before, t if best else t + size - relevant, ratio
            )
            value_sum += part
            hits += relevant
            t += size

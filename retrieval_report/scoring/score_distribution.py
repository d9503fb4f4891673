"""The score and the probability of every order that the ties of a list allow.

Some distributions are known in closed form, however large the tie: precision, recall and F1 grow by
the same step with every relevant item among the top k, of which a cut tie gives a hypergeometric
number; hit rate and reciprocal rank depend only on the rank of the first relevant item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.options import Options
from retrieval_report.kernels import shuffling
from retrieval_report.kernels.ap_retrieved import hypergeometric_band
from retrieval_report.kernels.lists import Bools, Codes, Floats, Integers, Keys, Lists
from retrieval_report.metrics.parsing import Requests
from retrieval_report.metrics.terms import Term, check_judged_only
from retrieval_report.scoring.arrays import drawn_lists, list_keys
from retrieval_report.scoring.layout import Prepared
from retrieval_report.scoring.run import Run, refuse_without
from retrieval_report.scoring.score_paths import Walk, Walks
from retrieval_report.scoring.scorer import Arrangement

MOST_ORDERS = 2_000  # orders of one list that are enumerated; if there are more, some are drawn
FEW_ORDERS = 64  # the same if walks are available, since a sum of many lists needs no single order
FEW_LISTS = 60
MOST_CELLS = 400_000  # of one list in all its orders
BLOCK = 4_000_000  # cells of lists that are scored together


class Orders(NamedTuple):
    """The grades at the ranks of one list in each of its orders, or in a few orders from which all
    scores follow.
    """

    grade: Codes  # (orders, cells)
    chance: Floats  # of every score
    exact: bool
    spread: Callable[[Floats], Floats] | None = (
        None  # from scores of these orders (one row each) to every score
    )


@dataclass
class Drawn:
    """The scores of one list in random orders, of which more are drawn when they are needed."""

    known: Floats  # (orders, metrics and cutoffs)
    cells: int  # of one order
    score: Callable[[range], Floats]  # numbers of orders → their scores

    def first(self, draws: int, column: int) -> Floats:
        """Return the scores of the first orders; the same, however many are asked for."""
        while (
            len(self.known) < draws
        ):  # block by block, since whole orders take much more memory than their scores
            end = min(len(self.known) + max(BLOCK // self.cells, 1), draws)
            self.known = np.concatenate([self.known, self.score(range(len(self.known), end))])
        scores: Floats = self.known[:draws, column]
        return scores


class OrderScores(NamedTuple):
    """The scores of one list in each of its orders."""

    model: str
    query: object
    value: Floats  # (orders, metrics and cutoffs)
    chance: Floats  # (orders,)
    exact: (
        bool  # whether these are all orders that the metrics distinguish; otherwise they are drawn
    )
    walks: tuple[Walk | None, ...] = ()  # one per column, if requested
    drawn: Drawn | None = None  # the same scores and more of them, unless these are all

    def distribution(self, column: int, digits: int | None = None) -> pl.DataFrame:
        """Return each ``value`` of one metric and cutoff, ascending, with ``probability`` and
        ``method``.
        """
        value = self.value[:, column] if digits is None else self.value[:, column].round(digits)
        frame = pl.DataFrame({"value": value, "probability": self.chance}).sort("value")
        grouped = frame.group_by("value", maintain_order=True).agg(pl.col("probability").sum())
        return grouped.with_columns(method=pl.lit("exact" if self.exact else "draws"))


def score_orders(
    prepared: Prepared, requests: Requests, options: Options, draws: int, *, walks: bool = False
) -> list[OrderScores]:
    """Score every list in each of its orders, or in drawn orders if there are too many.

    Orders are distinguished by the relevances down to the deepest rank that a requested metric
    considers. Drawn orders are those of the policy "shuffled". Lists without a value are omitted.
    One metric at one cutoff, or metrics made of the same sums, may have a distribution in closed
    form.

    With ``walks``, lists come with their walks. Orders of such lists are never drawn, and are
    omitted if they are many.
    """
    check_judged_only([metric for metric, _ in requests], prepared.all_judged, options.unjudged)
    refuse_without(prepared, options)
    run = Run(prepared, requests, replace(options, policies=("expected",)))
    ties, keys = run.prepared.ties, list_keys(run.prepared.names, options.seed)
    limit = run.limit
    layout = drawn_lists(ties, limit)
    term = _one_need(requests)
    kept = np.flatnonzero(~run.left_out()).tolist()
    columns = [(metric, cutoff) for metric, own in requests for cutoff in own]
    makers = [Walks(run, *column) for column in columns] if walks else []
    few = MOST_ORDERS if len(kept) <= FEW_LISTS else FEW_ORDERS
    found, paths = {}, {}
    for number in kept:
        base = layout.grade[layout.start[number] : layout.start[number + 1]]
        here, relevant = (ties, base, int(limit[number]), number), run.prepared.relevant_grade
        every = None if term is None else closed_form(term, *here, relevant)
        if every is None:
            paths[number] = tuple(maker.of(number) for maker in makers)
            walked = walks and None not in paths[number]
            every = _every_order(*here, few if walked else MOST_ORDERS)
            if every is None:
                none = Orders(base[None, :][:0], np.empty(0), exact=True)
                every = none if walked else _drawn_orders(run, layout, keys, number, range(draws))
        found[number] = every
    result = []
    for numbers in _blocks(found):
        values = _score(run, layout, numbers, [found[number] for number in numbers])
        for number, value in zip(numbers, values, strict=True):
            own, (model, query) = found[number], run.prepared.names.row(number)
            more = partial(_drawn_scores, run, layout, keys, number)
            drawn = None if own.exact else Drawn(value, own.grade.shape[1], more)
            result.append(
                OrderScores(
                    model, query, value, own.chance, own.exact, paths.get(number, ()), drawn
                )
            )
    return result


def _one_need(requests: Requests) -> Term | None:
    """Return the term that all metrics share at one cutoff, or None."""
    wanted_terms = {metric.term for metric, _ in requests}
    cutoffs = {cutoff for _, own in requests for cutoff in own}
    return wanted_terms.pop() if len(wanted_terms) == len(cutoffs) == 1 else None


def _every_order(ties: Lists, base: Codes, limit: int, number: int, most: int) -> Orders | None:
    """Return all orders of one list down to a rank; None if there are too many."""
    most = min(most, max(1, MOST_CELLS // max(base.size, 1)))
    grade, chance = base[None, :], np.ones(1)
    for here, items, kinds, _ in ties_above(limit, ties, number):
        if kinds.size > 1:
            found = arrangements(items, here.stop - here.start, most)
            if found is None or found[1].size * chance.size > most:
                return None
            taken, share = found
            grade = np.repeat(grade, share.size, axis=0)
            grade[:, here] = np.tile(kinds[taken], (chance.size, 1))
            chance = np.repeat(chance, share.size) * np.tile(share, chance.size)
    return Orders(grade, chance, exact=True)


def _drawn_orders(run: Run, layout: Lists, keys: Keys, number: int, draws: range) -> Orders:
    """Draw random orders of one list, in its own part of the layout."""
    drawn = np.empty((len(draws), layout.start[number + 1] - layout.start[number]), np.int32)
    choice = shuffling.Draw(keys, draws.start)
    shuffling.draw_repeatedly(number, run.prepared.ties, run.limit, choice, layout, drawn)
    return Orders(drawn, np.full(len(draws), 1 / len(draws)), exact=False)


def _drawn_scores(run: Run, layout: Lists, keys: Keys, number: int, draws: range) -> Floats:
    """Return the scores of one list in random orders of these numbers."""
    return _score(run, layout, [number], [_drawn_orders(run, layout, keys, number, draws)])[0]


def arrangements(count: Integers, slots: int, most: int) -> tuple[NDArray[np.intp], Floats] | None:
    """Return all ways to deal kinds with ``count`` items each into slots, and the probability of
    each.

    >>> arrangements(np.array([2, 1]), 2, 3)
    (array([[0, 0],
           [0, 1],
           [1, 0]]), array([0.33333333, 0.33333333, 0.33333333]))
    >>> arrangements(np.array([2, 1]), 2, 2)
    """
    left, chance = count[None, :], np.ones(1)
    taken = np.empty((1, slots), np.intp)
    for slot in range(slots):
        parent, kind = np.nonzero(left)
        if parent.size > most:
            return None
        chance = chance[parent] * left[parent, kind] / left[parent].sum(axis=1)
        taken, left = taken[parent], left[parent]
        taken[:, slot] = kind
        left[np.arange(kind.size), kind] -= 1
    return taken, chance


def _blocks(found: dict[int, Orders]) -> Iterator[list[int]]:
    """Yield groups of lists that take about the same amount of memory."""
    numbers = np.array(list(found), dtype=np.intp)
    block = np.cumsum([orders.grade.size for orders in found.values()], dtype=np.int64) // BLOCK
    yield from (numbers[block == which].tolist() for which in np.unique(block))


def _score(run: Run, layout: Lists, numbers: list[int], orders: list[Orders]) -> list[Floats]:
    """Return scores (orders, columns) of some lists, each repeated once per order."""
    copies = [own.grade.shape[0] for own in orders]
    cells = np.repeat([own.grade.shape[1] for own in orders], copies)
    items = [layout.items[layout.start[number] : layout.start[number + 1]] for number in numbers]
    lists = Lists(
        np.concatenate([[0], np.cumsum(cells)]),
        np.arange(cells.sum() + 1),
        np.concatenate([own.grade.ravel() for own in orders]),
        np.concatenate([np.tile(own, times) for own, times in zip(items, copies, strict=True)]),
    )
    every = Run(run.prepared.take(np.repeat(numbers, copies)), run.requests, run.options)
    values = every.score(Arrangement(lists, lists, None, False)).value
    if run.options.no_relevant == "one":
        values[every.undefined()] = 1.0
    rows = np.split(values, np.cumsum(copies)[:-1])
    return [
        value if own.spread is None else own.spread(value)
        for value, own in zip(rows, orders, strict=True)
    ]


def closed(term: Term) -> bool:
    """Return whether the distribution of a list's score has a closed form, however large its
    ties.
    """
    return term.counts_relevant or term.first_only


def ties_above(
    limit: int, ties: Lists, number: int
) -> Iterator[tuple[slice, Integers, Codes, int]]:
    """Yield the ties of one list down to a rank: slots, items by grade, grades, and how many items
    precede.

    Slots are those of orders laid out with a cell for every item in ties of different grades, and
    one for other ties.
    """
    before = cell = 0
    for tie in range(ties.start[number], ties.start[number + 1]):
        own = slice(ties.tie[tie], ties.tie[tie + 1])
        items, kinds = ties.items[own], ties.grade[own]
        size = int(items.sum())
        slots = min(size, limit - before)
        if slots < 1:
            break
        yield slice(cell, cell + slots), items, kinds, before
        cell += slots if kinds.size > 1 else 1
        before += size


def closed_form(
    term: Term, ties: Lists, base: Codes, limit: int, number: int, relevant: Bools
) -> Orders | None:
    """Return the few orders that determine the whole distribution of one list; None if there is no
    closed form.

    ``base`` are the grades at the cells that the orders are laid out in.
    """
    if not closed(term):
        return None
    base = base.copy()
    for here, items, kinds, before in ties_above(limit, ties, number):
        size, slots = int(items.sum()), here.stop - here.start
        hits = int(items[relevant[kinds]].sum())
        if term.first_only and hits:
            return _first_hit(base, (before, slots, size, hits), term)
        if slots < size and 0 < hits < size:
            return _hits(base, here, kinds, relevant, size, hits)
        if kinds.size > 1:
            base[here] = np.repeat(kinds, items)[:slots]
    return Orders(base[None, :], np.ones(1), True)


def _hits(base: Codes, here: slice, kinds: Codes, relevant: Bools, size: int, hits: int) -> Orders:
    """Return the orders with fewest and most relevant items above the cutoff; scores between them
    are evenly spaced.
    """
    slots = here.stop - here.start
    least, most = max(0, slots - (size - hits)), min(hits, slots)
    grade = np.repeat(base[None, :], 2, axis=0)
    for row, count in enumerate((least, most)):
        grade[row, here] = kinds[~relevant[kinds]][0]
        grade[row, here.start : here.start + count] = kinds[relevant[kinds]][0]
    first, chance = hypergeometric_band(size, hits, slots)
    share = (first - least + np.arange(chance.size)) / (most - least)
    return Orders(
        grade, chance, True, lambda value: value[0] + share[:, None] * (value[1] - value[0])
    )


def _first_hit(base: Codes, position: tuple[int, int, int, int], term: Term) -> Orders:
    """Return the orders with the first relevant item at each slot of the first tie that has one,
    and beyond it.
    """
    before, slots, size, hits = position
    positions = np.arange(min(slots, size - hits + 1))
    going = np.cumprod(np.concatenate([[1.0], (size - hits - positions) / (size - positions)]))
    chance = going[:-1] * hits / (size - positions)
    value = 1.0 / (before + 1 + positions) if term.fades else np.ones(positions.size)
    if positions.size < size - hits + 1:
        chance, value = np.append(chance, going[-1]), np.append(value, 0.0)
    return Orders(
        base[None, :],
        chance,
        True,
        lambda scored: np.repeat(value[:, None], scored.shape[1], axis=1),
    )

"""The score and the probability of every order that the ties of a list allow.

Some distributions are known in closed form, however large the tie: precision, recall and F1 grow by
the same step with every relevant item among the top k, of which a cut tie gives a hypergeometric
number; hit rate and reciprocal rank depend only on the rank of the first relevant item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval_report.contracts.options import Options
from retrieval_report.kernels.ap_retrieved import hypergeometric_band
from retrieval_report.kernels.lists import Bools, Codes, Floats, Integers, Lists, running
from retrieval_report.metrics.record import Metric
from retrieval_report.metrics.terms import Term, check_judged_only
from retrieval_report.scoring.arrays import drawn_lists
from retrieval_report.scoring.layout import Prepared
from retrieval_report.scoring.run import Run, draw_together, refuse_without
from retrieval_report.scoring.scorer import Arrangement

MOST_ORDERS = 2_000  # orders of one list that are enumerated; if there are more, some are drawn
FEW_ORDERS = 64  # the same for many lists, whose sums would be too many
FEW_LISTS = 60
MOST_CELLS = 400_000  # of one list in all its orders
BLOCK = 4_000_000  # cells of lists that are scored together


class Orders(NamedTuple):
    """The grades at the ranks of one list in each of its orders, or in a few orders from which all
    scores follow.
    """

    grade: Codes  # (orders, cells)
    chance: Floats  # of every score
    spread: Callable[[Floats], Floats] | None = None  # from scores of these orders to every score


class OrderScores(NamedTuple):
    """The scores of one list in each of its orders."""

    model: str
    query: object
    value: Floats
    chance: Floats
    exact: bool  # whether these are all orders that the metric distinguishes, or random ones


def score_orders(
    prepared: Prepared, metric: Metric, cutoff: int | None, options: Options, draws: int = 0
) -> list[OrderScores]:
    """Score every list by one metric at one cutoff, in each of its orders.

    Orders are distinguished by the relevances down to the cutoff. If a list has too many, so many
    orders of the policy "shuffled" are drawn, or it is omitted like lists without a value.
    """
    check_judged_only([metric], prepared.all_judged, options.unjudged)
    refuse_without(prepared, options)
    run = Run(prepared, [(metric, (cutoff,))], replace(options, policies=("expected",)))
    ties = run.prepared.ties
    relevant = run.prepared.relevant_grade
    limit = run.limit
    layout = drawn_lists(ties, limit)
    kept = np.flatnonzero(~run.left_out())
    most = MOST_ORDERS if kept.size <= FEW_LISTS else FEW_ORDERS
    exact = {}
    for number in kept.tolist():
        base = layout.grade[layout.start[number] : layout.start[number + 1]]
        one = ties, base, int(limit[number]), number
        orders = closed_form(metric.term, *one, relevant) or _every_order(*one, most)
        if orders is not None:
            exact[number] = orders
    names = run.prepared.names.rows()
    result = []
    sizes = [orders.grade.size for orders in exact.values()]
    block = np.cumsum(sizes, dtype=np.int64) // BLOCK
    for which in np.unique(block):  # lists that take about the same amount of memory
        numbers = np.array(list(exact))[block == which].tolist()
        values = _score(run, layout, numbers, [exact[number] for number in numbers])
        for number, value in zip(numbers, values, strict=True):
            model, query = names[number]
            result.append(OrderScores(model, query, value, exact[number].chance, True))
    others = np.setdiff1d(kept, list(exact))
    if draws and others.size:
        rest = Run(run.prepared.take(others), run.requests, run.options)
        drawn = _defined(rest, draw_together(rest, draws)(0)[:, 0].reshape(draws, -1))
        for number, value in zip(others, drawn.T, strict=True):
            model, query = names[number]
            result.append(OrderScores(model, query, value, np.full(draws, 1 / draws), False))
    return result


def _every_order(ties: Lists, base: Codes, limit: int, number: int, most: int) -> Orders | None:
    """Return all orders of one list down to a rank; None if there are too many."""
    most = min(most, max(1, MOST_CELLS // max(base.size, 1)))
    grade = base[None, :]
    chance = np.ones(1)
    for ranks, items, kinds, _ in ties_above(limit, ties, number):
        if kinds.size > 1:
            dealt = arrangements(items, ranks.stop - ranks.start, most)
            if dealt is None or dealt[1].size * chance.size > most:
                return None
            taken, share = dealt
            grade = np.repeat(grade, share.size, axis=0)
            grade[:, ranks] = np.tile(kinds[taken], (chance.size, 1))
            chance = np.repeat(chance, share.size) * np.tile(share, chance.size)
    return Orders(grade, chance)


def arrangements(count: Integers, slots: int, most: int) -> tuple[NDArray[np.intp], Floats] | None:
    """Return all ways to deal kinds with ``count`` items each into slots, and the probability of
    each.

    >>> arrangements(np.array([2, 1]), 2, 3)
    (array([[0, 0],
           [0, 1],
           [1, 0]]), array([0.33333333, 0.33333333, 0.33333333]))
    >>> arrangements(np.array([2, 1]), 2, 2)
    """
    left = count[None, :]
    chance = np.ones(1)
    taken = np.empty((1, slots), np.intp)
    for slot in range(slots):
        parent, kind = np.nonzero(left)
        if parent.size > most:
            return None
        chance = chance[parent] * left[parent, kind] / left[parent].sum(axis=1)
        taken = taken[parent]
        left = left[parent]
        taken[:, slot] = kind
        left[np.arange(kind.size), kind] -= 1
    return taken, chance


def _score(run: Run, layout: Lists, numbers: list[int], orders: list[Orders]) -> list[Floats]:
    """Return the scores of some lists, each repeated once per order."""
    copies = [own.grade.shape[0] for own in orders]
    cells = np.repeat([own.grade.shape[1] for own in orders], copies)
    items = [layout.items[layout.start[number] : layout.start[number + 1]] for number in numbers]
    lists = Lists(
        running(cells),
        np.arange(cells.sum() + 1),
        np.concatenate([own.grade.ravel() for own in orders]),
        np.concatenate([np.tile(own, times) for own, times in zip(items, copies, strict=True)]),
    )
    every = Run(run.prepared.take(np.repeat(numbers, copies)), run.requests, run.options)
    values = every.score(Arrangement(lists, lists, None, False)).value[:, 0]
    rows = np.split(_defined(every, values), np.cumsum(copies)[:-1])
    return [
        value if own.spread is None else own.spread(value)
        for value, own in zip(rows, orders, strict=True)
    ]


def _defined(run: Run, values: Floats) -> Floats:
    """Return scores of lists by the only metric, those that are undefined as the options say."""
    one = run.options.no_relevant == "one"
    return np.where(run.undefined()[:, 0], 1.0, values) if one else values


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
        cells = slice(ties.tie[tie], ties.tie[tie + 1])
        items = ties.items[cells]
        kinds = ties.grade[cells]
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
    for ranks, items, kinds, before in ties_above(limit, ties, number):
        size = int(items.sum())
        slots = ranks.stop - ranks.start
        hits = int(items[relevant[kinds]].sum())
        if term.first_only and hits:
            return _first_hit(base, (before, slots, size, hits), term)
        if slots < size and 0 < hits < size:
            return _hits(base, ranks, kinds, relevant, size, hits)
        if kinds.size > 1:
            base[ranks] = np.repeat(kinds, items)[:slots]
    return Orders(base[None, :], np.ones(1))


def _hits(base: Codes, ranks: slice, kinds: Codes, relevant: Bools, size: int, hits: int) -> Orders:
    """Return the orders with fewest and most relevant items above the cutoff; scores between them
    are evenly spaced.
    """
    slots = ranks.stop - ranks.start
    least = max(0, slots - (size - hits))
    most = min(hits, slots)
    grade = np.repeat(base[None, :], 2, axis=0)
    for row, count in enumerate((least, most)):
        grade[row, ranks] = kinds[~relevant[kinds]][0]
        grade[row, ranks.start : ranks.start + count] = kinds[relevant[kinds]][0]
    first, chance = hypergeometric_band(size, hits, slots)
    share = (first - least + np.arange(chance.size)) / (most - least)
    return Orders(grade, chance, lambda value: value[0] + share * (value[1] - value[0]))


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
        chance = np.append(chance, going[-1])
        value = np.append(value, 0.0)
    return Orders(base[None, :], chance, lambda _: value)

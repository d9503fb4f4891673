"""The score and the probability of every order that the ties of a list allow.

Some distributions are known in closed form, however large the tie: precision, recall and F1 grow by
the same step with every relevant item among the top k, of which a cut tie gives a hypergeometric
number; hit rate and reciprocal rank depend only on the rank of the first relevant item.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.ap_retrieved import hypergeometric_band
from retrieval_report.kernels.lists import Codes, Floats, Integers, Lists
from retrieval_report.metrics.terms import HITS, Sum, check_judged_only
from retrieval_report.scoring.arrays import drawn_lists
from retrieval_report.scoring.run import Run, draw_together

MOST_ORDERS = 2_000  # orders of one list that are enumerated; if there are more, some are drawn
FEW_ORDERS = 64  # the same for many lists, whose sums would be too many
FEW_LISTS = 60
MOST_CELLS = 400_000  # of one list in all its orders
BLOCK = 4_000_000  # cells of lists that are scored together


class OrderScores(NamedTuple):
    """The scores of one list in each of its orders."""

    model: str
    query: object
    value: Floats
    chance: Floats
    exact: bool  # whether these are all orders that the metric distinguishes, or random ones


def score_orders(run: Run, draws: int = 0) -> list[OrderScores]:
    """Score every list of a run of one metric at one cutoff, in each of its orders.

    Orders are distinguished by the relevances down to the cutoff. If a list has too many, so many
    orders of the policy "shuffled" are drawn, or it is omitted like lists without a value.
    """
    ((metric, _),) = run.requests
    check_judged_only([metric], run.prepared.all_judged, run.options.unjudged)
    included = np.flatnonzero(~run.left_out())
    exact = (_closed_forms if closed(metric.term) else _enumerated)(run, included)
    names = run.prepared.names.rows()
    result = [
        OrderScores(model, query, *spread, True)
        for number, spread in exact.items()
        for model, query in [names[number]]
    ]
    drawn_lists = np.setdiff1d(included, list(exact))
    if draws and drawn_lists.size:
        repeated_run = run.repeated(np.tile(drawn_lists, draws))
        numbers = np.repeat(np.arange(draws), drawn_lists.size)
        values = _defined(repeated_run, draw_together(repeated_run)(numbers)).reshape(draws, -1)
        chance = np.full(draws, 1 / draws)
        result += [
            OrderScores(model, query, value, chance, False)
            for number, value in zip(drawn_lists, values.T, strict=True)
            for model, query in [names[number]]
        ]
    return result


def _defined(run: Run, values: Floats) -> Floats:
    """Return scores of lists by the only metric, those that are undefined as the options say."""
    empty_counts_one = run.options.no_relevant == "one"
    return np.where(run.undefined[:, 0], 1.0, values[:, 0]) if empty_counts_one else values[:, 0]


def _enumerated(run: Run, included: Integers) -> dict[int, tuple[Floats, Floats]]:
    """Return the scores of lists in all their orders, and the probability of each, of lists that
    do not have too many.
    """
    ties, limit = run.prepared.ties, run.limit
    layout = drawn_lists(ties, limit)
    most = MOST_ORDERS if included.size <= FEW_LISTS else FEW_ORDERS
    orders = {}
    for number in included.tolist():
        base = layout.grade[layout.start[number] : layout.start[number + 1]]
        every_order = _every_order(ties, base, int(limit[number]), number, most)
        if every_order is not None:
            orders[number] = every_order
    result: dict[int, tuple[Floats, Floats]] = {}
    block = np.cumsum([grade.size for grade, _ in orders.values()], dtype=np.int64) // BLOCK
    for which in np.unique(block):  # lists that take about the same amount of memory
        numbers = np.array(list(orders))[block == which]
        grades, chances = zip(*(orders[number] for number in numbers.tolist()), strict=True)
        copies = [chance.size for chance in chances]
        list_numbers = np.repeat(numbers, copies)
        lists = layout.take(list_numbers)._replace(
            grade=np.concatenate([part.ravel() for part in grades])
        )
        part = run.repeated(list_numbers)
        values = _defined(part, part.score("shuffled", lists)[0])
        split = np.split(values, np.cumsum(copies)[:-1])
        result |= zip(numbers.tolist(), zip(split, chances, strict=True), strict=True)
    return result


def _every_order(
    ties: Lists, base: Codes, limit: int, number: int, most: int
) -> tuple[Codes, Floats] | None:
    """Return the grades at the ranks of one list in all its orders down to a rank, and the
    probability of each; None if there are too many.
    """
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
    return grade, chance


def arrangements(count: Integers, slots: int, most: int) -> tuple[NDArray[np.intp], Floats] | None:
    """Return all ways to deal kinds with ``count``
    items each into slots, and the probability of each.

    >>> arrangements(np.array([2, 1]), 2, 3)
    (array([[0, 0],
           [0, 1],
           [1, 0]]), array([0.33333333, 0.33333333, 0.33333333]))
    >>> arrangements(np.array([2, 1]), 2, 2)
    """
    remaining = count[None, :]
    chance = np.ones(1)
    taken = np.empty((1, slots), np.intp)
    for slot in range(slots):
        parent, kind = np.nonzero(remaining)
        if parent.size > most:
            return None
        chance = chance[parent] * remaining[parent, kind] / remaining[parent].sum(axis=1)
        taken = taken[parent]
        remaining = remaining[parent]
        taken[:, slot] = kind
        remaining[np.arange(kind.size), kind] -= 1
    return taken, chance


def closed(term: Sum) -> bool:
    """Return whether the distribution of a list's score has a closed form, however large its ties."""
    return term == HITS or term.first_only


def ties_above(
    limit: int, ties: Lists, number: int
) -> Iterator[tuple[slice, Integers, Codes, int]]:
    """Yield the ties of one list down to a rank: slots,
    items by grade, grades, and how many items precede.

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


def _closed_forms(run: Run, included: Integers) -> dict[int, tuple[Floats, Floats]]:
    """Return every score of lists, and the probability of each, from the worst and best order and
    the first tie that matters.
    """
    low, high = (_defined(run, run.score(policy)[0]) for policy in ("worst", "best"))
    return {
        number: _closed_form(run, number, low[number], high[number]) for number in included.tolist()
    }


def _closed_form(run: Run, number: int, low: float, high: float) -> tuple[Floats, Floats]:
    term = run.measures[0][0].term
    relevant = run.prepared.relevant_grade
    for ranks, items, kinds, before in ties_above(
        int(run.limit[number]), run.prepared.ties, number
    ):
        size = int(items.sum())
        slots = ranks.stop - ranks.start
        hits = int(items[relevant[kinds]].sum())
        if term.first_only and hits:
            return _first_hit(before, slots, size, hits, fades=term.fades)
        if slots < size and 0 < hits < size:  # between the extremes, scores are evenly spaced
            least = max(0, slots - (size - hits))
            first, chance = hypergeometric_band(size, hits, slots)
            share = (first - least + np.arange(chance.size)) / (min(hits, slots) - least)
            return low + share * (high - low), chance
    return np.array([low]), np.ones(1)


def _first_hit(
    before: int, slots: int, size: int, hits: int, *, fades: bool
) -> tuple[Floats, Floats]:
    """Return the scores of lists with the first relevant item at each slot of the first tie that
    has one, and beyond it.
    """
    positions = np.arange(min(slots, size - hits + 1))
    going = np.cumprod(np.concatenate([[1.0], (size - hits - positions) / (size - positions)]))
    chance = going[:-1] * hits / (size - positions)
    value = 1.0 / (before + 1 + positions) if fades else np.ones(positions.size)
    if positions.size < size - hits + 1:
        chance = np.append(chance, going[-1])
        value = np.append(value, 0.0)
    return value, chance

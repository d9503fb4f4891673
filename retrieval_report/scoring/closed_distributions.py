"""Score distributions under tie order that are known in closed form, however large the tie.

Precision, recall and F1 grow by the same step with every relevant item among the top k, of which a
cut tie gives a hypergeometric number; hit rate and reciprocal rank depend only on the rank of the
first relevant item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.ap_retrieved import hypergeometric_band
from retrieval_report.kernels.lists import Bools, Codes, Floats, Integers, Lists
from retrieval_report.metrics.terms import Term


def closed(term: Term) -> bool:
    """Return whether the distribution of a list's score has a closed form, however large its
    ties.
    """
    return term.counts_relevant or term.first_only


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

"""Sums over many lists at once, in NumPy, as far as nothing that counts ties: the first item that
counts of every list, then the second of every list, and so on.

The bits are those of the kernels. Compiled, these are faster; as Python they take ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from retrieval_report.kernels.compile import Kernel
from retrieval_report.kernels.lists import (
    Floats,
    Integers,
    Lists,
    Moments,
    running,
    slots_walked,
)
from retrieval_report.kernels.tables import add
from retrieval_report.kernels.walk import Place

FEWEST = 32  # lists for each step: with fewer, Python is as fast
SAMPLE = 256  # lists that show how many items count
SHARE = 0.1  # of the work of a walk


class Single(NamedTuple):
    """What a sum does about items that tie with nothing."""

    # (given, values of items, ranks before them, values of all items before them) → what each adds
    part: Callable[[Any, Floats, Integers, Floats], Floats]
    state: Callable[..., Any]  # (items that counted, their values, high, low) → the state of a walk


class Counting(NamedTuple):
    """The items of lists that count, above the deepest cutoff and the first tie of such items."""

    start: Integers  # of each list: its first item
    before: Integers  # of each item: how many precede it in its list
    value: Floats
    tied: Integers  # the lists with a tie
    tie: Integers  # of each of these: the tie
    rank: Integers  # of each of these: how many items precede the tie
    share: float  # of the cells above the deepest cutoff: those from a tie on

    @property
    def pays(self) -> bool:
        """Return whether there are enough lists for every step."""
        return self.before.size > FEWEST * int(np.diff(self.start).max(initial=0))


def counting(first: int, last: int, lists: Lists, depths: Integers, values: Floats) -> Counting:
    """Find what counts in the lists ``first`` … ``last`` − 1."""
    deepest = depths[first:last].max(axis=1, initial=0)
    cell = lists.tie[lists.start[first : last + 1]]
    size = np.minimum(np.diff(cell), deepest)  # since every cell holds an item
    start = running(size)
    cells = np.arange(start[-1]) + np.repeat(cell[:-1] - start[:-1], size)
    of_list = np.repeat(np.arange(size.size), size)
    items, value = lists.items[cells], values[lists.grade[cells]]
    heads = np.zeros(cell[-1] - cell[0] + 1, np.bool_)
    heads[lists.tie[lists.start[first] : lists.start[last] + 1] - cell[0]] = True
    alone = heads[cells - cell[0]] & heads[cells - cell[0] + 1]
    odd = np.flatnonzero(~(alone & ((items == 1) | (value == 0.0))))
    tied, at = np.unique(of_list[odd], return_index=True)
    end = start[1:].copy()
    end[tied] = odd[at]
    before = running(items)[:-1]
    before -= np.repeat(before[start[:-1][size > 0]], size[size > 0])
    counts = (value != 0.0) & (before < deepest[of_list]) & (np.arange(cells.size) < end[of_list])
    number = np.bincount(of_list[counts], minlength=size.size)
    tie = np.searchsorted(lists.tie, cells[end[tied]])
    share = float((start[1:] - end).sum()) / max(cells.size, 1)
    return Counting(
        running(number), before[counts], value[counts], tied, tie, before[end[tied]], share
    )


def add_up(part: Callable[..., Floats], given: Any, items: Counting) -> tuple[Floats, Floats]:
    """Return the sum of a list up to each item, and 0 at the end; and of each list the high and low
    part of the sum, and the values of its items.
    """
    number = np.diff(items.start)
    most_first = np.argsort(-number, kind="stable")
    lists = np.searchsorted(-number[most_first], -np.arange(number.max(initial=0)))  # of each step
    sums = np.zeros((3, number.size))
    up_to = np.zeros(items.value.size + 1)
    for step, size in enumerate(lists.tolist()):
        item = items.start[most_first[:size]] + step
        high, low, held = sums[:, :size]
        value = items.value[item]
        added = part(given, value, items.before[item], held)
        high[:], low[:] = cast(Kernel, add).python(high, low, added)
        up_to[item] = high + low
        held += value
    return up_to, sums[:, np.argsort(most_first)]


def work(first: int, last: int, lists: Lists, depths: Integers, given: Any, *_: object) -> float:
    """Return the work of a sum over lists, in units of a walk."""
    some = min(last, first + SAMPLE)
    sample = some - first > FEWEST and counting(first, some, lists, depths, given.values)
    share = max(SHARE, sample.share) if sample and sample.pays else 1.0
    return share * slots_walked(first, last, lists, depths)


def together(single: Single) -> Callable[[Any], Any]:
    """Let the walk of a sum begin, as Python, where the first of the items that count tie."""

    def begun(kernel: Any) -> Any:
        one_by_one, walk_on = kernel.python, kernel.walk_on.python

        def moments(
            first: int, last: int, lists: Lists, depths: Integers, given: Any, out: Moments
        ) -> None:
            items = last - first > FEWEST and counting(first, last, lists, depths, given.values)
            if not (items and items.pays):
                one_by_one(first, last, lists, depths, given, out)
                return
            up_to, sums = add_up(single.part, given, items)
            of_list = np.repeat(np.arange(last - first), np.diff(items.start))
            for column, depth in enumerate(depths[first:last].T):
                reached = of_list[items.before < depth[of_list]]
                number = np.bincount(reached, minlength=last - first)
                at = np.where(number > 0, items.start[:-1] + number - 1, -1)
                out.mean[first:last, column], out.variance[first:last, column] = up_to[at], 0.0
            ties = zip(items.tied.tolist(), items.tie.tolist(), items.rank.tolist(), strict=True)
            for number, tie, rank in ties:
                high, low, held = sums[:, number].tolist()
                counted = int(items.start[number + 1] - items.start[number])
                state = single.state(counted, held, high, low)
                q = first + number
                place = Place(rank, int((depths[q] <= rank).sum()), tie, state)
                walk_on(q, place, lists, depths, given, out)

        kernel.python = moments
        kernel.costs = work
        return kernel

    return begun

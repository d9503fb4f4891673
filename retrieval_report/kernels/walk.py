"""The walk that sums share: along the ties of a list, past one cutoff after the other.

A sum says in a few steps what items and ties add to a state, such as the mean and variance so far,
and what the moments are at a cutoff between two ties or inside one.

As Python, a walk over many lists takes ten times as long as NumPy takes for all of them together,
as far as nothing that counts ties: the first item that counts of every list, then the second of
every list, and so on. The bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from retrieval_report.kernels.compile import ZERO, Kernel, inlined, kernel
from retrieval_report.kernels.lists import (
    Floats,
    Integers,
    Lists,
    Moments,
    Spread,
    Tie,
    count_relevant,
    running,
    slots_walked,
)
from retrieval_report.kernels.tables import Given, add

Step = Callable[..., Any]


@inlined
def settled(before: Before, _given: Given) -> Spread:
    """Return mean and variance for a cutoff between two ties."""
    return before.high + before.low, before.variance


class Steps(NamedTuple):
    """What a sum does along a list, each a kernel;
    ``given`` is what it needs beside lists and depths.
    """

    look: Step  # (t, tie, ahead, lists, given) → what it asks of a tie after t items, above all its
    # size; ``ahead`` are the depths that no tie has reached yet
    add: Step  # (looked, state, given) → the state after the tie
    inside: Step  # (looked, slots, state, given) → mean and variance after some slots of the tie
    between: Step = settled  # (state, given) → mean and variance after the ties so far
    plain: Step | None = None
    """(stretch, lists, given, state) → how many items precede the first tie that is not plain, or that
    reaches beyond the depth, this tie, and the state there, without the mathematics of ties; None
    leaves all ties to the other steps.
    """
    ended: Step | None = None  # (state) → whether no item after these changes the moments


@inlined
def count_tie(t: int, tie: int, _ahead: Integers, lists: Lists, given: Given) -> Tie:
    """Look at a tie as sums do that ask which items are relevant: those with a value."""
    size, relevant = count_relevant(tie, lists, given.values)
    return Tie(t, size, relevant)


class Before(NamedTuple):
    """The sum over the ties before: how many relevant items they hold, what later ties need to know
    (the sum of their values, or the chance to get past them), and the mean and variance so far.
    """

    relevant: int
    carried: float
    high: float
    low: float
    variance: float


NOTHING_BEFORE = Before(0, 0.0, 0.0, 0.0, 0.0)


# Where a walk along a list stands: the items and the cutoffs behind, the next tie, and the state
Place = tuple[int, int, int, Before]


def walk(name: str, steps: Steps, compiles: Step = kernel, start: Before = NOTHING_BEFORE) -> Any:
    """Return the kernel of a sum whose state before the first item is ``start``.

    The kernel writes the mean and the variance of the sum at every depth of the lists ``first`` …
    ``last`` − 1. ``depths`` (lists, cutoffs) ascend along each row and do not exceed the list's
    length. Steps that return arrays need a kernel that ``compiles`` as ``allocating`` does. As
    ``walk_on`` it has the kernel that walks along one list from some place on.
    """
    look, add, inside, between, plain, ended = steps

    def walk_on(
        q: int, place: Place, lists: Lists, depths: Integers, given: Given, out: Moments
    ) -> None:
        mean, variance = out
        cutoffs = depths.shape[1]
        t, j, tie, state = place
        end = lists.start[q + 1]
        while tie < end and j < cutoffs and not (ended is not None and ended(state)):
            if plain is not None:
                stretch = t, tie, end, depths[q, j]
                t, tie, state = plain(stretch, lists, given, state)
            if t == depths[q, j]:
                mean[q, j], variance[q, j] = between(state, given)
                j += 1
            elif tie < end:
                looked = look(t, tie, depths[q, j:], lists, given)
                while j < cutoffs and depths[q, j] < t + looked.size:
                    mean[q, j], variance[q, j] = inside(looked, depths[q, j] - t, state, given)
                    j += 1
                if j < cutoffs:
                    state = add(looked, state, given)
                t += looked.size
                tie += 1
        for rest in range(j, cutoffs):
            mean[q, rest], variance[q, rest] = between(state, given)

    walk_on.__name__ = walk_on.__qualname__ = f"{name}_from"  # under which its code is stored
    # A call for every list costs as much as ten items of it.
    options = {"_nrt": compiles is not kernel, "forceinline": True}
    walk_on = cast(Any, Kernel(walk_on, options))

    def moments(
        first: int, last: int, lists: Lists, depths: Integers, given: Given, out: Moments
    ) -> None:
        for q in range(first, last):
            place = ZERO, ZERO, lists.start[q], start
            walk_on(q, place, lists, depths, given, out)

    moments.__name__ = moments.__qualname__ = name
    made = compiles(moments)
    made.walk_on = walk_on
    return made


FEWEST = 32  # lists for each step: with fewer, Python is as fast
SAMPLE = 256  # lists that show how many items count
SHARE = 0.1  # of the work of a walk


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


def add_up(part: Callable[..., Floats], given: object, items: Counting) -> tuple[Floats, Floats]:
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


def work_together(
    first: int, last: int, lists: Lists, depths: Integers, given: Given, *_: object
) -> float:
    """Return the work of a sum over lists, in units of a walk."""
    some = min(last, first + SAMPLE)
    sample = some - first > FEWEST and counting(first, some, lists, depths, given.values)
    share = max(SHARE, sample.share) if sample and sample.pays else 1.0
    return share * slots_walked(first, last, lists, depths)


def together(part: Callable[..., Floats]) -> Callable[[Any], Any]:
    """Let the walk of a sum begin, as Python, where the first of the items that count tie.

    ``part`` is (given, values of items, ranks before them, values of all items before them) → what
    each adds if it ties with nothing.
    """

    def begun(kernel: Any) -> Any:
        one_by_one, walk_on = kernel.python, kernel.walk_on.python

        def moments(
            first: int, last: int, lists: Lists, depths: Integers, given: Given, out: Moments
        ) -> None:
            items = last - first > FEWEST and counting(first, last, lists, depths, given.values)
            if not (items and items.pays):
                one_by_one(first, last, lists, depths, given, out)
                return
            up_to, sums = add_up(part, given, items)
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
                state = Before(counted, held, high, low, 0.0)
                q = first + number
                place = rank, int((depths[q] <= rank).sum()), tie, state
                walk_on(q, place, lists, depths, given, out)

        kernel.python = moments
        kernel.costs = work_together
        return kernel

    return begun

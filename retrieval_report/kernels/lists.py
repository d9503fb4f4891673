"""Ranked lists as the kernels see them: flat arrays, and the indices at which their parts start."""

from __future__ import annotations

from typing import NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from retrieval_report.contracts.arguments import Array
from retrieval_report.kernels.compile import Kernel, inlined, kernel

FEW = 2_000  # with fewer cells, Python is as fast as NumPy
ENDLESS = 2**62  # more items than any list has
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Bools = NDArray[np.bool_]
Places = NDArray[np.uint32]
Keys = NDArray[np.uint64]
Spread = tuple[float, float]  # a mean and a variance
# Where a walk stands: the items behind, the next tie, the end of the list, and the next depth
Stretch = tuple[int, int, int, int]
Scalar = TypeVar("Scalar", bound=np.generic)
Record = TypeVar("Record", bound=tuple[Array, ...])


class Lists(NamedTuple):
    """Ranked lists as flat arrays: list → ties → cells; a
    cell holds ``items`` items of grade index ``grade``.
    """

    start: Integers  # (lists + 1,) first tie of each list
    tie: Integers  # (ties + 1,) first cell of each tie
    grade: Codes  # (cells,)
    items: Integers  # (cells,) how many items each cell stands for

    @property
    def cells(self) -> Cells:
        """The items of each list, whatever their ties."""
        return Cells(self.tie[self.start], self.grade, self.items)

    @property
    def length(self) -> Integers:
        """Number of items of each list."""
        return self.total()

    def total(self, grades: Bools | None = None, *, of_last_tie: bool = False) -> Integers:
        """Number of items of each list or, 0 if it is empty, ``of_last_tie``; only of the grades
        ``grades`` if given.
        """
        last = np.maximum(self.start[1:] - 1, self.start[:-1])
        first = last if of_last_tie else self.start[:-1]
        total = np.empty(first.size, np.int64)
        grades = np.empty(0, np.bool_) if grades is None else grades
        begin, end = frozen(self.tie[first]), frozen(self.tie[self.start[1:]])
        if self.grade.size >= FEW and cast(Kernel, _count_cells).unmade:
            items, codes = self.items, self.grade
            if (end - begin).sum() < items.size:  # as of the last ties
                cells, start = spans(begin, end)
                items, codes, begin, end = items[cells], codes[cells], start[:-1], start[1:]
            before = running(np.where(grades[codes], items, 0) if grades.size else items)
            return np.asarray(before[end] - before[begin])
        _count_cells(begin, end, frozen(self.grade), frozen(self.items), frozen(grades), total)
        return total

    def of_ties(self, grades: Bools | None = None) -> Integers:
        """Number of items of each tie (only of the grades ``grades`` if given)."""
        items = self.items if grades is None else self.items * grades[self.grade]
        return np.add.reduceat(items, self.tie[:-1])

    def take(self, which: Integers) -> Lists:
        """Select lists; one that is named several times is
        repeated, and consecutive ones share their cells.
        """
        if which.size and (np.diff(which) == 1).all():
            start = self.start[which[0] : which[-1] + 2]
            tie = self.tie[start[0] : start[-1] + 1]
            cells = slice(tie[0], tie[-1])
            return Lists(start - start[0], tie - tie[0], self.grade[cells], self.items[cells])
        ties, start = runs(self.start, which)
        return self.with_ties(start, ties)

    def with_ties(self, start: Integers, which: Integers) -> Lists:
        """Return lists of some of the ties, of which each has the first at ``start``."""
        cells, tie = runs(self.tie, which)
        return Lists(start, tie, self.grade[cells], self.items[cells])


class Cells(NamedTuple):
    """Items of lists by grade, as flat arrays; the entries of list i are ``start[i]`` … ``start[i +
    1]`` − 1.
    """

    start: Integers
    grade: Codes
    items: Integers


class Rows(NamedTuple):
    """Which rows belong to which list: ``begin`` … ``end`` − 1; every row is in one."""

    begin: Integers
    end: Integers

    @property
    def work(self) -> Integers:
        """Running totals of the rows of all lists, from 0 on."""
        return running(self.end - self.begin)

    def list_of(self) -> Places:
        """Return the list that every row belongs to."""
        return self.spread(np.arange(self.begin.size, dtype=np.uint32))

    def spread(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return for each row the value of its list."""
        in_order = np.argsort(self.begin, kind="stable")
        return np.repeat(values[in_order], (self.end - self.begin)[in_order])

    def sums(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return for each list the sum of its rows' values, modulo 2**64."""
        total = np.zeros(self.begin.size, values.dtype)
        by_begin = np.argsort(self.begin)
        by_begin = by_begin[self.end[by_begin] > self.begin[by_begin]]
        total[by_begin] = np.add.reduceat(values, self.begin[by_begin])
        return total


class Tie(NamedTuple):
    """A tie: how many items precede it, its items, and its relevant items."""

    t: int
    size: int
    relevant: int


class Moments(NamedTuple):
    """Mean and variance over the orders inside ties, each of shape (lists, cutoffs)."""

    mean: Floats
    variance: Floats


@kernel
def _count_cells(
    begin: Integers, end: Integers, grade: Codes, items: Integers, grades: Bools, total: Integers
) -> None:
    """Sum the items of the cells ``begin`` … ``end`` − 1
    of each list, of the grades ``grades`` (empty: all).
    """
    for q in range(begin.size):
        number = 0
        for cell in range(begin[q], end[q]):
            if grades.size == 0 or grades[grade[cell]]:
                number += items[cell]
        total[q] = number


def running(sizes: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the running totals of sizes, from 0 on: where each begins, and where the last ends.

    >>> running(np.array([2, 3]))
    array([0, 2, 5])
    """
    totals = np.zeros(sizes.size + 1, sizes.dtype)
    np.cumsum(sizes, out=totals[1:])
    return totals


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the array read-only, since Numba compiles
    kernels separately for writable and read-only arrays.
    """
    view = array.view()
    view.setflags(write=False)
    return view


def all_frozen(record: Record) -> Record:
    """Return a record of arrays with all of them read-only."""
    return type(record)(*map(frozen, record))


def spans(begin: Integers, end: Integers) -> tuple[Integers, Integers]:
    """Return the numbers ``begin`` … ``end`` − 1 of some spans, one span after the other, and the
    start of each.

    >>> spans(np.array([7, 2]), np.array([9, 3]))
    (array([7, 8, 2]), array([0, 2, 3]))
    """
    size = end - begin
    start = running(size)
    return np.arange(start[-1]) - np.repeat(start[:-1] - begin, size), start


def runs(start: Integers, which: Integers) -> tuple[Integers, Integers]:
    """Return the members of some groups, one group after the other, and the start of each."""
    return spans(start[which], start[which + 1])


def slots_walked(first: int, last: int, lists: Lists, depths: Integers, *_: object) -> float:
    """Return the work of a kernel that walks over the items above the deepest cutoff of some lists."""
    cells = int(lists.tie[lists.start[last]] - lists.tie[lists.start[first]])
    deepest = float(depths[first:last].max(axis=1, initial=0).sum())
    return float(2.0 * min(float(cells), deepest) + 2.0 * (last - first) * depths.shape[1])


def pairs_in_ties(_first: int, _last: int, lists: Lists, *_: object) -> float:
    """Return the work of a kernel that looks at all pairs of items of a tie."""
    before = running(lists.items)[lists.tie]
    return 10.0 * float(np.square(np.diff(before).astype(np.float64)).sum())


@inlined
def plain_size(tie: int, lists: Lists, values: Floats) -> int:
    """Return the items of a tie whose order changes no sum: of a single item, or of items of one
    grade whose value is 0; too many for any list if the order may change one.

    Kernels walk over such ties without the mathematics of ties. The bits are the same, as
    tests/kernels/test_plain_ties.py checks.
    """
    cell = lists.tie[tie]
    size = lists.items[cell]
    plain = (size == 1) | (values[lists.grade[cell]] == 0.0)  # without a branch for either
    return size if plain & (lists.tie[tie + 1] == cell + 1) else ENDLESS


@inlined
def ties_of(q: int, lists: Lists) -> range:
    """Return the ties of a list."""
    return range(lists.start[q], lists.start[q + 1])


@inlined
def cells_of(tie: int, lists: Lists) -> range:
    """Return the cells of a tie."""
    return range(lists.tie[tie], lists.tie[tie + 1])


@inlined
def tie_size(tie: int, lists: Lists) -> int:
    """Count the items of a tie."""
    size = 0
    for c in cells_of(tie, lists):
        size += lists.items[c]
    return size


@inlined
def count_relevant(tie: int, lists: Lists, values: Floats) -> tuple[int, int]:
    """Count the items of a tie, and the relevant ones, which have a value."""
    size = relevant = 0
    for c in cells_of(tie, lists):
        size += lists.items[c]
        relevant += lists.items[c] if values[lists.grade[c]] else 0
    return size, relevant

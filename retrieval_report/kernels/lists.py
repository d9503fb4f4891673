"""How the kernels see ranked lists: flat arrays and where the parts start."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import inlined, kernel

__all__ = [
    "Bools",
    "Cells",
    "Codes",
    "Extremes",
    "Floats",
    "Integers",
    "Keys",
    "Lists",
    "Moments",
    "Places",
    "Rows",
    "frozen",
    "single_items",
]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Bools = NDArray[np.bool_]
Places = NDArray[np.uint32]
Keys = NDArray[np.uint64]
Scalar = TypeVar("Scalar", bound=np.generic)


class Lists(NamedTuple):
    """Ranked lists as flat arrays: list → ties → cells; a cell is ``items`` items of grade code ``grade``."""

    start: Integers  # (lists + 1,) first tie of each list
    tie: Integers  # (ties + 1,) first cell of each tie
    grade: Codes  # (cells,)
    items: Integers  # (cells,) how many items each cell stands for

    @property
    def length(self) -> Integers:
        """Items of each list."""
        return self._count(self.start[:-1], None)

    def total(self, counted: Bools) -> Integers:
        """Items of each list that have one of the grades ``counted``."""
        return self._count(self.start[:-1], counted)

    def total_of_last(self, counted: Bools | None = None) -> Integers:
        """Items of the last tie of each list, of the grades ``counted`` if it is given; 0 of empty lists."""
        return self._count(np.maximum(self.start[1:] - 1, self.start[:-1]), counted)

    def _count(self, first: Integers, counted: Bools | None) -> Integers:
        """Items of each list from one of its ties on."""
        found = np.empty(first.size, np.int64)
        counted = np.empty(0, np.bool_) if counted is None else counted
        begin, end = frozen(self.tie[first]), frozen(self.tie[self.start[1:]])
        _count_cells(begin, end, frozen(self.grade), frozen(self.items), frozen(counted), found)
        return found

    def take(self, which: Integers) -> Lists:
        """Some of the lists, any as often as it is named."""
        ties, start = _runs(self.start, which)
        cells, tie = _runs(self.tie, ties)
        return Lists(start, tie, self.grade[cells], self.items[cells])


class Cells(NamedTuple):
    """Items of lists by grade, as flat arrays: those of list i are ``start[i]`` … ``start[i + 1]`` − 1."""

    start: Integers
    grade: Codes
    items: Integers


class Rows(NamedTuple):
    """Which rows belong to which list: places ``begin`` … ``end`` − 1 of ``row_of``, or of the rows as they are."""

    begin: Integers
    end: Integers
    row_of: Places  # empty: the rows of a list stand together already

    def of(self, index: int) -> NDArray[np.integer]:
        """Row numbers of one list."""
        indexes = np.arange(self.begin[index], self.end[index])
        return self.row_of[indexes] if self.row_of.size else indexes

    def list_of(self) -> Places:
        """The list of every row."""
        length = self.end - self.begin
        numbers = np.repeat(np.arange(length.size, dtype=np.uint32), length)
        places = np.arange(numbers.size) + np.repeat(self.begin - np.cumsum(length) + length, length)
        found = np.empty(numbers.size, np.uint32)
        found[self.row_of[places] if self.row_of.size else places] = numbers
        return found

    def any(self, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether any row of each list is marked."""
        in_order = marked[self.row_of] if self.row_of.size else marked
        before = np.concatenate([[0], np.cumsum(in_order)])
        return np.asarray(before[self.end] > before[self.begin])


class Moments(NamedTuple):
    """Mean and variance over the orders inside ties, (lists, cutoffs) each."""

    mean: Floats
    variance: Floats


class Extremes(NamedTuple):
    """Which end is wanted, and the values found, (lists, cutoffs)."""

    best: bool
    value: Floats


@kernel
def _count_cells(
    begin: Integers, end: Integers, grade: Codes, items: Integers, counted: Bools, found: Integers
) -> None:
    """Items of the cells ``begin`` … ``end`` − 1 of each list, of grades that are ``counted`` (empty: of all)."""
    for q in range(begin.size):
        total = 0
        for cell in range(begin[q], end[q]):
            if counted.size == 0 or counted[grade[cell]]:
                total += items[cell]
        found[q] = total


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """The array, read-only: Numba compiles a kernel anew for arrays that may be written, so inputs are made alike."""
    view = array.view()
    view.setflags(write=False)
    return view


def _runs(start: Integers, which: Integers) -> tuple[Integers, Integers]:
    """Members of some groups, one group after the other, and where these now start."""
    size = np.diff(start)[which]
    new_start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    members = np.arange(new_start[-1]) - np.repeat(new_start[:-1] - start[which], size)
    return members, new_start


@inlined
def single_items(tie: int, end: int, most: int, lists: Lists) -> int:
    """How many ties from ``tie`` on are one item each, up to the tie ``end`` and to ``most`` of them.

    Nothing of them is random and no cutoff lies inside them, so kernels walk over them without the mathematics of
    ties. That gives the same bits, which tests/test_single_items.py holds them to.
    """
    found = 0
    cell = lists.tie[tie]
    most = min(most, end - tie)
    while found < most and lists.tie[tie + found + 1] == cell + found + 1 and lists.items[cell + found] == 1:
        found += 1
    return found

"""How the kernels see ranked lists: flat arrays and where the parts start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import inlined

__all__ = ["Codes", "Floats", "Integers", "Lists", "single_items"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


class Lists(NamedTuple):
    """Ranked lists as flat arrays: list → ties → cells; a cell is ``items`` items of grade code ``grade``."""

    start: Integers  # (lists + 1,) first tie of each list
    tie: Integers  # (ties + 1,) first cell of each tie
    grade: Codes  # (cells,)
    items: Integers  # (cells,) how many items each cell stands for

    @property
    def length(self) -> Integers:
        """Items of each list."""
        before = np.concatenate([[0], np.cumsum(self.items)])[self.tie[self.start]]
        return np.diff(before)

    def total(self, values: Floats) -> Floats:
        """Σ items · value of the grade, for each list (exact for whole numbers)."""
        before = np.concatenate([[0.0], np.cumsum(self.items * values[self.grade])])[self.tie[self.start]]
        return np.diff(before)

    def take(self, which: Integers) -> Lists:
        """Some of the lists, any as often as it is named."""
        ties, start = _runs(self.start, which)
        cells, tie = _runs(self.tie, ties)
        return Lists(start, tie, self.grade[cells], self.items[cells])


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

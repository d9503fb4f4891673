"""The only border between frames and NumPy: rows of a sorted frame → lists of ties of cells, and their orders."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.kernels import grouping, shuffling

__all__ = ["Lists", "ideal_lists", "keys_of", "lists_from_rows", "ordered", "singles", "starts"]

Integers = NDArray[np.int64]
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

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ count · value of the grade, for each list (exact for whole numbers)."""
        before = np.concatenate([[0.0], np.cumsum(self.items * values[self.grade])])[self.tie[self.start]]
        return np.diff(before)


def starts(codes: NDArray[np.integer], lists: int) -> Integers:
    """First row of each list, for rows sorted by list code; ``lists`` + 1 entries.

    >>> starts(np.array([0, 0, 2]), 4)
    array([0, 2, 2, 3, 3])
    """
    return np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=lists))]).astype(np.int64)


def lists_from_rows(
    row_start: Integers, new_tie: NDArray[np.bool_], grade: Codes, count: Integers, kinds: int
) -> Lists:
    """Lists from rows sorted by list and distance; ``count`` of length 0 means one item a row."""
    rows = grade.size
    start = np.zeros(row_start.size, np.int64)
    tie, cell_grade, cell_count = (
        np.zeros(rows + 1, np.int64),
        np.empty(rows, np.int32),
        np.empty(rows, np.int64),
    )
    ties, cells = grouping.count_cells(row_start, new_tie, grade, count, kinds, start, tie, cell_grade, cell_count)
    return Lists(start, tie[: ties + 1].copy(), cell_grade[:cells].copy(), cell_count[:cells].copy())


def singles(row_start: Integers, grade: Codes) -> Lists:
    """Lists in which every row is a tie of its own: the order received."""
    return Lists(row_start, np.arange(grade.size + 1), grade, np.ones(grade.size, np.int64))


def ordered(lists: Lists, *, best: bool) -> Lists:
    """The best or the worst order of every tie: its cells as ties of their own, high or low grades first."""
    first = lists.tie[lists.start]
    own = np.arange(lists.grade.size + 1)
    if not best:
        return Lists(first, own, lists.grade, lists.items)
    cells = np.diff(lists.tie)
    turned = np.repeat(lists.tie[:-1] + lists.tie[1:] - 1, cells) - own[:-1]
    return Lists(first, own, lists.grade[turned], lists.items[turned])


def ideal_lists(lists: Lists, extra_start: Integers, extra_grade: Codes, extra_count: Integers, kinds: int) -> Lists:
    """Every list's items, and extra items known but not retrieved, in falling order of grade."""
    room = lists.grade.size + extra_grade.size
    start = np.zeros(lists.start.size, np.int64)
    grade, count = np.empty(room, np.int32), np.empty(room, np.int64)
    cells = grouping.ideal_cells(
        lists.tie[lists.start], lists.grade, lists.items, extra_start, extra_grade, extra_count, kinds,
        start, grade, count,
    )  # fmt: skip
    return Lists(start, np.arange(cells + 1), grade[:cells].copy(), count[:cells].copy())


def keys_of(ids: pl.Series) -> NDArray[np.uint64]:
    """A 64-bit key for every id, the same on every machine and in every order of the rows.

    >>> keys_of(pl.Series(["a", "b"])).tolist() == keys_of(pl.Series(["b", "a"])).tolist()[::-1]
    True
    """
    keys = np.empty(len(ids), np.uint64)
    if ids.dtype == pl.String:
        lengths = ids.str.len_bytes().to_numpy().astype(np.int64)
        characters = np.frombuffer((ids.str.join("").item() or "").encode(), dtype=np.uint8)
        shuffling.text_keys(characters, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), keys)
    else:
        numbers = ids.cast(pl.UInt64) if ids.dtype == pl.UInt64 else ids.cast(pl.Int64)
        shuffling.integer_keys(numbers.to_numpy().astype(np.uint64, casting="unsafe"), keys)
    return keys

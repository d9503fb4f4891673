"""Rows in order → ties → cells: how many items of each grade every tie of every list holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import kernel

__all__ = ["count_cells", "ideal_cells"]

Integers = NDArray[np.int64]
Codes = NDArray[np.int32]


@kernel
def _flush(seen: Codes, found: int, tally: Integers, grade: Codes, count: Integers, cells: int, falling: bool) -> int:
    """Write the grades seen in order, with their tallies, behind ``cells``; clear the tallies."""
    ordered = np.sort(seen[:found]) if found > 1 else seen[:found]
    for index in range(found):
        code = ordered[found - 1 - index] if falling else ordered[index]
        grade[cells], count[cells] = code, tally[code]
        tally[code] = 0
        cells += 1
    return cells


@kernel
def count_cells(
    row_start: Integers,
    new_tie: NDArray[np.bool_],
    row_grade: Codes,
    row_count: Integers,
    kinds: int,
    list_start: Integers,
    tie_start: Integers,
    grade: Codes,
    count: Integers,
) -> tuple[int, int]:
    """Fill in the ties of every list and the cells of every tie, grades ascending; return how many of each.

    ``row_count`` of length 0 means that every row is one item. ``tie_start``, ``grade`` and ``count`` have room for
    one tie and one cell a row.
    """
    ties, cells = 0, 0
    tally, seen = np.zeros(kinds, np.int64), np.empty(kinds, np.int32)
    tie_start[0] = 0
    for q in range(row_start.size - 1):
        found = 0
        for row in range(row_start[q], row_start[q + 1]):
            if new_tie[row] and row > row_start[q]:
                cells = _flush(seen, found, tally, grade, count, cells, False)
                found = 0
                ties += 1
                tie_start[ties] = cells
            code = row_grade[row]
            if tally[code] == 0:
                seen[found] = code
                found += 1
            tally[code] += row_count[row] if row_count.size > 0 else 1
        if row_start[q + 1] > row_start[q]:
            cells = _flush(seen, found, tally, grade, count, cells, False)
            ties += 1
            tie_start[ties] = cells
        list_start[q + 1] = ties
    return ties, cells


@kernel
def ideal_cells(
    cell_start: Integers,
    cell_grade: Codes,
    cell_count: Integers,
    extra_start: Integers,
    extra_grade: Codes,
    extra_count: Integers,
    kinds: int,
    list_start: Integers,
    grade: Codes,
    count: Integers,
) -> int:
    """Fill in every list's items and extra items by grade, highest first, one cell a grade; return how many cells."""
    cells = 0
    tally, seen = np.zeros(kinds, np.int64), np.empty(kinds, np.int32)
    for q in range(cell_start.size - 1):
        found = 0
        for cell in range(cell_start[q], cell_start[q + 1]):
            code = cell_grade[cell]
            if tally[code] == 0:
                seen[found] = code
                found += 1
            tally[code] += cell_count[cell]
        for cell in range(extra_start[q], extra_start[q + 1]):
            code = extra_grade[cell]
            if tally[code] == 0 and extra_count[cell] > 0:
                seen[found] = code
                found += 1
            tally[code] += extra_count[cell]
        cells = _flush(seen, found, tally, grade, count, cells, True)
        list_start[q + 1] = cells
    return cells

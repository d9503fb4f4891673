"""Where the cells of lists come from: a row of every cell, for the values that keys and codes stand for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import allocating, kernel
from retrieval_report.kernels.lists import Codes, Integers, Lists

__all__ = ["cell_rows"]

Places = NDArray[np.uint32]


@kernel
def _number(key: Integers, low: int, tie: Integers, table: Integers) -> None:
    """Number the distances of one list, near first, where they are few enough for a table."""
    for slot in range(key.size):
        table[key[slot] - low] = 1
    ties = 0
    for distance in range(table.size):
        ties += table[distance]
        table[distance] = ties - 1
    for slot in range(key.size):
        tie[slot] = table[key[slot] - low]


@allocating
def _number_sorted(key: Integers, tie: Integers) -> None:
    """Number the distances of one list, near first."""
    order = np.argsort(key)
    ties = 0
    for index in range(order.size):
        if index > 0 and key[order[index]] != key[order[index - 1]]:
            ties += 1
        tie[order[index]] = ties


@allocating
def cell_rows(
    first: int,
    last: int,
    begin: Integers,
    end: Integers,
    row_of: Places,
    row_key: Integers,
    row_grade: Codes,
    lists: Lists,
    found: Places,
) -> None:
    """Fill in a row of every cell of the lists ``first`` … ``last`` − 1: its last one in the order received."""
    longest = max((end[first:last] - begin[first:last]).max(), 1) if last > first else 1
    keys, ties = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        rows = end[q] - begin[q]
        low, high = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        for slot in range(rows):
            keys[slot] = row_key[row_of[begin[q] + slot] if row_of.size > 0 else begin[q] + slot]
            low, high = min(low, keys[slot]), max(high, keys[slot])
        spread = np.uint64(high - low)  # modulo 2**64, so right even where the difference passes 2**63
        if spread < np.uint64(4 * rows):
            _number(keys[:rows], low, ties[:rows], np.zeros(int(spread) + 1, np.int64))
        else:
            _number_sorted(keys[:rows], ties[:rows])
        for slot in range(rows):
            row = row_of[begin[q] + slot] if row_of.size > 0 else begin[q] + slot
            cell = lists.tie[lists.start[q] + ties[slot]]
            while lists.grade[cell] != row_grade[row]:
                cell += 1
            found[cell] = row

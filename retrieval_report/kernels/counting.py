"""For every cell of the lists, one row it came from, so that keys and codes can be turned back into values."""

from __future__ import annotations

import numpy as np

from retrieval_report.kernels.compile import allocating, kernel
from retrieval_report.kernels.grouping import Listed
from retrieval_report.kernels.lists import Integers, Lists, Places


@kernel
def _number(key: Integers, low: int, tie: Integers, table: Integers) -> None:
    """Number the distances of one list, nearest first, if they are few enough for a table."""
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
    """Number the distances of one list, nearest first, by sorting."""
    order = np.argsort(key)
    ties = 0
    for index in range(order.size):
        if index > 0 and key[order[index]] != key[order[index - 1]]:
            ties += 1
        tie[order[index]] = ties


@allocating
def cell_rows(first: int, last: int, rows: Listed, lists: Lists, found: Places) -> None:
    """Fill in, for every cell of the lists ``first`` … ``last`` − 1, its last row in the order received."""
    begin, end, row_of = rows.of_list
    longest = max((end[first:last] - begin[first:last]).max(), 1) if last > first else 1
    keys, ties = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for q in range(first, last):
        size = end[q] - begin[q]
        low, high = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        for slot in range(size):
            keys[slot] = rows.key[row_of[begin[q] + slot] if row_of.size > 0 else begin[q] + slot]
            low, high = min(low, keys[slot]), max(high, keys[slot])
        spread = np.uint64(high - low)  # modulo 2**64, so correct even if the difference exceeds 2**63
        if spread < np.uint64(4 * size):
            _number(keys[:size], low, ties[:size], np.zeros(int(spread) + 1, np.int64))
        else:
            _number_sorted(keys[:size], ties[:size])
        for slot in range(size):
            row = row_of[begin[q] + slot] if row_of.size > 0 else begin[q] + slot
            cell = lists.tie[lists.start[q] + ties[slot]]
            while lists.grade[cell] != rows.grade[row]:
                cell += 1
            found[cell] = row

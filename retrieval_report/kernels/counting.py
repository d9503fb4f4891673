"""For every cell of the lists, one row it came from, so that keys and codes can be turned back into
values.
"""

from __future__ import annotations

import numpy as np

from retrieval_report.kernels.compile import allocating
from retrieval_report.kernels.grouping import Listed, Together, gather, sort_keys
from retrieval_report.kernels.lists import Lists, Places


@allocating
def cell_rows(first: int, last: int, listed: Listed, lists: Lists, found: Places) -> None:
    """Fill in, for every cell of the lists ``first`` … ``last`` − 1, its last row in the order
    received.
    """
    begin, end = listed.of_list
    longest = max((end[first:last] - begin[first:last]).max(), 1) if last > first else 1
    keys, grades, counts = (
        np.empty(longest, np.int64),
        np.empty(longest, np.int32),
        np.empty(longest, np.int64),
    )
    order = np.empty(longest, np.int64)
    for q in range(first, last):
        size = end[q] - begin[q]
        rows = Together(keys[:size], grades[:size], counts[:size])
        low, high, ascending = gather(begin[q], listed, rows)
        if not ascending:
            sort_keys(rows.key, low, np.uint64(high - low), order[:size])
        tie, before = lists.start[q] - 1, 0
        for index in range(size):
            position = index if ascending else order[index]
            if index == 0 or keys[position] != before:
                tie, before = tie + 1, keys[position]
            cell = lists.tie[tie]
            while lists.grade[cell] != grades[position]:
                cell += 1
            found[cell] = begin[q] + position

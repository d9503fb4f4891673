"""Lists as a deeper retrieval could complete them."""

from __future__ import annotations

import numpy as np

from retrieval_report.kernels.compile import ZERO, allocating
from retrieval_report.kernels.grouping import RISING, Tally, flush, tally_cells
from retrieval_report.kernels.lists import Bools, Cells, Lists


@allocating
def complete(
    lists: Lists, open_last: Bools, extra: Cells, kinds: int, new: Lists
) -> tuple[int, int]:
    """Fill in every list's ties, adding extra items to its last tie (``open_last``) or as a new tie
    after it.

    Returns the numbers of ties and cells of the ``new`` lists.
    """
    new_start, new_tie, grade, items = new
    ties = cells = ZERO
    tallied = Tally(np.zeros(kinds, np.int64), np.empty(kinds, np.int32))
    for q in range(lists.start.size - 1):
        closed = lists.start[q + 1] - (
            1 if open_last[q] and lists.start[q + 1] > lists.start[q] else 0
        )
        for tie in range(lists.start[q], closed):
            for cell in range(lists.tie[tie], lists.tie[tie + 1]):
                grade[cells], items[cells] = lists.grade[cell], lists.items[cell]
                cells += 1
            ties += 1
            new_tie[ties] = cells
        begin, end = lists.tie[closed], lists.tie[lists.start[q + 1]]
        found = tally_cells(begin, end, lists.grade, lists.items, tallied, ZERO)
        found = tally_cells(
            extra.start[q], extra.start[q + 1], extra.grade, extra.items, tallied, found
        )
        cells = flush(tallied, found, grade, items, cells, RISING)
        if found > 0:
            ties += 1
            new_tie[ties] = cells
        new_start[q + 1] = ties
    return ties, cells

"""Find the judgements of the rows of lists, by lookup in a small table of each query's judged
items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.compile import allocating
from retrieval_report.kernels.grouping import slot_of, table_mask
from retrieval_report.kernels.lists import Integers, Keys, Places, Rows

SPARSE = 4  # most rows are not judged, and in a table with this many slots per key they meet an empty slot at once


class ItemRows(NamedTuple):
    """Rows of lists, or of queries' judgements, and the key of each row's item."""

    of_list: Rows
    item: Keys


@allocating
def find_judgements(
    first: int, last: int, listed: ItemRows, judged: Integers, judgements: ItemRows, found: Places
) -> bool:
    """Write, for every row of the lists ``first`` … ``last`` − 1, the row of its item's judgement +
    1, or 0.

    ``judged`` gives the query of the judgements that each list belongs to, or −1. Returns whether
    the keys of every query's judged items are distinct; if not, the result must not be used.
    """
    (begin, end, row_of), item = listed
    (judged_begin, judged_end, judged_row_of), judged_item = judgements
    longest = 1
    for q in range(first, last):
        if judged[q] >= 0:
            longest = max(longest, judged_end[judged[q]] - judged_begin[judged[q]])
    size = int(table_mask(SPARSE * longest)) + 1
    table, of_slot = np.empty(size, np.uint64), np.zeros(size, np.uint32)
    for q in range(first, last):
        begin_judged = judged_begin[judged[q]] if judged[q] >= 0 else 0
        end_judged = judged_end[judged[q]] if judged[q] >= 0 else 0
        mask = table_mask(SPARSE * (end_judged - begin_judged))
        of_slot[: int(mask) + 1] = 0
        for place in range(begin_judged, end_judged):
            row = judged_row_of[place] if judged_row_of.size > 0 else place
            slot = slot_of(judged_item[row], mask)
            while of_slot[slot] != 0:
                if table[slot] == judged_item[row]:
                    return False
                slot = (slot + np.uint64(1)) & mask
            table[slot], of_slot[slot] = judged_item[row], row + 1
        for place in range(begin[q], end[q]):
            row = row_of[place] if row_of.size > 0 else place
            slot = slot_of(item[row], mask)
            while of_slot[slot] != 0 and table[slot] != item[row]:
                slot = (slot + np.uint64(1)) & mask
            found[row] = of_slot[slot]
    return True

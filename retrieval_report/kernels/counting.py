"""Where the cells of lists come from: a row of every cell, for the values that keys and codes stand for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import kernel
from retrieval_report.kernels.lists import Codes, Integers, Lists

__all__ = ["cell_rows"]

Places = NDArray[np.uint32]


@kernel
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
    for q in range(first, last):
        own = row_of[begin[q] : end[q]] if row_of.size > 0 else np.arange(begin[q], end[q]).astype(np.uint32)
        keys = row_key[own]
        keys.sort()
        ties = 0
        for place in range(keys.size):
            if place == 0 or keys[place] != keys[place - 1]:
                keys[ties] = keys[place]
                ties += 1
        for row in own:
            tie = lists.start[q] + np.searchsorted(keys[:ties], row_key[row])
            cell = lists.tie[tie]
            while lists.grade[cell] != row_grade[row]:
                cell += 1
            found[cell] = row

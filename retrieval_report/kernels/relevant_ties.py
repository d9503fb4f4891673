"""Count the items nearer than a relevant one, and those as near, where few items are relevant:
nothing is sorted.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from retrieval_report.kernels.compile import ZERO, costs, kernel
from retrieval_report.kernels.lists import Integers, Rows


def rows_walked(key: NDArray[Any], rows: Rows, which: Integers, *counts: object) -> float:
    """Estimate the work of `count_smaller`: all rows of a list, for each row asked for."""
    return float(which.size) * key.size / max(rows.begin.size, 1)


@costs(rows_walked)
@kernel
def count_smaller(
    key: NDArray[Any], rows: Rows, which: Integers, smaller: Integers, equal: Integers
) -> None:
    """Count the rows of the same list whose keys are smaller than that of each row asked for
    (``which`` ascends), and those equal to it.
    """
    number = ZERO
    for q in range(rows.begin.size):
        own = key[rows.begin[q] : rows.end[q]]
        while number < which.size and which[number] < rows.end[q]:
            value = key[which[number]]
            below = ZERO
            up_to = ZERO
            for row in range(own.size):  # without branches: many rows at a time
                below += int(own[row] < value)
                up_to += int(own[row] <= value)
            smaller[number] = below
            equal[number] = up_to - below
            number += 1

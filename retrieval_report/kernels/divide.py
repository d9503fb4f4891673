"""Turn moments of sums into scores: divide them, convert their unit, and write them to the right
columns.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from retrieval_report.kernels.compile import kernel
from retrieval_report.kernels.lists import Floats, Integers, Moments


class Divisor(NamedTuple):
    """Divisors of the moments, with one row per list or one for all (columns likewise), and the
    unit.
    """

    by: Floats
    unit: float


class Columns(NamedTuple):
    """Columns of the moments, and the columns of the scores they are written to."""

    source: Integers
    place: Integers


class Scores(NamedTuple):
    """Value and standard deviation, each of shape (lists, cutoffs)."""

    value: Floats
    std: Floats


@kernel
def write_scores(
    first: int, last: int, moments: Moments, divisor: Divisor, columns: Columns, scores: Scores
) -> bool:
    """Write value and standard deviation of the lists ``first`` … ``last`` − 1; return whether all
    values are finite.

    Both are 0 where the divisor is 0.
    """
    (mean, variance), (value, std) = moments, scores
    by_of, unit = divisor
    finite, by_list, by_column = True, by_of.shape[0] > 1, by_of.shape[1] > 1
    for q in range(first, last):
        for index in range(columns.source.size):
            source, place = columns.source[index], columns.place[index]
            by = by_of[q if by_list else 0, source if by_column else 0]
            if by != 0.0:
                value[q, place] = mean[q, source] / by * unit
                std[q, place] = math.sqrt(variance[q, source]) / by * unit
            else:
                value[q, place], std[q, place] = 0.0, 0.0
            finite = finite and math.isfinite(value[q, place])
    return finite

"""Moments of sums → scores: divided, in their unit, and where they are to stand."""

from __future__ import annotations

import math

from retrieval_report.kernels.compile import kernel
from retrieval_report.kernels.lists import Floats, Integers

__all__ = ["write_scores"]


@kernel
def write_scores(
    first: int,
    last: int,
    mean: Floats,
    variance: Floats,
    divisor: Floats,
    unit: float,
    columns: Integers,
    places: Integers,
    value: Floats,
    std: Floats,
) -> bool:
    """Write value and standard deviation of the lists ``first`` … ``last`` − 1; whether all values are finite.

    Both are 0 where the divisor is, which has a row for every list or one for all, and columns likewise. ``columns``
    of the moments are written to ``places``, columns of the scores.
    """
    finite, by_list, by_column = True, divisor.shape[0] > 1, divisor.shape[1] > 1
    for q in range(first, last):
        for index in range(columns.size):
            source, place = columns[index], places[index]
            by = divisor[q if by_list else 0, source if by_column else 0]
            if by != 0.0:
                value[q, place] = mean[q, source] / by * unit
                std[q, place] = math.sqrt(variance[q, source]) / by * unit
            else:
                value[q, place], std[q, place] = 0.0, 0.0
            finite = finite and math.isfinite(value[q, place])
    return finite

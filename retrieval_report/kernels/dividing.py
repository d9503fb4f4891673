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
    value: Floats,
    std: Floats,
) -> bool:
    """Write value and standard deviation of the lists ``first`` … ``last`` − 1; whether all values are finite.

    Both are 0 where the divisor is. ``columns`` of the moments become the columns of the scores, in this order.
    """
    finite = True
    for q in range(first, last):
        for column in range(columns.size):
            source = columns[column]
            by = divisor[q, source]
            if by != 0.0:
                value[q, column] = mean[q, source] / by * unit
                std[q, column] = math.sqrt(variance[q, source]) / by * unit
            else:
                value[q, column], std[q, column] = 0.0, 0.0
            finite = finite and math.isfinite(value[q, column])
    return finite

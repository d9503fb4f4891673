"""Sums over positions, Σ weight(i) · value(item at i): precision, recall, F1, ACG, DCG, NDCG, RBP.

Inside a tie every item is equally likely at every slot, so the expectation is the mean value of the tie times the
weight its slots hold, and the variance is that of a random permutation (sampling without replacement). Ties are
independent, so both add up (McSherry & Najork 2008; the variance is derived in docs/metrics.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import kernel

__all__ = ["additive_moments"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@kernel
def slot_spread(weight: Floats, low: Floats, total: float, t: int, e: int, size: int) -> float:
    """Σ w² − (Σ w)² / size over the slots t + 1 … e of a tie; the other slots of the tie weigh nothing.

    Written as spread of the counted weights plus what the uncounted slots add. Differences are taken from the first
    weight (high and low parts), because far down the list neighbouring weights agree in most of their digits, and
    then from their own mean, because many weights of a long tie may be nearly nothing.
    """
    slots = e - t
    base, base_low = weight[t + 1], low[t + 1]
    average = 0.0
    for i in range(t + 2, e + 1):
        average += (weight[i] - base) + (low[i] - base_low)
    average /= slots
    inside = average * average
    for i in range(t + 2, e + 1):
        inside += ((weight[i] - base) + (low[i] - base_low) - average) ** 2
    return inside + total * total / slots * (size - slots) / size


@kernel
def value_moments(
    c0: int, c1: int, grade: NDArray[np.int32], count: Integers, values: Floats
) -> tuple[int, float, float]:
    """Size of a tie, sum of its values, and sum of their squared deviations from the mean."""
    size, total, lowest, highest = 0, 0.0, values[grade[c0]], values[grade[c0]]
    for c in range(c0, c1):
        value = values[grade[c]]
        size += count[c]
        total += count[c] * value
        lowest, highest = min(lowest, value), max(highest, value)
    spread = 0.0
    if lowest < highest:
        mean = total / size
        for c in range(c0, c1):
            spread += count[c] * (values[grade[c]] - mean) ** 2
    return size, total, spread


@kernel
def additive_moments(
    first: int,
    last: int,
    list_start: Integers,
    tie_start: Integers,
    grade: NDArray[np.int32],
    count: Integers,
    depths: Integers,
    values: Floats,
    unit: bool,
    weight: Floats,
    weight_low: Floats,
    weight_total: Floats,
    weight_total_low: Floats,
    mean: Floats,
    variance: Floats,
) -> None:
    """Write the mean and the variance of the sum at every depth of the lists ``first`` … ``last`` − 1.

    ``depths`` (lists, cutoffs) ascend along a row and end at the list's length at most; ``values`` holds the value
    of each grade; ``unit`` says that every weight is 1, which needs no loop over slots.
    """
    cutoffs = depths.shape[1]
    for q in range(first, last):
        high, low, spread = 0.0, 0.0, 0.0
        t, j = 0, 0
        for tie in range(list_start[q], list_start[q + 1]):
            if j == cutoffs:
                break
            size, total, value_spread = value_moments(tie_start[tie], tie_start[tie + 1], grade, count, values)
            end = t + size
            whole = False
            while not whole and j < cutoffs:
                e = min(depths[q, j], end)
                whole = depths[q, j] >= end
                part, part_spread = 0.0, 0.0
                if e > t and total != 0.0:
                    slots = (weight_total[e] - weight_total[t]) + (weight_total_low[e] - weight_total_low[t])
                    part = total / size * slots
                    if value_spread > 0.0:
                        if unit:
                            between = float(e - t) * (end - e) / size
                        else:
                            between = slot_spread(weight, weight_low, slots, t, e, size)
                        part_spread = between * value_spread / (size - 1)
                if whole:  # carry the sum on, with what rounding loses kept in ``low``
                    sum_ = high + part
                    back = sum_ - high
                    low += (high - (sum_ - back)) + (part - back)
                    high = sum_
                    spread += part_spread
                else:
                    mean[q, j] = high + (part + low)
                    variance[q, j] = spread + part_spread
                    j += 1
            t = end
        for rest in range(j, cutoffs):
            mean[q, rest] = high + low
            variance[q, rest] = spread

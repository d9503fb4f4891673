"""Moments of sums over positions, Σ weight(i) · value(item at i): precision, recall, F1, ACG, DCG,
NDCG, RBP.

Inside a tie every item is equally likely at every slot, so the expectation is the mean value of the
tie times the weight its slots hold, and the variance is that of a random permutation (sampling
without replacement). Ties are independent, so both add up (McSherry & Najork 2008; the variance is
derived in docs/metrics.md).
"""

from __future__ import annotations

from typing import NamedTuple

from retrieval_report.kernels.compile import ZERO, costs, inlined, kernel, squared
from retrieval_report.kernels.lists import (
    Floats,
    Integers,
    Lists,
    Moments,
    Spread,
    cells_of,
    single_items,
    slots_walked,
)
from retrieval_report.kernels.tables import Weights, add, pair_between, pair_product, pair_sum

LONG = 8  # from this many slots on, a difference of prefix sums costs less than a walk
KEPT = (
    2.0**-48
)  # a difference larger than this fraction of the prefix sums (some hundred bits) keeps its digits


@inlined
def slot_weight(weights: Weights, t: int) -> float:
    """Return the weight of slot t + 1, with the same bits as sums over several slots."""
    return pair_between(weights.total, weights.total_low, t, t + 1)[0]


@inlined
def slot_spread(weights: Weights, t: int, e: int, size: int) -> float:
    """Return Σ w² − (Σ w)² / size over the slots t + 1 … e of a tie; its other slots have weight
    0.
    """
    slots = e - t
    held = pair_between(weights.total, weights.total_low, t, e)
    total = held[0]
    if slots >= LONG:
        square = pair_between(weights.square, weights.square_low, t, e)
        whole = pair_product(held, held)
        spread = pair_sum(pair_product(square, (float(size), 0.0)), (-whole[0], -whole[1]))[0]
        if spread > KEPT * (weights.square[e] * size + weights.total[e] * total):
            return spread / size
    return _walked_spread(weights, t, e) + total * total / slots * (size - slots) / size


@inlined
def _walked_spread(weights: Weights, t: int, e: int) -> float:
    """Return Σ (w − mean)² over the slots t + 1 … e.

    Differences are taken from the first weight (high and low parts), because far down the list
    neighbouring weights agree in most of their digits, and then from their own mean, because many
    weights may be nearly nothing.
    """
    weight = weights.weight
    low = weights.weight_low
    base = weight[t + 1]
    base_low = low[t + 1]
    average = 0.0
    for i in range(t + 2, e + 1):
        average += (weight[i] - base) + (low[i] - base_low)
    average /= e - t
    inside = average * average
    for i in range(t + 2, e + 1):
        inside += squared((weight[i] - base) + (low[i] - base_low) - average)
    return inside


class Summed(NamedTuple):
    """The sum that is computed: the value of each item's grade times the weight of its position."""

    values: Floats
    unit: bool  # every weight is 1, which needs no loop over slots
    weights: Weights


class TieValues(NamedTuple):
    """Size of a tie, the sum of its items' values, and the sum of their squared deviations from the
    mean.
    """

    size: int
    total: float
    spread: float


@inlined
def tie_values(tie: int, lists: Lists, values: Floats) -> TieValues:
    """Return the size of a tie, the sum of its values, and the sum of their squared deviations from
    the mean.
    """
    size = 0
    total = 0.0
    lowest = highest = values[lists.grade[lists.tie[tie]]]
    for c in cells_of(tie, lists):
        value = values[lists.grade[c]]
        size += lists.items[c]
        total += lists.items[c] * value
        lowest = min(lowest, value)
        highest = max(highest, value)
    spread = 0.0
    if lowest < highest:
        mean = total / size
        for c in cells_of(tie, lists):
            spread += lists.items[c] * squared(values[lists.grade[c]] - mean)
    return TieValues(size, total, spread)


@inlined
def tie_moments(t: int, e: int, tie: TieValues, summed: Summed) -> Spread:
    """Return the mean and variance of what the slots t + 1 … e of a tie add to the sum."""
    size, total, value_spread = tie
    weights = summed.weights
    if e == t or total == 0.0:
        return 0.0, 0.0
    if summed.unit:
        counted = float(e - t)
        between = 0.0
        if value_spread and e < t + size:
            between = value_spread * counted * (t + size - e) / (float(size) * (size - 1))
        return total * counted / size, between
    held = pair_between(weights.total, weights.total_low, t, e)[0]
    if value_spread:
        return total * held / size, slot_spread(weights, t, e, size) * value_spread / (size - 1)
    return total * held / size, 0.0


@costs(slots_walked)
@kernel
def additive_moments(
    first: int, last: int, lists: Lists, depths: Integers, summed: Summed, out: Moments
) -> None:
    """Write the mean and the variance of the sum at every depth of the lists ``first`` … ``last`` −
    1.

    ``depths`` (lists, cutoffs) ascend along each row and do not exceed the list's length.
    """
    mean, variance = out
    values, unit, weights = summed
    cutoffs = depths.shape[1]
    for q in range(first, last):
        high = low = spread = 0.0
        t = j = ZERO
        tie = lists.start[q]
        end = lists.start[q + 1]
        while tie < end and j < cutoffs:
            stretch = single_items(tie, end, depths[q, j] - t, lists)
            for cell in range(lists.tie[tie], lists.tie[tie] + stretch):
                value = values[lists.grade[cell]]
                if unit:  # adding 0.0 costs less than an unpredictable branch
                    high, low = add(high, low, value)
                elif value != 0.0:
                    high, low = add(high, low, value * slot_weight(weights, t))
                t += 1
            tie += stretch
            if t == depths[q, j]:
                mean[q, j] = high + low
                variance[q, j] = spread
                j += 1
            elif tie < end:
                whole = tie_values(tie, lists, values)
                while j < cutoffs and depths[q, j] < t + whole.size:
                    part, part_spread = tie_moments(t, depths[q, j], whole, summed)
                    mean[q, j] = high + (part + low)
                    variance[q, j] = spread + part_spread
                    j += 1
                if j < cutoffs:
                    part, part_spread = tie_moments(t, t + whole.size, whole, summed)
                    high, low = add(high, low, part)
                    spread += part_spread
                t += whole.size
                tie += 1
        for rest in range(j, cutoffs):
            mean[q, rest] = high + low
            variance[q, rest] = spread

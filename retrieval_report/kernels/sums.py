"""Moments of sums over positions, Σ weight(i) · value(item
at i): precision, recall, F1, ACG, DCG, NDCG, RBP.

Inside a tie every item is equally likely at every slot, so the expectation is the mean value of the
tie times the weight its slots hold, and the variance is that of a random permutation (sampling
without replacement). Ties are independent, so both add up (McSherry & Najork 2008; the variance is
derived in docs/metrics.md).
"""

from typing import NamedTuple

from retrieval_report.kernels.compile import inlined, squared
from retrieval_report.kernels.lists import (
    Floats,
    Integers,
    Lists,
    Spread,
    Stretch,
    cells_of,
    plain_size,
)
from retrieval_report.kernels.tables import (
    Given,
    Weights,
    add,
    pair_between,
    pair_product,
    pair_sum,
)
from retrieval_report.kernels.walk import Before, Steps, together, walk

PREFIX_SUMS_FROM = 8  # from this many slots on, a difference of prefix sums costs less than a walk
KEPT = (
    2.0**-48
)  # a difference larger than this fraction of the prefix sums (some hundred bits) keeps its digits


@inlined
def slot_spread(weights: Weights, t: int, e: int, size: int) -> float:
    """Return Σ w² − (Σ w)² / size over the slots t + 1 … e of a tie; its other slots have weight 0."""
    slots = e - t
    weight_sum = pair_between(weights.total, weights.total_low, t, e)
    total = weight_sum[0]
    if slots >= PREFIX_SUMS_FROM:
        square = pair_between(weights.square, weights.square_low, t, e)
        whole = pair_product(weight_sum, weight_sum)
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


class TieValues(NamedTuple):
    """A tie: how many items precede it, its items, the sum of their values, and the sum of their
    squared deviations from the mean.
    """

    t: int
    size: int
    total: float
    spread: float


@inlined
def tie_values(t: int, tie: int, _ahead: Integers, lists: Lists, given: Given) -> TieValues:
    """Return what is asked of a tie after ``t`` items."""
    values = given.values
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
    return TieValues(t, size, total, spread)


@inlined
def tie_moments(tie: TieValues, slots: int, given: Given) -> Spread:
    """Return the mean and variance of what the first slots of a tie add to the sum."""
    t, size, total, value_spread = tie
    weights = given.weights
    if slots == 0 or total == 0.0:
        return 0.0, 0.0
    if not given.fades:  # every weight is 1, which needs no loop over slots
        relevant_slots = float(slots)
        between = 0.0
        if value_spread and slots < size:
            between = value_spread * relevant_slots * (size - slots) / (float(size) * (size - 1))
        return total * relevant_slots / size, between
    weight_sum = pair_between(weights.total, weights.total_low, t, t + slots)[0]
    if value_spread:
        spread = slot_spread(weights, t, t + slots, size)
        return total * weight_sum / size, spread * value_spread / (size - 1)
    return total * weight_sum / size, 0.0


@inlined
def _add_plain(
    stretch: Stretch, lists: Lists, given: Given, before: Before
) -> tuple[int, int, Before]:
    """Return where plain ties end, and the sums there."""
    t, tie, end, depth = stretch
    relevant, carried, high, low, variance = before
    while tie < end:
        size = plain_size(tie, lists, given.values)
        if t + size > depth:
            break
        value = given.values[lists.grade[lists.tie[tie]]]
        if not given.fades:  # adding 0.0 costs less than an unpredictable branch
            high, low = add(high, low, value)
        elif value != 0.0:
            high, low = add(high, low, value * given.weights.added[t + 1])
        t += size
        tie += 1
    return t, tie, Before(relevant, carried, high, low, variance)


@inlined
def _add_tie(tie: TieValues, before: Before, given: Given) -> Before:
    """Return the sums after a whole tie."""
    relevant, carried, high, low, variance = before
    part, spread = tie_moments(tie, tie.size, given)
    high, low = add(high, low, part)
    return Before(relevant, carried, high, low, variance + spread)


@inlined
def _inside(tie: TieValues, slots: int, before: Before, given: Given) -> Spread:
    """Return the moments for a cutoff after some slots of a tie."""
    part, spread = tie_moments(tie, slots, given)
    return before.high + (part + before.low), before.variance + spread


def _single(given: Given, value: Floats, before: Integers, _: Floats) -> Floats:
    """Return what items add that tie with nothing."""
    return value * given.weights.added[before + 1] if given.fades else value


additive_moments = together(_single)(
    walk("additive_moments", Steps(tie_values, _add_tie, _inside, plain=_add_plain))
)

"""Moments and extremes of values whose denominator is random: the relevant items above a cutoff
that splits a tie.

That number is hypergeometric. Given it, the counted slots are a uniform tie again, so a sum over
its few likely values is exact. The extremes of such ratios are not "relevant first" and "relevant
last".
"""

from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.compile import allocating, costs, inlined, kernel, squared
from retrieval_report.kernels.lists import (
    Floats,
    Integers,
    Lists,
    Spread,
    Tie,
    count_relevant,
    pairs_in_ties,
    slots_walked,
)
from retrieval_report.kernels.sums import slot_spread
from retrieval_report.kernels.tables import Given, Weights
from retrieval_report.kernels.walk import Before, Steps, count_tie, walk

NEGLIGIBLE = 1e-30  # relative to the likeliest value; what is omitted cannot change a float64


@allocating
def hypergeometric_band(size: int, relevant: int, slots: int) -> tuple[int, Floats]:
    """Return the smallest likely x, and the chances of x,
    x + 1, … relevant items among ``slots`` of ``size``.

    The walk starts at the mode and uses ratios of neighbours, so nothing overflows, underflows or
    cancels.
    """
    least = max(0, slots - (size - relevant))
    most = min(relevant, slots)
    mode = int((slots + 1.0) * (relevant + 1.0) / (size + 2.0))
    mode = min(max(mode, least), most)
    unlikely = size - relevant - slots
    probabilities = np.empty(most - least + 1)
    probabilities[mode - least] = chance = 1.0
    low = high = mode
    while low > least and chance > NEGLIGIBLE:
        chance *= float(low) * (unlikely + low) / (float(relevant - low + 1) * (slots - low + 1))
        low -= 1
        probabilities[low - least] = chance
    chance = 1.0
    while high < most and chance > NEGLIGIBLE:
        chance *= (
            float(relevant - high) * (slots - high) / (float(high + 1) * (unlikely + high + 1))
        )
        high += 1
        probabilities[high - least] = chance
    chances = probabilities[low - least : high - least + 1]
    total = 0.0
    for index in range(chances.size):
        total += chances[index]
    for index in range(chances.size):
        chances[index] /= total
    return low, chances


@kernel
def mean_and_spread(chances: Floats, means: Floats) -> Spread:
    """Return the mean of ``means`` under ``chances``, and their variance around it."""
    value = spread = 0.0
    for index in range(chances.size):
        value += chances[index] * means[index]
    for index in range(chances.size):
        spread += chances[index] * squared(means[index] - value)
    return value, spread


@inlined
def _weights_between(weights: Weights, t: int, e: int) -> float:
    """Return the sum of the weights of the positions t + 1 … e."""
    total = weights.total
    low = weights.total_low
    weight_sum: float = (total[e] - total[t]) + (low[e] - low[t])
    return weight_sum


@inlined
def _add(tie: Tie, before: Before, given: Given) -> Before:
    """Return the contribution of all ties so far after a whole tie is added."""
    t, size, relevant = tie
    hits, carried, total, low, spread = before
    total += _weights_between(given.weights, t, t + size) * relevant / size
    if 0 < relevant < size:
        order = slot_spread(given.weights, t, t + size, size)
        spread += order * relevant * (size - relevant) / size / (size - 1.0)
    return Before(hits + relevant, carried, total, low, spread)


@inlined
def _between(before: Before, given: Given) -> Spread:
    """Return mean and variance for a cutoff between two ties."""
    best = given.weights.total[before.relevant]
    return (before.high / best, before.variance / squared(best)) if before.relevant else (0.0, 0.0)


@allocating
def _inside(cut: Tie, slots: int, before: Before, given: Given) -> Spread:
    """Return the same for a cutoff that keeps ``slots`` slots of a tie."""
    t, size, relevant = cut
    hits, value_sum, spread = before.relevant, before.high, before.variance
    weight_sum = _weights_between(given.weights, t, t + slots)
    order = slot_spread(given.weights, t, t + slots, slots)
    least, chances = hypergeometric_band(size, relevant, slots)
    means = np.zeros(chances.size)
    within = 0.0
    for index in range(chances.size):
        x = least + index
        if hits + x:
            ideal = given.weights.total[hits + x]
            means[index] = (value_sum + weight_sum * x / slots) / ideal
            inner = order * x * (slots - x) / slots / (slots - 1.0) if 0 < x < slots else 0.0
            within += chances[index] * (spread + inner) / squared(ideal)
    value, between = mean_and_spread(chances, means)
    return value, within + between


# The moments of DCG@k / ideal DCG of the same top k, if all relevances are 0 or one grade
own_ideal_moments = costs(pairs_in_ties)(
    walk("own_ideal_moments", Steps(count_tie, _add, _inside, _between))
)


class Cut(NamedTuple):
    """A tie: how many items precede it, its items, its relevant items, and where its cells are,
    which ascend by grade.
    """

    t: int
    size: int
    relevant: int
    tie: int
    lists: Lists


@inlined
def _see_cells(t: int, tie: int, _ahead: Integers, lists: Lists, given: Given) -> Cut:
    """Return what is asked of a tie."""
    size, relevant = count_relevant(tie, lists, given.values)
    return Cut(t, size, relevant, tie, lists)


@inlined
def _place(cut: Cut, x: int, slots: int, before: Before, given: Given) -> Before:
    """Return what is found after ``slots`` slots of a tie if x of them are relevant: the highest
    grades come first, or the lowest last.

    For AP and WAP the sum is Σ (value sum so far / rank).
    """
    position = cut.t if given.best else cut.t + slots - x
    total = given.weights.total
    relevant, values, so_far, low, variance = before
    if given.by_ideal:
        weight_sum = total[position + x] - total[position]
        return Before(relevant + x, values, so_far + weight_sum, low, variance)
    result = 0.0
    remaining = x
    first = cut.lists.tie[cut.tie]
    last = cut.lists.tie[cut.tie + 1] - 1
    for step in range(last - first + 1):
        cell = last - step if given.best else first + step
        value = given.values[cut.lists.grade[cell]]
        take = min(cut.lists.items[cell], remaining) if value else 0
        a = position
        b = position + take
        # the i-th item of the cell sees values + value·(i − a), i = a + 1 … b: (values −
        # value·a)·ΔH + value·take
        if take > a:
            harmonic = _weights_between(given.weights, a, b)
            result += (values - value * a) * harmonic + value * take
        else:
            for i in range(a + 1, b + 1):
                result += (values + value * (i - a)) / i
        values += value * take
        position = b
        remaining -= take
    return Before(relevant + x, values, so_far + result, low, variance)


@inlined
def _place_all(cut: Cut, before: Before, given: Given) -> Before:
    """Return what is found after a whole tie."""
    return _place(cut, cut.relevant, cut.size, before, given)


@inlined
def _ratio_of(before: Before, given: Given) -> Spread:
    """Return the ratio, and no variance."""
    if before.relevant == 0:
        return 0.0, 0.0
    by = given.weights.total[before.relevant] if given.by_ideal else float(before.relevant)
    return max(before.high / by, 0.0), 0.0


@inlined
def _extreme(cut: Cut, slots: int, before: Before, given: Given) -> Spread:
    """Return the highest or lowest ratio over all
    numbers of relevant items among some slots of a tie.
    """
    least = max(0, slots - (cut.size - cut.relevant))
    extreme, _ = _ratio_of(_place(cut, least, slots, before, given), given)
    for x in range(least + 1, min(cut.relevant, slots) + 1):
        value, _ = _ratio_of(_place(cut, x, slots, before, given), given)
        if (value > extreme) == given.best:
            extreme = value
    return extreme, 0.0


# The highest or lowest ratio at every depth, over all orders and numbers of relevant items found
ratio_extremes = costs(slots_walked)(
    walk("ratio_extremes", Steps(_see_cells, _place_all, _extreme, _ratio_of))
)

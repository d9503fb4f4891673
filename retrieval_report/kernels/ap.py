"""Moments of AP and WAP: Σ_i (1/i) · [item at i relevant] · (sum of the values of the relevant
items at 1 … i).

The value of a relevant item is 1 in AP and its grade in WAP. Over a tie, AP's mean and variance
need sums over its slots that depend only on where the tie lies, not on its relevances
(``ranks``); WAP adds how the grades are distributed over the relevant slots. With item weights,
as in KerasRS, it is Σ_i (1/i) · (value of the item at i) · (relevant items at 1 … i).
docs/metrics.md has the derivations.
"""

from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.ap_retrieved import hypergeometric_band, mean_and_spread
from retrieval_report.kernels.compile import allocating, costs, inlined, squared
from retrieval_report.kernels.lists import (
    Floats,
    Integers,
    Lists,
    Spread,
    Stretch,
    cells_of,
    plain_size,
    slots_walked,
)
from retrieval_report.kernels.ranks import PRECISE_UP_TO, less, order_variance, place_sums
from retrieval_report.kernels.tables import Given, Weights, add, pair_between
from retrieval_report.kernels.walk import Before, Steps, together, walk


class ApTie(NamedTuple):
    """A tie: where it starts, its items, its relevant items, and their values."""

    t: int
    size: int
    relevant: int
    mean: float
    spread: float  # Σ (value − mean)²


@inlined
def slot_sums(t: int, slots: int, harmonics: Weights) -> tuple[float, float]:
    """Return Σ 1/i and Σ (i − t − 1)/i over a tie's slots,
    the latter as s − (t+1)·Σ 1/i if pairs are precise.
    """
    harmonic = pair_between(harmonics.total, harmonics.total_low, t, t + slots)
    if t <= PRECISE_UP_TO * slots:
        return harmonic[0], less((float(slots), 0.0), t + 1.0, harmonic)[0]
    climbed = 0.0
    for u in range(1, slots):
        climbed += u * harmonics.weight[t + 1 + u]
    return harmonic[0], climbed


@inlined
def tail_sums(t: int, slots: int) -> tuple[float, float, float]:
    """Return Σ w², Σ (2·w·T + T₂) and Σ (T² − T₂) over the slots; w = 1/i, T and T₂ sum w and w²
    after a slot.
    """
    squares = mixed = crossed = 0.0
    behind = behind_square = 0.0
    for i in range(t + slots, t, -1):
        w = 1.0 / i
        squares += w * w
        mixed += 2.0 * w * behind + behind_square
        crossed += behind * behind - behind_square
        behind += w
        behind_square += w * w
    return squares, mixed, crossed


@inlined
def grade_variance(
    tails: tuple[float, float, float],
    relevant: float,
    size: float,
    population: float,
    spread: float,
    second: float,
) -> float:
    """Return the mean variance due to which relevant item
    has which grade, given where the relevant items are.

    ``spread`` is Σ (grade − mean)² over the ``population`` relevant items of the whole tie;
    ``relevant`` of them lie among the ``size`` slots considered, and ``second`` is E[(AP sum)²] if
    nothing precedes the tie.
    """
    share = relevant / size
    two = share * (relevant - 1.0) / max(size - 1.0, 1.0)
    three = two * (relevant - 2.0) / max(size - 2.0, 1.0)
    squares, mixed, crossed = tails
    inner = share * squares + two * mixed + three * crossed - second / population
    return max(spread / (population - 1.0) * inner, 0.0)


@inlined
def order_mean(
    relevant: float, size: float, before: float, harmonic: float, climbed: float
) -> float:
    """Return the mean of AP's sum over the slots of a tie: ΔH and the climb describe the slots, the
    rest the tie.
    """
    others_in_tie = max(size - 1.0, 1.0)
    return (
        relevant
        * ((before + 1.0) * harmonic * others_in_tie + (relevant - 1.0) * climbed)
        / (size * others_in_tie)
    )


@inlined
def see_tie(t: int, tie: int, _ahead: Integers, lists: Lists, given: Given) -> ApTie:
    """Count the items of a tie; those with a value above 0 are relevant."""
    values = given.values
    size = relevant = 0
    total = 0.0
    lowest = np.inf
    highest = 0.0
    for c in cells_of(tie, lists):
        value = values[lists.grade[c]]
        size += lists.items[c]
        if value > 0.0:
            relevant += lists.items[c]
            total += lists.items[c] * value
            lowest = min(lowest, value)
            highest = max(highest, value)
    if relevant == 0 or lowest == highest:
        return ApTie(t, size, relevant, highest, 0.0)
    mean = total / relevant
    spread = 0.0
    for c in cells_of(tie, lists):
        value = values[lists.grade[c]]
        if value:
            spread += lists.items[c] * squared(value - mean)
    return ApTie(t, size, relevant, mean, spread)


@inlined
def sum_moments(tie: ApTie, slots: int, before: float, harmonics: Weights) -> Spread:
    """Return mean and variance of the sum over the first ``slots`` slots; ``before`` sums the
    values before the tie.
    """
    if tie.relevant == 0:
        return 0.0, 0.0
    harmonic, climbed = slot_sums(tie.t, slots, harmonics)
    scaled = before / tie.mean
    average = tie.mean * order_mean(tie.relevant, tie.size, scaled, harmonic, climbed)
    if tie.relevant == tie.size and tie.spread == 0.0:
        return average, 0.0
    sums = place_sums(tie.t, slots, tie.size, harmonics)
    variance = tie.mean * tie.mean * order_variance(sums, tie.relevant, tie.size, scaled)
    if tie.spread:
        own_mean = order_mean(tie.relevant, tie.size, 0.0, harmonic, climbed)
        second = order_variance(sums, tie.relevant, tie.size, 0.0) + squared(own_mean)
        tails = tail_sums(tie.t, slots)
        variance += grade_variance(tails, tie.relevant, tie.size, tie.relevant, tie.spread, second)
    return average, variance


@inlined
def ratio_between(before: Before, _given: Given) -> Spread:
    """Return mean and variance of the sum per relevant item found, for a cutoff between two ties."""
    relevant_so_far = max(before.relevant, 1)
    return (before.high + before.low) / relevant_so_far, before.variance / (
        relevant_so_far * relevant_so_far
    )


@allocating
def ratio_inside(tie: ApTie, slots: int, before: Before, given: Given) -> Spread:
    """Return the same for a cutoff after some slots of a
    tie, which adds a random number x of relevant items.

    x is hypergeometric. Given x, the counted slots are themselves a uniform tie of ``slots`` items,
    x of them relevant.
    """
    sum_before = before.high + before.low
    harmonics = given.weights
    if tie.relevant == 0:
        return ratio_between(before, given)
    least, chances = hypergeometric_band(tie.size, tie.relevant, slots)
    harmonic, climbed = slot_sums(tie.t, slots, harmonics)
    scaled = before.carried / tie.mean
    sums = place_sums(tie.t, slots, slots, harmonics)
    tails = (0.0, 0.0, 0.0)
    if tie.spread:
        tails = tail_sums(tie.t, slots)
    within = 0.0
    means = np.zeros(chances.size)
    for index in range(chances.size):
        x = float(least + index)
        relevant_so_far = before.relevant + x
        if relevant_so_far:
            means[index] = (
                sum_before + tie.mean * order_mean(x, slots, scaled, harmonic, climbed)
            ) / relevant_so_far
            variance = before.variance + tie.mean * tie.mean * order_variance(
                sums, x, slots, scaled
            )
            if tie.spread and x:
                second = order_variance(sums, x, slots, 0.0) + squared(
                    order_mean(x, slots, 0.0, harmonic, climbed)
                )
                variance += grade_variance(tails, x, slots, tie.relevant, tie.spread, second)
            within += chances[index] * variance / (relevant_so_far * relevant_so_far)
    value, between = mean_and_spread(chances, means)
    return value, within + between


@inlined
def sum_inside(tie: ApTie, slots: int, before: Before, given: Given) -> Spread:
    """Return the same for a cutoff after some slots of a tie."""
    part, variance = sum_moments(tie, slots, before.carried, given.weights)
    return before.high + (part + before.low), before.variance + variance


@inlined
def add_tie(tie: ApTie, before: Before, given: Given) -> Before:
    """Return the contribution of all ties so far after a whole tie is added."""
    part, variance = sum_moments(tie, tie.size, before.carried, given.weights)
    high, low = add(before.high, before.low, part)
    values = before.carried + tie.relevant * tie.mean
    return Before(before.relevant + tie.relevant, values, high, low, before.variance + variance)


@inlined
def add_plain(
    stretch: Stretch, lists: Lists, given: Given, before: Before
) -> tuple[int, int, Before]:
    """Return where plain ties end, and the contribution of all ties so far."""
    t, tie, end, depth = stretch
    relevant, total, high, low, variance = before
    while tie < end:
        size = plain_size(tie, lists, given.values)
        if t + size > depth:
            break
        value = given.values[lists.grade[lists.tie[tie]]]
        counts = value > 0.0  # without a branch, which nothing could predict
        others = total / (value if counts else 1.0) + 1.0
        high, low = add(high, low, value * (others * given.weights.added[t + size]))
        total += value
        relevant += int(counts)
        t += size
        tie += 1
    return t, tie, Before(relevant, total, high, low, variance)


@inlined
def squared_precisions(
    t: int, slots: int, relevant: float, size: float, before: float, harmonics: Weights
) -> float:
    """Return the mean of Σ (relevant items up to i)² / i² over the relevant items at a tie's slots.

    Of the u − 1 slots before slot u, those with a relevant item are hypergeometric.
    """
    others_in_tie = max(size - 1.0, 1.0)
    share = (relevant - 1.0) / others_in_tie
    total = 0.0
    for u in range(slots):
        mean = before + 1.0 + u * share
        spread = u * share * (1.0 - share) * (others_in_tie - u) / max(others_in_tie - 1.0, 1.0)
        total += (squared(mean) + spread) * squared(harmonics.added[t + u + 1])
    return total * relevant / size


@inlined
def weighed_moments(tie: ApTie, slots: int, before: int, harmonics: Weights) -> Spread:
    """Return mean and variance of Σ weight · precision over the first ``slots`` slots of a tie,
    with so many relevant items ``before`` it.

    Given the slots of the relevant items, their weights are a random permutation.
    """
    if tie.relevant == 0:
        return 0.0, 0.0
    harmonic, climbed = slot_sums(tie.t, slots, harmonics)
    mean = order_mean(tie.relevant, tie.size, before, harmonic, climbed)
    sums = place_sums(tie.t, slots, tie.size, harmonics)
    variance = order_variance(sums, tie.relevant, tie.size, before)
    by_weight = 0.0
    if tie.spread:
        squares = squared_precisions(tie.t, slots, tie.relevant, tie.size, before, harmonics)
        second = variance + squared(mean)
        by_weight = tie.spread / (tie.relevant - 1.0) * max(squares - second / tie.relevant, 0.0)
    return tie.mean * mean, squared(tie.mean) * variance + by_weight


@inlined
def weighed_inside(tie: ApTie, slots: int, before: Before, given: Given) -> Spread:
    """Return the moments of the weighted sum for a cutoff after some slots of a tie."""
    part, variance = weighed_moments(tie, slots, before.relevant, given.weights)
    return before.high + (part + before.low), before.variance + variance


@inlined
def add_weighed_tie(tie: ApTie, before: Before, given: Given) -> Before:
    """Return the contribution of all ties so far to the weighted sum after a whole tie is added."""
    part, variance = weighed_moments(tie, tie.size, before.relevant, given.weights)
    high, low = add(before.high, before.low, part)
    return Before(before.relevant + tie.relevant, 0.0, high, low, before.variance + variance)


@inlined
def add_weighed_plain(
    stretch: Stretch, lists: Lists, given: Given, before: Before
) -> tuple[int, int, Before]:
    """Return where plain ties end, and the contribution of all ties so far."""
    t, tie, end, depth = stretch
    relevant, total, high, low, variance = before
    while tie < end:
        size = plain_size(tie, lists, given.values)
        if t + size > depth:
            break
        value = given.values[lists.grade[lists.tie[tie]]]
        if value > 0.0:
            relevant += 1
            high, low = add(high, low, value * (relevant * given.weights.added[t + 1]))
        t += size
        tie += 1
    return t, tie, Before(relevant, total, high, low, variance)


def _single(given: Given, value: Floats, before: Integers, total: Floats) -> Floats:
    """Return what items add that tie with nothing, after others of this ``total`` value."""
    return value * ((total / value + 1.0) * given.weights.added[before + 1])


ap_moments = together(_single)(
    walk("ap_moments", Steps(see_tie, add_tie, sum_inside, plain=add_plain))
)
# Of the sum per relevant item found; a kernel of its own, so that few users have to compile it.
retrieved_moments = costs(slots_walked)(
    walk(
        "retrieved_moments",
        Steps(see_tie, add_tie, ratio_inside, ratio_between, add_plain),
    )
)
# Of KerasRS's AP with item weights, which few ask for.
weighed_ap_moments = costs(slots_walked)(
    walk(
        "weighed_ap_moments",
        Steps(see_tie, add_weighed_tie, weighed_inside, plain=add_weighed_plain),
    )
)

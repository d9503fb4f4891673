"""Expected reciprocal rank (ERR): the reader stops at an item with a probability that depends on
its grade.

Source: Chapelle et al. 2009. Over a whole tie the chance to go on is a product, which no order
changes; inside a tie the means are those of products over items drawn without replacement.
``stopping_spread`` has the variance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.ap_retrieved import hypergeometric_band
from retrieval_report.kernels.compile import ZERO, allocating, costs, power
from retrieval_report.kernels.err_variance import tie_variances
from retrieval_report.kernels.lists import (
    Floats,
    Integers,
    Lists,
    Moments,
    cells_of,
    pairs_in_ties,
    single_items,
)
from retrieval_report.kernels.tables import add

NEGLIGIBLE = 1e-30
AFRESH = 1024


@allocating
def survival_means(tie: int, lists: Lists, stop: Floats) -> Floats:
    """Return, at index x, the mean chance that the x-th of x stopping items drawn from the tie is
    the one that stops.

    The means fall at least as fast as (mean chance to go on)^x (Maclaurin's inequality), which
    tells where to end. Items are added kind by kind: of x items drawn, a hypergeometric number y
    are of the new kind, and the last one is of that kind with probability y/x.
    """
    stoppers = 0
    going = 0.0
    for c in cells_of(tie, lists):
        chance = stop[lists.grade[c]]
        if chance:
            stoppers += lists.items[c]
            going += lists.items[c] * (1.0 - chance)
    going /= max(stoppers, 1)
    longest = stoppers
    if going < 1.0:
        enough = (math.log(1.0 - going) - 42.0) / math.log(max(going, 1e-300))
        longest = int(min(float(stoppers), enough + 2.0))
    survive = np.zeros(longest + 1)
    stopped = np.zeros(longest + 1)
    survive[0] = 1.0
    added = 0
    for c in cells_of(tie, lists):
        chance = stop[lists.grade[c]]
        if chance:
            added += lists.items[c]
            survive, stopped = _add_kind(added, lists.items[c], chance, survive, stopped)
    return stopped


@allocating
def _add_kind(
    added: int, items: int, chance: float, survive: Floats, stopped: Floats
) -> tuple[Floats, Floats]:
    """Update the means of ``survival_means`` after ``items`` of the ``added`` items so far are of a
    new kind.
    """
    longest = survive.size - 1
    powers = np.ones(longest + 1)
    for y in range(longest):
        powers[y + 1] = powers[y] * (1.0 - chance)
    new_survive = np.zeros(longest + 1)
    new_stopped = np.zeros(longest + 1)
    new_survive[0] = 1.0
    for x in range(1, min(added, longest) + 1):
        least, chances = hypergeometric_band(added, items, x)
        for index in range(chances.size):
            y = least + index
            new_survive[x] += chances[index] * powers[y] * survive[x - y]
            last = (x - y) * powers[y] * stopped[x - y]
            if y:
                last += y * chance * powers[y - 1] * survive[x - y]
            new_stopped[x] += chances[index] * last / x
    return new_survive, new_stopped


@allocating
def stopping_tie_means(
    t: int, size: int, stoppers: int, stopped: Floats, slots: Integers, means: Floats
) -> None:
    """Write the expected Σ 1/i · P(stop at i) over the first ``slots[j]`` slots of a tie, for every
    j (ascending).

    Walks along the slots with the distribution of the number of stopping items passed, restricted
    to the counts whose probability still matters in float64, and starts afresh now and then, so
    that rounding errors do not add up.
    """
    longest = stopped.size - 1
    passed = np.zeros(longest + 1)
    passed[0] = 1.0
    low = high = slot = 0
    total = total_low = 0.0
    for j in range(slots.size):
        while slot < slots[j] and low < longest:
            if slot % AFRESH == AFRESH - 1:
                low, chances = hypergeometric_band(size, stoppers, slot)
                passed[:] = 0.0
                high = min(low + chances.size - 1, longest)
                for x in range(low, high + 1):
                    passed[x] = chances[x - low]
                if low >= longest:
                    break
            rest = float(size - slot)
            stops = 0.0
            for x in range(low, min(high, longest - 1) + 1):
                stops += passed[x] * (stoppers - x) * stopped[x + 1]
            total, total_low = add(total, total_low, stops / rest / (t + slot + 1.0))
            top = min(high + 1, longest)
            for x in range(top, low, -1):
                passed[x] = passed[x] * ((rest - stoppers + x) / rest) + passed[x - 1] * (
                    (stoppers - x + 1) / rest
                )
            passed[low] *= (rest - stoppers + low) / rest
            high = top
            while low < high and passed[low] < NEGLIGIBLE:
                low += 1
            while high > low and passed[high] < NEGLIGIBLE:
                high -= 1
            slot += 1
        means[j] = total + total_low


class Stops(NamedTuple):
    """The chance that an item of each grade ends the search, and whether the variance is wanted."""

    chance: Floats
    want_variance: bool


@allocating
def _tie_moments(
    t: int, size: int, tie: int, lists: Lists, stops: Stops, slots: Integers
) -> tuple[Floats, Floats]:
    """Write means and variances of what the first ``slots[j]`` slots of a tie add, for a reader who
    gets that far.
    """
    stop = stops.chance
    means = np.zeros(slots.size)
    spreads = np.zeros(slots.size)
    stoppers = 0
    for c in cells_of(tie, lists):
        stoppers += lists.items[c] if stop[lists.grade[c]] else 0
    if stoppers and slots.size:
        stopping_tie_means(t, size, stoppers, survival_means(tie, lists, stop), slots, means)
        if stops.want_variance and lists.tie[tie + 1] - lists.tie[tie] > 1:
            spreads = tie_variances(t, size, tie, lists, stop, slots)
    return means, spreads


@costs(pairs_in_ties)
@allocating
def stopping_moments(
    first: int, last: int, lists: Lists, depths: Integers, stops: Stops, out: Moments
) -> None:
    """Write mean and variance of ERR at every depth.

    The variance is NaN where it would take too much work (see ``stopping_spread``).
    """
    mean, variance = out
    stop = stops.chance
    cutoffs = depths.shape[1]
    for q in range(first, last):
        survival, value, spread = 1.0, 0.0, 0.0
        t = j = ZERO
        tie, end = lists.start[q], lists.start[q + 1]
        while tie < end and j < cutoffs and survival >= NEGLIGIBLE * value:
            stretch = single_items(tie, end, depths[q, j] - t, lists)
            for cell in range(lists.tie[tie], lists.tie[tie] + stretch):
                chance = stop[lists.grade[cell]]
                t += 1
                value += survival * (chance / t)
                survival *= 1.0 - chance
            tie += stretch
            if t == depths[q, j]:
                mean[q, j], variance[q, j] = value, spread
                j += 1
            elif tie < end:
                size = 0
                passing = 1.0
                for cell in cells_of(tie, lists):
                    size += lists.items[cell]
                    passing *= power(1.0 - stop[lists.grade[cell]], lists.items[cell])
                inside = j
                while inside < cutoffs and depths[q, inside] < t + size:
                    inside += 1
                slots = depths[q, j:inside] - t
                if inside < cutoffs:
                    slots = np.append(slots, size)
                means, spreads = _tie_moments(t, size, tie, lists, stops, slots)
                for index in range(slots.size):
                    part = survival * survival * spreads[index]
                    if j < inside:
                        mean[q, j] = value + survival * means[index]
                        variance[q, j] = spread + part
                        j += 1
                    else:
                        value = value + survival * means[index]
                        spread = spread + part
                survival *= passing
                t += size
                tie += 1
        for rest in range(j, cutoffs):
            mean[q, rest] = value
            variance[q, rest] = spread

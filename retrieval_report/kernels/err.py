"""Expected reciprocal rank (ERR): the reader stops at
an item with a probability that depends on its grade.

Source: Chapelle et al. 2009. Over a whole tie the chance to go on is a product, which no order
changes; inside a tie the means are those of products over items drawn without replacement.
``err_variance`` has the variance.
"""

import math
from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.ap_retrieved import hypergeometric_band
from retrieval_report.kernels.compile import allocating, costs, inlined, power
from retrieval_report.kernels.err_variance import tie_variances
from retrieval_report.kernels.lists import (
    Floats,
    Integers,
    Lists,
    Spread,
    Stretch,
    cells_of,
    pairs_in_ties,
    plain_size,
)
from retrieval_report.kernels.tables import Given, add
from retrieval_report.kernels.walk import NOTHING_BEFORE, Before, Steps, walk

NEGLIGIBLE = 1e-30
AFRESH = 1024


@allocating
def survival_means(tie: int, lists: Lists, stop: Floats, slots: int) -> Floats:
    """Return, at index x up to ``slots``, the mean chance that the x-th of x stopping items drawn
    from the tie is the one that stops.

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
    longest = min(stoppers, slots)
    if going < 1.0:
        enough = (math.log(1.0 - going) - 42.0) / math.log(max(going, 1e-300))
        longest = int(min(float(longest), enough + 2.0))
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
    """Update the means of ``survival_means`` after ``items``
    of the ``added`` items so far are of a new kind.
    """
    longest = survive.size - 1
    powers = np.ones(longest + 1)
    for y in range(longest):
        powers[y + 1] = powers[y] * (1.0 - chance)
    new_survive = np.zeros(longest + 1)
    new_stopped = np.zeros(longest + 1)
    new_survive[0] = 1.0
    for x in range(1, min(added, longest) + 1):
        if items == added:  # the first kind, of which all items drawn are
            new_survive[x] = powers[x]
            new_stopped[x] = x * chance * powers[x - 1] / x
            continue
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
def stopping_tie_means(t: int, size: int, stoppers: int, stopped: Floats, slots: int) -> Floats:
    """Return, at index x up to ``slots``, the expected Σ 1/i · P(stop at i) over the first x slots
    of a tie.

    Walks along the slots with the distribution of the number of stopping items passed, restricted
    to the counts whose probability still matters in float64, and starts afresh now and then, so
    that rounding errors do not add up.
    """
    longest = stopped.size - 1
    passed = np.zeros(longest + 1)
    passed[0] = 1.0
    means = np.zeros(slots + 1)
    low = high = slot = 0
    total = total_low = 0.0
    while slot < slots and low < longest:
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
        means[slot] = total + total_low
    means[slot:] = total + total_low
    return means


class StopTie(NamedTuple):
    """A tie: its items, the chance to get past all of them, and mean and variance of what so many
    slots add, for a reader who gets that far.
    """

    size: int
    passing: float
    means: Floats
    variances: Floats


@allocating
def _look(t: int, tie: int, ahead: Integers, lists: Lists, given: Given) -> StopTie:
    """Return what is asked of a tie after ``t`` items; variances are NaN where they would take too
    much work (see ``err_variance``).
    """
    stop = given.values  # the chance that an item of each grade ends the search
    size = stoppers = 0
    passing = 1.0
    for cell in cells_of(tie, lists):
        chance = stop[lists.grade[cell]]
        size += lists.items[cell]
        stoppers += lists.items[cell] if chance else 0
        passing *= power(1.0 - chance, lists.items[cell])
    slots = min(size, ahead[ahead.size - 1] - t)
    means = variances = np.zeros(slots + 1)
    if stoppers:
        stopped = survival_means(tie, lists, stop, slots)
        means = stopping_tie_means(t, size, stoppers, stopped, slots)
        if given.want_variance and lists.tie[tie + 1] - lists.tie[tie] > 1:
            variances = tie_variances(t, size, tie, lists, stop, ahead)
    return StopTie(size, passing, means, variances)


@inlined
def _add_plain(
    stretch: Stretch, lists: Lists, given: Given, before: Before
) -> tuple[int, int, Before]:
    """Return where plain ties end, and where the reader is there."""
    t, tie, end, depth = stretch
    relevant, survival, value, low, spread = before
    while tie < end:
        size = plain_size(tie, lists, given.values)
        if t + size > depth:
            break
        chance = given.values[lists.grade[lists.tie[tie]]]
        value += survival * (chance / (t + 1))
        survival *= 1.0 - chance
        t += size
        tie += 1
    return t, tie, Before(relevant, survival, value, low, spread)


@inlined
def _inside(looked: StopTie, slots: int, before: Before, _given: Given) -> Spread:
    """Return mean and variance after some slots of a tie."""
    survival = before.carried
    spread = before.variance + survival * survival * looked.variances[slots]
    return before.high + survival * looked.means[slots], spread


@inlined
def _add(looked: StopTie, before: Before, given: Given) -> Before:
    """Return where the reader is after a whole tie."""
    value, spread = _inside(looked, looked.size, before, given)
    return Before(before.relevant, before.carried * looked.passing, value, 0.0, spread)


@inlined
def _ended(before: Before) -> bool:
    """Return whether what the reader may still find changes no float64."""
    return before.carried < NEGLIGIBLE * before.high


err_moments = costs(pairs_in_ties)(
    walk(
        "err_moments",
        Steps(_look, _add, _inside, plain=_add_plain, ended=_ended),
        allocating,
        NOTHING_BEFORE._replace(carried=1.0),  # the chance that the reader gets so far
    )
)

"""The first relevant item: hit rate, reciprocal rank, and expected reciprocal rank (ERR).

Inside a tie of n items with r relevant, no relevant item is among the first j slots with probability
S_j = S_{j−1}·(n−r−j+1)/(n−j+1). ERR (Chapelle et al. 2009) generalises this to items that stop the user with a
probability of their own; over a whole tie the chance to go on is a product, which no order changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import ZERO, allocating, kernel
from retrieval_report.kernels.lists import Floats, Integers, Lists, single_items
from retrieval_report.kernels.ratios import hypergeometric_band
from retrieval_report.kernels.tables import add, pair_product, pair_quotient

__all__ = ["STATE_BUDGET", "first_relevant_moments", "stopping_moments"]

STATE_BUDGET = 4_000_000  # slots × states × kinds; about 20 ms for one tie at one cutoff
NEGLIGIBLE = 1e-30
GONE = 1e-290  # a chance this small is none: its products would underflow
AFRESH = 1024


@kernel
def _first_relevant_tie(q: int, deepest: int, lists: Lists, relevant_grade: NDArray[np.bool_]) -> tuple[int, int, int]:
    """Items before the first tie that holds relevant items, its items, and its relevant items (0: there is none).

    A tie that starts behind ``deepest`` is not looked at.
    """
    t, size, relevant = 0, 0, 0
    for tie in range(lists.start[q], lists.start[q + 1]):
        t += size
        if t >= deepest:
            return t, 0, 0
        size, relevant = 0, 0
        for c in range(lists.tie[tie], lists.tie[tie + 1]):
            size += lists.items[c]
            relevant += lists.items[c] if relevant_grade[lists.grade[c]] else 0
        if relevant > 0:
            break
    return t, size, relevant


@kernel
def _first_relevant_in(
    t: int, size: int, relevant: int, depths: Integers, j: int, hit: Floats, hit_variance: Floats,
    reciprocal: Floats, reciprocal_variance: Floats,
) -> None:  # fmt: skip
    """Write the moments of one list from cutoff ``j`` on, all of which reach into the first relevant tie."""
    survival, survival_low, found, found_low, mean, mean_low = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
    square, shift, shift_square = 0.0, 0.0, 0.0
    slot = 0
    while j < depths.size:
        limit = min(depths[j] - t, size - relevant + 1)
        while slot < limit and survival > GONE:
            chance = survival * relevant / (size - slot)
            # a pair, because a million roundings of a product lean to one side
            rest, rest_low = pair_quotient(float(size - relevant - slot), 0.0, float(size - slot), 0.0)
            survival, survival_low = pair_product(survival, survival_low, rest, rest_low)
            slot += 1
            place = 1.0 / (t + slot)
            found, found_low = add(found, found_low, chance)
            mean, mean_low = add(mean, mean_low, chance * place)
            square += chance * place * place
            late = (slot - 1.0) * place / (t + 1.0)  # 1/(t+1) − place, without cancelling
            shift += chance * late
            shift_square += chance * late * late
        whole = limit == size - relevant + 1
        left = 0.0 if whole or survival <= GONE else survival
        hit[j] = 1.0 if left == 0.0 else found + found_low
        hit_variance[j] = hit[j] * left
        reciprocal[j] = mean + mean_low
        # RR, or 1/(t+1) − RR where no hit makes it the whole 1/(t+1): the smaller one loses less by its square
        missed = left / (t + 1.0)
        if square < shift_square + missed / (t + 1.0):
            spread = square - reciprocal[j] ** 2
        else:
            spread = shift_square + missed / (t + 1.0) - (shift + missed) ** 2
        reciprocal_variance[j] = max(spread, 0.0) if size > relevant else 0.0
        j += 1


@kernel
def first_relevant_moments(
    first: int,
    last: int,
    lists: Lists,
    depths: Integers,
    relevant_grade: NDArray[np.bool_],
    hit: Floats,
    hit_variance: Floats,
    reciprocal: Floats,
    reciprocal_variance: Floats,
) -> None:
    """Chance of a relevant item in the top k, and mean and variance of 1 / (place of the first one)."""
    cutoffs = depths.shape[1]
    for q in range(first, last):
        t, size, relevant = _first_relevant_tie(q, depths[q, cutoffs - 1], lists, relevant_grade)
        j = 0
        while j < cutoffs and (depths[q, j] <= t or relevant == 0):
            hit[q, j], hit_variance[q, j], reciprocal[q, j], reciprocal_variance[q, j] = 0.0, 0.0, 0.0, 0.0
            j += 1
        _first_relevant_in(
            t, size, relevant, depths[q], j, hit[q], hit_variance[q], reciprocal[q], reciprocal_variance[q]
        )


@allocating
def survival_means(tie: int, lists: Lists, stop: Floats) -> Floats:
    """Mean over ordered draws of x stopping items of the tie that the x-th is the one that stops; index x.

    The means fall at least as fast as (mean chance to go on)^x (Maclaurin's inequality), which says where to end.
    Items come in kind by kind: of x items drawn, a hypergeometric number y are of the new kind, and the last one is
    with chance y/x.
    """
    stoppers, going = 0, 0.0
    for c in range(lists.tie[tie], lists.tie[tie + 1]):
        if stop[lists.grade[c]] > 0.0:
            stoppers += lists.items[c]
            going += lists.items[c] * (1.0 - stop[lists.grade[c]])
    going /= max(stoppers, 1)
    longest = stoppers
    if going < 1.0:
        enough = (np.log(1.0 - going) - 42.0) / np.log(max(going, 1e-300))
        longest = int(min(float(stoppers), enough + 2.0))
    survive, stopped, added = np.zeros(longest + 1), np.zeros(longest + 1), 0
    survive[0] = 1.0
    for c in range(lists.tie[tie], lists.tie[tie + 1]):
        if stop[lists.grade[c]] > 0.0:
            added += lists.items[c]
            survive, stopped = _add_kind(added, lists.items[c], stop[lists.grade[c]], survive, stopped)
    return stopped


@allocating
def _add_kind(added: int, items: int, chance: float, survive: Floats, stopped: Floats) -> tuple[Floats, Floats]:
    """The means of ``survival_means`` once ``items`` of the ``added`` items so far are of a new kind."""
    longest = survive.size - 1
    powers = np.ones(longest + 1)
    for y in range(longest):
        powers[y + 1] = powers[y] * (1.0 - chance)
    new_survive, new_stopped = np.zeros(longest + 1), np.zeros(longest + 1)
    new_survive[0] = 1.0
    for x in range(1, min(added, longest) + 1):
        least, chances = hypergeometric_band(added, items, x)
        for index in range(chances.size):
            y = least + index
            new_survive[x] += chances[index] * powers[y] * survive[x - y]
            last = (x - y) * powers[y] * stopped[x - y]
            if y > 0:
                last += y * chance * powers[y - 1] * survive[x - y]
            new_stopped[x] += chances[index] * last / x
    return new_survive, new_stopped


@allocating
def stopping_tie_means(t: int, size: int, stoppers: int, stopped: Floats, slots: Integers, means: Floats) -> None:
    """Expected Σ 1/i · P(stop at i) over the first ``slots[j]`` slots of a tie, for every j (ascending).

    Walks along the slots with the distribution of how many stopping items were passed, on the window of counts that
    still have a chance worth a float64; starts afresh now and then, so that roundings do not add up.
    """
    longest = stopped.size - 1
    passed = np.zeros(longest + 1)
    passed[0] = 1.0
    low, high, slot = 0, 0, 0
    total, total_low = 0.0, 0.0
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
            rest, here = float(size - slot), 0.0
            for x in range(low, min(high, longest - 1) + 1):
                here += passed[x] * (stoppers - x) * stopped[x + 1]
            total, total_low = add(total, total_low, here / rest / (t + slot + 1.0))
            top = min(high + 1, longest)
            for x in range(top, low, -1):
                passed[x] = passed[x] * ((rest - stoppers + x) / rest) + passed[x - 1] * ((stoppers - x + 1) / rest)
            passed[low] *= (rest - stoppers + low) / rest
            high = top
            while low < high and passed[low] < NEGLIGIBLE:
                low += 1
            while high > low and passed[high] < NEGLIGIBLE:
                high -= 1
            slot += 1
        means[j] = total + total_low


@allocating
def _stopping_kinds(tie: int, lists: Lists, stop: Floats, slots: int) -> tuple[int, Integers, Integers, Floats]:
    """Number of states (0: too many), and items, states and stopping chance of every kind that stops at all."""
    c0, c1 = lists.tie[tie], lists.tie[tie + 1]
    kinds, states = 0, 1
    sizes, levels, stops = np.zeros(c1 - c0, np.int64), np.zeros(c1 - c0, np.int64), np.zeros(c1 - c0)
    for c in range(c0, c1):
        if stop[lists.grade[c]] > 0.0:
            sizes[kinds], stops[kinds] = lists.items[c], stop[lists.grade[c]]
            levels[kinds] = min(lists.items[c], slots) + 1  # so many of the kind, from 0 on, may have been passed
            states *= levels[kinds]
            kinds += 1
            if float(states) * slots * (kinds + 1.0) > STATE_BUDGET:
                return 0, sizes, levels, stops
    return states, sizes[:kinds], levels[:kinds], stops[:kinds]


@allocating
def _step_back(
    slot: int, t: int, size: int, sizes: Integers, levels: Integers, stops: Floats, mean: Floats, variance: Floats
) -> None:
    """Moments of what follows, for every state at ``slot``, from those at the next slot, in place.

    The states are walked upwards, so the entry of a state one item richer still belongs to the next slot.
    """
    states, kinds = mean.size - 1, sizes.size
    others = size - sizes.sum()
    used = np.zeros(kinds, np.int64)
    passed, place, rest = 0, 1.0 / (t + slot + 1.0), 1.0 / (size - slot)
    for state in range(states):
        plain = slot - passed
        if 0 <= plain <= others:
            chance = (others - plain) * rest
            value, stride = chance * mean[state], 1
            for kind in range(kinds):
                gain = stops[kind] * place + (1.0 - stops[kind]) * mean[min(state + stride, states)]
                value += (sizes[kind] - used[kind]) * rest * gain
                stride *= levels[kind]
            spread, stride = chance * (variance[state] + (mean[state] - value) ** 2), 1
            for kind in range(kinds):
                following, go_on = min(state + stride, states), 1.0 - stops[kind]
                gain = stops[kind] * place + go_on * mean[following]
                chance = (sizes[kind] - used[kind]) * rest
                spread += chance * (go_on * go_on * variance[following] + (gain - value) ** 2)
                stride *= levels[kind]
            mean[state], variance[state] = value, spread
        for kind in range(kinds):  # count on, one kind after the other, as an odometer does
            used[kind] += 1
            passed += 1
            if used[kind] < levels[kind]:
                break
            passed -= used[kind]
            used[kind] = 0


@allocating
def stopping_tie_variance(t: int, slots: int, size: int, tie: int, lists: Lists, stop: Floats) -> float:
    """Exact variance of Σ 1/i · P(stop at i) over the first ``slots`` slots, or NaN where that is too much work.

    A state counts how many items of each stopping kind were passed. Going backwards over the slots, the variance is
    the mean of the later variances plus the variance of the next step's means, so nothing cancels.
    """
    states, sizes, levels, stops = _stopping_kinds(tie, lists, stop, slots)
    if states == 0:
        return float(np.nan)
    mean, variance = np.zeros(states + 1), np.zeros(states + 1)
    for slot in range(slots - 1, -1, -1):
        _step_back(slot, t, size, sizes, levels, stops, mean, variance)
    return float(variance[0])


@kernel
def _see_stopping_tie(tie: int, lists: Lists, stop: Floats) -> tuple[int, int, bool, float]:
    """Items of a tie, how many of them can stop, whether they differ, and the chance to pass them all."""
    c0, c1 = lists.tie[tie], lists.tie[tie + 1]
    size, stoppers, mixed, passing = 0, 0, False, 1.0
    for c in range(c0, c1):
        chance = stop[lists.grade[c]]
        size += lists.items[c]
        stoppers += lists.items[c] if chance > 0.0 else 0
        mixed = mixed or chance != stop[lists.grade[c0]]
        passing *= (1.0 - chance) ** lists.items[c]
    return size, stoppers, mixed, passing


@allocating
def stopping_moments(
    first: int,
    last: int,
    lists: Lists,
    depths: Integers,
    stop: Floats,
    want_variance: bool,
    mean: Floats,
    variance: Floats,
) -> None:
    """Mean and variance of ERR at every depth; ``stop`` is the chance that an item of each grade ends the search.

    The variance is NaN where it is too much work (see ``stopping_tie_variance``).
    """
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
                inside = j
                size, stoppers, mixed, passing = _see_stopping_tie(tie, lists, stop)
                while inside < cutoffs and depths[q, inside] < t + size:
                    inside += 1
                slots = np.append(depths[q, j:inside] - t, size)  # the last one is the whole tie
                means = np.zeros(slots.size)
                if stoppers > 0:
                    stopping_tie_means(t, size, stoppers, survival_means(tie, lists, stop), slots, means)
                for index in range(slots.size if inside < cutoffs else slots.size - 1):
                    part = 0.0
                    if mixed and want_variance and slots[index] > 0:
                        part = survival * survival * stopping_tie_variance(t, slots[index], size, tie, lists, stop)
                    if j < inside:
                        mean[q, j], variance[q, j] = value + survival * means[index], spread + part
                        j += 1
                    else:
                        value, spread = value + survival * means[index], spread + part
                survival *= passing
                t += size
                tie += 1
        for rest in range(j, cutoffs):
            mean[q, rest], variance[q, rest] = value, spread

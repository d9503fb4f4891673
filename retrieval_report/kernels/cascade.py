"""The first relevant item: hit rate, reciprocal rank, and expected reciprocal rank (ERR).

Inside a tie of n items with r relevant, no relevant item is among the first j slots with probability
S_j = S_{j−1}·(n−r−j+1)/(n−j+1). ERR (Chapelle et al. 2009) generalises this to items that stop the user with a
probability of their own; over a whole tie the chance to go on is a product, which no order changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import kernel
from retrieval_report.kernels.lists import Floats, Integers, Lists

__all__ = ["STATE_BUDGET", "first_relevant_moments", "stopping_moments"]

STATE_BUDGET = 4_000_000  # slots × states × kinds; about 20 ms for one tie at one cutoff
NEGLIGIBLE = 1e-30


@kernel
def _first_relevant_tie(q: int, lists: Lists, relevant_grade: NDArray[np.bool_]) -> tuple[int, int, int]:
    """Items before the first tie that holds relevant items, its items, and its relevant items (0: there is none)."""
    t, size, relevant = 0, 0, 0
    for tie in range(lists.start[q], lists.start[q + 1]):
        t += size
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
    survival, found, mean, square, shift, shift_square = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
    slot = 0
    while j < depths.size:
        limit = min(depths[j] - t, size - relevant + 1)
        while slot < limit and survival > 1e-290:
            chance = survival * relevant / (size - slot)
            survival *= float(size - relevant - slot) / (size - slot)
            slot += 1
            place = 1.0 / (t + slot)
            found += chance
            mean += chance * place
            square += chance * place * place
            late = (slot - 1.0) * place / (t + 1.0)  # 1/(t+1) − place, without cancelling
            shift += chance * late
            shift_square += chance * late * late
        whole = limit == size - relevant + 1
        hit[j] = 1.0 if whole else found
        hit_variance[j] = 0.0 if whole else found * survival
        reciprocal[j] = mean
        if survival > 0.5:
            spread = square - mean * mean
        else:  # 1/(t+1) − RR is small where a hit is likely; no hit makes it the whole 1/(t+1)
            missed = 0.0 if whole else survival / (t + 1.0)
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
        t, size, relevant = _first_relevant_tie(q, lists, relevant_grade)
        j = 0
        while j < cutoffs and (depths[q, j] <= t or relevant == 0):
            hit[q, j], hit_variance[q, j], reciprocal[q, j], reciprocal_variance[q, j] = 0.0, 0.0, 0.0, 0.0
            j += 1
        _first_relevant_in(
            t, size, relevant, depths[q], j, hit[q], hit_variance[q], reciprocal[q], reciprocal_variance[q]
        )


@kernel
def survival_means(tie: int, lists: Lists, stop: Floats) -> Floats:
    """Mean over ordered draws of x stopping items of the tie that the x-th is the one that stops; index x.

    The means fall at least as fast as (mean chance to go on)^x (Maclaurin's inequality), which says where to end.
    Items are added one at a time: the new one is the last of the x with chance 1/m, among the others, or absent.
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
    survive, stopped = np.zeros(longest + 1), np.zeros(longest + 1)
    survive[0] = 1.0
    added = 0
    for c in range(lists.tie[tie], lists.tie[tie + 1]):
        s = stop[lists.grade[c]]
        if s <= 0.0:
            continue
        q = 1.0 - s
        for _ in range(lists.items[c]):
            added += 1
            share = 1.0 / added
            for x in range(min(added, longest), 0, -1):
                stopped[x] = ((added - x) * stopped[x] + (x - 1) * q * stopped[x - 1] + s * survive[x - 1]) * share
                survive[x] = ((added - x) * survive[x] + x * q * survive[x - 1]) * share
    return stopped


@kernel
def stopping_tie_means(t: int, size: int, stoppers: int, stopped: Floats, slots: Integers, means: Floats) -> None:
    """Expected Σ 1/i · P(stop at i) over the first ``slots[j]`` slots of a tie, for every j (ascending).

    Walks along the slots with the distribution of how many stopping items were passed, on the window of counts that
    still have a chance worth a float64.
    """
    longest = stopped.size - 1
    passed = np.zeros(longest + 1)
    passed[0] = 1.0
    low, high, total = 0, 0, 0.0
    slot = 0
    for j in range(slots.size):
        while slot < slots[j] and low < longest:
            rest = 1.0 / (size - slot)
            here = 0.0
            top = min(high + 1, longest - 1)
            for x in range(low, min(high, longest - 1) + 1):
                here += passed[x] * (stoppers - x) * stopped[x + 1]
            total += here * rest / (t + slot + 1.0)
            for x in range(top, low, -1):
                passed[x] = passed[x] * (1.0 - (stoppers - x) * rest) + passed[x - 1] * (stoppers - x + 1) * rest
            passed[low] *= 1.0 - (stoppers - low) * rest
            high = top
            while low < longest and passed[low] < NEGLIGIBLE and low < high:
                low += 1
            while high > low and passed[high] < NEGLIGIBLE:
                high -= 1
            slot += 1
            if passed[low] < NEGLIGIBLE and low == high:
                low = longest
        means[j] = total


@kernel
def _stopping_kinds(tie: int, lists: Lists, stop: Floats, work: float) -> tuple[int, Integers, Integers, Floats]:
    """Number of states (0: too many), and items, stride and stopping chance of every kind that stops at all."""
    c0, c1 = lists.tie[tie], lists.tie[tie + 1]
    kinds, states = 0, 1
    sizes, strides, stops = np.zeros(c1 - c0, np.int64), np.zeros(c1 - c0, np.int64), np.zeros(c1 - c0)
    for c in range(c0, c1):
        if stop[lists.grade[c]] > 0.0:
            sizes[kinds], strides[kinds], stops[kinds] = lists.items[c], states, stop[lists.grade[c]]
            kinds += 1
            if float(states) * (lists.items[c] + 1.0) * work * (kinds + 1.0) > STATE_BUDGET:
                return 0, sizes, strides, stops
            states *= lists.items[c] + 1
    return states, sizes[:kinds], strides[:kinds], stops[:kinds]


@kernel
def _step_back(
    slot: int, t: int, size: int, sizes: Integers, strides: Integers, stops: Floats, mean: Floats, variance: Floats
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
            value = chance * mean[state]
            for kind in range(kinds):
                gain = stops[kind] * place + (1.0 - stops[kind]) * mean[min(state + strides[kind], states)]
                value += (sizes[kind] - used[kind]) * rest * gain
            spread = chance * (variance[state] + (mean[state] - value) ** 2)
            for kind in range(kinds):
                following, go_on = min(state + strides[kind], states), 1.0 - stops[kind]
                gain = stops[kind] * place + go_on * mean[following]
                chance = (sizes[kind] - used[kind]) * rest
                spread += chance * (go_on * go_on * variance[following] + (gain - value) ** 2)
            mean[state], variance[state] = value, spread
        for kind in range(kinds):  # count on, one kind after the other, as an odometer does
            used[kind] += 1
            passed += 1
            if used[kind] <= sizes[kind]:
                break
            passed -= used[kind]
            used[kind] = 0


@kernel
def stopping_tie_variance(t: int, slots: int, size: int, tie: int, lists: Lists, stop: Floats) -> float:
    """Exact variance of Σ 1/i · P(stop at i) over the first ``slots`` slots, or NaN where that is too much work.

    A state counts how many items of each stopping kind were passed. Going backwards over the slots, the variance is
    the mean of the later variances plus the variance of the next step's means, so nothing cancels.
    """
    states, sizes, strides, stops = _stopping_kinds(tie, lists, stop, float(slots))
    if states == 0:
        return float(np.nan)
    mean, variance = np.zeros(states + 1), np.zeros(states + 1)
    for slot in range(slots - 1, -1, -1):
        _step_back(slot, t, size, sizes, strides, stops, mean, variance)
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


@kernel
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
        t, j = 0, 0
        for tie in range(lists.start[q], lists.start[q + 1]):
            if j == cutoffs or survival < NEGLIGIBLE * value:
                break
            size, stoppers, mixed, passing = _see_stopping_tie(tie, lists, stop)
            inside = j
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
        for rest in range(j, cutoffs):
            mean[q, rest], variance[q, rest] = value, spread

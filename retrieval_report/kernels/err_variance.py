"""The variance of ERR inside a tie, by the cheaper of two exact methods; null if both take too much
work.

Let G_x be the chance to go on after x items of a tie, drawn without replacement, and w the weights
1/i of its slots. ERR adds Σ (w_x − w_{x+1})·(1 − G_x), where the last weight is taken whole. Its
variance is therefore a sum over pairs of slots of products of weights with Cov(G_x, G_y), which
depend on the tie alone and serve every cutoff. They are built item by item: for a new item with
chance q to go on among n + 1, x ≤ y and m_x = E[G_x] of the n items before,

    Cov'(x, y) = x/(n+1)·q²·Cov(x−1, y−1) + (y−x)/(n+1)·q·Cov(x, y−1) + (n+1−y)/(n+1)·Cov(x, y)
                 + x·(n+1−y)/(n+1)²·(m_x − q·m_{x−1})·(m_y − q·m_{y−1}).

Kinds are added outwards from the one with the most items, in which nothing is random, so a new q is
the least or the greatest so far: both differences have one sign, and nothing cancels. The other
method tracks in a state how many items of each stopping kind were passed, which is less work for
few kinds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.compile import allocating, kernel, squared
from retrieval_report.kernels.lists import Floats, Integers, Lists, cells_of

STATE_BUDGET = 4_000_000.0  # slots × states × kinds; about 20 ms for one tie at one cutoff
COVARIANCE_BUDGET = 4_000_000.0  # items added × pairs of slots; about 1 ms for one tie
STATE_COST = 12.0  # a step over states takes this many times as long as a step over pairs of slots
NOTHING = 1e-30  # a G_x with a smaller mean changes no float64


class Kinds(NamedTuple):
    """Items, states and stopping chance of every kind of item that stops at all."""

    sizes: Integers
    levels: Integers
    stops: Floats


@allocating
def _stopping_kinds(tie: int, lists: Lists, stop: Floats, slots: int) -> Kinds:
    """Return items, states and stopping chance of every kind that stops at all."""
    most = lists.tie[tie + 1] - lists.tie[tie]
    kinds = 0
    sizes = np.zeros(most, np.int64)
    levels = np.zeros(most, np.int64)
    stops = np.zeros(most)
    for c in cells_of(tie, lists):
        if stop[lists.grade[c]]:
            sizes[kinds] = lists.items[c]
            stops[kinds] = stop[lists.grade[c]]
            levels[kinds] = min(lists.items[c], slots) + 1  # the number of items passed, from 0 on
            kinds += 1
    return Kinds(sizes[:kinds], levels[:kinds], stops[:kinds])


@allocating
def _step_back(
    slot: int, t: int, size: int, of_kind: Kinds, mean: Floats, variance: Floats
) -> None:
    """Update the moments of what follows, for every state, from the next slot to ``slot``, in
    place.

    States are visited in ascending order, so the entry of a state with one more item still belongs
    to the next slot.
    """
    sizes, levels, stops = of_kind
    states = mean.size - 1
    kinds = sizes.size
    others = size - sizes.sum()
    used = np.zeros(kinds, np.int64)
    passed = 0
    position = 1.0 / (t + slot + 1.0)
    rest = 1.0 / (size - slot)
    for state in range(states):
        plain = slot - passed
        if 0 <= plain <= others:
            chance = (others - plain) * rest
            value = chance * mean[state]
            stride = 1
            for kind in range(kinds):
                gain = (
                    stops[kind] * position + (1.0 - stops[kind]) * mean[min(state + stride, states)]
                )
                value += (sizes[kind] - used[kind]) * rest * gain
                stride *= levels[kind]
            spread = chance * (variance[state] + squared(mean[state] - value))
            stride = 1
            for kind in range(kinds):
                following = min(state + stride, states)
                go_on = 1.0 - stops[kind]
                gain = stops[kind] * position + go_on * mean[following]
                chance = (sizes[kind] - used[kind]) * rest
                spread += chance * (go_on * go_on * variance[following] + squared(gain - value))
                stride *= levels[kind]
            mean[state] = value
            variance[state] = spread
        for kind in range(kinds):  # advance to the next state, as an odometer does
            used[kind] += 1
            passed += 1
            if used[kind] < levels[kind]:
                break
            passed -= used[kind]
            used[kind] = 0


@allocating
def _variance_by_states(t: int, slots: int, size: int, kinds: Kinds) -> float:
    """Return the variance over the first ``slots`` slots of a tie.

    Going backwards over the slots, the variance is the mean of the later variances plus the
    variance of the next step's means, so nothing cancels.
    """
    states = kinds.levels.prod()
    mean = np.zeros(states + 1)
    variance = np.zeros(states + 1)
    for slot in range(slots - 1, -1, -1):
        _step_back(slot, t, size, kinds, mean, variance)
    return float(variance[0])


@kernel
def _see_kinds(tie: int, lists: Lists, stop: Floats) -> tuple[int, int]:
    """Return the cell with the most items, and the slots after which the chance to go on is
    negligible.
    """
    most = lists.tie[tie]
    size = 0
    going = 0.0
    for c in cells_of(tie, lists):
        most = c if lists.items[c] > lists.items[most] else most
        size += lists.items[c]
        going += lists.items[c] * (1.0 - stop[lists.grade[c]])
    going /= size  # E[G_x] falls at least as fast as its x-th power (Maclaurin's inequality)
    if going >= 1.0:
        return most, size
    return most, int(min(float(size), math.log(NOTHING) / math.log(max(going, 1e-300)) + 2.0))


class Going(NamedTuple):
    """Arrays by the number x of items passed: E[G_x], the chance that the x-th item stops, and two
    scratch arrays.
    """

    going: Floats
    stopping: Floats
    gap: Floats
    old: Floats


@kernel
def _add_item(chance: float, items: int, so_far: Going, covariance: Floats) -> None:
    """Add an item that stops with ``chance`` to the ``items`` so far."""
    going, stopping, gap, old = so_far
    longest = min(items + 1, going.size - 1)
    share = 1.0 / (items + 1.0)
    rest = 1.0 - chance
    for x in range(1, longest + 1):
        gap[x] = (
            chance * going[x - 1] - stopping[x]
        )  # E[G_x] − rest·E[G_{x−1}], with the digits of small chances
    for x in range(longest, 0, -1):
        both = x * share * rest * rest
        behind = share * rest
        between = gap[x] * x * share * share
        # with slices, loops need no test for negative indices and process several slots at a time
        row = covariance[x, x : longest + 1]
        above = covariance[x - 1, x - 1 : longest]
        gaps = gap[x : longest + 1]
        width = row.size
        before = old[:width]
        kept = old[1 : width + 1]
        beyond = items + 1.0 - x
        for step in range(width):
            kept[step] = row[step]
        for step in range(width):
            later = (beyond - step) * (share * kept[step] + between * gaps[step])
            row[step] = both * above[step] + behind * step * before[step] + later
    for x in range(longest, 0, -1):
        earlier = share * rest * (x - 1.0) * stopping[x - 1]
        later = share * (items + 1.0 - x)
        stopping[x] = share * chance * going[x - 1] + earlier + later * stopping[x]
        going[x] = share * x * rest * going[x - 1] + later * going[x]


@allocating
def _covariances(tie: int, most: int, lists: Lists, stop: Floats, longest: int) -> Floats:
    """Return Cov(G_x, G_y) at [x, y] for 1 ≤ x ≤ y ≤ ``longest``."""
    rows = np.zeros((4, longest + 1))
    so_far = Going(rows[0], rows[1], rows[2], rows[3])
    going = so_far.going
    stopping = so_far.stopping
    covariance = np.zeros((longest + 1, longest + 1))
    items = lists.items[most]
    chance = stop[lists.grade[most]]
    going[0] = 1.0
    for x in range(1, min(items, longest) + 1):
        stopping[x] = chance * going[x - 1]
        going[x] = (1.0 - chance) * going[x - 1]
    for up in range(2):
        c, end, step = (
            (most + 1, lists.tie[tie + 1], 1) if up == 0 else (most - 1, lists.tie[tie] - 1, -1)
        )
        while c != end:
            for _ in range(lists.items[c]):
                _add_item(stop[lists.grade[c]], items, so_far, covariance)
                items += 1
            c += step
    return covariance


@allocating
def _spread_weights(t: int, slots: Integers, wanted: Floats, covariance: Floats) -> None:
    """Write the variance for every number of slots (ascending) for which it is wanted (``wanted``
    below 0).
    """
    longest = covariance.shape[0] - 1
    whole = 0.0
    j = 0
    across = np.zeros(
        longest + 1
    )  # Σ over x < y of the difference of weights at x times Cov(G_x, G_y)
    for x in range(1, longest + 1):
        weight = 1.0 / (t + x)
        while j < slots.size and slots[j] <= x:
            if wanted[j] < 0.0:
                wanted[j] = whole + weight * (2.0 * across[x] + weight * covariance[x, x])
            j += 1
        fall = weight / (t + x + 1.0)
        whole += fall * (2.0 * across[x] + fall * covariance[x, x])
        for y in range(x + 1, longest + 1):
            across[y] += fall * covariance[x, y]
    for rest in range(j, slots.size):
        if wanted[rest] < 0.0:
            wanted[rest] = whole


@allocating
def tie_variances(
    t: int, size: int, tie: int, lists: Lists, stop: Floats, slots: Integers
) -> Floats:
    """Write exact variances of Σ 1/i · P(stop at i) over the first ``slots[j]`` slots of a tie; NaN
    if too much work.

    The method, and what counts as too much work, depend on the tie and ``slots[j]``, not on the
    other entries.
    """
    variances = np.zeros(slots.size)
    longest = 0
    most, reach = _see_kinds(tie, lists, stop)
    for j in range(slots.size):
        reached = min(slots[j], reach)
        pairs = 0.5 * (size - lists.items[most]) * reached * reached
        kinds = _stopping_kinds(tie, lists, stop, slots[j])
        states = slots[j] * (
            kinds.levels.size + 1.0
        )  # the work of going backwards over the slots with a state
        for kind in range(kinds.levels.size):
            states *= kinds.levels[kind]
        if pairs <= COVARIANCE_BUDGET and (pairs < states * STATE_COST or states > STATE_BUDGET):
            variances[j] = -1.0
            longest = max(longest, reached)
        elif states <= STATE_BUDGET:
            variances[j] = _variance_by_states(t, slots[j], size, kinds)
        else:
            variances[j] = np.nan
    if longest:
        _spread_weights(t, slots, variances, _covariances(tie, most, lists, stop, longest))
    return variances

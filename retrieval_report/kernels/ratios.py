"""Moments and extremes of values whose denominator is random: the relevant items above a cutoff that splits a tie.

That number is hypergeometric. Given it, the counted slots are a uniform tie again, so a sum over its few likely values
is exact. The extremes of such ratios are not "relevant first" and "relevant last".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.additive import slot_spread
from retrieval_report.kernels.compile import ZERO, allocating, kernel
from retrieval_report.kernels.lists import Bools, Extremes, Floats, Integers, Lists, Moments
from retrieval_report.kernels.tables import Weights

NEGLIGIBLE = 1e-30  # relative to the likeliest value; what is omitted cannot change a float64


@allocating
def hypergeometric_band(size: int, relevant: int, slots: int) -> tuple[int, Floats]:
    """Return the smallest likely x, and the chances of x, x + 1, … relevant items among ``slots`` of ``size``.

    The walk starts at the mode and uses ratios of neighbours, so nothing overflows, underflows or cancels.
    """
    least, most = max(0, slots - (size - relevant)), min(relevant, slots)
    mode = int((slots + 1.0) * (relevant + 1.0) / (size + 2.0))
    mode = min(max(mode, least), most)
    other = size - relevant - slots
    low, chance = mode, 1.0
    while low > least and chance > NEGLIGIBLE:
        chance *= float(low) * (other + low) / (float(relevant - low + 1) * (slots - low + 1))
        low -= 1
    high, chance = mode, 1.0
    while high < most and chance > NEGLIGIBLE:
        chance *= float(relevant - high) * (slots - high) / (float(high + 1) * (other + high + 1))
        high += 1
    chances = np.empty(high - low + 1)
    chances[mode - low] = 1.0
    for x in range(mode, low, -1):
        chances[x - 1 - low] = chances[x - low] * (float(x) * (other + x) / (float(relevant - x + 1) * (slots - x + 1)))
    for x in range(mode, high):
        chances[x + 1 - low] = chances[x - low] * (float(relevant - x) * (slots - x) / (float(x + 1) * (other + x + 1)))
    total = 0.0
    for index in range(chances.size):
        total += chances[index]
    for index in range(chances.size):
        chances[index] /= total
    return low, chances


@kernel
def mean_and_spread(chances: Floats, means: Floats) -> tuple[float, float]:
    """Return the mean of ``means`` under ``chances``, and their variance around it."""
    value, spread = 0.0, 0.0
    for index in range(chances.size):
        value += chances[index] * means[index]
    for index in range(chances.size):
        spread += chances[index] * (means[index] - value) ** 2
    return value, spread


class Paired(NamedTuple):
    """The terms of AP and WAP: the value of each grade, above 0 exactly for the relevant ones, and the table of 1/i."""

    values: Floats
    harmonics: Weights


class OwnIdeal(NamedTuple):
    """Which grades are relevant, and the table of discounts."""

    relevant_grade: Bools
    weights: Weights


class Reached(NamedTuple):
    """Contribution of the ties before: relevant items, the sum of their discounts, and its variance."""

    found: int
    total: float
    spread: float


class Cut(NamedTuple):
    """A tie: where it starts, its items, and its relevant items."""

    t: int
    size: int
    relevant: int


@kernel
def _count_relevant(tie: int, lists: Lists, relevant_grade: Bools) -> tuple[int, int]:
    """Count the items and relevant items of a tie."""
    size, relevant = 0, 0
    for c in range(lists.tie[tie], lists.tie[tie + 1]):
        size += lists.items[c]
        relevant += lists.items[c] if relevant_grade[lists.grade[c]] else 0
    return size, relevant


@kernel
def own_ideal_moments(
    first: int,
    last: int,
    lists: Lists,
    depths: Integers,
    ideal: OwnIdeal,
    out: Moments,
) -> None:
    """Write the moments of DCG@k / ideal DCG of the same top k, if all relevances are 0 or one grade."""
    relevant_grade, weights = ideal
    cutoffs, total, total_low = depths.shape[1], weights.total, weights.total_low
    for q in range(first, last):
        value_sum, spread, found = 0.0, 0.0, 0
        t = j = ZERO
        for tie in range(lists.start[q], lists.start[q + 1]):
            size, relevant = _count_relevant(tie, lists, relevant_grade)
            end = t + size
            while j < cutoffs and depths[q, j] <= end:
                cut, reached = Cut(t, size, relevant), Reached(found, value_sum, spread)
                out.mean[q, j], out.variance[q, j] = _own_ideal_at(cut, depths[q, j] - t, reached, weights)
                j += 1
            if j == cutoffs:
                break  # the tables reach no farther than the deepest cutoff
            slots = (total[end] - total[t]) + (total_low[end] - total_low[t])
            value_sum += slots * relevant / size
            if 0 < relevant < size:
                spread += slot_spread(weights, t, end, size) * relevant * (size - relevant) / size / (size - 1.0)
            found += relevant
            t = end


@allocating
def _own_ideal_at(cut: Cut, slots: int, reached: Reached, weights: Weights) -> tuple[float, float]:
    """Return mean and variance for a cutoff that keeps ``slots`` slots of a tie."""
    t, size, relevant = cut
    found, value_sum, spread = reached
    total, total_low = weights.total, weights.total_low
    if slots == 0:
        return (value_sum / total[found], spread / total[found] ** 2) if found > 0 else (0.0, 0.0)
    held = (total[t + slots] - total[t]) + (total_low[t + slots] - total_low[t])
    order = slot_spread(weights, t, t + slots, slots)
    least, chances = hypergeometric_band(size, relevant, slots)
    means, within = np.zeros(chances.size), 0.0
    for index in range(chances.size):
        x = least + index
        if found + x > 0:
            ideal = total[found + x]
            means[index] = (value_sum + held * x / slots) / ideal
            inner = order * x * (slots - x) / slots / (slots - 1.0) if 0 < x < slots else 0.0
            within += chances[index] * (spread + inner) / ideal**2
    value, between = mean_and_spread(chances, means)
    return value, within + between


@kernel
def own_ideal_extremes(
    first: int,
    last: int,
    lists: Lists,
    depths: Integers,
    ideal: OwnIdeal,
    out: Extremes,
) -> None:
    """Write the highest (``best``) or lowest DCG@k / ideal DCG of the same top k over all orders."""
    best, extreme = out
    relevant_grade, total = ideal.relevant_grade, ideal.weights.total
    cutoffs = depths.shape[1]
    for q in range(first, last):
        value_sum, found, t, j = 0.0, ZERO, ZERO, 0
        for tie in range(lists.start[q], lists.start[q + 1]):
            size, relevant = _count_relevant(tie, lists, relevant_grade)
            end = t + size
            while j < cutoffs and depths[q, j] <= end:
                e = depths[q, j]
                least, most = max(0, (e - t) - (size - relevant)), min(relevant, e - t)
                chosen = -1.0
                for x in range(least, most + 1):
                    held = total[t + x] - total[t] if best else total[e] - total[e - x]
                    value = (value_sum + held) / total[found + x] if found + x > 0 else 0.0
                    if chosen < 0.0 or (value > chosen) == best:
                        chosen = value
                extreme[q, j] = max(chosen, 0.0)
                j += 1
            if j == cutoffs:
                break  # the tables reach no farther than the deepest cutoff
            value_sum += total[t + relevant] - total[t] if best else total[end] - total[end - relevant]
            found += relevant
            t = end


@kernel
def _runs_sum(
    runs: Integers, values: Floats, x: int, before: float, position: int, harmonics: Weights
) -> tuple[float, float]:
    """Return Σ (value sum so far / rank) over x relevant items placed in the given order right after ``position``."""
    result, placed = 0.0, 0
    for run in range(runs.size):
        take = min(runs[run], x - placed)
        a, b = position + placed, position + placed + take
        # the i-th item of the run sees before + value·(i − a), i = a + 1 … b: (before − value·a)·ΔH + value·take
        if take > a:
            harmonic = (harmonics.total[b] - harmonics.total[a]) + (harmonics.total_low[b] - harmonics.total_low[a])
            result += (before - values[run] * a) * harmonic + values[run] * take
        else:
            for i in range(a + 1, b + 1):
                result += (before + values[run] * (i - a)) / i
        before += values[run] * take
        placed += take
        if placed == x:
            break
    return result, before


@allocating
def _relevant_runs(tie: int, lists: Lists, values: Floats, falling: bool) -> tuple[int, int, Integers, Floats]:
    """Return items and relevant items of a tie, and the latter as runs of equal value, in rising or falling order."""
    c0, c1 = lists.tie[tie], lists.tie[tie + 1]
    runs, levels = np.empty(c1 - c0, np.int64), np.empty(c1 - c0)
    size, relevant, kinds = 0, 0, 0
    for offset in range(c1 - c0):
        c = c1 - 1 - offset if falling else c0 + offset
        size += lists.items[c]
        if values[lists.grade[c]] > 0.0:
            runs[kinds], levels[kinds] = lists.items[c], values[lists.grade[c]]
            kinds += 1
            relevant += lists.items[c]
    return size, relevant, runs[:kinds], levels[:kinds]


@allocating
def retrieved_extremes(
    first: int,
    last: int,
    lists: Lists,
    depths: Integers,
    paired: Paired,
    out: Extremes,
) -> None:
    """Write the highest (``best``) or lowest AP/WAP sum per relevant item found, over all orders and numbers found.

    Given how many are found, the best order has the highest grades first and the worst order the lowest grades last.
    Cells of a tie ascend by grade.
    """
    best, extreme = out
    cutoffs = depths.shape[1]
    for q in range(first, last):
        value_sum, before, found, t, j = 0.0, 0.0, ZERO, ZERO, 0
        for tie in range(lists.start[q], lists.start[q + 1]):
            size, relevant, runs, levels = _relevant_runs(tie, lists, paired.values, best)
            while j < cutoffs and depths[q, j] <= t + size:
                slots = depths[q, j] - t
                least, most = max(0, slots - (size - relevant)), min(relevant, slots)
                chosen = -1.0
                for x in range(least, most + 1):
                    rank = t if best else t + slots - x
                    part, _ = _runs_sum(runs, levels, x, before, rank, paired.harmonics)
                    value = (value_sum + part) / (found + x) if found + x > 0 else 0.0
                    if chosen < 0.0 or (value > chosen) == best:
                        chosen = value
                extreme[q, j] = max(chosen, 0.0)
                j += 1
            if j == cutoffs:
                break  # the tables reach no farther than the deepest cutoff
            rank = t if best else t + size - relevant
            part, before = _runs_sum(runs, levels, relevant, before, rank, paired.harmonics)
            value_sum += part
            found += relevant
            t += size

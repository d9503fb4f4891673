"""AP and WAP: Σ_i (1/i) · [item at i relevant] · (sum of the values of the relevant items at 1 … i).

AP has value 1 for every relevant item, WAP its grade. With M items counted so far, an AP term is a step of the
triangular numbers F(M) = M(M + 1)/2, so summation by parts writes the sum over a tie as Σ_u δ_u F(M_u) with
δ_u = 1/((t+u)(t+u+1)) ≥ 0: its variance is a sum of covariances of hypergeometric counts, all of which share
their sign, so nothing cancels however far down the list the tie lies. The sums depend on the place of the tie only,
not on its relevances. docs/metrics.md has the derivation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import kernel
from retrieval_report.kernels.ratios import hypergeometric_band

__all__ = ["pairwise_moments"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@kernel
def climb(t: int, e: int, harmonic: float) -> float:
    """Σ_{i=t+1..e} (i − t − 1)/i, as s − (t+1)·(H(e) − H(t)) only where that does not cancel."""
    slots = e - t
    if slots > t:
        return slots - (t + 1.0) * harmonic
    total = 0.0
    for u in range(1, slots):
        total += u / (t + 1.0 + u)
    return total


@kernel
def place_sums(t: int, slots: int, size: int) -> tuple[float, float, float, float, float, float, float, float]:
    """The eight sums that give the variance of AP over the first ``slots`` slots of a tie of ``size`` items.

    For each v the hypergeometric count among the first v slots has central moments θ·a, θ·η·b, and
    (fourth − second²) = θ·β + θ²·γ, where θ = p(1−p), η = 1 − 2p, p = share of relevant items.
    """
    n = float(size)
    s1 = s2 = s3 = s4 = s5 = s6 = s7 = s8 = 0.0
    before, before_square = 0.0, 0.0  # Σ δ_u u and Σ δ_u u² over u < v
    b_scale = 1.0 / ((n - 1.0) * (n - 2.0)) if size > 2 else 0.0
    fourth_scale = 1.0 / ((n - 1.0) * (n - 2.0) * (n - 3.0)) if size > 3 else 0.0
    for step in range(1, min(slots, size - 1) + 1):
        v = float(step)
        delta = 1.0 / ((t + v) * (t + v + 1.0)) if step < slots else 1.0 / (t + v)
        g = v * (n - v)
        a = g / (n - 1.0)
        b = g * (n - 2.0 * v) * b_scale
        beta, gamma = 1.0, -4.0
        if size > 3:
            beta = g * (n * (n + 1.0) - 6.0 * g) * fourth_scale
            gamma = g * (2.0 * g * (n * n + 10.0 * n - 12.0) - 6.0 * n * n * (n - 1.0)) * fourth_scale / (n - 1.0)
        s1 += delta * a * (delta + 2.0 * before / v)
        s2 += 2.0 * delta * a * (delta * v + before + before_square / v)
        s3 += delta * a * (delta * v * v + 2.0 * before_square)
        pairs, skew = delta, 0.0  # δ_v + Σ δ_u u(u−1)/(v(v−1)), and Σ δ_u u(v−u)/(v(v−1))
        if step > 1:
            pairs += (before_square - before) / (v * (v - 1.0))
            skew = (v * before - before_square) / (v * (v - 1.0))
        s4 += delta * (b * (pairs + before / v) + skew * a)
        s5 += delta * (b * (v * pairs + before_square / v) + skew * v * a)
        both = 2.0 * pairs - delta
        s6 += 0.25 * delta * both * beta
        s7 += 0.25 * delta * both * gamma
        s8 += 0.5 * delta * skew * b
        before += delta * v
        before_square += delta * v * v
    return s1, s2, s3, s4, s5, s6, s7, s8


@kernel
def order_variance(
    sums: tuple[float, float, float, float, float, float, float, float],
    relevant: float,
    size: float,
    before: float,
) -> float:
    """Variance of AP's sum over a tie with ``relevant`` of ``size`` items relevant and ``before`` counted before."""
    p = relevant / size
    theta, eta, rho = p * (1.0 - p), 1.0 - 2.0 * p, before + 0.5
    s1, s2, s3, s4, s5, s6, s7, s8 = sums
    inner = rho * rho * s1 + rho * p * s2 + p * p * s3 + eta * (rho * s4 + p * s5) + s6 + theta * s7 + eta * eta * s8
    return max(theta * inner, 0.0)


@kernel
def tail_sums(t: int, slots: int) -> tuple[float, float, float]:
    """Σ w², Σ (2·w·T + T₂) and Σ (T² − T₂) over the slots, w = 1/i, T and T₂ the sums of w and w² behind a slot."""
    squares = mixed = crossed = 0.0
    behind, behind_square = 0.0, 0.0
    for i in range(t + slots, t, -1):
        w = 1.0 / i
        squares += w * w
        mixed += 2.0 * w * behind + behind_square
        crossed += behind * behind - behind_square
        behind += w
        behind_square += w * w
    return squares, mixed, crossed


@kernel
def grade_variance(
    tails: tuple[float, float, float],
    relevant: float,
    size: float,
    population: float,
    spread: float,
    second: float,
) -> float:
    """Mean variance that comes from which relevant item has which grade, given where the relevant items are.

    ``spread`` is Σ (grade − mean)² over the ``population`` relevant items of the whole tie; ``relevant`` of them lie
    among the ``size`` slots considered, and ``second`` is E[(AP sum)²] with nothing before the tie.
    """
    one = relevant / size
    two = one * (relevant - 1.0) / max(size - 1.0, 1.0)
    three = two * (relevant - 2.0) / max(size - 2.0, 1.0)
    squares, mixed, crossed = tails
    inner = one * squares + two * mixed + three * crossed - second / population
    return max(spread / (population - 1.0) * inner, 0.0)


@kernel
def order_mean(relevant: float, size: float, before: float, harmonic: float, climbed: float) -> float:
    """Mean of AP's sum over the slots of a tie: ΔH and the climb belong to the slots, the rest to the tie."""
    pairs = (relevant - 1.0) / (size - 1.0) if size > 1.0 else 0.0
    return relevant / size * ((before + 1.0) * harmonic + pairs * climbed)


@kernel
def tie_values(
    c0: int, c1: int, grade: NDArray[np.int32], count: Integers, values: Floats
) -> tuple[int, int, float, float]:
    """Size, relevant items (value > 0), their mean value, and the sum of squared deviations from it."""
    size, relevant, total = 0, 0, 0.0
    lowest, highest = np.inf, 0.0
    for c in range(c0, c1):
        value = values[grade[c]]
        size += count[c]
        if value > 0.0:
            relevant += count[c]
            total += count[c] * value
            lowest, highest = min(lowest, value), max(highest, value)
    if relevant == 0 or lowest == highest:
        return size, relevant, highest, 0.0
    mean, spread = total / relevant, 0.0
    for c in range(c0, c1):
        if values[grade[c]] > 0.0:
            spread += count[c] * (values[grade[c]] - mean) ** 2
    return size, relevant, mean, spread


@kernel
def tie_moments(
    t: int, slots: int, size: int, relevant: int, mean: float, spread: float, before: float, harmonic: float
) -> tuple[float, float]:
    """Mean and variance of the sum over the first ``slots`` slots; ``before`` is the value sum before the tie."""
    if slots == 0 or relevant == 0:
        return 0.0, 0.0
    scaled = before / mean
    climbed = climb(t, t + slots, harmonic)
    average = mean * order_mean(relevant, size, scaled, harmonic, climbed)
    if relevant == size and spread == 0.0:
        return average, 0.0
    sums = place_sums(t, slots, size)
    variance = mean * mean * order_variance(sums, relevant, size, scaled)
    if spread > 0.0:
        second = order_variance(sums, relevant, size, 0.0) + order_mean(relevant, size, 0.0, harmonic, climbed) ** 2
        variance += grade_variance(tail_sums(t, slots), relevant, size, relevant, spread, second)
    return average, variance


@kernel
def retrieved_moments(
    t: int,
    slots: int,
    size: int,
    relevant: int,
    mean: float,
    spread: float,
    before: float,
    relevant_before: int,
    harmonic: float,
    sum_before: float,
    variance_before: float,
) -> tuple[float, float]:
    """Mean and variance of the sum divided by the relevant items found, a hypergeometric number x inside the tie.

    Given x, the counted slots are themselves a uniform tie of ``slots`` items, x of them relevant.
    """
    if slots == 0 or relevant == 0:
        if relevant_before == 0:
            return 0.0, 0.0
        return sum_before / relevant_before, variance_before / relevant_before**2
    least, chances = hypergeometric_band(size, relevant, slots)
    climbed, scaled = climb(t, t + slots, harmonic), before / mean
    sums, tails = place_sums(t, slots, slots), (0.0, 0.0, 0.0)
    if spread > 0.0:
        tails = tail_sums(t, slots)
    value, within = 0.0, 0.0
    means = np.empty(chances.size)
    for index in range(chances.size):
        x = float(least + index)
        found = relevant_before + x
        means[index] = 0.0
        if found > 0.0:
            means[index] = (sum_before + mean * order_mean(x, slots, scaled, harmonic, climbed)) / found
            variance = variance_before + mean * mean * order_variance(sums, x, slots, scaled)
            if spread > 0.0 and x > 0.0:
                second = order_variance(sums, x, slots, 0.0) + order_mean(x, slots, 0.0, harmonic, climbed) ** 2
                variance += grade_variance(tails, x, slots, relevant, spread, second)
            within += chances[index] * variance / found**2
        value += chances[index] * means[index]
    between = 0.0
    for index in range(chances.size):
        between += chances[index] * (means[index] - value) ** 2
    return value, within + between


@kernel
def pairwise_moments(
    first: int,
    last: int,
    list_start: Integers,
    tie_start: Integers,
    grade: NDArray[np.int32],
    count: Integers,
    depths: Integers,
    values: Floats,
    total: Floats,
    total_low: Floats,
    retrieved: bool,
    mean: Floats,
    variance: Floats,
) -> None:
    """Write mean and variance of the sum at every depth; with ``retrieved``, of the sum per relevant item found.

    ``total`` and ``total_low`` are the harmonic numbers; ``values`` is positive exactly for the relevant grades.
    """
    cutoffs = depths.shape[1]
    for q in range(first, last):
        high, low, spread, before, relevant_before = 0.0, 0.0, 0.0, 0.0, 0
        t, j = 0, 0
        for tie in range(list_start[q], list_start[q + 1]):
            if j == cutoffs:
                break
            size, relevant, level, deviation = tie_values(tie_start[tie], tie_start[tie + 1], grade, count, values)
            end = t + size
            while j < cutoffs and depths[q, j] < end:
                e = depths[q, j]
                harmonic = (total[e] - total[t]) + (total_low[e] - total_low[t])
                if retrieved:
                    mean[q, j], variance[q, j] = retrieved_moments(
                        t,
                        e - t,
                        size,
                        relevant,
                        level,
                        deviation,
                        before,
                        relevant_before,
                        harmonic,
                        high + low,
                        spread,
                    )
                else:
                    part, part_spread = tie_moments(t, e - t, size, relevant, level, deviation, before, harmonic)
                    mean[q, j] = high + (part + low)
                    variance[q, j] = spread + part_spread
                j += 1
            if relevant > 0 and j < cutoffs:
                harmonic = (total[end] - total[t]) + (total_low[end] - total_low[t])
                part, part_spread = tie_moments(t, size, size, relevant, level, deviation, before, harmonic)
                sum_ = high + part
                back = sum_ - high
                low += (high - (sum_ - back)) + (part - back)
                high = sum_
                spread += part_spread
                before += relevant * level
                relevant_before += relevant
            t = end
        found = max(relevant_before, 1) if retrieved else 1
        for rest in range(j, cutoffs):
            mean[q, rest] = (high + low) / found
            variance[q, rest] = spread / found**2

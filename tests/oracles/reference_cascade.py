"""References for rr, hit_rate and err: the chance that nothing stopped the reader before position
i.

Fixed-point arithmetic as in `fixed_point.py`; called through `references.reference`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from fixed_point import BITS, UNIT, fraction, hypergeometric, survival, times, variance_of
from oracles import ONE, ZERO, Grade, exp2, gain_of
from recursion import Histogram, MeanVariance, by_states, number_of_states, relevant_in, walk

STATES_AT_MOST = 30_000
MERGED_AT_MOST = 1000
NEGLIGIBLE = BITS - 150


def reference_hit_rate(
    ties: Sequence[Histogram], k: int | None = None, *, relevant_from: Grade | None = None
) -> MeanVariance:
    """Chance of a relevant item among the first k; keeps its digits for chances near 0 and near
    1.
    """
    missed = ONE
    for start, end, size, tie in walk(ties, k):
        relevant = relevant_in(tie, relevant_from)
        if relevant:
            missed *= survival(size, relevant, end - start)
        if missed == 0:
            break
    return MeanVariance(1 - missed, missed * (1 - missed))


def reference_rr(
    ties: Sequence[Histogram], k: int | None = None, *, relevant_from: Grade | None = None
) -> MeanVariance:
    """Sum of 1/i * P(first relevant item at i); in a tie, P(none among j) = P(none among j-1) *
    P(not j).
    """
    mean = square = 0
    alive = UNIT
    for start, end, size, tie in walk(ties, k):
        relevant = relevant_in(tie, relevant_from)
        for j in range(1, end - start + 1) if relevant else ():
            remaining = alive * (size - relevant - j + 1) // (size - j + 1)
            mean += (alive - remaining) // (start + j)
            square += (alive - remaining) // (start + j) ** 2
            alive = remaining
            if alive == 0:
                return MeanVariance(fraction(mean), fraction(variance_of(mean, square)))
    return MeanVariance(fraction(mean), fraction(variance_of(mean, square)))


def reference_err(
    ties: Sequence[Histogram], k: int | None = None, *, max_grade: Grade = 4
) -> MeanVariance:
    """Mean of err; its variance from the recursion over states where that is short, else None."""
    if number_of_states(ties) <= STATES_AT_MOST:
        return by_states(ties, "err", k, max_grade=max_grade, n_relevant=1)
    mean, reading = 0, UNIT
    for start, end, _, tie in walk(ties, k):
        if not any(tie):
            continue
        groups = reading_on(tie, max_grade)
        means = mean_reading(groups, end - start)
        for j in range(1, end - start + 1):
            mean += times(reading, means[j - 1] - means[j]) // (start + j)
        reading = times(reading, means[end - start])
        if reading == 0:
            break
    return MeanVariance(fraction(mean), None)


def reading_on(tie: Histogram, max_grade: Grade) -> dict[Fraction, int]:
    """Number of items per chance that the reader goes on after one."""
    groups: Counter[Fraction] = Counter()
    for grade, count in tie.items():
        groups[1 - gain_of(grade, "exp2") / exp2(Fraction(max_grade))] += count
    return groups


def mean_reading(groups: dict[Fraction, int], slots: int) -> list[int]:
    """Chance that the reader still reads after j = 0..slots items drawn from the groups."""
    if len(groups) > 1 and slots > MERGED_AT_MOST:
        return by_recurrence(groups, slots)
    (chance, size), *others = groups.items()
    means = all_powers(chance, min(slots, size))
    for chance, count in others:
        means = merge(means, size, all_powers(chance, min(slots, count)), count, slots)
        size += count
    return means


def all_powers(chance: Fraction, length: int) -> list[int]:
    means = [UNIT]
    for _ in range(length):
        means.append(means[-1] * chance.numerator // chance.denominator)
    return means


def merge(means: list[int], size: int, others: list[int], count: int, slots: int) -> list[int]:
    """j items of both groups: x of the others with hypergeometric chance, and j - x of the
    first.
    """
    merged = []
    for j in range(min(slots, size + count) + 1):
        chances = hypergeometric(size + count, count, j)
        total = sum(chance * times(others[x], means[j - x]) for x, chance in chances.items())
        merged.append(total >> BITS)
    return merged


def by_recurrence(groups: dict[Fraction, int], slots: int) -> list[int]:
    """The same for many slots.

    C(n, j) E(j) are the coefficients of F = product of (1 + q z)**count, for which D F' = N F with
    the polynomials D = product of (1 + q z) and N = D * sum of count * q / (1 + q z). Rounding
    errors shrink upward while j < n / (1 + q) for all q; so with only one q < 1, the rest is taken
    from the other end, where E(n - j) is (product of all q) times the same with 1 / q.
    """
    size = sum(groups.values())
    turn = min(slots, int(size / (1 + min(groups)))) if len(groups) == 2 else min(slots, size // 2)
    means = upward(groups, turn)
    if slots == turn or means[turn] >> NEGLIGIBLE == 0:
        return means + [0] * (slots - turn)
    if len(groups) > 2 or ONE not in groups:
        raise NotImplementedError(
            f"no reference for err on {slots} slots with {len(groups)} groups"
        )
    last = all_powers(min(groups), groups[min(groups)])[-1]
    back = upward({1 / chance: count for chance, count in groups.items()}, size - turn - 1)
    return means + [times(last, back[size - j]) for j in range(turn + 1, slots + 1)]


def upward(groups: dict[Fraction, int], slots: int) -> list[int]:
    size, order = sum(groups.values()), len(groups)
    d, n = differential_equation(groups)
    scale = math.lcm(*(value.denominator for value in (*d, *n)))
    d_scaled, n_scaled = [int(value * scale) for value in d], [int(value * scale) for value in n]
    means = [UNIT]
    for j in range(slots):
        total = 0
        for i in range(min(order, j + 1)):
            term = means[j - i]
            for step in range(i):  # C(n, j - i) / C(n, j)
                term = term * (j - step) // (size - j + 1 + step)
            total += (n_scaled[i] - d_scaled[i + 1] * (j - i)) * term
        means.append(total // (scale * (size - j)))
        if means[-1] <= 0:
            return means[:-1] + [0] * (slots - j)
    return means


def differential_equation(groups: dict[Fraction, int]) -> tuple[list[Fraction], list[Fraction]]:
    """Coefficients of D and N."""

    def product(chances: list[Fraction]) -> list[Fraction]:
        coefficients = [ONE]
        for chance in chances:
            shifted = [chance * value for value in coefficients]
            coefficients = [
                a + b for a, b in zip([*coefficients, ZERO], [ZERO, *shifted], strict=True)
            ]
        return coefficients

    numerator = [ZERO] * len(groups)
    for chance, count in groups.items():
        rest = product([other for other in groups if other != chance])
        numerator = [a + count * chance * b for a, b in zip(numerator, rest, strict=True)]
    return product(list(groups)), numerator

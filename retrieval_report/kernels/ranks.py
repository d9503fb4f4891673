"""The variance of AP over a tie, from four sums that depend on where the tie lies, not on what is
relevant in it.

Over the slots of a tie the AP sum is ρ·A + C, with A = Σ x_i/(t+i), C = Σ_{j<i} x_j·x_i/(t+i) and ρ
one more than the relevant items before. Both rise with the relevant items among the first slots, so
variances and covariance are sums of products that all have one sign (docs/metrics.md): nothing
cancels, however far down the list a tie lies.
"""

from __future__ import annotations

from typing import NamedTuple

from retrieval_report.kernels.compile import inlined
from retrieval_report.kernels.tables import (
    Weights,
    exact_product,
    pair_between,
    pair_product,
    pair_sum,
)

NEAR = 64  # a tie that starts within this many times its own length loses at most half the digits of a pair
LONG = 32  # from this many slots on, the closed form (some 400 operations) costs less than a walk


class PlaceSums(NamedTuple):
    """Sums over a tie of n items, r of them relevant, with θ the variance of one item's relevance.

    Var A = θ·alone/(n−1), Cov(A, C) = θ·(r−1)·mixed/((n−1)(n−2)), and
    Var C = θ·(r−1)·(paired + (r−2)·more/(n−3))/((n−1)²(n−2)).
    """

    alone: float
    mixed: float
    paired: float
    more: float


@inlined
def order_variance(sums: PlaceSums, relevant: float, size: float, before: float) -> float:
    """Return the variance of AP's sum over a tie of ``size`` items, given relevant items in it and
    before it.
    """
    own, n = before + 1.0, size
    one, two, three = (
        max(n - 1.0, 1.0),
        max(n - 2.0, 1.0),
        max(n - 3.0, 1.0),
    )  # below 1 only if the factor is 0
    inner = own * own * sums.alone * (one * two * three)
    inner += (relevant - 1.0) * (
        three * (2.0 * own * one * sums.mixed + sums.paired) + (relevant - 2.0) * sums.more
    )
    return relevant * (n - relevant) * inner / (n * n * (one * one * two * three))


@inlined
def place_sums(t: int, slots: int, size: int, harmonics: Weights) -> PlaceSums:
    """Return the sums for the first ``slots`` slots of a tie of ``size`` items that starts after
    position ``t``.
    """
    if slots >= LONG and t <= NEAR * slots:
        return _closed_sums(t, slots, size, harmonics)
    return _walked_sums(t, slots, size, harmonics)


@inlined
def _walked_sums(t: int, slots: int, size: int, harmonics: Weights) -> PlaceSums:
    """Compute the sums slot by slot: A = Σ δ_v·M_v, C = Σ δ_v·M_v(M_v − 1)/2, M_v relevant among
    the first v slots.

    For two slots u < v, each covariance is the product of a factor in u, which is summed on the
    way, and one in v.
    """
    inverse = harmonics.weight  # a table of 1/i costs less than divisions
    n = float(size)
    alone = mixed = plain = deep = 0.0
    singles, pairs = 0.0, 0.0  # Σ δ_u·u and Σ δ_u·u(u − 1) over u < v
    for step in range(1, min(slots, size - 1) + 1):
        v = float(step)
        delta = inverse[t + step] * inverse[t + step + 1] if step < slots else inverse[t + step]
        rest = delta * (n - v)
        single = delta * v
        pair = single * (v - 1.0)
        alone += rest * (2.0 * singles + single)
        mixed += rest * ((v - 1.0) * (singles + single) + pairs)
        both = rest * (pairs + 0.5 * pair)
        plain += both
        deep += both * v
        singles += single
        pairs += pair
    return PlaceSums(
        alone, mixed, (n - 1.0) * plain + deep, (2.0 * n - 3.0) * deep - 3.0 * (n - 1.0) * plain
    )


@inlined
def _less(a: float, a_low: float, factor: float, b: float, b_low: float) -> tuple[float, float]:
    """Return a − factor·b."""
    high, low = pair_product(-factor, 0.0, b, b_low)
    return pair_sum(a, a_low, high, low)


@inlined
def _closed_sums(t: int, slots: int, size: int, harmonics: Weights) -> PlaceSums:
    """Compute the sums from Σ1/i and Σ1/i² over the slots alone, in pairs, which are precise enough
    to cancel.
    """
    e, behind, n = t + slots, t + 1.0, float(size)
    total, total_low = pair_between(harmonics.total, harmonics.total_low, t, e)
    square, square_low = pair_between(harmonics.square, harmonics.square_low, t, e)
    climb, climb_low = _less(float(slots), 0.0, behind, total, total_low)  # Σ (i−1)·w, w = 1/(t+i)
    first, first_low = _less(total, total_low, behind, square, square_low)  # Σ (i−1)·w²
    second, second_low = _less(climb, climb_low, behind, first, first_low)  # Σ (i−1)²·w²
    whole, whole_low = pair_product(total, total_low, total, total_low)
    twice, twice_low = pair_sum(whole, whole_low, -square, -square_low)
    twice, twice_low = 0.5 * twice, 0.5 * twice_low  # Σ w_j·w_i over j < i
    chain, chain_low = _less(
        climb, climb_low, behind, twice, twice_low
    )  # Σ (j−1)·w_j·w_i over j < i
    steep, steep_low = pair_product(climb, climb_low, climb, climb_low)
    across, across_low = pair_product(total, total_low, climb, climb_low)
    couples, couples_low = exact_product(n, n - 1.0)

    alone, alone_low = pair_product(n, 0.0, square, square_low)
    alone, alone_low = pair_sum(alone, alone_low, -whole, -whole_low)
    mixed, mixed_low = pair_sum(first, first_low, twice, twice_low)
    mixed, mixed_low = pair_product(n, 0.0, mixed, mixed_low)
    mixed, mixed_low = _less(mixed, mixed_low, 2.0, across, across_low)
    paired, paired_low = pair_product(couples, couples_low, first, first_low)
    paired, paired_low = _less(paired, paired_low, 2.0, steep, steep_low)
    more, more_low = pair_sum(second, second_low, 4.0 * chain, 4.0 * chain_low)
    more, more_low = pair_product(couples, couples_low, more, more_low)
    more, more_low = _less(more, more_low, 4.0 * n - 6.0, steep, steep_low)
    return PlaceSums(alone, mixed, paired, more)

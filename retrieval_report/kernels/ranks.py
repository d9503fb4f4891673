"""The variance of AP over a tie, from four sums that depend on where the tie lies, not on what is
relevant in it.

Over the slots of a tie the AP sum is ρ·A + C, with A = Σ x_i/(t+i), C = Σ_{j<i} x_j·x_i/(t+i) and ρ
one more than the relevant items before. Both rise with the relevant items among the first slots, so
variances and covariance are sums of products that all have one sign (docs/metrics.md): nothing
cancels, however far down the list a tie lies.
"""

from typing import NamedTuple

from retrieval_report.kernels.compile import inlined
from retrieval_report.kernels.tables import (
    Pair,
    Weights,
    exact_product,
    pair_between,
    pair_product,
    pair_sum,
)

# A tie that starts within this many times its own length loses at most half the digits of a pair
PRECISE_UP_TO = 64
CLOSED_FORM_FROM = (
    32  # from this many slots on, the closed form (some 400 operations) costs less than a walk
)


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
    """Return the variance of AP's sum over a tie of ``size``
    items, given relevant items in it and before it.
    """
    rank = before + 1.0
    n = size
    n_less_1 = max(n - 1.0, 1.0)
    two = max(n - 2.0, 1.0)
    three = max(n - 3.0, 1.0)  # below 1 only if the factor is 0
    inner = rank * rank * sums.alone * (n_less_1 * two * three)
    inner += (relevant - 1.0) * (
        three * (2.0 * rank * n_less_1 * sums.mixed + sums.paired) + (relevant - 2.0) * sums.more
    )
    return relevant * (n - relevant) * inner / (n * n * (n_less_1 * n_less_1 * two * three))


@inlined
def place_sums(t: int, slots: int, size: int, harmonics: Weights) -> PlaceSums:
    """Return the sums for the first ``slots`` slots of a
    tie of ``size`` items that starts after position ``t``.
    """
    if slots >= CLOSED_FORM_FROM and t <= PRECISE_UP_TO * slots:
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
    own_sum = mixed = plain = deep = 0.0
    singles = pairs = 0.0  # Σ δ_u·u and Σ δ_u·u(u − 1) over u < v
    for step in range(1, min(slots, size - 1) + 1):
        v = float(step)
        delta = inverse[t + step] * inverse[t + step + 1] if step < slots else inverse[t + step]
        rest = delta * (n - v)
        single = delta * v
        pair = single * (v - 1.0)
        own_sum += rest * (2.0 * singles + single)
        mixed += rest * ((v - 1.0) * (singles + single) + pairs)
        pair_total = rest * (pairs + 0.5 * pair)
        plain += pair_total
        deep += pair_total * v
        singles += single
        pairs += pair
    return PlaceSums(
        own_sum, mixed, (n - 1.0) * plain + deep, (2.0 * n - 3.0) * deep - 3.0 * (n - 1.0) * plain
    )


@inlined
def less(pair: Pair, factor: float, factor_pair: Pair) -> Pair:
    """Return one − factor·other."""
    return pair_sum(pair, pair_product((-factor, 0.0), factor_pair))


@inlined
def _closed_sums(t: int, slots: int, size: int, harmonics: Weights) -> PlaceSums:
    """Compute the sums from Σ1/i and Σ1/i² over the slots
    alone, in pairs, which are precise enough to cancel.
    """
    e = t + slots
    behind = t + 1.0
    n = float(size)
    total = pair_between(harmonics.total, harmonics.total_low, t, e)
    square = pair_between(harmonics.square, harmonics.square_low, t, e)
    climb = less((float(slots), 0.0), behind, total)  # Σ (i−1)·w, w = 1/(t+i)
    first = less(total, behind, square)  # Σ (i−1)·w²
    second = less(climb, behind, first)  # Σ (i−1)²·w²
    whole = pair_product(total, total)
    twice = pair_sum(whole, (-square[0], -square[1]))
    twice = 0.5 * twice[0], 0.5 * twice[1]  # Σ w_j·w_i over j < i
    chain = less(climb, behind, twice)  # Σ (j−1)·w_j·w_i over j < i
    steep = pair_product(climb, climb)
    couples = exact_product(n, n - 1.0)

    own_sum = pair_sum(pair_product((n, 0.0), square), (-whole[0], -whole[1]))
    mixed = pair_product((n, 0.0), pair_sum(first, twice))
    mixed = less(mixed, 2.0, pair_product(total, climb))
    paired = less(pair_product(couples, first), 2.0, steep)
    more = pair_product(couples, pair_sum(second, (4.0 * chain[0], 4.0 * chain[1])))
    more = less(more, 4.0 * n - 6.0, steep)
    return PlaceSums(own_sum[0], mixed[0], paired[0], more[0])

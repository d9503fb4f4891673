"""Moments of average precision by the trapezoidal rule: Σ over the relevant items of the mean of
the precisions at and before their ranks.

The h-th relevant item, at rank i, adds ½·(h/i + (h − 1)/(i − 1)), and at rank 1 it adds 1. With
a_i = ½/i and c_i = ½·(1/i + 1/(i − 1)) that is a_i + (h − 1)·c_i, so over a tie the sum is Σ
α_i·x_i + Σ_{j<i} c_i·x_i·x_j, with α_i = a_i + c_i · (relevant items before the tie).
docs/metrics.md has the derivation.
"""

from retrieval_report.kernels.compile import costs, inlined
from retrieval_report.kernels.lists import Spread, Tie, slots_walked
from retrieval_report.kernels.tables import Given, add
from retrieval_report.kernels.walk import Before, Steps, count_tie, walk


@inlined
def above(i: int, last: int) -> float:
    """Return 1/i − 1/last without cancellation; 1/i if ``last`` is 0."""
    return 1.0 / i if last == 0 else (last - i) / (float(i) * last)


@inlined
def slot_weights(i: int, last: int, before: float) -> tuple[float, float]:
    """Return α and c of rank i, less those of rank ``last`` unless it is 0."""
    if i == 1:
        return (1.0 if last == 0 else 1.0 - 0.5 / last), 0.0
    pair = 0.5 * (above(i, last) + above(i - 1, last - 1 if last else 0))
    return 0.5 * above(i, last) + before * pair, pair


@inlined
def tie_variance(tie: Tie, slots: int, before: float) -> float:
    """Return the variance of the sum over the first ``slots`` slots of a tie.

    Over a whole tie the relevant items, and their pairs, are as many in every order: what all ranks
    weigh is left out, so that nothing cancels far down a list.
    """
    last = tie.t + slots if slots == tie.size else 0
    total = square = pairs = pair_square = near = crossed = shared = 0.0
    behind = behind_square = 0.0
    for u in range(slots - 1, -1, -1):
        alpha, c = slot_weights(tie.t + 1 + u, last, before)
        total += alpha
        square += alpha * alpha
        pairs += u * c
        pair_square += u * c * c
        near += u * c * alpha + alpha * behind
        shared += u * (u - 1.0) * c * c + 2.0 * u * c * behind
        crossed += behind * behind - behind_square
        behind += c
        behind_square += c * c
    n, r = float(tie.size), float(tie.relevant)
    n_less_1, two, three = max(n - 1.0, 1.0), max(n - 2.0, 1.0), max(n - 3.0, 1.0)
    irrelevant = n - r
    single = r / n
    double = single * (r - 1.0) / n_less_1
    shared += crossed
    apart = pairs * pairs - pair_square - shared
    variance = single * irrelevant / n * (square - (total * total - square) / n_less_1)
    variance += 2.0 * double * irrelevant / n * (near - 2.0 * (pairs * total - near) / two)
    variance += double * irrelevant * (n + r - 1.0) / (n * n_less_1) * pair_square
    variance += double * ((r - 2.0) / two - double) * shared
    variance -= (
        double
        * irrelevant
        * ((4.0 * n - 6.0) * r - 6.0 * n_less_1)
        / (n * n_less_1 * two * three)
        * apart
    )
    return max(variance, 0.0)


@inlined
def tie_moments(tie: Tie, slots: int, before: float) -> Spread:
    """Return mean and variance of the sum over the first ``slots`` slots of a tie, with so many
    relevant items ``before`` it.
    """
    if tie.relevant == 0:
        return 0.0, 0.0
    share = (tie.relevant - 1.0) / max(tie.size - 1.0, 1.0)
    high = low = 0.0
    for u in range(slots):
        alpha, c = slot_weights(tie.t + 1 + u, 0, before)
        high, low = add(high, low, alpha + c * u * share)
    mean = (high + low) * tie.relevant / tie.size
    return mean, tie_variance(tie, slots, before) if tie.relevant < tie.size else 0.0


@inlined
def add_tie(tie: Tie, before: Before, _given: Given) -> Before:
    """Return the contribution of all ties so far after a whole tie is added."""
    part, variance = tie_moments(tie, tie.size, float(before.relevant))
    high, low = add(before.high, before.low, part)
    return Before(before.relevant + tie.relevant, 0.0, high, low, before.variance + variance)


@inlined
def inside(tie: Tie, slots: int, before: Before, _given: Given) -> Spread:
    """Return mean and variance of the sum for a cutoff after some slots of a tie."""
    part, variance = tie_moments(tie, slots, float(before.relevant))
    return before.high + (part + before.low), before.variance + variance


trapezoid_moments = costs(slots_walked)(
    walk("trapezoid_moments", Steps(count_tie, add_tie, inside))
)

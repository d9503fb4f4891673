"""Metrics of the first relevant item: hit rate and reciprocal rank.

Inside a tie of n items with r relevant, no relevant item is among the first j slots with
probability S_j = S_{j−1}·(n−r−j+1)/(n−j+1).
"""

from retrieval_report.kernels.compile import costs, inlined, kernel, squared
from retrieval_report.kernels.lists import Spread, Tie, slots_walked
from retrieval_report.kernels.tables import Given, add, pair_product, pair_quotient
from retrieval_report.kernels.walk import Before, Steps, count_tie, walk

GONE = 1e-290  # a probability below this counts as 0, because its products would underflow


@kernel
def _inside(tie: Tie, slots: int, before: Before, given: Given) -> Spread:
    """Return the moments for a cutoff after some slots of a tie: of the reciprocal rank if that
    fades, else of the hit rate.
    """
    t, size, relevant = tie
    if relevant == 0:
        return before.high, before.variance
    survival = 1.0
    survival_low = hit_chance = found_low = mean = mean_low = 0.0
    square = shift = shift_square = 0.0
    slot = 0
    limit = min(slots, size - relevant + 1)
    while slot < limit and survival > GONE:
        chance = survival * relevant / (size - slot)
        # a pair of floats, because a million roundings of a product drift to one side
        rest = pair_quotient((float(size - relevant - slot), 0.0), (float(size - slot), 0.0))
        survival, survival_low = pair_product((survival, survival_low), rest)
        slot += 1
        position = 1.0 / (t + slot)
        hit_chance, found_low = add(hit_chance, found_low, chance)
        mean, mean_low = add(mean, mean_low, chance * position)
        square += chance * position * position
        late = (slot - 1.0) * position / (t + 1.0)  # 1/(t+1) − 1/slot, without cancellation
        shift += chance * late
        shift_square += chance * late * late
    whole = limit == size - relevant + 1
    survival_left = 0.0 if whole or survival <= GONE else survival
    hit = 1.0 if survival_left == 0.0 else hit_chance + found_low
    if not given.fades:
        return hit, hit * survival_left
    rank = mean + mean_low
    # RR, or 1/(t+1) − RR (1/(t+1) if there is no hit): squaring the smaller one loses fewer digits
    missed = survival_left / (t + 1.0)
    if square < shift_square + missed / (t + 1.0):
        spread = square - rank * rank
    else:
        spread = shift_square + missed / (t + 1.0) - squared(shift + missed)
    return rank, max(spread, 0.0) if size > relevant else 0.0


@inlined
def _add(tie: Tie, before: Before, given: Given) -> Before:
    """Return what is known after a whole tie."""
    mean, variance = _inside(tie, tie.size, before, given)
    return Before(before.relevant + tie.relevant, 0.0, mean, 0.0, variance)


@inlined
def _ended(before: Before) -> bool:
    """Return whether a relevant item is certain to be found."""
    return before.relevant > 0


# Of 1 / (rank of the first relevant item), or of whether the top k hold one
first_relevant_moments = costs(slots_walked)(
    walk("first_relevant_moments", Steps(count_tie, _add, _inside, ended=_ended))
)

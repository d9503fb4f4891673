"""Moments of bpref, which counts the judged non-relevant items ranked before every relevant item.

With M = min(R, N), N the number of judged non-relevant items, a relevant item with y of them before
it contributes max(1 − y/M, 0). Inside a tie of r relevant items and m others, y is uniform between
the number before the tie and m more, and the covariance of two relevant items is the variance / (m
+ 2); docs/metrics.md derives both.
"""

from retrieval_report.kernels.compile import ZERO, costs, inlined, kernel
from retrieval_report.kernels.lists import (
    Integers,
    Lists,
    Moments,
    Spread,
    count_relevant,
    slots_walked,
    ties_of,
)
from retrieval_report.kernels.tables import Given, add


@inlined
def tie_preferences(relevant: int, irrelevant: int, before: int, most: int) -> Spread:
    """Return the mean and variance of what a tie adds, given ``before`` others before it and
    ``most`` = M.
    """
    if most == 0:  # no judged item could precede another
        return float(relevant), 0.0
    slots_left = max(most - before, 0)  # M times what the first item of the tie would contribute
    reached = float(
        min(slots_left, irrelevant + 1)
    )  # this many slots contribute, each 1/M less than the one before
    average = slots_left - (reached - 1.0) / 2.0
    share = reached / (irrelevant + 1.0)
    mean = relevant * share * average / most
    spread = (
        share * ((reached * reached - 1.0) / 12.0 + (1.0 - share) * average * average) / most / most
    )
    return mean, spread * relevant * (irrelevant + relevant + 1.0) / (irrelevant + 2.0)


@costs(slots_walked)
@kernel
def preference_moments(
    first: int, last: int, lists: Lists, depths: Integers, given: Given, out: Moments
) -> None:
    """Write the mean and variance of the sum over the whole lists ``first`` … ``last`` − 1,
    whatever the cutoff.
    """
    for q in range(first, last):
        high = low = spread = 0.0
        before = ZERO
        for tie in ties_of(q, lists):
            size, relevant = count_relevant(tie, lists, given.values)
            irrelevant = size - relevant
            if relevant:
                part, part_spread = tie_preferences(relevant, irrelevant, before, given.most[q])
                high, low = add(high, low, part)
                spread += part_spread
            before += irrelevant
        out.mean[q, :] = high + low
        out.variance[q, :] = spread

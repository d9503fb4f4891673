"""Metrics of the first relevant item: hit rate and reciprocal rank.

Inside a tie of n items with r relevant, no relevant item is among the first j slots with
probability S_j = S_{j−1}·(n−r−j+1)/(n−j+1).
"""

from __future__ import annotations

from typing import NamedTuple

from retrieval_report.kernels.compile import costs, kernel, squared
from retrieval_report.kernels.lists import (
    Bools,
    Integers,
    Lists,
    Moments,
    Tie,
    count_relevant,
    slots_walked,
    ties_of,
)
from retrieval_report.kernels.tables import add, pair_product, pair_quotient

GONE = 1e-290  # a probability below this counts as 0, because its products would underflow


class First(NamedTuple):
    """Which grades are relevant, and whether the reciprocal rank is wanted, not the hit rate."""

    relevant_grade: Bools
    reciprocal: bool


@kernel
def _first_relevant_tie(q: int, deepest: int, lists: Lists, relevant_grade: Bools) -> Tie:
    """Find the first tie with relevant items: how many items precede it, its size, its relevant
    items (0: no such tie).

    Ties that start beyond ``deepest`` are ignored.
    """
    t = size = relevant = 0
    for tie in ties_of(q, lists):
        t += size
        if t >= deepest:
            return Tie(t, 0, 0)
        size, relevant = count_relevant(tie, lists, relevant_grade)
        if relevant:
            break
    return Tie(t, size, relevant)


@kernel
def _first_relevant_in(
    q: int, tie: Tie, depths: Integers, j: int, reciprocal: bool, out: Moments
) -> None:
    """Write the moments of one list for the cutoffs from ``j`` on, all of which reach into the
    first relevant tie.
    """
    t, size, relevant = tie
    survival = 1.0
    survival_low = hit_chance = found_low = mean = mean_low = 0.0
    square = shift = shift_square = 0.0
    slot = 0
    while j < depths.shape[1]:
        limit = min(depths[q, j] - t, size - relevant + 1)
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
        left = 0.0 if whole or survival <= GONE else survival
        hit = 1.0 if left == 0.0 else hit_chance + found_low
        rank = mean + mean_low
        # RR, or 1/(t+1) − RR (1/(t+1) if there is no hit): squaring the smaller one loses fewer
        # digits
        missed = left / (t + 1.0)
        if square < shift_square + missed / (t + 1.0):
            spread = square - rank * rank
        else:
            spread = shift_square + missed / (t + 1.0) - squared(shift + missed)
        rank_spread = max(spread, 0.0) if size > relevant else 0.0
        out.mean[q, j], out.variance[q, j] = (
            (rank, rank_spread) if reciprocal else (hit, hit * left)
        )
        j += 1


@costs(slots_walked)
@kernel
def first_relevant_moments(
    first: int, last: int, lists: Lists, depths: Integers, wanted: First, out: Moments
) -> None:
    """Write mean and variance of 1 / (rank of the first relevant item), or of whether the top k
    hold one.
    """
    cutoffs = depths.shape[1]
    for q in range(first, last):
        tie = _first_relevant_tie(q, depths[q, cutoffs - 1], lists, wanted.relevant_grade)
        j = 0
        while j < cutoffs and (depths[q, j] <= tie.t or tie.relevant == 0):
            out.mean[q, j] = 0.0
            out.variance[q, j] = 0.0
            j += 1
        _first_relevant_in(q, tie, depths, j, wanted.reciprocal, out)

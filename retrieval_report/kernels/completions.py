"""Lists as a deeper retrieval could complete them, and the best NDCG if the ideal depends on the
completion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.compile import ZERO, allocating, kernel
from retrieval_report.kernels.grouping import RISING, Tally, flush, tally_cells
from retrieval_report.kernels.lists import Bools, Cells, Floats, Integers, Lists
from retrieval_report.kernels.tables import Weights


@allocating
def complete(
    lists: Lists, open_last: Bools, extra: Cells, kinds: int, new: Lists
) -> tuple[int, int]:
    """Fill in every list's ties, adding extra items to its last tie (``open_last``) or as a new tie
    after it.

    Returns the numbers of ties and cells of the ``new`` lists.
    """
    new_start, new_tie, grade, items = new
    ties = cells = ZERO
    tallied = Tally(np.zeros(kinds, np.int64), np.empty(kinds, np.int32))
    for q in range(lists.start.size - 1):
        closed = lists.start[q + 1] - (
            1 if open_last[q] and lists.start[q + 1] > lists.start[q] else 0
        )
        for tie in range(lists.start[q], closed):
            for cell in range(lists.tie[tie], lists.tie[tie + 1]):
                grade[cells], items[cells] = lists.grade[cell], lists.items[cell]
                cells += 1
            ties += 1
            new_tie[ties] = cells
        begin, end = lists.tie[closed], lists.tie[lists.start[q + 1]]
        found = tally_cells(begin, end, lists.grade, lists.items, tallied, ZERO)
        found = tally_cells(
            extra.start[q], extra.start[q + 1], extra.grade, extra.items, tallied, found
        )
        cells = flush(tallied, found, grade, items, cells, RISING)
        if found > 0:
            ties += 1
            new_tie[ties] = cells
        new_start[q + 1] = ties
    return ties, cells


class Head(NamedTuple):
    """The known start of a list: its items, what they contribute, and the least and greatest number
    of added items.
    """

    start: int
    won: float
    least: int
    most: int


class Following(NamedTuple):
    """Items that may follow, by ascending grade index: in the ideal anyway, right after the start,
    and optional.
    """

    ideal: Integers
    front: Integers
    optional: Integers
    gains: Floats


@allocating
def best_ratio(head: Head, depth: int, following: Following, weights: Weights) -> float:
    """The largest DCG / ideal DCG of the first ``depth`` positions over the items that may follow a
    list.

    ``ideal`` items are in the ideal anyway, ``front`` of them can come right after the start, and
    up to ``optional`` more can be added to both, ``least`` to ``most`` in all. Dinkelbach's method
    finds the root λ of max(DCG − λ · ideal). Each maximum is found by dynamic programming over the
    number of items added, with grades in descending order, which fixes all positions.
    """
    ratio = 0.0
    for _ in range(60):
        better = _best_difference(head, depth, following, weights, ratio)
        if better <= ratio:
            break
        ratio = better
    return ratio


@kernel
def _weight(weights: Weights, begin: int, end: int, depth: int) -> float:
    """Return the sum of the weights of the positions begin + 1 … end, ignoring positions beyond
    ``depth``.
    """
    begin, end = min(begin, depth), min(end, depth)
    result: float = (weights.total[end] - weights.total[begin]) + (
        weights.total_low[end] - weights.total_low[begin]
    )
    return result


@allocating
def _best_difference(
    head: Head, depth: int, following: Following, weights: Weights, ratio: float
) -> float:
    """Return DCG / ideal DCG of the completion with the largest DCG − ratio · ideal DCG."""
    start, won, least, most = head
    ideal, front, optional, gains = following
    room = depth + 1  # possible numbers of added items; more than ``depth`` change nothing
    low = -np.inf
    score, dcg, norm = np.full(room, low), np.zeros(room), np.zeros(room)
    score[0], dcg[0] = won, won
    at, ideal_at = start, 0
    for code in range(gains.size - 1, -1, -1):
        new_score, new_dcg, new_norm = np.full(room, low), np.zeros(room), np.zeros(room)
        for added in range(room):
            if score[added] == low:
                continue
            for more in range(min(optional[code], min(most, depth) - added) + 1):
                top = _weight(weights, at + added, at + added + front[code] + more, depth)
                bottom = _weight(
                    weights, ideal_at + added, ideal_at + added + ideal[code] + more, depth
                )
                value = score[added] + gains[code] * (top - ratio * bottom)
                if value > new_score[added + more]:
                    new_score[added + more] = value
                    new_dcg[added + more] = dcg[added] + gains[code] * top
                    new_norm[added + more] = norm[added] + gains[code] * bottom
        score, dcg, norm = new_score, new_dcg, new_norm
        at, ideal_at = at + front[code], ideal_at + ideal[code]
    best, result = low, 0.0
    for added in range(room):
        if added >= min(least, depth) and score[added] > best:
            best = score[added]
            result = dcg[added] / norm[added] if norm[added] > 0 else 0.0
    return result

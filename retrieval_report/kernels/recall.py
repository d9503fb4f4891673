"""Interpolated precision of lists whose relevant items tie with others, at numbers of hits."""

import math
from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.ap_retrieved import mean_and_spread
from retrieval_report.kernels.compile import allocating, costs, kernel
from retrieval_report.kernels.lists import Floats, Integers, running


class HitTies(NamedTuple):
    """The ties that hold relevant items, of all lists."""

    start: Integers  # (lists + 1,) first tie of each list
    before: Integers  # items in front of each
    items: Integers
    relevant: Integers
    hits: Integers  # relevant items in front of each


@allocating
def precision_along(ties: HitTies, needed: Integers, last: bool, value: Floats) -> None:
    """Write the interpolated precision of each list (lists, levels) from so many ``needed`` hits
    on, where the relevant items of every tie come first, or last.
    """
    for q in range(ties.start.size - 1):
        first = ties.start[q]
        end = ties.start[q + 1]
        total = ties.hits[end - 1] + ties.relevant[end - 1] if end > first else 0
        best = np.zeros(total + 1)
        for tie in range(first, end):
            front = ties.before[tie] + (ties.items[tie] - ties.relevant[tie] if last else 0)
            for number in range(1, ties.relevant[tie] + 1):
                hits = ties.hits[tie] + number
                best[hits - 1] = hits / (front + number)
        for hits in range(total - 1, -1, -1):
            best[hits] = max(best[hits], best[hits + 1])
        for level in range(needed.shape[1]):
            value[q, level] = best[min(needed[q, level] - 1, total)]


def steps_of_lists(ties: HitTies, _needed: object, most: float, *_: object) -> float:
    """Estimate the work of `expected_precision`."""
    slots = ties.items * ties.relevant
    precisions = ties.relevant * (ties.items - ties.relevant + 1)
    slot_steps, precision_steps = (
        np.diff(running(part.astype(np.float64))[ties.start]) for part in (slots, precisions)
    )
    cells = slot_steps * precision_steps
    return float(cells[cells <= most].sum())


@costs(steps_of_lists)
@allocating
def expected_precision(
    ties: HitTies,
    needed: Integers,
    most: float,
    value: Floats,
    std: Floats,
) -> None:
    """Write mean and standard deviation over all orders of the ties; NaN for lists that take more
    than so many steps.

    The maximum is at most x if every relevant item from the needed one on stands far enough behind.
    The ties are independent, and inside one the chance is found slot by slot, for all values x that
    can come about at once.
    """
    for q in range(ties.start.size - 1):
        first, end = ties.start[q], ties.start[q + 1]
        count, largest, steps = 0, 0, 0.0
        for tie in range(first, end):
            relevant = ties.relevant[tie]
            count += relevant * (ties.items[tie] - relevant + 1)
            largest = max(largest, relevant)
            steps += ties.items[tie] * relevant
        precision = np.empty(count)
        count = 0
        for tie in range(first, end):
            for number in range(1, ties.relevant[tie] + 1):
                for irrelevant in range(ties.items[tie] - ties.relevant[tie] + 1):
                    rank = ties.before[tie] + number + irrelevant
                    precision[count] = (ties.hits[tie] + number) / rank
                    count += 1
        precision.sort()
        count = _distinct(precision)
        precision = precision[:count]
        unknown = np.nan if count * steps > most else 0.0
        value[q] = unknown
        std[q] = unknown
        if count * steps > most:
            continue
        later = np.ones(count)
        chance = np.empty((largest + 1, count))
        for back in range(1, end - first + 1):
            tie = end - back
            relevant = ties.relevant[tie]
            for level in range(needed.shape[1]):
                least = needed[q, level] - ties.hits[tie]
                if level and needed[q, level] == needed[q, level - 1]:
                    value[q, level] = value[q, level - 1]
                    std[q, level] = std[q, level - 1]
                elif 0 < least <= relevant:
                    _find_chances(ties, tie, least, precision, chance)
                    below = later * chance[relevant]
                    for x in range(count - 1, 0, -1):
                        below[x] -= below[x - 1]
                    mean, square = mean_and_spread(below, precision)
                    value[q, level] = mean
                    std[q, level] = math.sqrt(max(square, 0.0))
            _find_chances(ties, tie, 1, precision, chance)
            later *= chance[relevant]


@kernel
def _distinct(rising: Floats) -> int:
    """Move what differs to the front; return how much it is."""
    count = 0
    for value in rising:
        if count == 0 or value != rising[count - 1]:
            rising[count] = value
            count += 1
    return count


@kernel
def _find_chances(ties: HitTies, tie: int, least: int, precision: Floats, chance: Floats) -> None:
    """Write into the last row of a tie the chance that its relevant items, from the ``least``-th
    on, have at most each of the precisions; row j is the chance of j relevant items so far.
    """
    relevant = ties.relevant[tie]
    chance[: relevant + 1] = 0.0
    chance[0] = 1.0
    for slot in range(1, ties.items[tie] + 1):
        remaining = ties.items[tie] - slot + 1
        for j in range(min(slot, relevant), -1, -1):
            stay = max(1.0 - (relevant - j) / remaining, 0.0)
            share = min((relevant - j + 1.0) / remaining, 1.0)  # of a relevant item next
            from_here = 0  # the first precision that the hit does not exceed
            if j == 0:
                from_here = precision.size
            elif j >= least:
                reached = (ties.hits[tie] + j) / (ties.before[tie] + slot)
                from_here = np.searchsorted(precision, reached)
            for x in range(from_here):
                chance[j, x] *= stay
            for x in range(from_here, precision.size):
                chance[j, x] = chance[j, x] * stay + chance[j - 1, x] * share

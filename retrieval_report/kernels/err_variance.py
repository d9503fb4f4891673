"""The exact variance of ERR inside a tie; null if it takes too much work.

Let G_x be the chance to go on after x items of a tie, drawn without replacement, and w the weights
1/i of its slots. ERR adds Σ (w_x − w_{x+1})·(1 − G_x), where the last weight is taken whole. Its
variance is therefore a sum over pairs of slots of products of weights with Cov(G_x, G_y), which
depend on the tie alone and serve every cutoff. They are built item by item: for a new item with
chance q to go on among n + 1, x ≤ y and m_x = E[G_x] of the n items before,

    Cov'(x, y) = x/(n+1)·q²·Cov(x−1, y−1) + (y−x)/(n+1)·q·Cov(x, y−1) + (n+1−y)/(n+1)·Cov(x, y)
                 + x·(n+1−y)/(n+1)²·(m_x − q·m_{x−1})·(m_y − q·m_{y−1}).

Kinds are added outwards from the one with the most items, in which nothing is random, so a new q is
the least or the greatest so far: both differences have one sign, and nothing cancels.

Where only one grade stops the reader, as if relevance is binary, fewer steps do. The variance
is then a sum over slots: of what ERR gains if the next item stops rather than not, squared,
times the variance of whether it does and the squared chance to be there. To stop at slot x
gains, with chance p,

    p·(w_x − w_{x+1}) + p·E[Σ (w_y − w_{y+1})·G_y/G_x], the sum over slots y > x up to the item
    that came first,

which is built from the last slot backwards, for every number of stopping items passed.
"""

import math

import numpy as np

from retrieval_report.kernels.compile import allocating, kernel
from retrieval_report.kernels.lists import Floats, Integers, Lists, cells_of

BUDGET = 200_000_000.0  # items added × pairs of slots; about 50 ms for one tie
MOST_SLOTS = 4_000  # whose covariances take 128 MB
NEGLIGIBLE_MEAN = 1e-30  # a G_x with a smaller mean changes no float64


@kernel
def _see_kinds(tie: int, lists: Lists, stop: Floats) -> tuple[int, int]:
    """Return the cell with the most items, and the
    slots after which the chance to go on is negligible.
    """
    most = lists.tie[tie]
    size = 0
    going = 0.0
    for c in cells_of(tie, lists):
        most = c if lists.items[c] > lists.items[most] else most
        size += lists.items[c]
        going += lists.items[c] * (1.0 - stop[lists.grade[c]])
    going /= size  # E[G_x] falls at least as fast as its x-th power (Maclaurin's inequality)
    if going >= 1.0:
        return most, size
    return most, int(
        min(float(size), math.log(NEGLIGIBLE_MEAN) / math.log(max(going, 1e-300)) + 2.0)
    )


@kernel
def _add_item(chance: float, items: int, rows: Floats, covariance: Floats) -> None:
    """Add an item that stops with ``chance`` to the ``items`` so far.

    The rows hold, by the number x of items passed, E[G_x], the chance that the x-th item stops, and
    two scratch arrays.
    """
    going = rows[0]
    stopping = rows[1]
    gap = rows[2]
    old = rows[3]
    longest = min(items + 1, going.size - 1)
    share = 1.0 / (items + 1.0)
    rest = 1.0 - chance
    for x in range(1, longest + 1):
        gap[x] = (
            chance * going[x - 1] - stopping[x]
        )  # E[G_x] − rest·E[G_{x−1}], with the digits of small chances
    for x in range(longest, 0, -1):
        product = x * share * rest * rest
        behind = share * rest
        between = gap[x] * x * share * share
        # with slices, loops need no test for negative indices and process several slots at a time
        row = covariance[x, x : longest + 1]
        above = covariance[x - 1, x - 1 : longest]
        gaps = gap[x : longest + 1]
        width = row.size
        before = old[:width]
        shifted = old[1 : width + 1]
        beyond = items + 1.0 - x
        for step in range(width):
            shifted[step] = row[step]
        for step in range(width):
            later = (beyond - step) * (share * shifted[step] + between * gaps[step])
            row[step] = product * above[step] + behind * step * before[step] + later
    for x in range(longest, 0, -1):
        earlier = share * rest * (x - 1.0) * stopping[x - 1]
        later = share * (items + 1.0 - x)
        stopping[x] = share * chance * going[x - 1] + earlier + later * stopping[x]
        going[x] = share * x * rest * going[x - 1] + later * going[x]


@allocating
def _covariances(tie: int, most: int, lists: Lists, stop: Floats, longest: int) -> Floats:
    """Return Cov(G_x, G_y) at [x, y] for 1 ≤ x ≤ y ≤ ``longest``."""
    rows = np.zeros((4, longest + 1))
    going = rows[0]
    stopping = rows[1]
    covariance = np.zeros((longest + 1, longest + 1))
    items = lists.items[most]
    chance = stop[lists.grade[most]]
    going[0] = 1.0
    for x in range(1, min(items, longest) + 1):
        stopping[x] = chance * going[x - 1]
        going[x] = (1.0 - chance) * going[x - 1]
    for up in range(2):
        c, end, step = (
            (most + 1, lists.tie[tie + 1], 1) if up == 0 else (most - 1, lists.tie[tie] - 1, -1)
        )
        while c != end:
            for _ in range(lists.items[c]):
                _add_item(stop[lists.grade[c]], items, rows, covariance)
                items += 1
            c += step
    return covariance


@allocating
def spread_weights(t: int, covariance: Floats, variances: Floats) -> None:
    """Write, at index x, the variance over x slots of a tie."""
    longest = covariance.shape[0] - 1
    whole = 0.0
    # Σ over x < y of the difference of weights at x times Cov(G_x, G_y)
    across = np.zeros(longest + 1)
    for x in range(1, longest + 1):
        weight = 1.0 / (t + x)
        variances[x] = whole + weight * (2.0 * across[x] + weight * covariance[x, x])
        fall = weight / (t + x + 1.0)
        whole += fall * (2.0 * across[x] + fall * covariance[x, x])
        for y in range(x + 1, longest + 1):
            across[y] += fall * covariance[x, y]
    variances[longest + 1 :] = whole


@kernel
def _stoppers(tie: int, lists: Lists, stop: Floats) -> tuple[int, float]:
    """Return how many items of a tie stop a reader, and with which chance; 0 of items that
    stop with several.
    """
    items = kinds = 0
    chance = 0.0
    for c in cells_of(tie, lists):
        if stop[lists.grade[c]]:
            items, chance, kinds = lists.items[c], stop[lists.grade[c]], kinds + 1
    return (items, chance) if kinds == 1 else (0, 0.0)


@allocating
def _chances_there(size: int, stoppers: int, chance: float, longest: int) -> Floats:
    """Return, at [x, m], the probability that m of x items stop, times the squared chance to
    get past them.
    """
    there = np.zeros((longest + 1, min(stoppers, longest) + 1))
    there[0, 0] = 1.0
    going = (1.0 - chance) * (1.0 - chance)
    for x in range(longest):
        left = size - x
        before, after = there[x], there[x + 1]
        for m in range(min(x, stoppers) + 1):
            after[m] += before[m] * ((left - stoppers + m) / left)
            if m < stoppers:
                after[m + 1] = before[m] * ((stoppers - m) / left) * going
    return there


@allocating
def _of_one_kind(
    t: int, size: int, stoppers: int, chance: float, slots: int, there: Floats
) -> float:
    """Return the variance over so many slots of a tie in which ``stoppers`` items stop with one
    ``chance``, and the others never.
    """
    longest = min(slots, there.shape[0] - 1)
    gain = np.zeros(there.shape[1])  # if the next item stops, by how many did before
    variance = 0.0
    for x in range(longest, 0, -1):
        left = size - x + 1.0
        weight = 1.0 / (t + x) if x == slots else 1.0 / (t + x) / (t + x + 1.0)
        before = there[x - 1]
        for m in range(max(0, stoppers - size + x - 1), min(stoppers, x)):
            stopping = stoppers - m
            gain[m] += chance * weight
            share = stopping * (left - stopping) / (left * left)
            variance += before[m] * share * (gain[m] * gain[m])
        for m in range(max(0, stoppers - size + x - 1), min(stoppers, x)):
            stopping = stoppers - m
            others = (stopping - 1.0) * (1.0 - chance) * gain[m + 1]
            gain[m] = (others + (left - stopping) * gain[m]) / left
    return variance


@allocating
def tie_variances(
    t: int, size: int, tie: int, lists: Lists, stop: Floats, ahead: Integers
) -> Floats:
    """Return, at index x, the exact variance of Σ 1/i · P(stop at i) over the first x slots of a
    tie, up to the last that the depths ``ahead`` reach; NaN if it is too much work.

    What counts as too much depends on the tie and x, not on the other depths.
    """
    most, reach = _see_kinds(tie, lists, stop)
    longest = 0
    for depth in ahead:
        reached = min(depth - t, reach)
        work = 0.5 * (size - lists.items[most]) * reached * reached
        if work <= BUDGET and reached <= MOST_SLOTS:
            longest = max(longest, reached)
    variances = np.zeros(min(size, ahead[ahead.size - 1] - t) + 1)
    stoppers, chance = _stoppers(tie, lists, stop)
    if stoppers:
        there = _chances_there(size, stoppers, chance, longest)
        for depth in ahead:
            slots = min(depth - t, size)
            variances[slots] = _of_one_kind(t, size, stoppers, chance, slots, there)
            if slots == size:
                break
    else:
        spread_weights(t, _covariances(tie, most, lists, stop, longest), variances)
    if longest < reach:
        variances[longest + 1 :] = np.nan
    return variances

"""Rank-biased overlap of two lists with ties, extrapolated to infinite depth.

Webber, Moffat and Zobel 2010 for lists without ties; Corsi and Urbano 2024 for the variants w (tied items share a
rank), a (the mean over all orders of the ties) and b (corrected for what ties leave unsaid, so that a list overlaps
with itself by 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 2_000_000  # cells of items × depths that are looked at together
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Ranks(NamedTuple):
    """First and last rank, from 1, of each item's tie in one list; both 0 for items that the list does not hold."""

    top: Integers
    bottom: Integers

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which items the list holds."""
        return self.top > 0

    def share(self, items: NDArray[np.intp], depth: Integers, ties: str) -> Floats:
        """How much of each item (rows) is in the first ``depth`` ranks (columns)."""
        top, bottom = (ranks[items][:, None].astype(np.float64) for ranks in self)
        if ties == "w":
            return (depth >= top).astype(np.float64)
        return np.clip((depth - top + 1.0) / (bottom - top + 1.0), 0.0, 1.0)


def extreme_ranks(a: Ranks, b: Ranks, *, alike: bool) -> tuple[Ranks, Ranks]:
    """Both lists with their ties in the orders that overlap most, or least, at every depth at once.

    Most: the ties of each list in the order of the other, and items that tie in both in one order. Least: in the
    reverse order of the other, and opposite orders of those. At any depth only one tie of each list is cut, and these
    orders take from it first what the other list has (or has not), so no other orders do better there.
    """
    sign = 1 if alike else -1
    number = np.arange(a.top.size)
    orders = []
    for own, other, last in ((a, b, number), (b, a, sign * number)):
        wanted = np.where(other.there, other.top, np.iinfo(np.int64).max // 2)
        order = np.lexsort((last, sign * wanted, own.top))
        order = order[own.there[order]]
        rank = np.zeros(own.top.size, np.int64)
        rank[order] = np.arange(1, order.size + 1)
        orders.append(Ranks(rank, rank))
    return orders[0], orders[1]


def overlap(a: Ranks, b: Ranks, p: float, ties: str) -> float:
    """Extrapolated rank-biased overlap with persistence ``p``; ``ties``: w, a or b. 0 where a list is empty."""
    short, long = (a, b) if a.there.sum() <= b.there.sum() else (b, a)
    s, size = int(short.there.sum()), int(long.there.sum())
    if s == 0:
        return 0.0
    depth = np.arange(1, size + 1)
    common = _common(short, long, depth, ties)
    ratio = _sizes(short, depth, ties), _sizes(long, depth, ties)
    first = common[:s] / _norm(ratio[0][:s], ratio[1][:s], ties)
    tail = common[s:] + (depth[s:] - s) * first[-1] * _unseen(short, long, depth[s:], ties)
    # below its end the short list is taken to go on with single items
    beyond = depth[s:].astype(np.float64)
    second = tail / _norm(beyond, ratio[1][s:], ties)
    agreement = np.concatenate([first, second])
    last = (common[-1] + (size - s) * first[-1]) / size
    return float((1.0 - p) * np.sum(agreement * p ** (depth - 1.0)) + last * p**size)


def _common(a: Ranks, b: Ranks, depth: Integers, ties: str) -> Floats:
    """What the lists have in common at every depth."""
    shared = np.flatnonzero(a.there & b.there)
    common = np.zeros(depth.size)
    step = max(BLOCK // depth.size, 1)
    for first in range(0, shared.size, step):
        items = shared[first : first + step]
        common += (a.share(items, depth, ties) * b.share(items, depth, ties)).sum(axis=0)
    return common


def _sizes(ranks: Ranks, depth: Integers, ties: str) -> Floats:
    """Σ of the items' shares at every depth (a: the depth itself), of their squares for b; up to the list's end."""
    if ties == "a":
        return depth.astype(np.float64)
    order = np.argsort(ranks.top, kind="stable")
    order = order[ranks.there[order]]
    at = order[np.minimum(depth, order.size) - 1]  # an item of the tie that stands at this depth
    top: Floats = ranks.top[at].astype(np.float64)
    bottom: Floats = ranks.bottom[at].astype(np.float64)
    if ties == "w":
        return bottom
    squares: Floats = top - 1.0 + (np.minimum(depth, bottom) - top + 1.0) ** 2 / (bottom - top + 1.0)
    return squares


def _norm(a: Floats, b: Floats, ties: str) -> Floats:
    """What the overlap is divided by, from the sizes of both sides."""
    result: Floats = (a + b) / 2.0 if ties != "b" else np.sqrt(a) * np.sqrt(b)
    return result


def _unseen(short: Ranks, long: Ranks, depth: Integers, ties: str) -> Floats:
    """Mean share of the items of the long list that the short one lacks, of those that have one at a depth."""
    items = np.flatnonzero(long.there & ~short.there)
    total, count = np.zeros(depth.size), np.zeros(depth.size)
    step = max(BLOCK // max(depth.size, 1), 1)
    for first in range(0, items.size, step):
        share = long.share(items[first : first + step], depth, ties)
        total += share.sum(axis=0)
        count += (share > 0).sum(axis=0)
    return total / np.maximum(count, 1.0)

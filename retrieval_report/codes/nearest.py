"""Exact search by blocks: the nearest items of every query and all that tie with the last of them,
without a matrix of all distances.

A block of queries is multiplied with one block of items after the other in single precision, which
keeps every item that may be near enough in spite of rounding. The products of these few are then
computed again in double precision and rounded to the scores of the format, so that equal vectors
tie wherever they stand.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from retrieval_report.codes.formats import (
    Encoded,
    ScorePrecision,
    Singles,
    lengths,
    scaled,
)
from retrieval_report.contracts.arguments import Array
from retrieval_report.contracts.errors import DataError
from retrieval_report.kernels.lists import Floats, Integers

QUERIES_AT_ONCE = 1024
ITEMS_AT_ONCE = 8192
PAIRS_AT_ONCE = 1 << 15  # whose vectors are multiplied again in double precision
SPARE = 1 << 22  # candidates of a block of queries above which those now too far are dropped
MOST_ROWS = 60_000_000  # of one model
EXACT_BELOW = 2**24  # whole numbers that float32 holds


class ScoredPairs(NamedTuple):
    """Pairs of a query and an item, and their score."""

    query: Integers
    item: Integers
    score: Array

    def at(self, selection: Array) -> ScoredPairs:
        """Return some of the pairs, chosen by a mask or by index."""
        return ScoredPairs(*(array[selection] for array in self))


class Space(NamedTuple):
    """Encoded items, and what comparing a query with them needs."""

    items: Array
    item_lengths: Floats | None  # where cosine divides by them
    longest: float
    precision: ScorePrecision
    depth: int

    def block(self, start: int) -> Singles:
        """Return items in the scale in which candidates are compared."""
        rows = slice(start, start + max(ITEMS_AT_ONCE, self.depth))
        block = self.items[rows].astype(np.float32, copy=False)
        return block if self.item_lengths is None else scaled(block, self.item_lengths[rows])


def nearest(encoded: Encoded, precision: ScorePrecision, depth: int, what: str) -> ScoredPairs:
    """Return the ``depth`` items of the highest score of every query, and all that tie with the
    last of them: by query, then from the highest score down, ties in the order of the items.

    >>> vectors = np.array([[0.0], [2.0], [1.0], [2.0]], np.float32)
    >>> whole = ScorePrecision(lambda scores: scores.astype(np.int64), 0, 0)
    >>> found = nearest(Encoded(vectors[2:3], vectors), whole, 1, "model 'm'")
    >>> found.item.tolist(), found.score.tolist()
    ([1, 3], [2, 2])
    """
    queries, items, cosine = encoded
    longest = 1.0 if cosine else float(lengths(items).max())
    space = Space(items, lengths(items) if cosine else None, longest, precision, depth)
    parts, rows = [], 0
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        block = queries[start : start + QUERIES_AT_ONCE]
        nearest_pairs = _cut(_scores(_candidates(block, space), block, space), depth, len(block))
        parts.append(nearest_pairs._replace(query=nearest_pairs.query + start))
        rows += len(nearest_pairs.query)
        if rows > MOST_ROWS:
            queries_done = start + len(block)
            raise DataError(
                f"{what}: {rows:,} rows for the first {queries_done:,} queries, because "
                f"{rows / queries_done:,.0f} items per query are as near as the {depth} nearest; "
                "use a finer format, fewer queries or a smaller depth"
            )
    return _joined(parts)


def _joined(parts: list[ScoredPairs]) -> ScoredPairs:
    return ScoredPairs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _candidates(queries: Array, space: Space) -> ScoredPairs:
    """Return a superset of the pairs that are near enough,
    with their scores in single precision, by query.
    """
    by = lengths(queries)
    singles = queries.astype(np.float32, copy=False)
    if space.item_lengths is not None:
        singles, by = scaled(queries, by), np.ones(len(queries))
    error = 2**-24 * queries.shape[1] * by * space.longest
    if _is_exact(queries, space):
        error = np.zeros(len(queries))
    floor = np.full(len(queries), -np.inf, np.float32)
    parts = []
    spare, start = SPARE, 0
    while start < len(space.items):
        block = space.block(start)
        products = singles @ block.T
        if not start and len(block) > space.depth:
            last = np.partition(products, -space.depth, axis=1)[:, -space.depth]
            floor = _lower(last, error, space.precision)
        query, item = np.divmod(np.flatnonzero(products >= floor[:, None]), len(block))
        parts.append(ScoredPairs(query, item + start, products[query, item]))
        start += len(block)
        if sum(len(part.query) for part in parts) > spare or start >= len(space.items):
            near, floor = _near(parts, floor, error, space)
            parts, spare = [near], max(spare, 2 * len(near.query))
    return parts[0]


def _near(
    parts: list[ScoredPairs], floor: Singles, error: Floats, space: Space
) -> tuple[ScoredPairs, Singles]:
    """Return the pairs so far that may still be near enough, by query, and from which score on."""
    pairs = _joined(parts)
    pairs = pairs.at(np.argsort(pairs.query.astype(np.int16), kind="stable"))
    ends = np.searchsorted(pairs.query, np.arange(len(floor) + 1))
    floor = floor.copy()
    for query, (start, stop) in enumerate(pairwise(ends)):
        if stop - start > space.depth:
            scores = pairs.score[start:stop]
            last = np.partition(scores, -space.depth)[-space.depth :][:1]
            floor[query] = _lower(last, error[query : query + 1], space.precision)[0]
    return pairs.at(pairs.score >= floor[pairs.query]), floor


def _lower(last: Singles, error: Floats, precision: ScorePrecision) -> Singles:
    """Return the lowest single-precision score of a pair that may tie with the last one kept."""
    reach = np.abs(last) + error
    lowest = last - 2 * error - precision.relative * reach - precision.absolute
    return np.nextafter(lowest.astype(np.float32), np.float32(-np.inf))


def _is_exact(queries: Array, space: Space) -> bool:
    """Return whether single precision holds all products of whole numbers."""
    largest = 128**2 if queries.dtype.kind == "i" else EXACT_BELOW
    return space.item_lengths is None and queries.shape[1] * largest < EXACT_BELOW


def _scores(pairs: ScoredPairs, queries: Array, space: Space) -> ScoredPairs:
    """Return the pairs with the scores of the format, from products in double precision."""
    if _is_exact(queries, space):
        return pairs._replace(score=space.precision.rounded(pairs.score.astype(np.float64)))
    products = np.empty(len(pairs.query))
    for start in range(0, len(products), PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        query_vectors, item_vectors = queries[pairs.query[some]], space.items[pairs.item[some]]
        products[some] = np.multiply(query_vectors, item_vectors, dtype=np.float64).sum(axis=1)
    if space.item_lengths is not None:
        by = lengths(queries)[pairs.query] * space.item_lengths[pairs.item]
        products /= np.where(by > 0, by, 1.0)
    return pairs._replace(score=space.precision.rounded(products))


def _cut(pairs: ScoredPairs, depth: int, queries: int) -> ScoredPairs:
    """Sort pairs by query and score, and drop those behind the tie of the last one kept."""
    pairs = pairs.at(np.lexsort((pairs.item, -pairs.score, pairs.query)))
    starts = np.searchsorted(pairs.query, np.arange(queries))
    stops = np.append(starts[1:], len(pairs.query))
    last = pairs.score[np.minimum(starts + depth, stops) - 1]
    return pairs.at(pairs.score >= last[pairs.query])

"""Histograms of the distances between codes, query by query, without a distance matrix or a sort.

A tile of items that stays in the cache is shared by a range of queries. For each query one vector
loop writes the tile's distances, a second one adds the relevance (value = distance · grades +
relevance), and a third one counts the values. Codes are stored column by column, so that
neighbouring items are neighbours in memory.

If the items are sorted by class, relevance needs no loop: a query's relevant items are contiguous.
Distances below 256 are then bytes, and one increment counts two of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import kernel, popcount
from retrieval_report.kernels.lists import Integers

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Tallies = NDArray[np.uint16]
Values = NDArray[Any]  # uint16, or int32 if the values need it

# How the relevance of an item follows from the label words: none, same class, any common class, or
# the number of common classes.
NONE, SAME, ANY, SHARED = range(4)

# Neighbouring items often have the same distance, and an increment must wait for the previous one
# on the same cell. Eight tables in turn keep them apart: 1.4 times as fast as one table on random
# codes, 2.8 times on equal ones.
LANES = 8

PAIRS = 1 << 16  # values of two bytes, which are counted as one number
STRETCH = (
    1 << 16
)  # items counted before the tables are added up: no 16-bit cell overflows, and the codes stay cached
SAMPLE = 64  # pairs sampled to see whether neighbours are at equal distances


@kernel
def hamming_distances(query: Words, items: Words, start: int, stop: int, values: Values) -> None:
    """Write how many bits of the items ``start`` … ``stop`` − 1 differ from the query's."""
    row, word = (
        items[0, start:stop],
        query[0],
    )  # with a slice, the loop needs no test for negative indices
    for i in range(values.size):
        values[i] = popcount(row[i] ^ word)
    for w in range(1, query.size):
        row, word = items[w, start:stop], query[w]
        for i in range(values.size):
            values[i] += popcount(row[i] ^ word)


class Pairs(NamedTuple):
    """Queries (queries, words or dimensions) and items (words or dimensions, items), with labels in
    the same layout.
    """

    queries: NDArray[Any]
    items: NDArray[Any]
    query_labels: Words
    item_labels: Words
    relation: int
    grades: int


class Sorted(NamedTuple):
    """Items sorted by class (words, items): those from ``begin[q]`` to ``end[q]`` − 1 are relevant
    to the query q.
    """

    items: Words
    begin: Integers
    end: Integers


class Room(NamedTuple):
    """Memory in which a stretch is counted: distances as bytes, the same bytes as ``pairs``, and
    zeroed tables.
    """

    pairs: Tallies
    distances: Bytes  # of even length
    table: Tallies  # (PAIRS,)
    lanes: Tallies  # (LANES, 256)


@kernel
def grade_values(q: int, pairs: Pairs, start: int, stop: int, values: Values) -> None:
    """Turn distances from a query into distance · grades + relevance, in place."""
    query, items, relation, grades = (
        pairs.query_labels[q],
        pairs.item_labels,
        pairs.relation,
        pairs.grades,
    )
    if relation == NONE:
        return
    if relation == SAME:
        row, word = items[0, start:stop], query[0]
        for i in range(values.size):
            values[i] = values[i] * 2 + (row[i] == word)
        return
    for i in range(values.size):
        values[i] = values[i] * grades
    for w in range(query.size):
        row, word = items[w, start:stop], query[w]
        if relation == ANY:
            for i in range(values.size):
                values[i] |= (row[i] & word) != 0  # with two grades the lowest bit is free
        else:
            for i in range(values.size):
                values[i] += popcount(row[i] & word)


@kernel
def tally(values: Values, tables: NDArray[Any]) -> None:
    """Count every value; the rows of ``tables`` (LANES or 1, values) add up to the histogram."""
    done = 0
    if tables.shape[0] == LANES:
        done = values.size // LANES * LANES
        for i in range(0, done, LANES):
            for lane in range(LANES):
                tables[lane, values[i + lane]] += 1
    for i in range(done, values.size):
        tables[0, values[i]] += 1


@kernel
def count_hamming(
    first: int, last: int, pairs: Pairs, values: Values, tables: NDArray[np.uint32]
) -> None:
    """Count the values Hamming distance · grades + relevance for the queries ``first`` … ``last`` −
    1 and all items.

    ``values`` is scratch memory for a tile; counts are added to ``tables`` (last − first, LANES or
    1, values).
    """
    items = pairs.items
    for start in range(0, items.shape[1], values.size):
        stop = min(start + values.size, items.shape[1])
        tile = values[: stop - start]
        for q in range(first, last):
            hamming_distances(pairs.queries[q], items, start, stop, tile)
            grade_values(q, pairs, start, stop, tile)
            tally(tile, tables[q - first])


@kernel
def _repeats(pairs: Tallies) -> bool:
    """Return whether most neighbouring pairs are equal, so that each increment would wait for the
    one before.
    """
    equal = 0
    for i in range(SAMPLE):
        equal += pairs[i] == pairs[i + 1]
    return 2 * equal > SAMPLE


@kernel
def _fold_pairs(table: Tallies, counts: NDArray[np.uint32]) -> None:
    """Add a table of pairs to the counts of single distances and clear it."""
    for a in range(counts.size):
        row, total = table[256 * a : 256 * a + counts.size], 0
        for b in range(row.size):
            total += row[b]
            counts[b] += row[b]
            row[b] = 0
        counts[a] += total


@kernel
def _fold_lanes(lanes: Tallies, counts: NDArray[np.uint32]) -> None:
    """Add the tables of single distances to the counts and clear them."""
    for lane in range(LANES):
        for a in range(counts.size):
            counts[a] += lanes[lane, a]
            lanes[lane, a] = 0


@kernel
def _count_stretch(
    query: Words, items: Words, start: int, stop: int, room: Room, counts: NDArray[np.uint32]
) -> None:
    """Add the distances of the items ``start`` … ``stop`` − 1 (``STRETCH`` at most) to
    ``counts``.
    """
    pairs, distances, table, lanes = room
    paired = single = False
    for low in range(start, stop, distances.size):
        high = min(low + distances.size, stop)
        size = high - low
        hamming_distances(query, items, low, high, distances[:size])
        if size < 2 * SAMPLE + 2 or _repeats(pairs):
            tally(distances[:size], lanes)
            single = True
        else:
            for i in range(size // 2):
                table[pairs[i]] += 1
            if size % 2:
                counts[distances[size - 1]] += 1
            paired = True
    if paired:
        _fold_pairs(table, counts)
    if single:
        _fold_lanes(lanes, counts)


@kernel
def count_sorted(
    first: int, last: int, queries: Words, classes: Sorted, room: Room, counts: NDArray[np.uint32]
) -> None:
    """Count like ``count_hamming``, for distances below 256 and items sorted by class.

    Counts are added to ``counts`` (last − first, 2, distances), relevant items last.
    """
    items, begin, end = classes
    for start in range(0, items.shape[1], STRETCH):
        stop = min(start + STRETCH, items.shape[1])
        for q in range(first, last):
            low, high = min(max(begin[q], start), stop), min(max(end[q], start), stop)
            other, own = counts[q - first, 0], counts[q - first, 1]
            _count_stretch(queries[q], items, start, low, room, other)
            _count_stretch(queries[q], items, low, high, room, own)
            _count_stretch(queries[q], items, high, stop, room, other)


@kernel
def count_vectors(
    first: int,
    last: int,
    pairs: Pairs,
    most: NDArray[np.int32] | None,
    values: NDArray[np.int32],
    tables: NDArray[np.uint32],
) -> None:
    """Count like ``count_hamming``, for vectors of 8-bit numbers.

    If ``most`` is None, the distance is Σ |query − item|; otherwise it is most[query] − Σ query ·
    item, where no inner product exceeds ``most`` in magnitude. Only the wanted one is compiled.
    """
    queries, items = pairs.queries, pairs.items
    for start in range(0, items.shape[1], values.size):
        stop = min(start + values.size, items.shape[1])
        tile = values[: stop - start]
        for q in range(first, last):
            tile[:] = 0 if most is None else most[q]
            for column in range(items.shape[0]):
                row, own = items[column, start:stop], np.int32(queries[q, column])
                for i in range(tile.size):
                    if most is None:
                        tile[i] += abs(np.int32(row[i]) - own)
                    else:
                        tile[i] -= np.int32(row[i]) * own
            grade_values(q, pairs, start, stop, tile)
            tally(tile, tables[q - first])

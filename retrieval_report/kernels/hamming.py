"""Histograms of the distances between codes, query by query, without a distance matrix or a sort.

A tile of items that stays in the cache is shared by a range of queries. For each query one vector
loop writes the tile's distances, a second one adds the relevance (value = distance · grades +
relevance), and a third one counts the values, two at once if they are bytes. Codes are stored
column by column, so that neighbouring items are neighbours in memory.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval_report.contracts.arguments import Array
from retrieval_report.kernels.compile import ZERO, costs, kernel, popcount

Words = NDArray[np.uint64]
Values = Array  # uint8, uint16 or int32, whichever the values and their number ask for

# How the relevance of an item follows from the label words: none, same class, any common class, or
# the number of common classes.
SAME, ANY, SHARED = range(3)

# Neighbouring items often have the same distance, and an increment must wait for the previous one
# on the same cell. Eight tables in turn keep them apart: 1.4 times as fast as one table on random
# codes, 2.8 times on equal ones.
LANES = 8


@kernel
def hamming_distances(query: Words, items: Words, start: int, stop: int, values: Values) -> None:
    """Write how many bits of the items ``start`` … ``stop`` − 1 differ from the query's."""
    row = items[0, start:stop]
    word = query[0]  # with a slice, the loop needs no test for negative indices
    for i in range(values.size):
        values[i] = popcount(row[i] ^ word)
    for w in range(1, query.size):
        row = items[w, start:stop]
        word = query[w]
        for i in range(values.size):
            values[i] += popcount(row[i] ^ word)


class CodePairs(NamedTuple):
    """Queries (queries, words) and items (words, items), with labels in the same layout; or items
    in the order of their classes, and which of them have the class of each query.
    """

    queries: Words
    items: Words
    query_labels: Words
    item_labels: Words
    same: NDArray[np.int64]  # (queries, 2): the first, and the first behind; for SAME only
    relation: int
    grades: int


@kernel
def grade_values(q: int, pairs: CodePairs, start: int, stop: int, values: Values) -> None:
    """Turn distances from a query into distance · grades + relevance, in place."""
    query = pairs.query_labels[q]
    items = pairs.item_labels
    relation = pairs.relation
    grades = pairs.grades
    if relation == SAME:  # comparing labels would take half as long as all the rest
        for i in range(values.size):
            values[i] = values[i] * 2
        for i in range(max(pairs.same[q, 0] - start, 0), min(pairs.same[q, 1], stop) - start):
            values[i] += 1
        return
    for i in range(values.size):
        values[i] = values[i] * grades
    for w in range(query.size):
        row = items[w, start:stop]
        word = query[w]
        if relation == ANY:
            for i in range(values.size):
                values[i] |= (row[i] & word) != 0  # with two grades the lowest bit is free
        else:
            for i in range(values.size):
                values[i] += popcount(row[i] & word)


@kernel
def eight_at_once(q: int, pairs: CodePairs, start: int, stop: int, eights: Words) -> None:
    """Write distance · 2 + relevance of items with classes and codes of one word, eight to a word:
    one of each eighth of the tile. Words are shifted faster than they are narrowed to bytes.
    """
    word = pairs.queries[q, 0]
    row = pairs.items[0, start:stop]
    size = eights.size
    for i in range(size):
        packed = np.uint64(0)
        for part in range(8):
            packed |= popcount(row[i + part * size] ^ word) << np.uint64(8 * part + 1)
        eights[i] = packed
    for part in range(8):
        begin = start + part * size
        for i in range(max(pairs.same[q, 0] - begin, 0), min(pairs.same[q, 1] - begin, size)):
            eights[i] += np.uint64(1) << np.uint64(8 * part)


@kernel
def tally(values: Values, tables: Array) -> None:
    """Count every value; the rows of ``tables`` (LANES or 1, values) add up to the histogram."""
    done = 0
    if tables.shape[0] == LANES:
        done = values.size // LANES * LANES
        for i in range(0, done, LANES):
            for lane in range(LANES):
                tables[lane, values[i + lane]] += 1
    for i in range(done, values.size):
        tables[0, values[i]] += 1


class Twos(NamedTuple):
    """The bytes of a tile read two at a time, and how often each of the 65 536 twos occurs; and the
    same bytes read eight at a time.
    """

    eights: Words
    values: NDArray[np.uint16]
    table: NDArray[np.uint16]  # holds the twos of a tile of up to 131 071 values


@kernel
def tally_twos(values: Values, twos: Twos, counts: NDArray[np.uint32]) -> None:
    """Count every value, two neighbours by one increment; leave the table of twos at 0."""
    pairs_tallied = twos.values[: values.size // 2]
    table = twos.table
    for i in range(pairs_tallied.size):
        table[pairs_tallied[i]] += 1
    for value in range(values.size // 2 * 2, values.size):
        counts[values[value]] += 1
    for first in range(counts.size):  # which byte comes first does not matter: both are counted
        row = table[256 * first : 256 * first + counts.size]
        total = ZERO
        for second in range(row.size):
            total += row[second]
        if total:
            counts[first] += total
            for second in range(row.size):
                counts[second] += row[second]
                row[second] = 0


@costs(lambda first, last, pairs, *_: 10.0 * (last - first) * pairs.items.size)
@kernel
def count_hamming(
    first: int,
    last: int,
    pairs: CodePairs,
    values: Values,
    twos: Twos | None,
    tables: NDArray[np.uint32],
) -> None:
    """Count the values Hamming distance · grades + relevance for the queries ``first`` … ``last`` −
    1 and all items.

    ``values`` is scratch memory for a tile, ``twos`` other views of it if they are bytes; counts
    are added to ``tables`` (last − first, LANES or 1, values).
    """
    items = pairs.items
    single = items.shape[0] == 1 and pairs.relation == SAME
    for start in range(0, items.shape[1], values.size):
        stop = min(start + values.size, items.shape[1])
        tile = values[: stop - start]
        for q in range(first, last):
            if twos is not None and single and tile.size % 8 == 0:
                eight_at_once(q, pairs, start, stop, twos.eights[: tile.size // 8])
            else:
                hamming_distances(pairs.queries[q], items, start, stop, tile)
                grade_values(q, pairs, start, stop, tile)
            if twos is None:
                tally(tile, tables[q - first])
            else:
                tally_twos(tile, twos, tables[q - first, 0])

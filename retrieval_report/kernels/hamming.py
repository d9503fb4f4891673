"""Codes → histograms of their distances, query by query: neither a distance matrix nor a sort.

A tile of items that stays in the cache is shared by a range of queries. For each query one vector loop writes the
tile's distances, a second one weaves in the relevance (value = distance · grades + relevance), and a third one
counts the values. Codes lie column by column, so that neighbouring items are neighbours in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from retrieval_report.kernels.compile import kernel

__all__ = ["ANY", "LANES", "NONE", "SAME", "SHARED", "count_dot", "count_hamming", "count_l1"]

Words = NDArray[np.uint64]
Values = NDArray[Any]  # uint16, or int32 where the values need it

# How relevant an item is to a query, by their label words: not at all, the same class, any class in common, as many
# classes as they have in common.
NONE, SAME, ANY, SHARED = range(4)

# Neighbouring items often lie at the same distance, and an increment has to wait for the one before it on the same
# cell. Eight tables in turn keep them apart: 1.4 times as fast as one table on random codes, 2.8 times on equal ones.
LANES = 8


def _count_ones(word: Any) -> int:
    """Count the bits that are set; what stands in for the instruction where kernels are not compiled."""
    return int(word).bit_count()


def _emit_popcount(_context: object, word: object) -> tuple[object, Callable[..., object]]:
    """LLVM's own population count: AVX-512 and AVX2 do eight and four words at a time, others one."""

    def generate(context: Any, builder: Any, _signature: object, arguments: list[object]) -> object:
        word_type = context.get_value_type(types.uint64)
        return builder.call(builder.module.declare_intrinsic("llvm.ctpop", [word_type]), arguments)

    return types.uint64(types.uint64), generate


config: Any = numba.config
popcount: Any = _count_ones if config.DISABLE_JIT else intrinsic(_emit_popcount)


@kernel
def hamming_distances(query: Words, items: Words, start: int, stop: int, values: Values) -> None:
    """Write how many bits of the items ``start`` … ``stop`` − 1 differ from the query's."""
    row, word = items[0, start:stop], query[0]  # a slice first: its loop needs no test for negative indices
    for i in range(values.size):
        values[i] = popcount(row[i] ^ word)
    for w in range(1, query.size):
        row, word = items[w, start:stop], query[w]
        for i in range(values.size):
            values[i] += popcount(row[i] ^ word)


@kernel
def grade_values(query: Words, items: Words, start: int, stop: int, relation: int, grades: int, values: Values) -> None:
    """Turn distances into distance · grades + relevance."""
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
                values[i] |= (row[i] & word) != 0  # grades is 2: the lowest bit is free
        else:
            for i in range(values.size):
                values[i] += popcount(row[i] & word)


@kernel
def tally(values: Values, tables: NDArray[np.uint32]) -> None:
    """Count every value; ``tables`` (LANES or 1, values) adds up to the histogram."""
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
    first: int,
    last: int,
    queries: Words,
    items: Words,
    query_labels: Words,
    item_labels: Words,
    relation: int,
    grades: int,
    values: Values,
    tables: NDArray[np.uint32],
) -> None:
    """Count Hamming distance · grades + relevance for the queries ``first`` … ``last`` − 1 and all items.

    ``queries`` (queries, words), ``items`` (words, items) and the labels alike; ``values`` is room for a tile;
    ``tables`` (last − first, LANES or 1, values) is added to.
    """
    for start in range(0, items.shape[1], values.size):
        stop = min(start + values.size, items.shape[1])
        tile = values[: stop - start]
        for q in range(first, last):
            hamming_distances(queries[q], items, start, stop, tile)
            grade_values(query_labels[q], item_labels, start, stop, relation, grades, tile)
            tally(tile, tables[q - first])


@kernel
def count_l1(
    first: int,
    last: int,
    queries: NDArray[np.uint8],
    items: NDArray[np.uint8],
    query_labels: Words,
    item_labels: Words,
    relation: int,
    grades: int,
    values: NDArray[np.int32],
    tables: NDArray[np.uint32],
) -> None:
    """As ``count_hamming``, for Σ |query − item|; ``queries`` (queries, dimensions), ``items`` (dimensions, items)."""
    for start in range(0, items.shape[1], values.size):
        stop = min(start + values.size, items.shape[1])
        tile = values[: stop - start]
        for q in range(first, last):
            tile[:] = 0
            for column in range(items.shape[0]):
                row, own = items[column, start:stop], np.int32(queries[q, column])
                for i in range(tile.size):
                    tile[i] += abs(np.int32(row[i]) - own)
            grade_values(query_labels[q], item_labels, start, stop, relation, grades, tile)
            tally(tile, tables[q - first])


@kernel
def count_dot(
    first: int,
    last: int,
    queries: NDArray[np.int8],
    items: NDArray[np.int8],
    query_labels: Words,
    item_labels: Words,
    relation: int,
    grades: int,
    most: NDArray[np.int32],
    values: NDArray[np.int32],
    tables: NDArray[np.uint32],
) -> None:
    """As ``count_l1``, for most[query] − Σ query · item, where no inner product exceeds ``most`` either way."""
    for start in range(0, items.shape[1], values.size):
        stop = min(start + values.size, items.shape[1])
        tile = values[: stop - start]
        for q in range(first, last):
            tile[:] = most[q]
            for column in range(items.shape[0]):
                row, own = items[column, start:stop], np.int32(queries[q, column])
                for i in range(tile.size):
                    tile[i] -= np.int32(row[i]) * own
            grade_values(query_labels[q], item_labels, start, stop, relation, grades, tile)
            tally(tile, tables[q - first])

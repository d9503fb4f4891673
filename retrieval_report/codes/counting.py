"""Count how many items of a slice lie at every distance from each query, by relevance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.codes.inputs import CodeSpace
from retrieval_report.codes.labels import LabelSpace, Words
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.kernels import hamming
from retrieval_report.kernels.lists import Integers

CELLS = {"query": pl.UInt32, "distance": pl.Int64, "relevance": pl.Int64, "count": pl.Int64}

TILE = (
    4096  # one-word items that share the cache with a table; speed is the same from 1 024 to 8 192
)
TILE_WORDS = 1 << 16  # 512 KiB of codes, half of a common second-level cache
BLOCKS = 4  # ranges of queries per thread, so that no thread waits long for the last
BLOCK_CELLS = 1 << 20  # cells of all tables of a range
WIDE = 1 << 14  # with this many cells, a separate table for every lane would not fit the cache
MOST_CELLS = 1 << 27  # cells of one query: half a gibibyte
SORTED_ITEMS = 1 << 14  # from this many items on, sorting them by class costs less than it saves,
SORTED_QUERIES = 64  # given this many queries
FEW_BITS = 16  # widest code whose every value gets a row of counts


@dataclass(frozen=True)
class Items:
    """A slice of the items, encoded."""

    codes: NDArray[Any]  # (columns, items)
    labels: Words  # (words, items)
    ids: pl.Series  # row numbers over all shards if none were given
    named: bool  # whether ids were given

    @property
    def size(self) -> int:
        """Return the number of items."""
        return int(self.codes.shape[1])


@dataclass(frozen=True)
class Task:
    """What is to be counted, the same for all slices."""

    space: CodeSpace
    labels: LabelSpace
    queries: NDArray[Any]  # (queries, columns)
    limit: int | None  # nothing is counted beyond the tie that holds the limit-th item
    threads: int


def cells_of(task: Task, items: Items) -> Iterator[tuple[float, pl.DataFrame]]:
    """Yield the cells of ranges of queries, each with its share of the work."""
    width = _few_bits(task, items)
    if width:
        yield 1.0, _to_cells(task, 0, *_count_few_bits(task, items, width))
        return
    total = len(task.queries)
    count, block = _counter(task, items)

    def run(first: int) -> tuple[float, pl.DataFrame]:
        last = min(first + block, total)
        return (last - first) / total, _to_cells(task, first, *count(first, last))

    with ThreadPoolExecutor(task.threads) as pool:
        yield from pool.map(run, range(0, total, block))


Counted = tuple[
    Integers, NDArray[Any]
]  # smallest distance (queries,), counts (queries, distances, grades)


def _counter(task: Task, items: Items) -> tuple[Callable[[int, int], Counted], int]:
    """Return the function that counts a range of queries, and how many queries to pass to it at a
    time.
    """
    if _is_worth_sorting(task, items):
        return _sorted_counter(task, items)
    most = (
        _largest_dot(task, items)
        if task.space.distance == "dot"
        else np.zeros(len(task.queries), np.int64)
    )
    grades = task.labels.grades

    def reach(first: int, last: int) -> int:
        return 2 * int(most[first:last].max()) if task.space.distance == "dot" else task.space.reach

    cells = (reach(0, len(task.queries)) + 1) * grades
    if cells > MOST_CELLS:
        raise ParameterError(
            f"distance: {task.space.distance!r} of these codes takes {cells} values; {MOST_CELLS} "
            "are the most"
        )
    lanes = 1 if cells > WIDE else hamming.LANES
    block = _block(task, cells * lanes)

    def count(first: int, last: int) -> Counted:
        tables = np.zeros((last - first, lanes, (reach(first, last) + 1) * grades), np.uint32)
        _count_direct(task, items, first, last, most, tables)
        counts = tables[:, 0] if lanes == 1 else tables.sum(axis=1, dtype=np.uint32)
        return task.space.nearest - most[first:last], counts.reshape(last - first, -1, grades)

    return count, block


def _block(task: Task, cells: int) -> int:
    """Return how many queries to count at a time, if each has a table of ``cells`` cells."""
    return max(1, min(BLOCK_CELLS // cells, -(-len(task.queries) // (task.threads * BLOCKS))))


def _is_worth_sorting(task: Task, items: Items) -> bool:
    """Return whether counting is faster with items sorted by class and distances in bytes."""
    if task.space.distance != "hamming" or task.space.reach > 255 or items.size < SORTED_ITEMS:
        return False
    if task.labels.relation == hamming.NONE:
        return True
    return task.labels.relation == hamming.SAME and len(task.queries) >= SORTED_QUERIES


def _sorted_counter(task: Task, items: Items) -> tuple[Callable[[int, int], Counted], int]:
    """Return the same as ``_counter``, for items that are first sorted by class."""
    grades, distances = task.labels.grades, task.space.reach + 1
    codes, begin, end = (
        items.codes,
        np.zeros(len(task.queries), np.int64),
        np.zeros(len(task.queries), np.int64),
    )
    if task.labels.relation == hamming.SAME:
        order = _class_order(items.labels[0])
        own, labels = task.labels.queries[:, 0], items.labels[0][order]
        codes = np.take(
            codes, order, axis=1
        )  # codes[:, order] would store the words of an item contiguously
        begin, end = np.searchsorted(labels, own), np.searchsorted(labels, own, side="right")

    def count(first: int, last: int) -> Counted:
        counts = np.zeros((last - first, 2, distances), np.uint32)
        pairs, table = np.zeros(TILE // 2, np.uint16), np.zeros(hamming.PAIRS, np.uint16)
        room = hamming.Room(
            pairs, pairs.view(np.uint8), table, np.zeros((hamming.LANES, 256), np.uint16)
        )
        hamming.count_sorted(
            first, last, task.queries, hamming.Sorted(codes, begin, end), room, counts
        )
        return np.zeros(last - first, np.int64), np.ascontiguousarray(
            counts[:, :grades].transpose(0, 2, 1)
        )

    return count, _block(task, 2 * distances)


def _count_direct(
    task: Task, items: Items, first: int, last: int, most: Integers, tables: NDArray[np.uint32]
) -> None:
    """Count every pair by itself."""
    small = task.space.distance == "hamming" and tables.shape[2] <= 1 << 16
    tile = max(TILE // 8, min(TILE, TILE_WORDS // len(items.codes)))
    values: NDArray[Any] = np.empty(min(tile, items.size), np.uint16 if small else np.int32)
    labels = (task.labels.queries, items.labels, task.labels.relation, task.labels.grades)
    pairs = hamming.Pairs(task.queries, items.codes, *labels)
    if task.space.distance == "hamming":
        hamming.count_hamming(first, last, pairs, values, tables)
    else:
        largest = most.astype(np.int32) if task.space.distance == "dot" else None
        hamming.count_vectors(first, last, pairs, largest, values, tables)


def _largest_dot(task: Task, items: Items) -> Integers:
    """Return an upper bound of |inner product| of each query with any item (Cauchy–Schwarz)."""
    squares = np.zeros(items.size, np.int64)
    for column in items.codes:
        squares += column.astype(np.int64) ** 2
    longest = int(squares.max())
    own = (task.queries.astype(np.int64) ** 2).sum(axis=1)
    return np.array([math.isqrt(int(square) * longest) for square in own], np.int64)


def _to_cells(task: Task, first: int, nearest: Integers, counts: NDArray[Any]) -> pl.DataFrame:
    """Return the counts that are not 0 as rows."""
    if task.limit is not None:
        here = counts.sum(axis=2, dtype=np.int64)
        counts[here.cumsum(axis=1) - here >= task.limit] = 0
    flat = np.flatnonzero(counts)  # several times as fast in one dimension as in three
    values, relevance = np.divmod(flat, counts.shape[2])
    query, distance = np.divmod(values, counts.shape[1])
    columns = {
        "query": (first + query).astype(np.uint32),
        "distance": nearest[query] + distance,
        "relevance": relevance,
        "count": counts.ravel()[flat].astype(np.int64),
    }
    return pl.DataFrame(columns, schema=CELLS)


def _few_bits(task: Task, items: Items) -> int:
    """Return the bits needed to distinguish all codes if counting by value is less work than by
    pair, else 0.
    """
    if task.space.distance != "hamming" or len(items.codes) != 1:
        return 0
    if task.labels.relation not in (hamming.NONE, hamming.SAME):
        return 0
    width = max(int(items.codes.max()), int(task.queries.max()), 1).bit_length()
    return (
        width if width <= FEW_BITS and _by_value_pays(len(task.queries), items.size, width) else 0
    )


def _by_value_pays(queries: int, items: int, width: int) -> bool:
    return queries * items > width * width << width


def _count_by_value(codes: Words, queries: Words, width: int, reach: int) -> Integers:
    """Return how many codes lie at every distance from each query, of shape (queries, reach + 1).

    ``rows[d, v]`` counts the codes at distance d from the value v that agree with v in the bits not
    yet processed. Each further bit adds the codes that differ in it, which lie one farther away, so
    all values take width steps.
    """
    rows = np.zeros((width + 1, 1 << width), np.int64)
    rows[0] = np.bincount(codes.astype(np.int64), minlength=1 << width)
    for bit in range(width):
        halves = rows.reshape(width + 1, -1, 2, 1 << bit)
        halves[1 : bit + 2] += halves[: bit + 1, :, ::-1]
    counts = np.zeros((queries.size, reach + 1), np.int64)
    used = min(width, reach) + 1
    counts[:, :used] = rows[:used, queries.astype(np.int64)].T
    return counts


def _count_few_bits(task: Task, items: Items, width: int) -> Counted:
    """Count codes with few values: all items at once, then the relevant ones class by class."""
    codes, queries, reach = items.codes[0], task.queries[:, 0], task.space.reach
    nearest = np.zeros(queries.size, np.int64)
    everything = _count_by_value(codes, queries, width, reach)
    if task.labels.relation == hamming.NONE:
        return nearest, everything[:, :, None]
    relevant = np.zeros_like(everything)
    members, items_of = _by_class(task.labels.queries[:, 0]), _by_class(items.labels[0])

    def run(label: int) -> None:
        own, others = members[label], items_of.get(label)
        if others is None:
            return
        if _by_value_pays(own.size, others.size, width):
            relevant[own] = _count_by_value(codes[others], queries[own], width, reach)
        else:
            relevant[own] = _count_pairs(task, items, own, others)

    with ThreadPoolExecutor(task.threads) as pool:
        list(pool.map(run, members))
    return nearest, np.stack([everything - relevant, relevant], axis=2)


def _count_pairs(task: Task, items: Items, own: Integers, others: Integers) -> Integers:
    """Return the same as ``_count_by_value`` for some queries and items, counted pair by pair."""
    task = replace(task, labels=LabelSpace.of(None, own.size, "any"), queries=task.queries[own])
    items = replace(
        items, codes=items.codes[:, others], labels=np.zeros((0, others.size), np.uint64)
    )
    tables = np.zeros((own.size, hamming.LANES, task.space.reach + 1), np.uint32)
    _count_direct(task, items, 0, own.size, np.zeros(0, np.int64), tables)
    return np.asarray(tables.sum(axis=1, dtype=np.int64))


def _by_class(labels: Words) -> dict[int, Integers]:
    """Return the indices of each class."""
    order = _class_order(labels)
    classes, starts = np.unique(labels[order], return_index=True)
    return dict(zip(classes.tolist(), np.split(order, starts[1:]), strict=True))


def _class_order(labels: Words) -> Integers:
    """Return the indices of all labels, stably sorted by class."""
    small = (
        labels.astype(np.uint16) if labels.max() < 1 << 16 else labels
    )  # NumPy sorts 16-bit numbers by counting
    return np.argsort(small, kind="stable")

"""Count how many items of a slice lie at every distance from each query, by relevance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.codes.inputs import CodeSpace
from retrieval_report.codes.labels import LabelSpace, Words
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.kernels import hamming
from retrieval_report.kernels.lists import Integers

CELLS = {"query": pl.UInt32, "distance": pl.Int64, "relevance": pl.Int64, "count": pl.Int64}

# One-word items that share the cache with a table; speed is the same from 1 024 to 8 192.
TILE = 4096
TILE_WORDS = 1 << 16  # 512 KiB of codes, half of a common second-level cache
BLOCKS = 4  # ranges of queries per thread, so that no thread waits long for the last
BLOCK_CELLS = 1 << 20  # cells of all tables of a range
WIDE = 1 << 14  # with this many cells, a separate table for every lane would not fit the cache
MOST_CELLS = 1 << 27  # cells of one query: half a gibibyte
SORTED_QUERIES = 64  # from this many on, sorting the items by class costs less than it saves
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


class Counter(NamedTuple):
    """A way of counting."""

    tally: Callable[[int, int], NDArray[Any]]  # of a range of queries: (queries, distances, grades)
    cells: int  # of the tables of one query
    nearest: int = 0  # the first distance


def cells_of(task: Task, items: Items) -> Iterator[tuple[float, pl.DataFrame]]:
    """Yield the cells of ranges of queries, each with its share of the work."""
    counter, total = _counter(task, items), len(task.queries)
    block = max(1, min(BLOCK_CELLS // counter.cells, -(-total // (task.threads * BLOCKS))))

    def run(first: int) -> tuple[float, pl.DataFrame]:
        last = min(first + block, total)
        cells = _to_cells(counter.tally(first, last), task.limit, first, counter.nearest)
        return (last - first) / total, cells

    with ThreadPoolExecutor(task.threads) as pool:
        yield from pool.map(run, range(0, total, block))


def _to_cells(counts: NDArray[Any], limit: int | None, first: int, nearest: int) -> pl.DataFrame:
    """Return the counts that are not 0 as rows."""
    if limit is not None:
        ties = counts.sum(axis=2, dtype=np.int64)
        counts[ties.cumsum(axis=1) - ties >= limit] = 0
    flat = np.flatnonzero(counts)  # several times as fast in one dimension as in three
    values, relevance = np.divmod(flat, counts.shape[2])
    query, distance = np.divmod(values, counts.shape[1])
    columns = {
        "query": first + query,
        "distance": nearest + distance,
        "relevance": relevance,
        "count": counts.ravel()[flat],
    }
    return pl.DataFrame(columns).cast(CELLS)  # type: ignore[arg-type]


def _counter(task: Task, items: Items) -> Counter:
    """Choose the fastest way: by value, sorted by class, or pair by pair."""
    least = {hamming.NONE: 1, hamming.SAME: SORTED_QUERIES}.get(task.labels.relation)
    in_bytes = task.space.distance == "hamming" and task.space.reach <= 255
    if least is None or len(task.queries) < least or not in_bytes:
        return _pair_counter(task, items)
    by_class = _by_class(task.labels, items)
    if len(items.codes) == 1:
        width = max(int(items.codes.max()), int(task.queries.max()), 1).bit_length()
        if _by_value_pays(len(task.queries), items.size, width):
            counts = _count_by_value(task, items, by_class, width)
            return Counter(lambda first, last: counts[first:last], 1)
    distances = task.space.reach + 1

    def count(first: int, last: int) -> NDArray[Any]:
        begin, end = by_class.begin[first:last], by_class.end[first:last]
        classes = hamming.Sorted(by_class.items, begin, end)
        counts = _count_sorted(task.queries[first:last], classes, distances)
        return np.ascontiguousarray(counts[:, : task.labels.grades].transpose(0, 2, 1))

    return Counter(count, 2 * distances)


def _by_class(labels: LabelSpace, items: Items) -> hamming.Sorted:
    """Return the items sorted by class, and where those of every query's class are."""
    nowhere = np.zeros(len(labels.queries), np.int64)
    if labels.relation == hamming.NONE:
        return hamming.Sorted(items.codes, nowhere, nowhere)
    order = _class_order(items.labels[0])
    classes, wanted = items.labels[0][order], labels.queries[:, 0]
    begin, end = (np.searchsorted(classes, wanted, side) for side in ("left", "right"))
    # codes[:, order] would store the words of an item contiguously
    return hamming.Sorted(np.take(items.codes, order, axis=1), begin, end)


def _class_order(labels: Words) -> Integers:
    """Return the indices of all labels, stably sorted by class."""
    # NumPy sorts 16-bit numbers by counting.
    small = labels.astype(np.uint16) if labels.max() < 1 << 16 else labels
    return np.argsort(small, kind="stable")


def _count_sorted(queries: Words, classes: hamming.Sorted, distances: int) -> NDArray[np.uint32]:
    """Return how many items of other classes and of its own lie at every distance from each query:
    (queries, 2, distances).
    """
    counts = np.zeros((len(queries), 2, distances), np.uint32)
    pairs, table = np.zeros(TILE // 2, np.uint16), np.zeros(hamming.PAIRS, np.uint16)
    lanes = np.zeros((hamming.LANES, 256), np.uint16)
    room = hamming.Room(pairs, pairs.view(np.uint8), table, lanes)
    hamming.count_sorted(0, len(queries), queries, classes, room, counts)
    return counts


def _pair_counter(task: Task, items: Items) -> Counter:
    """Count every pair by itself."""
    grades, distance = task.labels.grades, task.space.distance
    most = _largest_dot(task, items) if distance == "dot" else 0
    cells = ((2 * most if distance == "dot" else task.space.reach) + 1) * grades
    if cells > MOST_CELLS:
        raise ParameterError(
            f"distance: {distance!r} of these codes takes {cells} values; {MOST_CELLS} are the most"
        )
    lanes = 1 if cells > WIDE else hamming.LANES
    small = distance == "hamming" and cells <= 1 << 16
    tile = max(TILE // 8, min(TILE, TILE_WORDS // len(items.codes)))
    labels = (task.labels.queries, items.labels, task.labels.relation, grades)
    pairs = hamming.Pairs(task.queries, items.codes, *labels)
    largest = np.full(len(task.queries), most, np.int32) if distance == "dot" else None

    def count(first: int, last: int) -> NDArray[Any]:
        values: NDArray[Any] = np.empty(min(tile, items.size), np.uint16 if small else np.int32)
        tables = np.zeros((last - first, lanes, cells), np.uint32)
        if distance == "hamming":
            hamming.count_hamming(first, last, pairs, values, tables)
        else:
            hamming.count_vectors(first, last, pairs, largest, values, tables)
        counts = tables[:, 0] if lanes == 1 else tables.sum(axis=1, dtype=np.uint32)
        return counts.reshape(last - first, -1, grades)

    return Counter(count, cells * lanes, task.space.nearest - most)


def _largest_dot(task: Task, items: Items) -> int:
    """Return an upper bound of |inner product| of any query with any item (Cauchy–Schwarz)."""
    query, item = (
        int(sum(np.square(column, dtype=np.int64) for column in columns).max())
        for columns in (task.queries.T, items.codes)
    )
    return math.isqrt(query * item)


def _by_value_pays(queries: int, items: int, width: int) -> bool:
    """Whether counting by value is less work than by pair."""
    return width <= FEW_BITS and queries * items > width * width << width


def _count_by_value(task: Task, items: Items, by_class: hamming.Sorted, width: int) -> NDArray[Any]:
    """Count codes with few values: all items at once, then the relevant ones class by class."""
    codes, queries, distances = by_class.items, task.queries, task.space.reach + 1
    everything = _value_counts(codes[0], queries[:, 0], width, distances)
    if task.labels.relation == hamming.NONE:
        return everything[:, :, None]
    relevant = np.zeros_like(everything)
    order = _class_order(task.labels.queries[:, 0])
    starts = np.flatnonzero(np.diff(task.labels.queries[order, 0])) + 1

    def run(members: Integers) -> None:
        own = codes[:, by_class.begin[members[0]] : by_class.end[members[0]]]
        if _by_value_pays(members.size, own.shape[1], width):
            relevant[members] = _value_counts(own[0], queries[members, 0], width, distances)
        else:
            nowhere = np.zeros(members.size, np.int64)
            classes = hamming.Sorted(np.ascontiguousarray(own), nowhere, nowhere)
            relevant[members] = _count_sorted(queries[members], classes, distances)[:, 0]

    with ThreadPoolExecutor(task.threads) as pool:
        list(pool.map(run, np.split(order, starts)))
    return np.stack([everything - relevant, relevant], axis=2)


def _value_counts(codes: Words, queries: Words, width: int, distances: int) -> Integers:
    """Return how many codes lie at every distance from each query, of shape (queries, distances).

    ``rows[d, v]`` counts the codes at distance d from the value v that agree with v in the bits not
    yet processed. Each further bit adds the codes that differ in it, which lie one farther away, so
    all values take width steps.
    """
    rows = np.zeros((width + 1, 1 << width), np.int64)
    rows[0] = np.bincount(codes.astype(np.int64), minlength=1 << width)
    for bit in range(width):
        halves = rows.reshape(width + 1, -1, 2, 1 << bit)
        halves[1 : bit + 2] += halves[: bit + 1, :, ::-1]
    counts = np.zeros((queries.size, distances), np.int64)
    used = min(width + 1, distances)
    counts[:, :used] = rows[:used, queries.astype(np.int64)].T
    return counts

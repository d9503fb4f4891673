"""Count how many items of a slice lie at every distance from each query, by relevance."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import polars as pl

from retrieval_report.codes.inputs import CodeSpace
from retrieval_report.codes.labels import LabelSpace
from retrieval_report.contracts.arguments import Array
from retrieval_report.kernels import hamming
from retrieval_report.kernels.hamming import Words

CELLS = {"query": pl.UInt32, "distance": pl.Int64, "relevance": pl.Int64, "count": pl.Int64}

# One-word items that share the cache with a table; speed is the same from 1 024 to 8 192.
TILE = 4096
TILE_OF_BYTES = 3 << 14  # adding up the table of twos after every tile takes a tenth of the time
TILE_WORDS = 1 << 16  # 512 KiB of codes, half of a common second-level cache
BLOCKS = 4  # ranges of queries per thread, so that no thread waits long for the last
BLOCK_CELLS = 1 << 20  # cells of all tables of a range
ONE_TABLE_FROM = (
    1 << 14
)  # with this many cells, a separate table for every lane would not fit the cache


@dataclass(frozen=True)
class Items:
    """A slice of the items, encoded."""

    codes: Words  # (words, items)
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
    queries: Words  # (queries, words)
    limit: int | None  # nothing is counted beyond the tie that holds the limit-th item
    threads: int


def cells_of(task: Task, items: Items) -> Iterator[tuple[float, pl.DataFrame]]:
    """Yield the cells of ranges of queries, each with its share of the work."""
    grades, total = task.labels.grades, len(task.queries)
    cells = (task.space.reach + 1) * grades
    # A table of twos pays once there are more items than cells in it.
    bytewise = cells <= 256 and cells * cells <= items.size
    lanes = 1 if bytewise or cells > ONE_TABLE_FROM else hamming.LANES
    narrow = np.uint16 if cells <= 1 << 16 else np.int32
    most_items = TILE_OF_BYTES if bytewise else TILE
    tile = min(max(TILE // 8, min(most_items, TILE_WORDS // len(items.codes))), items.size)
    codes, same = _by_class(task.labels, items)
    labels = (task.labels.queries, items.labels, same, task.labels.relation, grades)
    pairs = hamming.CodePairs(task.queries, codes, *labels)
    block = max(1, min(BLOCK_CELLS // (cells * lanes), -(-total // (task.threads * BLOCKS))))

    def run(first: int) -> tuple[float, pl.DataFrame]:
        last = min(first + block, total)
        values = np.empty(tile + -tile % 8, np.uint8 if bytewise else narrow)
        tables = np.zeros((last - first, lanes, cells), np.uint32)
        twos = None
        if bytewise:
            views = values.view(np.uint64), values.view(np.uint16)
            twos = hamming.Twos(*views, np.zeros(1 << 16, np.uint16))
        hamming.count_hamming(first, last, pairs, values, twos, tables)
        counts = tables.sum(axis=1, dtype=np.uint32).reshape(last - first, -1, grades)
        return (last - first) / total, _to_cells(counts, task.limit, first)

    with ThreadPoolExecutor(task.threads) as pool:
        yield from pool.map(run, range(0, total, block))


def _by_class(labels: LabelSpace, items: Items) -> tuple[Words, Array]:
    """Return the codes of items, by class if they have
    classes, and where each query's class begins and ends.
    """
    if labels.relation != hamming.SAME:
        return items.codes, np.empty((0, 2), np.int64)
    classes = items.labels[0].astype(np.min_scalar_type(len(labels.classes)))  # sorts 16 bits fast
    order = classes.argsort(kind="stable")
    query_class = labels.queries[:, 0].astype(classes.dtype)
    ends = [classes.searchsorted(query_class, side, sorter=order) for side in ("left", "right")]
    return items.codes.take(order, axis=1), np.stack(ends, axis=1)  # an index would turn them round


def _to_cells(counts: Array, limit: int | None, first: int) -> pl.DataFrame:
    """Return the counts that are not 0 as rows."""
    if limit is not None:
        ties = counts.sum(axis=2, dtype=np.int64)
        counts[ties.cumsum(axis=1) - ties >= limit] = 0
    flat = np.flatnonzero(counts)  # several times as fast in one dimension as in three
    values, relevance = np.divmod(flat, counts.shape[2])
    query, distance = np.divmod(values, counts.shape[1])
    columns = {
        "query": first + query,
        "distance": distance,
        "relevance": relevance,
        "count": counts.ravel()[flat],
    }
    return pl.DataFrame(columns).cast(CELLS)  # type: ignore[arg-type]

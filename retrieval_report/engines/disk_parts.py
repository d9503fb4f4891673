"""Split a table into parts that fit in memory, each with all rows of its queries.

If the rows of a query are already contiguous, in the whole table or within each of a few files (one
per model, one per shard of the items), a part is a few ranges of rows and nothing is copied. This
is always checked, never assumed. Otherwise the rows are copied once, in order, into one folder for
every hash of the query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tqdm import tqdm

from retrieval_report.contracts.errors import DataError, OutputError, one_line
from retrieval_report.engines.disk_tables import Table, check_rows
from retrieval_report.writing.temporary import Scratch

CHUNK_ROWS = 4_000_000  # rows whose query ids are examined together
MOST_RUNS = 10_000_000  # runs of equal ids kept in memory, some 50 bytes each
LEAST_RANGE = 100_000  # if ranges are shorter than this on average, seeking costs more than a copy
RESULTS_PER_ROW = 4  # number of results that need as much memory as a row
MOST_PARTS = 256  # files that are open while rows are copied
COPY_GROUP = 16_384  # rows per Parquet row group of a copy, which every open file holds in memory
MOST_ROWS = 2**32 - 1  # the most that Polars counts


@dataclass(frozen=True)
class Parts:
    """Parts of a table, scored one after the other."""

    rows: tuple[int, ...]  # number of rows of each part
    read: Callable[[int], pl.DataFrame]  # the rows of a part, in the order of the table
    locate: Callable[
        [pl.DataFrame], pl.DataFrame
    ]  # adds the column ``part`` to a frame with a column ``query``


def find_parts(
    table: Table,
    scratch: Scratch,
    rows_per_part: int,
    *,
    results: int,
    numbered: bool,
    progress: bool,
) -> Parts:
    """Return parts as ranges of the table if possible, else as copies of its rows in ``scratch``.

    ``results`` is the number of results per query: with short lists, they need more memory than the
    rows. ``numbered`` adds row numbers to copies, for naive scores.
    """
    if table.rows > MOST_ROWS:
        raise DataError(
            f"rankings: {table.rows} rows are more than {MOST_ROWS}; score the files in several "
            "runs"
        )
    runs = _runs(table, progress)
    ranges = None if runs is None else _ranges(table, runs, rows_per_part, results)
    return (
        _copies(table, scratch(), rows_per_part, results, numbered, progress)
        if ranges is None
        else ranges
    )


def _runs(table: Table, progress: bool) -> pl.DataFrame | None:
    """Find runs of rows of the same query (query, begin, end); None if the rows are scattered."""
    found: list[pl.DataFrame] = []
    total, runs, last = table.rows, 0, object()
    with tqdm(
        total=total, desc="looking for queries", unit="row", unit_scale=True, disable=not progress
    ) as bar:
        for begin in range(0, total, CHUNK_ROWS):
            end = min(begin + CHUNK_ROWS, total)
            query = table.read(begin, end, ["query"])["query"]
            changes = query.ne_missing(query.shift()).to_numpy().copy()
            changes[0] = query[0] != last
            first, last = np.flatnonzero(changes), query[-1]
            found.append(pl.DataFrame({"query": query[first], "begin": first + begin}))
            runs += first.size
            if runs > MOST_RUNS or runs > 1000 + end // 2:
                return None
            bar.update(end - begin)
    frame = pl.concat(
        [pl.DataFrame(schema={"query": table.empty.schema["query"], "begin": pl.Int64}), *found]
    )
    return frame.with_columns(end=pl.col("begin").shift(-1, fill_value=total))


def _ranges(table: Table, runs: pl.DataFrame, rows_per_part: int, results: int) -> Parts | None:
    """Return parts as ranges of rows, with queries in order of their first row; None if ranges are
    many and short.
    """
    rows = (pl.col("end") - pl.col("begin")).sum().alias("rows")
    queries = runs.group_by("query", maintain_order=True).agg(rows)
    size = pl.max_horizontal("rows", results // RESULTS_PER_ROW)
    queries = queries.with_columns(
        part=((size.cum_sum() - size) // rows_per_part).rle_id().cast(pl.Int64)
    )
    part = runs.join(queries, on="query", how="left", nulls_equal=True, maintain_order="left")[
        "part"
    ]
    ranges = (
        runs.select("begin", "end", part=part)
        .group_by(pl.col("part").rle_id().alias("range"), maintain_order=True)
        .agg(pl.col("part", "begin").first(), pl.col("end").last())
    )
    parts = queries["part"].n_unique()
    if ranges.height > 2 * parts and ranges.height * LEAST_RANGE > table.rows:
        return None
    sizes = queries.group_by("part").agg(pl.col("rows").sum()).sort("part")["rows"].to_list()

    def read(number: int) -> pl.DataFrame:
        mine = ranges.filter(part=number).select("begin", "end")
        return pl.concat([table.empty, *(table.read(*row) for row in mine.iter_rows())])

    def locate(frame: pl.DataFrame) -> pl.DataFrame:
        known = frame.join(
            queries.select("query", "part"), on="query", how="left", maintain_order="left"
        )
        return known.with_columns(pl.col("part").fill_null(_hash_part(max(parts, 1))))

    return Parts(tuple(sizes) or (0,), read, locate)


def _hash_part(parts: int) -> pl.Expr:
    return (pl.col("query").hash() % parts).cast(pl.Int64)


def _copies(
    table: Table, folder: Path, rows_per_part: int, results: int, numbered: bool, progress: bool
) -> Parts:
    """Return parts as copies on disk, by a hash of the query; rows keep their order."""
    rows = table.scan()
    queries = rows.select(pl.col("query").approx_n_unique()).collect(engine="streaming").item()
    # Rows out of order need about twice the memory of ordered ones: an index, and often a tie for
    # each row.
    size = max(2 * table.rows, queries * results // RESULTS_PER_ROW)
    parts = min(-(-size // rows_per_part), MOST_PARTS)
    if numbered and "row" not in table.empty.columns:
        rows = rows.with_row_index("row")
    target = pl.PartitionBy(
        folder / "copies", key=_hash_part(parts).alias("part"), include_key=False
    )
    how: dict[str, Any] = {"compression": "lz4", "statistics": False, "row_group_size": COPY_GROUP}
    try:
        with _watched(rows, table.rows, progress) as watched:
            watched.sink_parquet(target, maintain_order=True, mkdir=True, **how)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise OutputError(
            f"the rows cannot be copied to the temporary folder '{folder}': {one_line(error)}"
        ) from error
    files = [
        sorted((folder / "copies" / f"part={part}").glob("*.parquet")) for part in range(parts)
    ]
    schema = rows.collect_schema()

    def scan(number: int) -> pl.LazyFrame:
        nothing = pl.DataFrame(schema=schema).lazy()
        return pl.concat(
            [nothing, *(pl.scan_parquet(file, hive_partitioning=False) for file in files[number])]
        )

    sizes = tuple(scan(number).select(pl.len()).collect().item() for number in range(parts))
    check_rows(sum(sizes), table.rows)
    return Parts(
        sizes,
        lambda number: scan(number).collect(),
        lambda frame: frame.with_columns(part=_hash_part(parts)),
    )


@contextmanager
def _watched(rows: pl.LazyFrame, total: int, progress: bool) -> Iterator[pl.LazyFrame]:
    """Yield the rows; if asked, show a progress bar that moves as they pass."""
    if not progress:
        yield rows
        return
    with tqdm(total=total, desc="copying", unit="row", unit_scale=True) as bar:

        def passed(batch: pl.DataFrame) -> pl.DataFrame:
            bar.update(batch.height)
            return batch

        yield rows.map_batches(passed, schema=rows.collect_schema(), streamable=True)

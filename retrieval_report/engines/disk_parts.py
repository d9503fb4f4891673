"""Split a table into parts that fit in memory, each with all rows of its queries.

Where the rows of each query stand together, in the whole table or within long stretches of it (such
as one per model), parts are ranges of rows, read in place. This is looked at, never assumed. Other
rows are copied once, in order, into one folder for every hash of the query.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import OutputError, one_line
from retrieval_report.engines.check_scores import join_left
from retrieval_report.engines.disk_tables import Table, check_rows
from retrieval_report.reading.binary import naming
from retrieval_report.writing.temporary import Scratch

RESULTS_PER_ROW = 4  # number of results that need as much memory as a row
MOST_PARTS = 256  # files that are open while rows are copied
COPY_GROUP = 16_384  # rows per Parquet row group of a copy, which every open file holds in memory
LOOK_ROWS = 4_000_000  # rows whose queries are looked at together
LEAST_RUN = 8  # rows per run of a query, on average: shorter ones would take too much memory
LEAST_RANGE = 16_384  # rows per range, on average: a copy costs less than shorter ones


@dataclass(frozen=True)
class Parts:
    """Parts of a table, scored one after the other."""

    rows: tuple[int, ...]  # number of rows of each part
    read: Callable[[int], pl.DataFrame]  # the rows of a part, in the order of the table
    part_of: Callable[[pl.DataFrame], pl.Series]  # the part of each row of a frame of queries

    def divide(self, frame: pl.DataFrame) -> Callable[[int], pl.DataFrame]:
        """Return a function that selects the rows of a part from a frame with a column ``query``."""
        part = self.part_of(frame)
        return lambda number: frame.filter(part == number)


def find_parts(table: Table, scratch: Scratch, rows_per_part: int, results: int) -> Parts:
    """Return ranges of the table's rows if they are long enough, and copies in a folder otherwise.

    ``results`` is the number of results per query: with short lists, they need more memory than the
    rows.
    """
    runs = _runs(table)
    ranges = None if runs is None else _ranges(table, runs, rows_per_part, results)
    return ranges or copied_parts(table, scratch(), rows_per_part, results)


def _runs(table: Table) -> pl.DataFrame | None:
    """Find the runs of rows that have the same query; None if they are short."""
    looked, runs, found = 0, 0, []
    for number, file in enumerate(table.files):
        for begin in range(0, file.rows, LOOK_ROWS):
            with naming(file.path):
                query = file.frame.slice(begin, LOOK_ROWS).select("query").collect().to_series()
            changes = query.ne_missing(query.shift()).to_numpy().copy()
            changes[:1] = True
            first = np.flatnonzero(changes)
            looked, runs = looked + len(query), runs + first.size
            if runs * LEAST_RUN > looked + LOOK_ROWS // 1000:
                return None
            ends = {"begin": begin + first, "end": begin + np.append(first[1:], len(query))}
            found.append(pl.DataFrame({"query": query[first], "file": number, **ends}))
    check_rows(looked, table.rows)
    return pl.concat(found)


def _ranges(table: Table, runs: pl.DataFrame, rows_per_part: int, results: int) -> Parts | None:
    """Return parts as ranges of rows, with queries in the order of their first rows; None if the
    ranges are short.
    """
    rows = pl.sum("rows")
    runs = runs.with_columns(rows=pl.col("end") - pl.col("begin"))
    queries = runs.group_by("query", maintain_order=True).agg(rows)
    size = pl.max_horizontal("rows", results // RESULTS_PER_ROW)
    part = ((size.cum_sum() - size) // rows_per_part).rle_id().cast(pl.Int64)
    queries = queries.select("query", part=part)
    runs = join_left(runs, queries, "query")
    stretch = pl.struct("file", "part").rle_id()
    ranges = runs.group_by(stretch.alias("range"), maintain_order=True).agg(
        pl.first("file", "part", "begin"), rows
    )
    sizes = ranges.group_by("part").agg(rows).sort("part")["rows"].to_list()
    if ranges.height > max(2 * len(sizes), table.rows // LEAST_RANGE):
        return None

    def read(number: int) -> pl.DataFrame:
        found: list[pl.DataFrame] = []
        for index, *where in ranges.filter(part=number).select("file", "begin", "rows").iter_rows():
            with naming(table.files[index].path):
                found.append(table.files[index].frame.slice(*where).collect())
        check_rows(sum(frame.height for frame in found), sizes[number])
        return pl.concat(found)

    def part_of(frame: pl.DataFrame) -> pl.Series:
        found = join_left(frame.select(_ids(queries.schema["query"])), queries, "query")
        return found.select(pl.col("part").fill_null(_hash_part(len(sizes)))).to_series()

    return Parts(tuple(sizes), read, part_of)


def copied_parts(table: Table, folder: Path, rows_per_part: int, results: int) -> Parts:
    """Copy the rows to a folder, by a hash of the query and with their numbers for naive scores."""
    rows = pl.concat([file.frame for file in table.files])
    queries = rows.select(pl.col("query").approx_n_unique()).collect(engine="streaming").item()
    # Rows out of order need about twice the memory of ordered ones: an index, and often a tie for
    # each row.
    size = max(2 * table.rows, queries * results // RESULTS_PER_ROW)
    parts = max(1, min(-(-size // rows_per_part), MOST_PARTS))
    if not {"row", "count"} & set(table.empty.columns):
        rows = rows.with_row_index("row")
    hashed = _hash_part(parts)
    target = pl.PartitionBy(folder / "copies", key=hashed.alias("part"), include_key=False)
    how: Named = {"compression": "lz4", "statistics": False, "row_group_size": COPY_GROUP}
    try:
        rows.sink_parquet(target, maintain_order=True, mkdir=True, **how)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise OutputError(
            f"the rows cannot be copied to the temporary folder '{folder}': {one_line(error)}"
        ) from error
    copies = pl.scan_parquet(folder / "copies", hive_schema={"part": pl.Int64})
    sizes = dict(copies.group_by("part").len().collect().iter_rows())
    check_rows(sum(sizes.values()), table.rows)
    ids = _ids(copies.collect_schema()["query"])
    return Parts(
        tuple(sizes.get(part, 0) for part in range(parts)),
        lambda number: copies.filter(part=number).drop("part").collect(),
        lambda frame: frame.select(ids).select(hashed).to_series(),
    )


def _ids(kind: pl.DataType) -> pl.Expr:
    """Return the queries of a frame as ids of this type, null if they are none."""
    return pl.col("query").cast(kind, strict=False)


def _hash_part(parts: int) -> pl.Expr:
    return (pl.col("query").hash() % parts).cast(pl.Int64)

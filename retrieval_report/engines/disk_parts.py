"""Split a table into parts that fit in memory, each with all rows of its queries.

The rows are copied once, in order, into one folder for every hash of the query.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import OutputError, one_line
from retrieval_report.engines.disk_tables import Table, check_rows

RESULTS_PER_ROW = 4  # number of results that need as much memory as a row
MOST_PARTS = 256  # files that are open while rows are copied
COPY_GROUP = 16_384  # rows per Parquet row group of a copy, which every open file holds in memory


@dataclass(frozen=True)
class Parts:
    """Parts of a table, scored one after the other."""

    copies: pl.LazyFrame  # the rows of each part, in the order of the table
    rows: tuple[int, ...]  # number of rows of each part

    def read(self, number: int) -> pl.DataFrame:
        """Return the rows of a part."""
        return self.copies.filter(part=number).drop("part").collect()

    def locate(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Add the column ``part`` to a frame with a column ``query``, of whatever type its ids are."""
        ids = pl.col("query").cast(self.copies.collect_schema()["query"], strict=False)
        return frame.with_columns(_part_of(len(self.rows), ids))


def copied_parts(table: Table, folder: Path, rows_per_part: int, results: int) -> Parts:
    """Copy the rows to a folder, by a hash of the query and with their numbers for naive scores.

    ``results`` is the number of results per query: with short lists, they need more memory than the
    rows.
    """
    rows = pl.concat([file.frame for file in table.files])
    queries = rows.select(pl.col("query").approx_n_unique()).collect(engine="streaming").item()
    # Rows out of order need about twice the memory of ordered ones: an index, and often a tie for
    # each row.
    size = max(2 * table.rows, queries * results // RESULTS_PER_ROW)
    parts = max(1, min(-(-size // rows_per_part), MOST_PARTS))
    if not {"row", "count"} & set(table.empty.columns):
        rows = rows.with_row_index("row")
    target = pl.PartitionBy(
        folder / "copies", key=_part_of(parts, pl.col("query")), include_key=False
    )
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
    return Parts(copies, tuple(sizes.get(part, 0) for part in range(parts)))


def _part_of(parts: int, ids: pl.Expr) -> pl.Expr:
    return (ids.hash() % parts).cast(pl.Int64).alias("part")

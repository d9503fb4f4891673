"""Turn a Spark frame into the rows of the stream: checked columns, joined judgements, the naive
order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import polars as pl
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import (
    COUNTS,
    RANKINGS,
    check_counts,
    check_rankings,
    order_column,
)
from retrieval_report.contracts.options import Options
from retrieval_report.scoring.judged import NOT_RETRIEVED, RETRIEVED
from retrieval_report.spark.failures import refusing
from retrieval_report.spark.frames import check_frame, chosen, empty_of, typed, where

FILE, ROW = "_metadata.file_path", "_metadata.row_index"
PATH = "path of the file"  # a name that no user's column has


@dataclass(frozen=True)
class Source:
    """Rows on the cluster."""

    rows: DataFrame  # model, query, item or count, distance or score, relevance, and the columns of the naive order
    order: str  # distance or score
    naive: tuple[str, ...]  # the columns of the naive order inside ties

    def of(self, rows: DataFrame) -> Source:
        """Return the same source with other rows."""
        return replace(self, rows=rows)


def open_rows(frame: DataFrame, options: Options, *, judged: bool) -> Source:
    """Return rows with our names and types, and masked ones marked; nothing is computed yet."""
    check_frame(frame, "rankings")
    counted = "count" in frame.columns
    naive: tuple[str, ...] = ()
    if "naive" in options.policies:
        if counted:
            options.check_counted()
        frame, naive = _naive_order(frame, options)
    contract = COUNTS if counted else [column for column in RANKINGS if column.name != "weight"]
    also = [PATH] if "file" in naive else []
    rows = chosen(frame, contract, "counts" if counted else "rankings", also).withColumnRenamed(
        PATH, "file"
    )
    empty = empty_of(rows, "rankings")
    if counted:
        if judged:
            raise ParameterError(
                "judgements: a counts frame has no items to join them on; join them before counting"
            )
        check_counts(empty)
    else:
        check_rankings(
            empty, relevance=not judged, null_distance=options.null_distance == "not_retrieved"
        )
    order = order_column(empty)
    options.check_order(order)
    rows = typed(rows)
    if "model" not in rows.columns:
        rows = rows.withColumn("model", F.lit("model"))
    rows = _without_masked(rows, order)
    if "retrieved" in rows.columns:
        rows = _with_pool(rows, options)
    if naive and options.decimals is not None and not empty.schema[order].is_integer():
        rounded = partial(_rounded, column=order, decimals=options.decimals)
        rows = rows.mapInArrow(
            rounded, rows.schema
        )  # ties are made by rounding, so it has to come before sorting
    return Source(rows, order, naive)


def _naive_order(frame: DataFrame, options: Options) -> tuple[DataFrame, tuple[str, ...]]:
    """Return the frame with the columns that hold the order received, and their names."""
    if options.naive_order != "row":
        return frame, ("item",)
    if "row" in frame.columns:
        return frame, ("row",)
    problem: Exception | None = None
    if frame.inputFiles():
        try:
            placed = frame.select("*", F.col(FILE).alias(PATH), F.col(ROW).alias("row"))
            _ = placed.columns  # Spark Connect checks names only now
            return placed, ("file", "row")
        except PySparkException as error:
            problem = error
    raise ParameterError(
        "policies: 'naive' needs the order of the rows, and this frame has none: read Parquet "
        "files and evaluate the "
        "frame as read, add a column 'row', choose naive_order='item', or leave 'naive' out"
    ) from problem


def _without_masked(rows: DataFrame, order: str) -> DataFrame:
    """Remove masked rows from their lists, keeping the lists."""
    if "mask" not in rows.columns:
        return rows
    kept = refusing(
        F.col("mask"),
        F.col("mask").isNull(),
        "mask",
        "null",
        location=where("query", "item", "model"),
    )
    role = F.when(kept, F.lit(RETRIEVED)).otherwise(F.lit(NOT_RETRIEVED)).cast("byte")
    masked = [
        F.when(F.col("mask"), F.col(name)).alias(name) if name in (order, "relevance") else name
        for name in rows.columns
        if name != "mask"
    ]
    return rows.select(*masked, role.alias("role"))


def _with_pool(rows: DataFrame, options: Options) -> DataFrame:
    """Mark what counts hold of other models' relevant items; leave them out where they do not tell
    R.
    """
    retrieved = refusing(F.col("retrieved"), F.col("retrieved").isNull(), "retrieved", "null")
    role = F.when(retrieved, F.lit(RETRIEVED)).otherwise(F.lit(NOT_RETRIEVED)).cast("byte")
    if options.relevant_items == "own" or options.distance_threshold is not None:
        rows = rows.filter("retrieved")
    return rows.withColumn("role", role).drop("retrieved")


def _rounded(
    batches: Iterator[pa.RecordBatch], *, column: str, decimals: int
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        location = batch.schema.get_field_index(column)
        values = pl.Series(pl.from_arrow(batch.column(location))).round(decimals).to_arrow()
        yield batch.set_column(
            location, batch.schema.field(location), values.cast(batch.schema.field(location).type)
        )

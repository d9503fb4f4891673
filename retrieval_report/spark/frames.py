"""Take Spark frames, and local ones, with the columns
of our contracts, and turn them into Polars frames.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import DecimalType

from retrieval_report.contracts.columns import Column
from retrieval_report.contracts.errors import ColumnError, ParameterError, one_line
from retrieval_report.contracts.frames import (
    COUNTS,
    JUDGEMENTS,
    QUERIES,
    RANKINGS,
    check_table,
)
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.wording import advice, setting
from retrieval_report.reading.frames import to_polars
from retrieval_report.reading.names import KINDS, known_columns

FILE = "_metadata.file_path"
ROW = "_metadata.row_index"
PATH = "path of the file"  # a name that no user's column has
BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


def frames_of(
    rankings: DataFrame, judgements: object, queries: object, options: Options
) -> dict[str, DataFrame]:
    """Return what was given as frames of Spark, with our
    names and types; local frames are checked and sent.
    """
    frames = {"rankings": rankings_of(rankings, options)}
    session = frames["rankings"].sparkSession
    for name, frame, contract in (
        ("judgements", judgements, JUDGEMENTS),
        ("queries", queries, QUERIES),
    ):
        if isinstance(frame, DataFrame):
            frames[name] = choose_columns(frame, name, contract)
        elif frame is not None:
            table = check_table(to_polars(frame, name), name, repeated=options.repeated_judgements)
            frames[name] = sent(session, table, name)
    return frames


def rankings_of(frame: DataFrame, options: Options) -> DataFrame:
    """Return rankings or counts with our names and types
    and a model, and for naive scores with their order.
    """
    check_frame(frame, "rankings")
    has_counts = "count" in frame.columns
    if "naive" in options.policies and options.naive_order == "row" and not has_counts:
        frame = _numbered(frame)
    kind = ("counts", COUNTS) if has_counts else ("rankings", RANKINGS)
    rows = choose_columns(frame, *kind, [PATH] if PATH in frame.columns else [])
    model = F.col("model").cast("string") if "model" in rows.columns else F.lit("model")
    return rows.withColumn("model", model)


def _numbered(frame: DataFrame) -> DataFrame:
    """Return the frame with the columns that hold the order received."""
    if "row" in frame.columns:
        return frame
    try:
        placed = frame.select("*", F.col(FILE).alias(PATH), F.col(ROW).alias("row"))
        _ = placed.columns  # Spark Connect checks names only now
    except PySparkException as error:
        raise ParameterError(
            "policies: 'naive' needs the order of the rows, and this frame has none: read Parquet "
            "files and evaluate the frame as read, add a column 'row', "
            + advice("choose {}, ", setting("naive_order", "item"))
            + "or leave 'naive' out"
        ) from error
    return placed


def check_frame(frame: object, what: str) -> None:
    """Refuse anything but a Spark frame, of a direct session or of Spark Connect."""
    if not isinstance(frame, DataFrame):
        raise ParameterError(
            f"{what}: a {type(frame).__name__} is not a Spark frame; read it with spark.read"
        )


def choose_columns(
    frame: DataFrame, what: str, contract: Sequence[Column], also: Sequence[str] = ()
) -> DataFrame:
    """Return the contract's columns under our names, found as in `read_rankings`, and others by
    their exact names.

    Spark treats ``Query`` as ``query`` and cannot distinguish them if both exist, except by
    position.
    """
    column_names = frame.columns
    matched = known_columns(column_names, KINDS[what], None, what) | {name: name for name in also}
    # By position, since Spark takes names that differ in case for one.
    numbered = frame.toDF(*(f"_{position}" for position in range(len(column_names))))
    kinds = {column.name: column.kind for column in contract}
    columns = []
    for name, theirs in matched.items():
        column, kind = (
            F.col(f"_{column_names.index(theirs)}"),
            frame.schema[column_names.index(theirs)].dataType,
        )
        if name == "relevance" != theirs and kind.typeName() == "string":
            continue  # a label in words is not a relevance
        if isinstance(kind, DecimalType) and kinds.get(name) == "id" and kind.scale == 0:
            column = column.try_cast("long")  # unsigned ids, which Spark lacks; others become null
        if name in kinds or name in also:
            columns.append(column.alias(name))
    return numbered.select(columns)


def empty_of(frame: DataFrame) -> pl.DataFrame:
    """Return a Polars frame with the same columns and no rows, for checks that need no rows."""
    return pl.DataFrame(pl.from_arrow(to_arrow_schema(frame.schema).empty_table()))


def sent(session: SparkSession, local: pl.DataFrame, what: str) -> DataFrame:
    """Send a local frame to the cluster; Spark has no unsigned numbers."""
    wide = pl.selectors.unsigned_integer() | pl.selectors.by_dtype(pl.Int128)
    try:
        local = local.with_columns(wide.cast(pl.Int64))
    except pl.exceptions.InvalidOperationError as error:
        raise ColumnError(
            f"{what}: Spark has no whole numbers of more than 64 bits: {one_line(error)}"
        ) from error
    if int(session.conf.get(BATCH) or 1) < 1:
        raise ParameterError(
            f"{what}: {BATCH} is below 1, so PySpark cannot send a Polars frame; set it to a "
            "number of rows, or pass a Spark frame"
        )
    # In one chunk: from a table in several, the Connect client of PySpark 4.0.0 sent wrong rows.
    return session.createDataFrame(local.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()))


def collected(frame: DataFrame) -> pl.DataFrame:
    """Return the rows of a Spark frame as a local one."""
    return pl.DataFrame(pl.from_arrow(frame.toArrow()))


def arrow_schema(frame: pl.DataFrame) -> pa.Schema:
    """Return the types of a frame's columns as Spark takes them."""
    schema = frame.clear().to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    return to_arrow_schema(from_arrow_schema(schema))

"""Read rankings, judgements and queries from files and
write scores to files, for the command line on Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import polars as pl
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from retrieval_report.contracts.arguments import ColumnNames
from retrieval_report.contracts.errors import (
    ColumnError,
    FileError,
    OutputError,
)
from retrieval_report.reading import to_polars
from retrieval_report.reading.names import RANKINGS, match_columns
from retrieval_report.spark.failures import failing, our_errors
from retrieval_report.spark.frames import sent


def is_address(path: str) -> bool:
    """Return whether a path names its file system, such as ``s3a://bucket/runs``.

    >>> is_address("s3a://bucket/runs"), is_address("runs/*.parquet")
    (True, False)
    """
    return "://" in path


def rankings_frame(
    spark: SparkSession, paths: Sequence[str], columns: ColumnNames = None
) -> DataFrame:
    """Read rankings or counts in Parquet files, folders
    and patterns; paths are passed to Spark unchanged.

    Columns are found as in :func:`read_rankings`. Folders may be named ``model=…``. Without a model
    column, a single file provides its name; among several files Spark cannot tell which ones are
    shards of the same model.

    Raises
    ------
    FileError, ColumnError
        The files do not exist or are not Parquet; a column is missing; several files have no model.
    """
    frame = _parquet(spark, paths)
    matched = match_columns(frame.columns, RANKINGS, columns, ", ".join(paths))
    rankings = frame.withColumnsRenamed({theirs: ours for ours, theirs in matched.items()})
    if "model" in matched:
        return rankings
    files = frame.inputFiles()
    if len(files) > 1:
        raise ColumnError(
            f"{', '.join(paths)}: no column 'model' in {len(files)} files, and Spark does not "
            "name models after their files: add the column, or put the files of a model into "
            "a folder named model=<name>"
        )
    return rankings.withColumn("model", F.lit(PurePosixPath(files[0]).stem if files else "model"))


def frame_beside(spark: SparkSession, path: str, what: str) -> DataFrame:
    """Read judgements or queries: an address is read by the cluster, as Parquet; any other path
    here, in any format.
    """
    if is_address(path):
        return _parquet(spark, [path])
    return sent(spark, to_polars(path, what), path)


def write_scores(scores: DataFrame, path: str) -> None:
    """Write scores as Parquet in one folder per model;
    readers see them once the job's committer has finished.

    Raises
    ------
    OutputError
        The folder already exists; nothing is replaced.
    RetrievalReportError
        An error that :func:`retrieval_report.spark.evaluate` finds in the data, or the reason why
        Spark failed.
    """
    with failing(OutputError, f"cannot write to '{path}'"), our_errors():
        scores.write.mode("errorifexists").partitionBy("model").parquet(path)


def scores_frame(spark: SparkSession, path: str, like: DataFrame) -> DataFrame:
    """Read scores written by :func:`write_scores`;
    names of models stay text, whatever they look like.
    """
    return spark.read.schema(like.schema).parquet(path).select(like.columns)


def write_csv(spark: SparkSession, frame: pl.DataFrame, path: str) -> None:
    """Write a small frame as one CSV file in a folder to which only Spark can write."""
    with failing(OutputError, f"cannot write to '{path}'"):
        sent(spark, frame, path).coalesce(1).write.mode("overwrite").csv(path, header=True)


def _parquet(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    with failing(FileError, ", ".join(paths)):
        frame = spark.read.parquet(*paths)
        _ = frame.columns  # Spark Connect opens the files only now
    return frame

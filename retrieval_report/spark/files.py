"""Rankings, judgements and queries from files, and scores to files, for the command line on Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import polars as pl
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from retrieval_report.contracts.errors import ColumnError, FileError, OutputError, RetrievalReportError
from retrieval_report.reading import read_judgements, read_queries
from retrieval_report.reading.names import JUDGEMENTS, QUERIES, RANKINGS, Kind, match_columns
from retrieval_report.spark.failures import our_errors
from retrieval_report.spark.frames import sent
from retrieval_report.spark.reasons import FAILURES, failing, reason

__all__ = [
    "is_address",
    "judgements_frame",
    "queries_frame",
    "rankings_frame",
    "scores_frame",
    "write_csv",
    "write_scores",
]


def is_address(path: str) -> bool:
    """Whether a path names its file system, such as ``s3a://bucket/runs``.

    >>> is_address("s3a://bucket/runs"), is_address("runs/*.parquet")
    (True, False)
    """
    return "://" in path


def rankings_frame(spark: SparkSession, paths: Sequence[str], columns: Mapping[str, str] | None = None) -> DataFrame:
    """Rankings or counts in Parquet files, folders and patterns; the paths go to Spark as they are.

    Columns are found as by :func:`read_rankings`. Folders may be named ``model=…``. Without a model, a single file
    gives its name; of several files Spark cannot tell which ones are shards of the same model.

    Raises
    ------
    FileError, ColumnError
        The files are not there or not Parquet; a column is missing; several files have no model.
    """
    frame = _parquet(spark, paths)
    found = _renamed(frame, RANKINGS, columns, ", ".join(paths))
    if "model" in found.columns:
        return found
    files = frame.inputFiles()
    if len(files) > 1:
        raise ColumnError(
            f"{', '.join(paths)}: no column 'model' in {len(files)} files, and on Spark a file is no model: "
            "add the column, or put the files of a model into a folder named model=<name>"
        )
    return found.withColumn("model", F.lit(PurePosixPath(files[0]).stem if files else "model"))


def judgements_frame(spark: SparkSession, path: str) -> DataFrame:
    """Judgements: an address is read by the cluster, as Parquet; any other path here, in any format."""
    if is_address(path):
        return _renamed(_parquet(spark, [path]), JUDGEMENTS, None, path)
    return sent(spark, read_judgements(path), path)


def queries_frame(spark: SparkSession, path: str) -> DataFrame:
    """Queries, read as judgements are."""
    if is_address(path):
        return _renamed(_parquet(spark, [path]), QUERIES, None, path)
    return sent(spark, read_queries(path), path)


def write_scores(scores: DataFrame, path: str) -> None:
    """Write scores as Parquet in folders by model; readers see them when the job's committer has finished.

    Raises
    ------
    OutputError
        The folder is there already: nothing is replaced.
    RetrievalReportError
        What :func:`retrieval_report.spark.evaluate` finds wrong with the data, or why Spark gave up.
    """
    try:
        with our_errors():
            scores.write.mode("errorifexists").partitionBy("model").parquet(path)
    except FAILURES as error:
        if "[PATH_ALREADY_EXISTS]" in str(error):
            raise OutputError(f"cannot write to '{path}': it is there already, and nothing is replaced") from error
        raise RetrievalReportError(f"Spark gave up: {reason(error)}") from error


def scores_frame(spark: SparkSession, path: str, like: DataFrame) -> DataFrame:
    """Scores as :func:`write_scores` wrote them; names of models stay text, whatever they look like."""
    return spark.read.schema(like.schema).parquet(path).select(like.columns)


def write_csv(spark: SparkSession, frame: pl.DataFrame, path: str) -> None:
    """Write a small frame as one CSV file in a folder, where Spark alone can write."""
    with failing(OutputError, f"cannot write to '{path}'"):
        sent(spark, frame, path).coalesce(1).write.mode("overwrite").csv(path, header=True)


def _parquet(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    with failing(FileError, ", ".join(paths)):
        frame = spark.read.parquet(*paths)
        _ = frame.columns  # Spark Connect looks at the files only now
    return frame


def _renamed(frame: DataFrame, kind: Kind, columns: Mapping[str, str] | None, location: str) -> DataFrame:
    """The columns of use, under our names."""
    chosen = match_columns(frame.columns, kind, columns, location)
    quoted = {ours: "`" + theirs.replace("`", "``") + "`" for ours, theirs in chosen.items()}
    return frame.select([F.col(theirs).alias(ours) for ours, theirs in quoted.items()])

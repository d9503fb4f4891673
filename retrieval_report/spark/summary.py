"""Average scores on a cluster, into one row for each model, metric, cutoff and policy."""

from __future__ import annotations

from functools import partial
from typing import Unpack

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from retrieval_report.contracts.columns import given
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.contracts.options import POLICIES
from retrieval_report.contracts.registry import FRAMES
from retrieval_report.engines import summary
from retrieval_report.engines.check_scores import GROUP
from retrieval_report.engines.stream import ARROW
from retrieval_report.spark.failures import our_errors, refusing
from retrieval_report.spark.frames import check_frame, chosen, empty_of, on_cluster, same_ids, where

COLUMNS = {"macro": "label", "weighted": "weight"}  # what each average needs of the queries


def summarise(
    scores: DataFrame, *, queries: object = None, **options: Unpack[summary.SummaryOptions]
) -> pl.DataFrame:
    """Average scores over queries on the cluster, as :func:`retrieval_report.summarise` does, to
    the last bit.

    Executors average one model, metric, cutoff and policy at a time, and hold one row per query for
    it. Every action computes the scores anew, so write them and read them back if you need them
    too.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`, or the same read from files.
    queries
        ``label`` or ``weight`` of each ``query``, or weights by model, query and metric; a Spark or
        local frame.
    **options
        All other options of :func:`retrieval_report.summarise`.

    Returns
    -------
    polars.DataFrame
        The columns of :func:`retrieval_report.summarise`, sorted by model, metric, cutoff and
        policy.

    Raises
    ------
    RetrievalReportError
        Also for errors that :func:`evaluate` finds on the executors.
    """
    average = options.get("average", "micro")
    check_frame(scores, "scores")
    frame = chosen(scores, FRAMES["scores"].columns, "scores")
    column = COLUMNS.get(average, "")
    empty = empty_of(frame, "scores")
    nobody = (
        empty.select("query", pl.lit(1).alias(column)) if column and queries is not None else None
    )
    summary.summarise(empty, queries=nobody, **options)
    if column:
        frame = _joined(frame, queries, column, average)
    schema = pa.schema([(name, ARROW[dtype]) for name, dtype in SUMMARY.items()])

    def mean(table: pa.Table) -> pa.Table:
        """Return the summary of the scores of one model, metric, cutoff and policy."""
        here = pl.DataFrame(pl.from_arrow(table))
        own = here.select("query", column).drop_nulls() if column else None
        return summary.summarise(here, queries=own, **options).to_arrow().cast(schema)

    means = frame.groupBy(*GROUP).applyInArrow(mean, from_arrow_schema(schema))
    with our_errors():
        found = pl.DataFrame(pl.from_arrow(means.toArrow()))
    order = pl.col("policy").replace_strict(
        {name: index for index, name in enumerate(POLICIES)}, default=len(POLICIES)
    )
    return summary.with_bounds(found.sort("model", "metric", "cutoff", order, nulls_last=True))


def _joined(frame: DataFrame, queries: object, column: str, average: str) -> DataFrame:
    """Return scores with the label or the weight of their query."""
    keys: list[str] = []

    def check(table: pl.DataFrame) -> pl.DataFrame:
        table, keys[:] = summary.check_given(table, column, average)
        return table

    contract = [
        given(name, "", "", "", optional=True)
        for name in ("model", "query", "metric", "label", "weight")
    ]
    table, empty = on_cluster(queries, frame.sparkSession, contract, "queries", check)
    frame, table = same_ids(frame, table, empty, ("query",), "queries")
    said = table.groupBy(*keys).agg(F.first(column).alias("said"), F.count("*").alias("times"))
    bad = F.col("said").isNull()
    if column == "weight":
        bad |= F.isnan("said") | (F.abs("said") == float("inf")) | (F.col("said") < 0)
    refuse = partial(refusing, what="queries", location=where(*keys))
    once = refuse(F.col("said"), bad, column, "null or not a weight")
    once = refuse(once, F.col("times") > 1, "query", "more than once")
    return frame.join(said.select(*keys, once.alias(column)), on=keys, how="left")

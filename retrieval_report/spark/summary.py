"""Average scores on a cluster, into one row for each model, metric, cutoff and policy."""

from __future__ import annotations

from typing import Unpack

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from retrieval_report.contracts.columns import Column
from retrieval_report.contracts.options import POLICIES
from retrieval_report.contracts.registry import FRAMES
from retrieval_report.engines import summary
from retrieval_report.engines.check_scores import GROUP
from retrieval_report.reading.frames import to_polars
from retrieval_report.spark.failures import our_errors
from retrieval_report.spark.frames import arrow_schema, check_frame, chosen, collected, empty_of

OF_QUERIES = [
    Column(name, None, "", "", "text", optional=True)
    for name in ("model", "query", "metric", "label", "weight")
]


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
        local frame, which is sent to every executor.
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
    check_frame(scores, "scores")
    frame = chosen(scores, FRAMES["scores"].columns, "scores")
    if isinstance(queries, DataFrame):
        queries = collected(chosen(queries, OF_QUERIES, "queries"))
    table = None if queries is None else to_polars(queries, "queries")
    nothing = summary.summarise(empty_of(frame, "scores"), queries=table, **options)
    schema = arrow_schema(nothing)

    def mean(rows: pa.Table) -> pa.Table:
        """Return the summary of the scores of one model, metric, cutoff and policy."""
        group = pl.DataFrame(pl.from_arrow(rows))
        return summary.summarise(group, queries=table, **options).to_arrow().cast(schema)

    with our_errors():
        means = collected(frame.groupBy(*GROUP).applyInArrow(mean, from_arrow_schema(schema)))
    order = pl.col("policy").replace_strict(
        {name: index for index, name in enumerate(POLICIES)}, default=len(POLICIES)
    )
    return summary.with_bounds(means.sort("model", "metric", "cutoff", order, nulls_last=True))

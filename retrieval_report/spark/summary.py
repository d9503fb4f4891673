"""Average scores on a cluster, into one row for each model, metric, cutoff and policy."""

from __future__ import annotations

from typing import Unpack

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from retrieval_report.contracts.options import POLICIES
from retrieval_report.contracts.wording import portable_reader, speaking_to
from retrieval_report.engines import summary
from retrieval_report.engines.check_scores import MEAN
from retrieval_report.reading.frames import to_polars
from retrieval_report.spark.failures import our_errors
from retrieval_report.spark.frames import arrow_schema, check_frame, collected, empty_of


def summarise(
    scores: DataFrame, *, queries: object = None, **options: Unpack[summary.SummaryOptions]
) -> pl.DataFrame:
    """Average scores over queries on the cluster, as :func:`retrieval_report.summarise` does, to
    the last bit.

    Executors average one model, metric and cutoff at a time, and hold its scores. Every action
    computes the scores anew, so write them and read them back if you need them too.

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
    query_rows = collected(queries) if isinstance(queries, DataFrame) else queries
    table = None if query_rows is None else to_polars(query_rows, "queries")
    schema = arrow_schema(summary.summarise(empty_of(scores), queries=table, **options))

    reader = portable_reader()

    def mean(rows: pa.Table) -> pa.Table:
        """Return the summary of the scores of one model, metric and cutoff."""
        group = pl.DataFrame(pl.from_arrow(rows))
        with speaking_to(reader):
            means = summary.summarise(group, queries=table, **options)
        return means.to_arrow().cast(schema)

    with our_errors():
        means = collected(scores.groupBy(*MEAN).applyInArrow(mean, from_arrow_schema(schema)))
    order = pl.col("policy").cast(pl.Enum(POLICIES), strict=False)
    return means.sort(*MEAN, order, nulls_last=True)

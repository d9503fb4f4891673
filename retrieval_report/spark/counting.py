"""Count ties on a cluster, and search for repeated items."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from retrieval_report.contracts.errors import ColumnError, DataError
from retrieval_report.contracts.options import Options
from retrieval_report.scoring.judged import RETRIEVED
from retrieval_report.spark.failures import our_errors, refusing
from retrieval_report.spark.frames import check_frame, where
from retrieval_report.spark.plans import with_counts
from retrieval_report.spark.sources import open_rows


def count_ties(rankings: DataFrame) -> DataFrame:
    """Count items by model, query, distance and relevance, as :func:`retrieval_report.count_ties`
    does, on a cluster.

    Parameters
    ----------
    rankings
        Rankings with a column ``relevance``, or counts whose matching rows are to be added up.

    Returns
    -------
    pyspark.sql.DataFrame
        ``model``, ``query``, ``distance`` or ``score``, ``relevance``, ``count``, in no particular
        order, but not, as on one machine, what other models retrieved: such counts do not tell R of
        several models. Nothing is computed yet. Rows that break a rule raise a DataError when it is
        (see :func:`our_errors`). Items that occur twice in a list are not detected here; use
        :func:`check_items`.
    """
    source = open_rows(rankings, Options(policies="expected"), judged=False)
    rows = source.rows
    if "role" in rows.columns:
        rows = rows.filter(F.col("role") == RETRIEVED).drop("role")
    checked = rows.select([_checked(name, source.order).alias(name) for name in rows.columns])
    counts = with_counts(source.of(checked), "ties")
    count = refusing(
        F.col("count"),
        F.col("count").isNull() | (F.col("count") < 1),
        "count",
        "not a whole number above 0",
    )
    return counts.withColumn("count", count)


def _checked(name: str, order: str) -> Column:
    """Return a column that raises an error for values that no counts frame may hold."""
    column, location = F.col(name), where("query", "model")
    if name in ("query", "item"):
        return refusing(column, column.isNull(), name, "null ids")
    if name == "model":
        null = refusing(column, column.isNull(), name, "null ids")
        return refusing(null, column == "", name, "empty model names")
    if name not in (order, "relevance"):
        return column
    number = column.cast("double")
    checked = refusing(
        column, column.isNull() | F.isnan(number), name, "null or NaN", location=location
    )
    checked = refusing(checked, F.abs(number) == float("inf"), name, "infinite", location=location)
    return (
        checked
        if name == order
        else refusing(checked, number < 0, name, "negative", location=location)
    )


def check_items(rankings: DataFrame) -> None:
    """Raise a DataError if an item is twice in a list or models disagree about it; this costs a
    separate exchange.
    """
    check_frame(rankings, "rankings")
    if "item" not in rankings.columns:
        raise ColumnError(
            "rankings: no column 'item', without which repeated items cannot be found"
        )
    rows = open_rows(rankings, Options(policies="expected"), judged=True).rows
    if "role" in rows.columns:
        rows = rows.filter(F.col("role") == RETRIEVED)
    with our_errors():
        twice = rows.groupBy("model", "query", "item").count().filter("count > 1").head()
        if twice is not None:
            raise DataError(
                f"rankings: {twice['count']} rows repeat another's model, query, item: model "
                f"{twice['model']!r}, query "
                f"{twice['query']!r}, item {twice['item']!r}. Repeated items push scores above 1; "
                "keep one row of each"
            )
        if "relevance" not in rows.columns:
            return
        least, most = F.min("relevance").alias("least"), F.max("relevance").alias("most")
        apart = rows.groupBy("query", "item").agg(least, most).filter("least < most").head()
    if apart is not None:
        raise DataError(
            f"column 'relevance': models disagree about item {apart['item']!r} of query "
            f"{apart['query']!r}: "
            f"{apart['least']:g} and {apart['most']:g}; give one set of judgements"
        )

"""Average scores on a cluster, into one row for each model, metric, cutoff and policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from retrieval_report.analysis.inputs import PLACE, check_fraction, hold
from retrieval_report.analysis.intervals import Mean, t_interval, within_share
from retrieval_report.analysis.summary import check_given, with_bounds
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.columns import given
from retrieval_report.contracts.errors import ColumnError, ParameterError
from retrieval_report.contracts.frames import SCORES, SUMMARY
from retrieval_report.contracts.options import POLICIES
from retrieval_report.contracts.registry import FRAMES
from retrieval_report.metrics.parsing import is_share
from retrieval_report.spark.failures import our_errors, refusing
from retrieval_report.spark.frames import check_frame, chosen, empty_of, on_cluster, same_ids, sent, where

__all__ = ["summarise"]

GROUP = ["model", *PLACE]
LIST = ["model", "query", *PLACE]
COUNTED = ["queries", "no_relevant", "missing", "unjudged"]
FLAG = {"truncated": "cut", "pooled": "of_pool"}  # flags of scores, and the columns that count them
SUMMED = [*COUNTED, *FLAG.values(), "unbounded"]


def summarise(
    scores: DataFrame,
    *,
    queries: object = None,
    average: str = "micro",
    interval: str = "t",
    confidence: float = 0.95,
    unique: bool = True,
) -> pl.DataFrame:
    """Average scores over queries on the cluster, as :func:`retrieval_report.summarise` does.

    Means agree with those of one machine within 1e-12. Every action computes the scores anew, so write them and read
    them back if you need them too.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`, or the same read from files.
    queries
        ``label`` or ``weight`` of each ``query``, or weights by model, query and metric; a Spark or local frame.
    average, confidence
        As for :func:`retrieval_report.summarise`. Weighted means take two passes over the scores.
    interval
        "t"; the bootstrap ("bca") cannot be computed from sums, and is refused.
    unique
        Whether to refuse two scores of the same model, query, metric, cutoff and policy, which sends all scores
        through an exchange. For results of ``evaluate``, only ``clustered=True`` needs it.

    Returns
    -------
    polars.DataFrame
        The columns of :func:`retrieval_report.summarise`, sorted by model, metric, cutoff and policy.

    Raises
    ------
    RetrievalReportError
        Also for errors that :func:`evaluate` finds on the executors.
    """
    check_choice("average", average, ("micro", "macro", "weighted"))
    check_choice("interval", interval, ("t", "bca"))
    if interval == "bca":
        raise ParameterError("interval: 'bca' resamples all queries, which sums on a cluster cannot do; use 't'")
    confidence = check_fraction("confidence", confidence)
    frame = _held(scores, unique)
    column = {"macro": "label", "weighted": "weight"}.get(average)
    if column is not None:
        frame = _joined(frame, queries, column, average)
    with our_errors():
        sums = {"micro": _micro, "macro": _macro, "weighted": _weighted}[average](frame)
    return _summary(sums, confidence)


def _held(scores: DataFrame, unique: bool) -> DataFrame:
    """Check scores against their contract: NaN becomes null, and nothing is infinite or repeated."""
    check_frame(scores, "scores")
    frame = chosen(scores, FRAMES["scores"].columns, "scores")
    for flag in FLAG:
        if flag not in frame.columns:
            frame = frame.withColumn(flag, F.lit(False))
    hold(empty_of(frame, "scores"), SCORES, "scores", "evaluate")
    location = where("query", "model")
    value, std = (F.when(~F.isnan(name), F.col(name)) for name in ("value", "std"))
    bad = (std < 0) | (std == float("inf"))
    numbers = {
        "value": refusing(value, F.abs(value) == float("inf"), "value", "infinite", location=location),
        "std": refusing(std, bad, "std", "negative or infinite", location=location),
    }
    numbers["std"] = F.when(~F.col("truncated"), numbers["std"])
    kept = [name for name in SCORES if name not in (*LIST, *numbers)]
    frame = frame.select(*LIST, *(number.alias(name) for name, number in numbers.items()), *kept)
    if not unique:
        return frame
    rest = [name for name in SCORES if name not in LIST]
    grouped = frame.groupBy(*LIST).agg(F.count("*").alias("times"), *(F.first(name).alias(name) for name in rest))
    rule = "scores of the same model, query, metric, cutoff and policy"
    items = refusing(F.col("items"), F.col("times") > 1, "value", rule, location=location).alias("items")
    return grouped.select(*LIST, *(items if name == "items" else F.col(name) for name in rest))


def _joined(frame: DataFrame, queries: object, column: str, average: str) -> DataFrame:
    """Return scores with the label or the weight of their query."""
    if queries is None:
        raise ColumnError(f"average={average!r}: needs queries with a column {column!r}")
    keys: list[str] = []

    def check(table: pl.DataFrame) -> pl.DataFrame:
        table, keys[:] = check_given(table, column, average)
        return table

    contract = [given(name, "", "", "", optional=True) for name in ("model", "query", "metric", "label", "weight")]
    table, empty = on_cluster(queries, frame.sparkSession, contract, "queries", check)
    frame, table = same_ids(frame, table, empty_of(frame.select("query"), "scores"), empty, ("query",), "queries")
    said = table.groupBy(*keys).agg(F.first(column).alias("said"), F.count("*").alias("times"))
    bad = (
        F.isnan("said") | (F.abs("said") == float("inf")) | (F.col("said") < 0) if column == "weight" else F.lit(False)
    )
    once = refusing(
        F.col("said"),
        F.col("said").isNull() | bad,
        column,
        "null or not a weight",
        what="queries",
        location=where(*keys),
    )
    once = refusing(once, F.col("times") > 1, "query", "more than once", what="queries", location=where(*keys))
    joined = frame.join(said.select(*keys, once.alias(column)), on=keys, how="left")
    rule = f"scores without {column}; the queries frame lacks them"
    found = refusing(F.col(column), F.col(column).isNull(), column, rule, location=where("query", "model"))
    return joined.withColumn(column, found)


def _counts() -> list[Column]:
    """Return counts of the queries in the mean, and of the queries of each kind."""
    unbounded = F.col("truncated") & F.col("value").isNull()
    inside = unbounded | F.col("value").isNotNull()
    return [
        F.sum(inside.cast("long")).alias("queries"),
        F.sum(unbounded.cast("long")).alias("unbounded"),
        *(F.sum((inside & F.col(flag)).cast("long")).alias(name) for flag, name in FLAG.items()),
        F.sum((F.col("n_relevant") == 0).cast("long")).alias("no_relevant"),
        F.sum((F.col("items") == 0).cast("long")).alias("missing"),
        F.sum(F.col("n_relevant").isNull().cast("long")).alias("unjudged"),
    ]


def _tie_variance(factor: Column) -> Column:
    """Return Σ (factor · std)², or null if a score in the mean has no standard deviation."""
    there = F.col("value").isNotNull()
    whole = F.count(F.when(there, F.col("std"))) == F.count("value")
    return F.when(whole, F.sum(F.when(there, (factor * F.col("std")) ** 2)))


def _moments() -> list[Column]:
    one = F.lit(1.0)
    return [
        F.avg("value").alias("value"),
        (_tie_variance(one) / F.count("value") ** 2).alias("tie"),
        F.when(F.count("value") > 1, F.var_samp("value") / F.count("value")).alias("error"),
        (F.count("value") - 1).alias("freedom"),
    ]


def _micro(frame: DataFrame) -> pl.DataFrame:
    return _local(frame.groupBy(*GROUP).agg(*_counts(), *_moments()))


def _macro(frame: DataFrame) -> pl.DataFrame:
    """Return the plain mean of the labels' means."""
    labels = frame.groupBy(*GROUP, "label").agg(*_counts(), *_moments())
    filled = F.col("value").isNotNull()
    size = F.count(F.when(filled, 1))
    known = F.count(F.when(filled, F.col("error"))) == size
    tied = F.count(F.when(filled, F.col("tie"))) == size
    means = labels.groupBy(*GROUP).agg(
        *(F.sum(name).alias(name) for name in SUMMED),
        F.avg(F.when(filled, F.col("value"))).alias("value"),
        F.when(tied, F.sum("tie") / size**2).alias("tie"),
        F.when(known, F.sum("error") / size**2).alias("error"),
        F.sum(F.when(filled, F.col("freedom"))).alias("freedom"),
    )
    return _local(means)


def _weighted(frame: DataFrame) -> pl.DataFrame:
    """Return Σ w·x / Σ w, and in a second pass Σ (w·(x − mean))², since a difference of sums would lose digits."""
    weight = F.when(F.col("value").isNotNull(), F.col("weight").cast("double"))
    frame = frame.withColumn("weight", weight)
    first = frame.groupBy(*GROUP).agg(
        *_counts(),
        F.sum("weight").alias("total"),
        F.sum(F.col("weight") * F.col("value")).alias("product"),
        _tie_variance(F.col("weight")).alias("tie"),
        (F.count(F.when(F.col("weight") > 0, 1)) - 1).alias("freedom"),
    )
    total = pl.col("total")
    sums = _local(first).with_columns(
        value=pl.when(total > 0).then(pl.col("product") / total),  # if all weights are 0 there is no mean
        tie=pl.when(total > 0).then(pl.col("tie") / total**2),
    )
    means = sent(frame.sparkSession, sums.select(*GROUP, mean="value"), "means")
    same = F.col("there.cutoff").eqNullSafe(F.col("here.cutoff"))
    for name in ("model", "metric", "policy"):
        same = same & (F.col(f"there.{name}") == F.col(f"here.{name}"))
    around = frame.alias("here").join(F.broadcast(means).alias("there"), on=same)
    square = (F.col("here.weight") * (F.col("here.value") - F.col("there.mean"))) ** 2
    second = around.groupBy(*(F.col(f"here.{name}") for name in GROUP)).agg(F.sum(square).alias("square"))
    size = pl.col("freedom") + 1
    error = pl.col("square") / total**2 * size / pl.col("freedom")
    joined = sums.join(_local(second), on=GROUP, nulls_equal=True, how="left")
    return joined.with_columns(error=pl.when((total > 0) & (size > 1)).then(error))


def _local(frame: DataFrame) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(frame.toArrow()))


def _summary(sums: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Return one row for each mean, with the columns of a summary."""
    order = pl.col("policy").replace_strict({name: index for index, name in enumerate(POLICIES)}, default=len(POLICIES))
    sums = sums.sort("model", "metric", "cutoff", order, nulls_last=True)
    rows = [_row(row, confidence) for row in sums.iter_rows(named=True)]
    kinds = {name: dtype for name, dtype in SUMMARY.items() if name not in ("lowest", "highest")}
    result = with_bounds(pl.DataFrame(rows, schema=kinds))
    return result.select(pl.col(name).cast(dtype) for name, dtype in SUMMARY.items())


def _row(sums: Mapping[str, Any], confidence: float) -> dict[str, Any]:
    """Return roots of the variances and the interval, or only counts if a score in the mean has no bound."""
    row = {name: sums[name] for name in (*GROUP, *COUNTED)}
    row["truncated_share"] = sums["cut"] / sums["queries"] if sums["queries"] else None
    row["pooled"] = sums["of_pool"] > 0
    if sums["unbounded"] or sums["value"] is None:
        return row
    row["value"] = sums["value"]
    row["tie_std"] = None if sums["tie"] is None else math.sqrt(sums["tie"])
    if sums["error"] is not None:
        mean = Mean(sums["value"], 0.0, math.sqrt(sums["error"]), sums["freedom"])
        ends = t_interval(mean, confidence)
        if is_share(sums["metric"]):
            ends = within_share(mean.value, *ends)
        row |= {"query_se": mean.query_se, "ci_low": ends.low, "ci_high": ends.high}
    return row

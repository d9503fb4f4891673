"""Turn judgements and queries frames into rows that precede the items of each list in the
stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from retrieval_report.contracts.frames import JUDGEMENTS, QUERIES, check_judgements, check_queries
from retrieval_report.scoring.judged import KNOWN
from retrieval_report.spark.failures import refusing
from retrieval_report.spark.frames import on_cluster, same_ids, where
from retrieval_report.spark.sources import Source


@dataclass(frozen=True)
class Beside:
    """The judgements and queries that accompany the rankings, on the cluster."""

    judgements: DataFrame | None  # query, item, relevance, each pair once
    queries: DataFrame | None


def join_beside(source: Source, judgements: object, queries: object) -> tuple[Source, Beside]:
    """Return the rows with their judged relevance, and the frames with ids of one type."""
    rows, session = source.rows, source.rows.sparkSession
    known = named = None
    if judgements is not None:
        known, empty = on_cluster(judgements, session, JUDGEMENTS, "judgements", check_judgements)
        rows, known = same_ids(rows, known, empty, ("query", "item"), "judgements")
        if isinstance(judgements, DataFrame):
            known = _judged_once(known)
        rows = _with_judgements(rows, known)
    if queries is not None:
        named, empty = on_cluster(queries, session, QUERIES, "queries", check_queries)
        rows, named = same_ids(rows, named, empty, ("query",), "queries")
        if known is not None:
            known = known.withColumn("query", F.col("query").cast(rows.schema["query"].dataType))
        if isinstance(queries, DataFrame):
            named = _named_once(named)
    return source.of(rows), Beside(known, named)


def _named_once(queries: DataFrame) -> DataFrame:
    """Return queries that fail on an executor if one is repeated or null, or its number is
    impossible.
    """
    number = F.col("n_relevant") if "n_relevant" in queries.columns else F.lit(0)
    grouped = queries.groupBy("query").agg(
        F.max(number).alias("n_relevant"),
        F.count("*").alias("times"),
        F.count(number).alias("numbers"),
        F.min(number).alias("least"),
    )
    query = refusing(F.col("query"), F.col("query").isNull(), "query", "null ids", what="queries")
    refuse = partial(refusing, what="queries", location=where("query"))
    query = refuse(query, F.col("times") > 1, "query", "more than once")
    bad = (F.col("numbers") == 0) | (F.col("least") < 0)
    number = refuse(F.col("n_relevant"), bad, "n_relevant", "null or negative")
    columns = [number.alias("n_relevant")] if "n_relevant" in queries.columns else []
    return grouped.select(query.alias("query"), *columns)


def _judged_once(judgements: DataFrame) -> DataFrame:
    """Return judgements that fail on an executor if a pair is judged twice or an id is null."""
    highest, times = F.max("relevance").alias("relevance"), F.count("*").alias("times")
    grouped = judgements.groupBy("query", "item").agg(highest, times)
    refuse = partial(refusing, what="judgements", location=where("query", "item"))
    once = refuse(F.col("relevance"), F.col("times") > 1, "item", "judged more than once")
    null = F.col("query").isNull() | F.col("item").isNull()
    relevance = refuse(once, null, "query", "or 'item': null ids")
    return grouped.select("query", "item", relevance.alias("relevance"))


def _with_judgements(rows: DataFrame, judgements: DataFrame) -> DataFrame:
    """Return rows with their judged relevance; null if there is none."""
    named = judgements.withColumnRenamed("relevance", "judged")
    joined = rows.join(named, on=["query", "item"], how="left")
    judged = F.col("judged")
    if "relevance" in rows.columns:
        kinds = {
            frame.schema[name].dataType.typeName()
            for frame, name in ((rows, "relevance"), (named, "judged"))
        }
        narrow = "float" if "float" in kinds else "double"
        differ = F.col("relevance").cast(narrow) != judged.cast(narrow)
        rule = "differs from the judgements; drop the column to use the judgements"
        judged = refusing(
            judged,
            F.coalesce(differ, F.lit(False)),
            "relevance",
            rule,
            location=where("query", "item"),
        )
    others = [name for name in rows.columns if name != "relevance"]
    return joined.select(*others, judged.alias("relevance"))


def known_lists(
    rows: DataFrame, beside: Beside, models: list[str], pool: DataFrame | None
) -> DataFrame | None:
    """Return what is known of every model's lists, as rows: that they are requested, their judged
    and relevant items.

    ``pool`` holds the numbers of relevant items that any model retrieved, if those count as judged.
    """
    parts = [] if pool is None else [pool]
    if pool is None and beside.judgements is not None:
        cells = beside.judgements.groupBy("query", "relevance").agg(F.count("*").alias("count"))
        if beside.queries is not None:
            cells = cells.join(beside.queries.select("query"), on="query", how="left_semi")
        parts.append(cells)
    if beside.queries is not None:
        parts.append(_named(beside.queries))
    elif len(models) > 1:
        parts.append(_named(rows.select("query").distinct()))
    if not parts or not models:
        return None
    return _for_models(
        reduce(partial(DataFrame.unionByName, allowMissingColumns=True), parts), models
    )


def missing_lists(rows: DataFrame, models: list[str]) -> DataFrame | None:
    """Return lists without rows, if only the rows define which queries there are."""
    if len(models) < 2:
        return None
    lists = _for_models(_named(rows.select("query").distinct()), models)
    return lists.join(
        rows.select("model", "query").distinct(), on=["model", "query"], how="left_anti"
    )


def _named(queries: DataFrame) -> DataFrame:
    number = F.col("n_relevant") if "n_relevant" in queries.columns else F.lit(None)
    return queries.select(
        "query", F.lit(0).cast("long").alias("count"), number.cast("long").alias("n_relevant")
    )


def _for_models(known: DataFrame, models: list[str]) -> DataFrame:
    names = F.explode(F.array(*(F.lit(model) for model in models))).alias("model")
    return known.select(names, *known.columns, F.lit(KNOWN).cast("byte").alias("role"))

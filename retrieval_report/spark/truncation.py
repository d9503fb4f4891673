"""Evidence of whether the lists on a cluster were truncated, in one row per model."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.scoring.judged import RETRIEVED
from retrieval_report.scoring.lookup import KEYS
from retrieval_report.scoring.truncation import SAMPLE_QUERIES, Decision, Evidence, decide
from retrieval_report.spark.known import Beside
from retrieval_report.spark.sources import Source


def decide_on_cluster(source: Source, beside: Beside, models: list[str], options: Options) -> dict[str, Decision]:
    """Decide for every model whether its lists were truncated; nothing is computed if the options say so."""

    def look() -> dict[str, Evidence]:
        lists = _with_known(_lists(source, options), beside, options, len(models))
        return _gather(lists, shared=len(models) > 1 and "item" in source.rows.columns)

    return decide(options.truncated, models, look, lambda model: _recurring(source, model))


def pooled_items(source: Source, options: Options) -> DataFrame | None:
    """Return how many relevant items any model retrieved, by query and relevance; None if R is not pooled."""
    rows = source.rows
    if options.relevant_items != "pooled" or not {"item", "role"} & set(rows.columns):
        return None
    if "count" in rows.columns:  # with what each model lacks of the others' items, all of them have the same
        relevant = rows.filter(F.col("relevance").cast("double") > 0)
        own = relevant.groupBy(*KEYS, "relevance").agg(F.sum(F.col("count").cast("long")).alias("count"))
        return own.groupBy("query", "relevance").agg(F.max("count").alias("count"))
    if options.distance_threshold is not None:
        distance = F.col(source.order)
        near = distance if options.decimals is None else F.round(distance, options.decimals)
        rows = rows.filter(distance.isNull() | ~_beyond(source, near, options))
    rows = rows.filter(F.col("relevance").cast("double") > 0)
    once = rows.select("query", "item", "relevance").dropDuplicates(["query", "item"])
    return once.groupBy("query", "relevance").agg(F.count("*").alias("count"))


def _beyond(source: Source, distance: Column, options: Options) -> Column:
    """Return whether a distance is above the threshold, which is converted to its type, as in Polars."""
    kind = source.rows.schema[source.order].dataType
    threshold = F.lit(options.distance_threshold)
    return distance > (threshold.cast(kind) if kind.typeName() == "float" else threshold)


def _in_list(source: Source) -> Column:
    here = F.col(source.order).isNotNull()
    return here & (F.col("role") == RETRIEVED) if "role" in source.rows.columns else here


def _lists(source: Source, options: Options) -> DataFrame:
    """Return for every list its items, those before its last tie, relevant ones, and a fingerprint of its items."""
    rows, near = source.rows, F.col(source.order)
    count = F.col("count").cast("long") if "count" in rows.columns else F.lit(1)
    grade = F.col("relevance").cast("double")
    relevant = is_relevant(grade, options.relevant_from)
    relevant = F.coalesce(relevant & ~F.isnan(grade), F.lit(False))
    here = _in_list(source)
    mixed = F.xxhash64("item") if "item" in rows.columns else F.lit(None).cast("long")
    far = F.lit(False) if options.distance_threshold is None else _beyond(source, near, options)
    ties = rows.groupBy(*KEYS, source.order).agg(
        F.sum(F.when(here, count).otherwise(0)).alias("tied"),
        F.sum(F.when(here & relevant, count).otherwise(0)).alias("found"),
        F.sum(F.when(~here & relevant, count).otherwise(0)).alias("unretrieved"),
        F.bit_xor(F.when(here, mixed)).alias("fingerprint"),
        F.max(F.coalesce(far, F.lit(False))).alias("far"),
    )
    last = F.max_by if source.order == "distance" else F.min_by
    at_last = F.coalesce(last(F.col("tied"), F.when(F.col("tied") > 0, near)), F.lit(0))
    return (
        ties.groupBy(*KEYS)
        .agg(
            F.sum("tied").alias("items"),
            at_last.alias("at_last"),
            F.sum("found").alias("found"),
            F.sum("unretrieved").alias("unretrieved"),
            F.bit_xor("fingerprint").alias("fingerprint"),
            F.max("far").alias("far"),
        )
        .filter(F.col("items") > 0)
        .withColumn("before", F.col("items") - F.col("at_last"))
    )


def _with_known(lists: DataFrame, beside: Beside, options: Options, models: int) -> DataFrame:
    """Add the number of relevant items of each list's query, as far as it is known."""
    known = F.lit(None).cast("long")
    if beside.judgements is not None:
        grade = F.col("relevance").cast("double")
        relevant = is_relevant(grade, options.relevant_from)
        number = beside.judgements.groupBy("query").agg(F.sum(relevant.cast("long")).alias("said"))
        lists, known = lists.join(number, on="query", how="left"), F.col("said")
    elif beside.queries is not None and "n_relevant" in beside.queries.columns:
        number = beside.queries.select("query", F.col("n_relevant").cast("long").alias("said"))
        lists, known = lists.join(number, on="query", how="left"), F.col("said")
    elif models == 1 or options.relevant_items == "own":
        known = F.when(F.col("unretrieved") > 0, F.col("found") + F.col("unretrieved"))
    return lists.withColumn("known", F.when(~F.col("far"), known))


def _gather(lists: DataFrame, *, shared: bool) -> dict[str, Evidence]:
    """Return the evidence from the lists of every model."""
    differ = F.lit(None).cast(lists.schema["query"].dataType)
    models = F.lit(1)
    if shared:
        among = lists.groupBy("query").agg(
            F.count("*").alias("models"),
            ((F.min("fingerprint") != F.max("fingerprint")) | (F.min("items") != F.max("items"))).alias("differ"),
        )
        lists = lists.join(among, on="query")
        models, differ = F.col("models"), F.when(F.col("differ"), F.col("query"))
    lacking = F.when(F.col("found") < F.col("known"), F.struct("query", "found", "known"))
    found = lists.groupBy("model").agg(
        F.count("*").alias("lists"),
        F.min("items").alias("shortest"),
        F.max("items").alias("longest"),
        F.expr("percentile_disc(0.5) within group (order by items desc)").cast("long").alias("half"),
        F.min("before").alias("least_before"),
        F.max("before").alias("most_before"),
        (F.count("fingerprint") == F.count("*")).alias("items"),
        F.coalesce(F.min("fingerprint") == F.max("fingerprint"), F.lit(False)).alias("same"),
        F.min(lacking).alias("lacking"),
        F.sum((models > 1).cast("long")).alias("shared"),
        F.min(F.when(models > 1, differ)).alias("differ"),
    )
    rows = [row.asDict(recursive=True) for row in found.collect()]
    return {row.pop("model"): Evidence(**row) for row in rows}


def _recurring(source: Source, model: str) -> bool:
    """Return whether any two of the model's first queries share an item."""
    own = source.rows.filter((F.col("model") == model) & _in_list(source))
    first = own.select("query").distinct().orderBy("query").limit(SAMPLE_QUERIES)
    found = own.join(first, on="query", how="left_semi").agg((F.countDistinct("item") < F.count("*")).alias("twice"))
    return bool(found.collect()[0]["twice"])

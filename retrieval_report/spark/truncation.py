"""Evidence of whether the lists on a cluster were truncated, in one row per model."""

from __future__ import annotations

import polars as pl
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.scoring.judged import RETRIEVED
from retrieval_report.scoring.known_items import KEYS
from retrieval_report.scoring.truncation import Decision, Evidence, as_counted, decide
from retrieval_report.spark.known import Beside
from retrieval_report.spark.sources import Source


def decide_on_cluster(
    source: Source, beside: Beside, models: list[str], options: Options
) -> dict[str, Decision]:
    """Decide for every model whether its lists were truncated; nothing is computed if the options
    say so.
    """
    if options.unjudged == "drop":
        judged = F.col("relevance").isNotNull() & ~F.isnan(F.col("relevance").cast("double"))
        source = source.of(source.rows.filter(judged))

    def look() -> dict[str, Evidence]:
        lists = _with_known(_lists(source, options), beside, options, len(models))
        return _gather(lists, source, shared=len(models) > 1)

    counted = {}
    if "truncated" in source.rows.columns:
        words = source.rows.select("model", "truncated").distinct().collect()
        counted = as_counted(
            pl.DataFrame(
                words, schema=dict.fromkeys(("model", "truncated"), pl.String), orient="row"
            )
        )
    return decide(options.truncated, models, counted, look)


def pooled_items(source: Source, options: Options) -> DataFrame | None:
    """Return how many relevant items any model retrieved, by query and relevance; None if R is not
    pooled.
    """
    rows = source.rows
    if options.relevant_items != "pooled" or not {"item", "role"} & set(rows.columns):
        return None
    if (
        "count" in rows.columns
    ):  # with what each model lacks of the others' items, all of them have the same
        relevant = rows.filter(F.col("relevance").cast("double") > 0)
        own = relevant.groupBy(*KEYS, "relevance").agg(
            F.sum(F.col("count").cast("long")).alias("count")
        )
        return own.groupBy("query", "relevance").agg(F.max("count").alias("count"))
    if options.distance_threshold is not None:
        distance = F.col(source.order)
        near = distance if options.decimals is None else F.round(distance, options.decimals)
        rows = rows.filter(distance.isNull() | ~_beyond(source, near, options))
    rows = rows.filter(F.col("relevance").cast("double") > 0)
    once = rows.select("query", "item", "relevance").dropDuplicates(["query", "item"])
    return once.groupBy("query", "relevance").agg(F.count("*").alias("count"))


def _beyond(source: Source, distance: Column, options: Options) -> Column:
    """Return whether a distance is above the threshold, which is converted to its type, as in
    Polars.
    """
    kind = source.rows.schema[source.order].dataType
    threshold = F.lit(options.distance_threshold)
    return distance > (threshold.cast(kind) if kind.typeName() == "float" else threshold)


def _in_list(source: Source) -> Column:
    here = F.col(source.order).isNotNull()
    return here & (F.col("role") == RETRIEVED) if "role" in source.rows.columns else here


def _lists(source: Source, options: Options) -> DataFrame:
    """Return for every list its items, relevant ones, and keys of its items as `gather` takes
    them.
    """
    rows, near, here = source.rows, F.col(source.order), _in_list(source)
    count = F.col("count").cast("long") if "count" in rows.columns else F.lit(1)
    grade = F.col("relevance").cast("double")
    relevant = is_relevant(grade, options.relevant_from)
    relevant = F.coalesce(relevant & ~F.isnan(grade), F.lit(False))
    far = F.lit(False) if options.distance_threshold is None else _beyond(source, near, options)
    lists = rows.groupBy(*KEYS).agg(
        F.sum(F.when(here, count)).alias("items"),
        F.sum(F.when(here & relevant, count).otherwise(0)).alias("found"),
        F.sum(F.when(~here & relevant, count).otherwise(0)).alias("unretrieved"),
        F.sum(F.when(here, _key("item") if "item" in rows.columns else F.lit(None))).alias(
            "items_key"
        ),
        F.max(F.coalesce(far, F.lit(False))).alias("far"),
    )
    kinds = {
        rows.schema[name].dataType.typeName() for name in ("query", "item") if name in rows.columns
    }
    with_query = F.col("items_key") + _key("query") if len(kinds) == 1 else F.lit(None)
    return lists.filter(F.col("items") > 0).withColumn("key_with_query", with_query)


def _key(name: str) -> Column:
    """Return a number for each id, of a type in which sums of many do not overflow."""
    return F.xxhash64(name).cast("decimal(38,0)")


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


def _gather(lists: DataFrame, source: Source, *, shared: bool) -> dict[str, Evidence]:
    """Return the evidence from the lists of every model, as `gather` does on one machine."""
    first = F.min(F.struct("query", "items", "items_key", "key_with_query")).alias("first")
    lists = lists.join(F.broadcast(lists.groupBy("model").agg(first)), on="model")
    outdone = others = F.lit(None)
    if shared:
        among = lists.groupBy("query").agg(
            F.max("items").alias("longest"), F.min("items").alias("shortest")
        )
        lists = lists.join(among, on="query")
        longest = F.when(F.col("items") == F.col("longest"), F.col("items_key"))
        differ = lists.groupBy("query").agg((F.min(longest) != F.max(longest)).alias("differ"))
        lists = lists.join(differ, on="query")
        shorter = F.col("items") < F.col("longest")
        outdone = F.min(F.when(shorter | F.coalesce("differ", F.lit(False)), F.col("query")))
        others = F.max(F.col("shortest") < F.col("longest"))
    lacking = F.when(F.col("found") < F.col("known"), F.struct("query", "found", "known"))
    found = lists.groupBy("model").agg(
        ((_all_like("items_key", 0) | _all_like("key_with_query", 1)) & (F.count("*") > 1)).alias(
            "same"
        ),
        F.min(lacking).alias("lacking"),
        outdone.alias("outdone"),
        others.alias("others"),
    )
    rows = [row.asDict(recursive=True) for row in found.collect()]
    for row in rows:
        if row.pop("others") and row["same"] and row["outdone"] is None:
            row["outdone"] = _stray(source, row["model"])
    return {row.pop("model"): Evidence(**row) for row in rows}


def _all_like(key: str, more: int) -> Column:
    """Return whether all lists hold the items of the first, or lack only their query; ``key`` is
    that of the first.
    """
    first, items = F.col(f"first.{key}"), F.col("first.items") + more
    whole = (F.col("items_key") == first) & (F.col("items") == items)
    without_query = (F.col("key_with_query") == first) & (F.col("items") + 1 == items)
    return F.min(F.coalesce(whole, F.lit(False)) | F.coalesce(without_query, F.lit(False)))


def _stray(source: Source, model: str) -> object:
    """Return the first query for which another model retrieved an item that this one did not, or
    None.
    """
    rows = source.rows.filter(_in_list(source)).select("model", "query", "item")
    own, others = rows.filter(F.col("model") == model), rows.filter(F.col("model") != model)
    beyond = others.join(own.drop("model"), on=["query", "item"], how="left_anti")
    asked = beyond.join(own.select("query").distinct(), on="query", how="left_semi")
    return asked.agg(F.min("query")).collect()[0][0]

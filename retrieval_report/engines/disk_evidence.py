"""Evidence of whether the lists of a table were truncated: one row per list, from one scan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from retrieval_report.contracts.frames import order_column
from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.contracts.truncated import NO
from retrieval_report.engines.disk_tables import Table
from retrieval_report.scoring.known_items import KEYS
from retrieval_report.scoring.layout import order_values
from retrieval_report.scoring.truncation import Decision, Evidence, as_counted, decide, gather


def decide_table(
    table: Table, beside: Mapping[str, pl.DataFrame | None], options: Options, models: Sequence[str]
) -> dict[str, Decision]:
    """Decide for every model of a table whether its lists were truncated; ``beside`` holds
    judgements and queries.
    """
    if options.truncated == NO:
        return {}
    counted = {}
    if "truncated" in table.empty.columns:
        counted = as_counted(table.collect(lambda rows: rows.select("model", "truncated").unique()))

    def look() -> dict[str, Evidence]:
        return gather(
            _with_known(_lists(table, beside["judgements"], options), beside, options, len(models))
        )

    stray = partial(_stray, table, beside["judgements"], options)
    return decide(options.truncated, models, counted, look, stray)


def _held(
    rows: pl.LazyFrame, empty: pl.DataFrame, judgements: pl.DataFrame | None, options: Options
) -> pl.LazyFrame:
    """Return the rows that are neither masked nor dropped because nobody judged them."""
    rows = rows.filter("mask") if "mask" in empty.columns else rows
    if options.unjudged != "drop":
        return rows
    if judgements is None:
        return rows.filter(pl.col("relevance").cast(pl.Float64).fill_nan(None).is_not_null())
    item = pl.col("item").cast(empty.schema["item"], strict=False)
    return rows.join(judgements.lazy().select("query", item), on=["query", "item"], how="semi")


def _key(name: str, empty: pl.DataFrame) -> pl.Expr:
    """Return a number for each id, equal where ids are; of two kinds of ids, numbers and text, they
    differ.
    """
    return pl.col(name).cast(pl.Int128 if empty.schema[name].is_integer() else pl.String).hash()


def _lists(table: Table, judgements: pl.DataFrame | None, options: Options) -> pl.DataFrame:
    """Return for every list its items, relevant ones, and keys of its items as `gather` takes them.

    ``far`` says whether an item is beyond the threshold, and ``unretrieved`` counts relevant items
    that are known but not in the list.
    """
    empty, order = table.empty, order_column(table.empty)
    value, here = pl.col(order), pl.col(order).is_not_null()
    count = pl.col("count").cast(pl.Int64) if "count" in empty.columns else pl.lit(1, pl.Int64)
    own = pl.lit("item" in empty.columns)  # of counts, other models retrieved what is not in a list
    key = _key("item", empty) if "item" in empty.columns else pl.lit(None, pl.UInt64)
    far = (
        pl.lit(False)
        if options.distance_threshold is None
        else (value > options.distance_threshold).any()
    )

    def lists(rows: pl.LazyFrame) -> pl.LazyFrame:
        rows = _held(rows, empty, judgements, options).with_columns(
            order_values(empty, options), count=count
        )
        if judgements is None:
            rows = rows.with_columns(relevant=_relevant(empty, options))
        else:
            item = pl.col("item").cast(empty.schema["item"], strict=False)
            known = judgements.filter(_relevant(judgements, options)).select(
                "query", item, relevant=True
            )
            rows = rows.join(known.lazy(), on=["query", "item"], how="left")
        count_of = pl.col("count").filter
        return rows.group_by(KEYS).agg(
            key.filter(here).sum().alias("items_key"),
            items=count_of(here).sum(),
            far=far,
            found=count_of(here & pl.col("relevant")).sum(),
            unretrieved=count_of(~here & pl.col("relevant") & own).sum(),
        )

    parts = pl.col("items_key", "items", "found", "unretrieved").sum(), pl.col("far").any()
    found = table.collect(lists).group_by(KEYS).agg(*parts)
    if "item" not in empty.columns:
        found = found.with_columns(items_key=pl.lit(None, pl.UInt64))
    return found.with_columns(key_with_query=pl.col("items_key") + _key("query", empty))


def _relevant(frame: pl.DataFrame, options: Options) -> pl.Expr:
    if frame.schema["relevance"] == pl.Boolean:
        return pl.col("relevance")
    grade = pl.col("relevance").cast(pl.Float64).fill_nan(None)
    relevant: pl.Expr = is_relevant(grade, options.relevant_from)
    return relevant


def _with_known(
    lists: pl.DataFrame, beside: Mapping[str, pl.DataFrame | None], options: Options, models: int
) -> pl.DataFrame:
    """Add the number of relevant items of each list's query, as far as it is known."""
    judgements, queries = beside["judgements"], beside["queries"]
    known = pl.lit(None, pl.Int64)
    if judgements is not None:
        said = judgements.group_by("query").agg(
            said=_relevant(judgements, options).sum().cast(pl.Int64)
        )
        lists, known = lists.join(said, on="query", how="left"), pl.col("said")
    elif queries is not None and "n_relevant" in queries.columns:
        said = queries.select("query", said=pl.col("n_relevant").cast(pl.Int64))
        lists, known = lists.join(said, on="query", how="left"), pl.col("said")
    elif models == 1 or options.relevant_items == "own":
        known = pl.when(pl.col("unretrieved") > 0).then(pl.col("found") + pl.col("unretrieved"))
    return lists.with_columns(known=pl.when(~pl.col("far")).then(known))


def _stray(table: Table, judgements: pl.DataFrame | None, options: Options, model: str) -> object:
    """Return the first query for which another model retrieved an item that this one did not, or
    None.

    All lists of this model hold the same items, but for their own query.
    """
    own, itself = pl.col("model") == model, _key("query", table.empty) == _key("item", table.empty)

    def held(rows: pl.LazyFrame) -> pl.LazyFrame:
        in_list = pl.col(order_column(table.empty)).is_not_null()
        return _held(rows, table.empty, judgements, options).filter(in_list)

    items = table.collect(lambda rows: held(rows).filter(own).select("item").unique()).unique()
    queries = table.collect(
        lambda rows: held(rows).filter(own).group_by("query").agg(with_itself=itself.any())
    ).group_by("query").agg(pl.col("with_itself").any())  # fmt: skip

    def strays(rows: pl.LazyFrame) -> pl.LazyFrame:
        others = held(rows).filter(~own).join(queries.lazy(), on="query")
        beyond = ~pl.col("item").is_in(items["item"].implode()) | (itself & ~pl.col("with_itself"))
        return others.filter(beyond).select(pl.col("query").min())

    return table.collect(strays)["query"].min()

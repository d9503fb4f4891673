"""Evidence of whether the lists of a table were truncated: one row per list, from one scan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from retrieval_report.contracts.frames import order_column
from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.contracts.truncated import NO
from retrieval_report.disk.sources import Table
from retrieval_report.scoring.layout import order_values
from retrieval_report.scoring.lookup import KEYS
from retrieval_report.scoring.truncation import SAMPLE_QUERIES, Decision, Evidence, decide, gather


def decide_table(
    table: Table, beside: Mapping[str, pl.DataFrame | None], options: Options, models: Sequence[str]
) -> dict[str, Decision]:
    """Decide for every model of a table whether its lists were truncated; ``beside`` holds judgements and queries."""
    if options.truncated == NO:
        return {}

    def look() -> dict[str, Evidence]:
        return gather(_with_known(_lists(table, beside["judgements"], options), beside, options, len(models)))

    return decide(options.truncated, models, look, lambda model: _recurring(table, model))


def _held(rows: pl.LazyFrame, empty: pl.DataFrame) -> pl.LazyFrame:
    """Return the rows that are not masked."""
    return rows.filter("mask") if "mask" in empty.columns else rows


def _lists(table: Table, judgements: pl.DataFrame | None, options: Options) -> pl.DataFrame:
    """Return for every list its items, those before its last tie, relevant ones, and a fingerprint of its items.

    Lists that hold the same items have equal fingerprints; those of counts are null. ``far`` says whether an item is
    beyond the threshold, and ``unretrieved`` counts relevant items that are known but not in the list.
    """
    empty, order = table.empty, order_column(table.empty)
    value, here = pl.col(order), pl.col(order).is_not_null()
    count = pl.col("count").cast(pl.Int64) if "count" in empty.columns else pl.lit(1, pl.Int64)
    furthest = pl.Expr.max if order == "distance" else pl.Expr.min
    mixed = pl.col("item").hash() if "item" in empty.columns else pl.lit(None, pl.UInt64)
    own = pl.lit("item" in empty.columns)  # of counts, other models retrieved what is not in a list
    far = pl.lit(False) if options.distance_threshold is None else (value > options.distance_threshold).any()

    def lists(rows: pl.LazyFrame) -> pl.LazyFrame:
        rows = _held(rows, empty).with_columns(order_values(empty, options), count=count)
        if judgements is None:
            rows = rows.with_columns(relevant=_relevant(empty, options))
        else:
            item = pl.col("item").cast(empty.schema["item"], strict=False)
            known = judgements.filter(_relevant(judgements, options)).select("query", item, relevant=True)
            rows = rows.join(known.lazy(), on=["query", "item"], how="left")
        rows = rows.with_columns(fingerprint=pl.when(here).then(mixed))
        count_of = pl.col("count").filter
        return rows.group_by(KEYS).agg(
            pl.col("fingerprint").bitwise_xor(),
            items=count_of(here).sum(),
            last=furthest(value),
            tied=count_of(value == furthest(value)).sum(),
            far=far,
            found=count_of(here & pl.col("relevant")).sum(),
            unretrieved=count_of(~here & pl.col("relevant") & own).sum(),
        )

    last, items = pl.col("last"), pl.col("items").sum()
    tied = pl.col("tied").filter(last == furthest(last)).sum()
    return (
        table.collect(lists)
        .group_by(KEYS)
        .agg(
            pl.col("fingerprint").bitwise_xor(),
            pl.col("items", "found", "unretrieved").sum(),
            pl.col("far").any(),
            before=items - tied,
        )
    )


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
        said = judgements.group_by("query").agg(said=_relevant(judgements, options).sum().cast(pl.Int64))
        lists, known = lists.join(said, on="query", how="left"), pl.col("said")
    elif queries is not None and "n_relevant" in queries.columns:
        said = queries.select("query", said=pl.col("n_relevant").cast(pl.Int64))
        lists, known = lists.join(said, on="query", how="left"), pl.col("said")
    elif models == 1 or options.relevant_items == "own":
        known = pl.when(pl.col("unretrieved") > 0).then(pl.col("found") + pl.col("unretrieved"))
    return lists.with_columns(known=pl.when(~pl.col("far")).then(known))


def _recurring(table: Table, model: str) -> bool:
    """Return whether any two of the model's first queries share an item."""
    here = (pl.col("model") == model) & pl.col(order_column(table.empty)).is_not_null()

    def own(rows: pl.LazyFrame) -> pl.LazyFrame:
        return _held(rows, table.empty).filter(here)

    first = table.collect(lambda rows: own(rows).select("query").unique()).unique().sort("query").head(SAMPLE_QUERIES)
    found = table.collect(lambda rows: own(rows).join(first.lazy(), on="query", how="semi").select("item"))["item"]
    return found.n_unique() < len(found)

"""Evidence of whether the lists of a table were truncated: one row per list, from one or two scans."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from retrieval_report.contracts.frames import order_column
from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.contracts.truncated import NO
from retrieval_report.disk.sources import File, Table
from retrieval_report.reading.binary import naming
from retrieval_report.scoring.layout import order_values
from retrieval_report.scoring.truncation import SAMPLE_QUERIES, Decision, Evidence, decide, gather

KEYS = ["model", "query"]


def decide_table(table: Table, beside: Mapping[str, pl.DataFrame | None], options: Options) -> dict[str, Decision]:
    """Decide for every model of a table whether its lists were truncated; ``beside`` holds judgements and queries."""
    if options.truncated == NO:
        return {}
    lists = _shapes(table, options)
    models = lists["model"].unique().sort().to_list()

    def look() -> dict[str, Evidence]:
        relevant = _known(table, beside, options)
        facts = lists.join(relevant, on=KEYS, how="left").with_columns(pl.col("found").fill_null(0))
        return gather(_with_known(facts, beside, options, len(models)))

    return decide(options.truncated, models, look, lambda model: _recurring(table, options, model))


def _rows(file: File, empty: pl.DataFrame, options: Options) -> pl.LazyFrame:
    """Return the rows of the lists of one file, each with its model and a count."""
    rows = file.scan.select(file.columns).with_columns(order_values(empty, options))
    if "model" not in empty.columns:
        rows = rows.with_columns(model=pl.lit("model"))
    if "count" not in empty.columns:
        rows = rows.with_columns(count=pl.lit(1, pl.Int64))
    if "mask" in empty.columns:
        rows = rows.filter("mask")
    return rows


def _collected(table: Table, options: Options, query: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
    """Run a query on the rows of every file and collect the results."""
    parts = []
    for file in table.files:
        with naming(file.path):
            parts.append(query(_rows(file, table.empty, options)).collect())
    return pl.concat(parts)


def _shapes(table: Table, options: Options) -> pl.DataFrame:
    """Describe each list: its items, those before its last tie, whether any is beyond the threshold, a fingerprint.

    Lists that hold the same items have equal fingerprints; those of counts are null.
    """
    order = order_column(table.empty)
    value, count = pl.col(order), pl.col("count").cast(pl.Int64)
    furthest = pl.Expr.max if order == "distance" else pl.Expr.min
    at_last = count.filter(value == furthest(value)).sum()
    far = pl.lit(False) if options.distance_threshold is None else (value > options.distance_threshold).any()
    mixed = pl.col("item").hash() if "item" in table.empty.columns else pl.lit(None, pl.UInt64)

    def shapes(rows: pl.LazyFrame) -> pl.LazyFrame:
        kept = rows.filter(value.is_not_null()).with_columns(fingerprint=mixed)
        return kept.group_by(KEYS).agg(
            pl.col("fingerprint").bitwise_xor(), items=count.sum(), last=furthest(value), tied=at_last, far=far
        )

    parts = _collected(table, options, shapes)
    items, last = pl.col("items").sum(), pl.col("last")
    tied = pl.col("tied").filter(last == furthest(last)).sum()
    return parts.group_by(KEYS).agg(
        pl.col("fingerprint").bitwise_xor(), items=items, before=items - tied, far=pl.col("far").any()
    )


def _known(table: Table, beside: Mapping[str, pl.DataFrame | None], options: Options) -> pl.DataFrame:
    """Count the relevant items of every list, and those that were not retrieved."""
    judgements, order = beside["judgements"], order_column(table.empty)
    count = pl.col("count").cast(pl.Int64)
    retrieved = pl.col(order).is_not_null()

    def relevant(rows: pl.LazyFrame) -> pl.LazyFrame:
        if judgements is not None:
            own = judgements.filter(_relevant(judgements, options)).select("query", "item").lazy()
            own = own.with_columns(pl.col("item").cast(table.empty.schema["item"], strict=False))
            kept = rows.join(own, on=["query", "item"], how="semi")
        else:
            kept = rows.filter(_relevant(table.empty, options))
        return kept.group_by(KEYS).agg(found=count.filter(retrieved).sum(), unretrieved=count.filter(~retrieved).sum())

    return _collected(table, options, relevant).group_by(KEYS).agg(pl.col("found", "unretrieved").sum())


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
    if judgements is not None:
        number = judgements.group_by("query").agg(known=_relevant(judgements, options).sum().cast(pl.Int64))
        lists = lists.join(number, on="query", how="left")
    elif queries is not None and "n_relevant" in queries.columns:
        number = queries.select("query", known=pl.col("n_relevant").cast(pl.Int64))
        lists = lists.join(number, on="query", how="left")
    elif models == 1 or options.relevant_items == "own":
        lists = lists.with_columns(
            known=pl.when(pl.col("unretrieved") > 0).then(pl.col("found") + pl.col("unretrieved"))
        )
    else:
        lists = lists.with_columns(known=pl.lit(None, pl.Int64))
    return lists.with_columns(known=pl.when(~pl.col("far")).then("known"))


def _recurring(table: Table, options: Options, model: str) -> bool:
    """Return whether any two of the model's first queries share an item."""
    order = order_column(table.empty)

    def queries(rows: pl.LazyFrame) -> pl.LazyFrame:
        return rows.filter(pl.col("model") == model).select("query").unique()

    first = _collected(table, options, queries).unique().sort("query").head(SAMPLE_QUERIES)

    def items(rows: pl.LazyFrame) -> pl.LazyFrame:
        kept = rows.filter((pl.col("model") == model) & pl.col(order).is_not_null())
        return kept.join(first.lazy(), on="query", how="semi").select("item")

    found = _collected(table, options, items)["item"]
    return found.n_unique() < len(found)

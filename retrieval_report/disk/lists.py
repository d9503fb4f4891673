"""Evidence of whether the lists of a table were truncated: one row per list, from one or two scans."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from retrieval_report.contracts.frames import order_column
from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.contracts.truncated import NO
from retrieval_report.disk.sources import File, Table
from retrieval_report.reading.binary import naming
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
        facts = _with_known(facts, beside, options, len(models))
        if "item" in table.empty.columns:
            return gather(facts.join(_prints(table, options), on=KEYS, how="left"))
        return gather(facts.with_columns(fingerprint=pl.lit(None, pl.UInt64)))

    return decide(options.truncated, models, look, lambda model: _recurring(table, options, model))


def _rows(file: File, empty: pl.DataFrame, options: Options) -> pl.LazyFrame:
    """Return the rows of the lists of one file, with their model."""
    order = order_column(empty)
    rows = file.scan.select(file.columns)
    if file.model is not None or "model" not in empty.columns:
        rows = rows.with_columns(model=pl.lit(file.model or "model"))
    if "mask" in empty.columns:
        rows = rows.filter("mask")
    if options.decimals is not None and not empty.schema[order].is_integer():
        rows = rows.with_columns(pl.col(order).round(options.decimals))
    return rows


def _collected(table: Table, options: Options, query: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
    """Run a query on the rows of every file and collect the results."""
    parts = []
    for file in table.files:
        with naming(file.path):
            parts.append(query(_rows(file, table.empty, options)).collect())
    return pl.concat(parts)


def _shapes(table: Table, options: Options) -> pl.DataFrame:
    """Count each list's items and those before its last tie, and note whether any item is beyond the threshold."""
    order = order_column(table.empty)
    value = pl.col(order)
    last = value.max() if order == "distance" else value.min()
    items = pl.col("count").sum() if "count" in table.empty.columns else pl.len()
    at_last = pl.col("count").filter(value == last).sum() if "count" in table.empty.columns else (value == last).sum()
    far = pl.lit(False) if options.distance_threshold is None else (value > options.distance_threshold).any()

    def shapes(rows: pl.LazyFrame) -> pl.LazyFrame:
        kept = rows.filter(value.is_not_null())
        return kept.group_by(KEYS).agg(items=items.cast(pl.Int64), last=last, tied=at_last.cast(pl.Int64), far=far)

    parts = _collected(table, options, shapes)
    final = pl.col("last").max() if order == "distance" else pl.col("last").min()
    tied = pl.col("tied").filter(pl.col("last") == final).sum()
    return parts.group_by(KEYS).agg(pl.col("items").sum(), before=pl.col("items").sum() - tied, far=pl.col("far").any())


def _known(table: Table, beside: Mapping[str, pl.DataFrame | None], options: Options) -> pl.DataFrame:
    """Count the relevant items of every list, and those that were not retrieved."""
    judgements, order = beside["judgements"], order_column(table.empty)
    count = pl.col("count") if "count" in table.empty.columns else pl.lit(1, pl.Int64)
    retrieved = pl.col(order).is_not_null()

    def relevant(rows: pl.LazyFrame) -> pl.LazyFrame:
        if judgements is not None:
            own = judgements.filter(_relevant(judgements, options)).select("query", "item").lazy()
            own = own.with_columns(pl.col("item").cast(table.empty.schema["item"], strict=False))
            kept = rows.join(own, on=["query", "item"], how="semi")
        else:
            kept = rows.filter(_relevant(table.empty, options))
        number = kept.with_columns(number=count)
        return number.group_by(KEYS).agg(
            found=pl.col("number").filter(retrieved).sum().cast(pl.Int64),
            unretrieved=pl.col("number").filter(~retrieved).sum().cast(pl.Int64),
        )

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
        unretrieved = pl.col("unretrieved").fill_null(0)
        lists = lists.with_columns(known=pl.when(unretrieved > 0).then(pl.col("found") + unretrieved))
    else:
        lists = lists.with_columns(known=pl.lit(None, pl.Int64))
    return lists.with_columns(known=pl.when(~pl.col("far")).then("known"))


def _prints(table: Table, options: Options) -> pl.DataFrame:
    """Return a number for every list; lists that hold the same items have equal numbers."""
    order = order_column(table.empty)

    def prints(rows: pl.LazyFrame) -> pl.LazyFrame:
        kept = rows.filter(pl.col(order).is_not_null())
        return kept.group_by(KEYS).agg(fingerprint=pl.col("item").hash().bitwise_xor())

    parts = _collected(table, options, prints)
    return parts.group_by(KEYS).agg(pl.col("fingerprint").bitwise_xor())


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

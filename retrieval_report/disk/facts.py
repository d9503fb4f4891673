"""What the evaluation of a part must know of the whole, and how it is told: by a list of its own in every part.

The evaluation asks three things of all rows together: which models there are (a query that no row of a model names
is missing), which grades there are (whether relevance is binary; whether a gain or ERR knows every grade), and
whether anything is relevant at all. A *marker*, a query that is in no data and that every model answers with the
lowest and the highest grade there is, tells each part all three. Its scores are taken out again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.frames import order_column
from retrieval_report.contracts.options import Options
from retrieval_report.disk.sources import File, Table, naming

__all__ = ["Facts", "find_facts", "marker_judgements", "marker_queries", "marker_rows"]


@dataclass(frozen=True)
class Facts:
    """Facts of the whole data."""

    models: tuple[Any, ...]  # empty where the table has no column ``model``
    marker: str | int  # a query that no frame has, behind all others
    grades: tuple[float, ...]  # lowest and highest relevance above 0, as far as they are in a list
    nearest: Any  # a distance or score that rows have


def find_facts(table: Table, judgements: pl.DataFrame | None, queries: pl.DataFrame | None, options: Options) -> Facts:
    """Scan the rows once, in little memory, and the frames beside them."""
    names = table.empty.columns
    found = pl.concat([_facts_of(file, table.empty, options) for file in table.files])
    relevant = found["lowest"].drop_nulls().to_list() + found["highest"].drop_nulls().to_list()
    nearest = found["nearest"].min() if relevant else found["any"].min()
    if nearest is None and options.null_distance != "not_retrieved":
        nearest = 0  # the rows are at fault, not the marker
    facts = Facts(
        tuple(found["model"].drop_nulls().unique().sort()) if "model" in names else (),
        _marker(table.empty, found, [frame for frame in (judgements, queries) if frame is not None]),
        tuple(sorted({min(relevant), max(relevant)})) if relevant else (),
        nearest,
    )
    if judgements is None:
        return facts
    told = judgements["relevance"].cast(pl.Float64).to_numpy()
    told = told[told > 0]
    grades = tuple(sorted({float(told.min()), float(told.max())})) if told.size else ()
    return replace(facts, grades=grades, nearest=nearest if found["any"].min() is None else found["any"].min())


def _facts_of(file: File, empty: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Facts of the rows of a file, for each of its models."""
    order = order_column(empty)
    value = pl.col(order)
    if empty.schema[order].is_float():
        value = pl.when(value.is_finite()).then(value)
    kept, grade = _kept(empty, options), pl.lit(None, pl.Float64)
    if kept is not None:
        grade = pl.col("relevance").filter(kept)
        grade = grade.cast(pl.Int8) if empty.schema["relevance"] == pl.Boolean else grade
    narrowed = options.distance_threshold is not None
    facts = [
        pl.col("query").min().alias("first"),
        pl.col("query").max().alias("last"),
        grade.min().cast(pl.Float64).alias("lowest"),
        grade.max().cast(pl.Float64).alias("highest"),
        value.min().alias("any"),
        (value.filter(kept) if narrowed and kept is not None else value).min().alias("nearest"),
    ]
    rows = file.scan.select(file.columns)
    with naming(file.path):
        if file.model is None and "model" in empty.columns:
            return rows.group_by("model").agg(facts).collect()
        return rows.select(pl.lit(file.model or "model").alias("model"), *facts).collect()


def _kept(empty: pl.DataFrame, options: Options) -> pl.Expr | None:
    """Rows whose relevance above 0 the evaluation sees: not masked, not beyond the threshold."""
    if "relevance" not in empty.columns:
        return None
    relevance, distance = pl.col("relevance"), pl.col(order_column(empty))
    kept = relevance if empty.schema["relevance"] == pl.Boolean else relevance > 0
    if empty.schema["relevance"].is_float():
        kept = kept & relevance.is_finite()
    if "mask" in empty.columns:
        kept = kept & pl.col("mask")
    if options.distance_threshold is not None:
        if options.decimals is not None and not empty.schema[order_column(empty)].is_integer():
            distance = distance.round(options.decimals)
        kept = kept & (distance > options.distance_threshold).fill_null(value=False).not_()
    return kept


def _marker(empty: pl.DataFrame, found: pl.DataFrame, frames: list[pl.DataFrame]) -> str | int:
    """An id behind all others; where there is no room behind, one before them."""
    lasts: list[Any] = [found["last"].max(), *(frame["query"].max() for frame in frames)]
    firsts: list[Any] = [found["first"].min(), *(frame["query"].min() for frame in frames)]
    dtype: Any = empty.schema["query"]
    if not dtype.is_integer():
        return max((str(last) for last in lasts if last is not None), default="") + "\0"
    last = max((last for last in lasts if last is not None), default=0)
    first = min((first for first in firsts if first is not None), default=0)
    lowest, highest = pl.select(low=dtype.min(), high=dtype.max()).row(0)
    if last < highest:
        return int(last + 1)
    if first > lowest:
        return int(first - 1)
    raise DataError(f"column 'query': ids from {first} to {last} leave no room in {dtype}; use a wider type")


def marker_rows(facts: Facts, schema: pl.Schema, *, judged: bool) -> pl.DataFrame:
    """The marker's list for every model: an item of each grade, all of them tied."""
    grades = facts.grades or (0.0,)
    models = facts.models or ("model",)
    items = len(grades)
    count = items * len(models)
    columns: dict[str, list[Any]] = {
        "model": [model for model in models for _ in grades],
        "query": [facts.marker] * count,
        "item": _items(items, schema.get("item")) * len(models),
        "distance": [facts.nearest] * count,
        "score": [facts.nearest] * count,
        "relevance": [None] * count if judged else list(grades) * len(models),
        "mask": [True] * count,
        "weight": [1] * count,
        "count": [1] * count,
    }
    series = [
        pl.select(_most(dtype).alias(name)).to_series().new_from_index(0, count)  # behind all rows
        if name == "row"
        else pl.Series(name, columns[name], strict=False).cast(dtype)
        for name, dtype in schema.items()
    ]
    return pl.DataFrame(series)


def _most(dtype: Any) -> pl.Expr:
    return dtype.max()  # type: ignore[no-any-return]


def _items(items: int, dtype: pl.DataType | None) -> list[Any]:
    return list(range(items)) if dtype is not None and dtype.is_integer() else [str(item) for item in range(items)]


def marker_judgements(facts: Facts, schema: pl.Schema) -> pl.DataFrame:
    """Judgements of the marker's items."""
    grades = facts.grades or (0.0,)
    items = _items(len(grades), schema["item"])
    columns: dict[str, Any] = {"query": [facts.marker] * len(grades), "item": items, "relevance": grades}
    return pl.DataFrame([pl.Series(name, columns[name]).cast(schema[name]) for name in columns])


def marker_queries(facts: Facts, schema: pl.Schema) -> pl.DataFrame:
    """The marker in the queries frame, with room for all its items to be relevant."""
    columns: dict[str, Any] = {"query": [facts.marker], "n_relevant": [max(len(facts.grades), 1)]}
    return pl.DataFrame([pl.Series(name, columns[name]).cast(dtype) for name, dtype in schema.items()])

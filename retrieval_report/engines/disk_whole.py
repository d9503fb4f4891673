"""Facts about a whole table that a part cannot see: its models, its grades, and whether anything is
relevant.
"""

from __future__ import annotations

import polars as pl

from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.engines.disk_tables import Table
from retrieval_report.scoring.judged import KnownOfWhole
from retrieval_report.scoring.layout import order_values


def find_known(
    table: Table, judgements: pl.DataFrame | None, queries: pl.DataFrame | None, options: Options
) -> KnownOfWhole:
    """Find the facts in one scan of the rows, and in judgements and queries."""
    grade = _grade(table.empty)
    relevant = is_relevant(grade, options.relevant_from) & _near(table.empty, options)
    found = table.collect(
        lambda rows: rows.select("model", grade=grade, relevant=relevant).unique()
    )
    models = tuple(found["model"].drop_nulls().unique().sort())
    if judgements is not None:
        found = judgements.select(grade=pl.col("relevance").cast(pl.Float64))
        found = found.with_columns(relevant=is_relevant(pl.col("grade"), options.relevant_from))
    elif queries is not None and "n_relevant" in queries.columns:
        found = found.with_columns(relevant=(queries["n_relevant"] > 0).any())
    grades = tuple(found["grade"].drop_nulls().unique())
    return KnownOfWhole(True, models, grades, relevant=bool(found["relevant"].any()))


def _grade(empty: pl.DataFrame) -> pl.Expr:
    """Return relevances that are finite, above 0 and not masked; null for all others."""
    if "relevance" not in empty.columns:
        return pl.lit(None, pl.Float64)
    grade = pl.col("relevance").cast(pl.Float64)
    kept = (grade > 0) & grade.is_finite()
    return pl.when(kept & pl.col("mask") if "mask" in empty.columns else kept).then(grade)


def _near(empty: pl.DataFrame, options: Options) -> pl.Expr:
    """Select the rows that are not beyond the threshold."""
    if options.distance_threshold is None:
        return pl.lit(True)
    return (order_values(empty, options) > options.distance_threshold).fill_null(value=False).not_()

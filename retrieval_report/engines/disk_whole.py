"""Facts about a whole table that a part cannot see: its models, its grades, and whether anything is
relevant.
"""

from __future__ import annotations

import polars as pl

from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.engines.disk_tables import Table
from retrieval_report.scoring.judged import KnownOfWhole
from retrieval_report.scoring.layout import order_values

FEW_GRADES = 1_000  # every part is given all grades up to this number; beyond it, only those that bound the scores


def find_known(
    table: Table, judgements: pl.DataFrame | None, queries: pl.DataFrame | None, options: Options
) -> KnownOfWhole:
    """Find the facts in one or two scans of the rows, in little memory, and in judgements and
    queries.
    """
    found = table.collect(lambda rows: _known_of(rows, table.empty, options))
    models = tuple(found["model"].drop_nulls().unique().sort())
    if judgements is not None:
        relevance = pl.col("relevance").cast(pl.Float64)
        relevant = bool(
            judgements.select(is_relevant(relevance, options.relevant_from).any()).item()
        )
        return KnownOfWhole(
            True,
            models,
            tuple(judgements.select(relevance)["relevance"].unique()),
            relevant=relevant,
        )
    grades = pl.concat([found[name] for name in ("lowest", "least", "highest")])
    if (found["kinds"] <= FEW_GRADES).all():
        grades = table.collect(
            lambda rows: rows.select(_grade(table.empty).unique().alias("grade"))
        )["grade"]
    relevant = bool(found["relevant"].any())
    if queries is not None and "n_relevant" in queries.columns:
        relevant = bool((queries["n_relevant"] > 0).any())
    return KnownOfWhole(True, models, tuple(grades.drop_nulls().unique()), relevant=relevant)


def _known_of(rows: pl.LazyFrame, empty: pl.DataFrame, options: Options) -> pl.LazyFrame:
    """Return what rows show for each of their models."""
    grade = _grade(empty)
    relevant = is_relevant(grade, options.relevant_from)
    return rows.group_by("model").agg(
        grade.min().alias("lowest"),
        grade.filter(relevant).min().alias("least"),
        grade.max().alias("highest"),
        grade.approx_n_unique().alias("kinds"),
        (relevant & _near(empty, options)).any().alias("relevant"),
    )


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

"""Means over the queries of what is computed list by list: similarity, recall curve, coverage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from retrieval_report.contracts.options import options_with
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import beside
from retrieval_report.engines.summary import summarise
from retrieval_report.scoring.judged import Judged
from retrieval_report.ties.coverage import judgement_coverage
from retrieval_report.ties.recall_curve import LEVELS, POLICIES, curve_of
from retrieval_report.ties.similarity import similarity_of

MOST_COMPARED = 1e8  # pairs of items of all lists, two seconds; a query takes as long as
PAIRS_PER_QUERY = 35_000  # pairs, however few it has
MOST_CURVE_CELLS = 2e8  # of all lists, a second or two


def similarity_means(rows: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Return how alike the lists of two models are, in one row; nothing of lists so long that it
    would take minutes.
    """
    a, b = (rows.filter(model=name) for name in (first, second))
    items = a.group_by("query").len()["len"].cast(pl.Float64)
    if (items**2 + PAIRS_PER_QUERY).sum() > MOST_COMPARED:
        return pl.DataFrame()
    means = similarity_of(a, b).mean.with_columns(model_a=pl.lit(first), model_b=pl.lit(second))
    return means.select(list(schema("similarity_means")))


def curve_means(judged: Judged, options: Mapping[str, Any]) -> pl.DataFrame:
    """Return the interpolated precision of every model along recall; no columns if ties are so
    large that it would take minutes.
    """
    asked = options_with(options, truncated="no", policies=POLICIES)
    scores = curve_of(judged, LEVELS, asked, MOST_CURVE_CELLS)
    if not scores.width:
        return scores
    means, keys = summarise(scores), ["model", "metric"]
    naive = means.filter(policy="naive").select(*keys, naive="value")
    both = beside(means.filter(policy="expected"), naive, keys)
    level = pl.col("metric").str.extract(r"recall=([\d.]+)").cast(pl.Float64)
    return both.with_columns(recall=level).select(list(schema("recall_curve")))


def coverage_means(rankings: object, judgements: object, **asked: Any) -> pl.DataFrame:
    """Return how much of every model's lists is judged."""
    judged = judgement_coverage(rankings, judgements, policies="expected", truncated="no", **asked)
    return summarise(judged).select(list(schema("coverage")))

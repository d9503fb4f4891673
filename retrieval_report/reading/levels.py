"""Columns of a frame of rankings above the query: replicates of a model, and data sets of queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import DataError
from retrieval_report.reading.finding import is_path
from retrieval_report.reading.frames import to_polars


def rankings_with(
    rankings: Any, column: object, columns: Mapping[str, str] | None
) -> pl.DataFrame | None:
    """Return rankings in memory as a frame, if they have this column."""
    if not isinstance(column, str) or "(?P<" in column or is_path(rankings):
        return None
    frame = to_polars(rankings, "rankings", columns)
    if column not in frame.columns:
        return None
    refuse(frame, pl.col(column).is_null(), column, "null in the rankings")
    return frame


def runs_of(frame: pl.DataFrame, column: str) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return rankings with a model for every replicate, such as "bge seed=1", and the model of each.

    >>> rows = {"query": ["q", "q"], "item": ["a", "a"], "score": [2, 1], "seed": [1, 2]}
    >>> runs_of(pl.DataFrame(rows), "seed")[1]
    {'model seed=1': 'model', 'model seed=2': 'model'}
    """
    model = pl.col("model") if "model" in frame.columns else pl.lit("model")
    model = model.cast(pl.String)
    run = pl.format("{} {}={}", model, pl.lit(column), pl.col(column))
    named = frame.select(run.alias("run"), model.alias("model")).unique(maintain_order=True)
    return frame.with_columns(model=run).drop(column), dict(named.iter_rows())


def datasets_of(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the data set of every query.

    >>> rows = {"query": ["q", "q"], "item": ["a", "b"], "score": [2, 1], "from": ["x", "y"]}
    >>> datasets_of(pl.DataFrame(rows), "from")
    Traceback (most recent call last):
    retrieval_report.DataError: dataset: query 'q' is in two of the 'from'; ids have to be distinct
    """
    queries = frame.select("query", column).unique(maintain_order=True)
    twice = queries.filter(pl.col("query").is_duplicated())["query"]
    if twice.len():
        raise DataError(
            f"dataset: query {twice[0]!r} is in two of the {column!r}; ids have to be distinct"
        )
    return queries

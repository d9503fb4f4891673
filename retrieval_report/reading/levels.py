"""Columns of a frame of rankings above the query: replicates of a model, and data sets of queries."""

from __future__ import annotations

import polars as pl

from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import DataError


def columns_named(*names: object) -> list[str]:
    """Return which of these are names of columns, rather than patterns, dictionaries or nothing.

    >>> columns_named("seed", r"-s(?P<replicate>.+)", None)
    ['seed']
    """
    return [name for name in names if isinstance(name, str) and "(?P<" not in name]


def runs_of(frame: pl.DataFrame, column: str) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return rankings with a model for every replicate,
    such as "bge seed=1", and the model of each.

    >>> rows = {"model": ["bge"] * 2, "query": ["q"] * 2, "item": ["a"] * 2, "seed": [1, 2]}
    >>> runs_of(pl.DataFrame(rows), "seed")[1]
    {'bge seed=1': 'bge', 'bge seed=2': 'bge'}
    """
    _refuse_nulls(frame, column)
    model = pl.col("model").cast(pl.String)
    run = pl.format("{} {}={}", model, pl.lit(column), pl.col(column))
    run_models = frame.select(run=run, model=model).unique(maintain_order=True)
    return frame.with_columns(model=run).drop(column), dict(run_models.iter_rows())


def datasets_of(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the data set of every query.

    >>> rows = {"query": ["q", "q"], "item": ["a", "b"], "score": [2, 1], "from": ["x", "y"]}
    >>> datasets_of(pl.DataFrame(rows), "from")
    Traceback (most recent call last):
    retrieval_report.DataError: dataset: query 'q' is in two of the 'from'; ids have to be distinct
    """
    _refuse_nulls(frame, column)
    queries = frame.select("query", column).unique(maintain_order=True)
    twice = queries.filter(pl.col("query").is_duplicated())["query"]
    if twice.len():
        raise DataError(
            f"dataset: query {twice[0]!r} is in two of the {column!r}; ids have to be distinct"
        )
    return queries


def _refuse_nulls(frame: pl.DataFrame, column: str) -> None:
    refuse(frame, pl.col(column).is_null(), column, "null in the rankings")

"""Find the queries whose scores depend on tie order, and those that decide between two models."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import SIDES, check_scores, side_by_side
from retrieval_report.engines.paired import DIGITS, differences, largest
from retrieval_report.engines.score_grid import (
    Bools,
    Floats,
    Grid,
    Indices,
    asked_measures,
    measured,
)

DECIDING = schema("deciding")


def query_table(scores: object) -> pl.DataFrame:
    """Show every query's score by policy, those most affected by tie order first.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`.

    Returns
    -------
    polars.DataFrame
        One row per ``model``, ``query``, ``metric``, ``cutoff``: ``naive``, ``expected``,
        ``lowest`` and ``highest`` (under the worst and the best tie order), ``std`` (of the score
        under random tie order), ``spread`` (highest − lowest), ``naive_error`` (naive − expected);
        null if a policy was not evaluated or the query was left out; ``truncated`` (the score
        depends on what truncation of its list leaves open: it has no ``std``, and ``lowest`` and
        ``highest`` allow for what a deeper retrieval could show). Sorted by spread, then std,
        largest first and nulls last, then by name.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": list("ppqq"),
    ...         "item": list("abab"),
    ...         "distance": [1, 2, 3, 3],
    ...         "relevance": [1, 0, 1, 0],
    ...     }
    ... )
    >>> scores = evaluate(
    ...     rankings, metrics="rr", cutoffs=None, policies=("expected", "naive", "best", "worst")
    ... )
    >>> query_table(scores).drop("model", "metric", "cutoff", "truncated")
    shape: (2, 8)
    ┌───────┬───────┬──────────┬────────┬─────────┬──────┬────────┬─────────────┐
    │ query ┆ naive ┆ expected ┆ lowest ┆ highest ┆ std  ┆ spread ┆ naive_error │
    │ ---   ┆ ---   ┆ ---      ┆ ---    ┆ ---     ┆ ---  ┆ ---    ┆ ---         │
    │ str   ┆ f64   ┆ f64      ┆ f64    ┆ f64     ┆ f64  ┆ f64    ┆ f64         │
    ╞═══════╪═══════╪══════════╪════════╪═════════╪══════╪════════╪═════════════╡
    │ q     ┆ 1.0   ┆ 0.75     ┆ 0.5    ┆ 1.0     ┆ 0.25 ┆ 0.5    ┆ 0.25        │
    │ p     ┆ 1.0   ┆ 1.0      ┆ 1.0    ┆ 1.0     ┆ 0.0  ┆ 0.0    ┆ 0.0         │
    └───────┴───────┴──────────┴────────┴─────────┴──────┴────────┴─────────────┘
    """
    keys = ["model", "query", "metric", "cutoff"]
    others = pl.col("std").filter(policy="expected").first(), pl.col("truncated").any()
    return (
        side_by_side(check_scores(scores), keys, SIDES, *others)
        .with_columns(
            spread=pl.col("highest") - pl.col("lowest"),
            naive_error=pl.col("naive") - pl.col("expected"),
        )
        .select(pl.exclude("truncated"), "truncated")
        .sort(
            "spread",
            "std",
            *keys,
            descending=[True, True, False, False, False, False],
            nulls_last=True,
        )
    )


def deciding_queries(scores: object, model_a: str, model_b: str) -> pl.DataFrame:
    """Show the difference of two models query by query, the largest first.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`.
    model_a, model_b
        The two models.

    Returns
    -------
    polars.DataFrame
        One row per metric, cutoff and policy except best and worst (in the order of the scores) and
        each query with a score of both, the largest difference first, whichever model it favours:

        ``model_a``, ``model_b``, ``query``, ``metric``, ``cutoff``, ``policy``;
        ``value_a``, ``value_b``, ``difference`` (a − b);
        ``lowest``, ``highest`` (the differences that the worst order for one and the best for the
        other would show; null unless policies best and worst are in the scores), ``tie_std`` (of
        the difference, under random tie order drawn for each on its own; null for policies without
        one); ``share`` (of the difference of the means that comes from this query: all shares add
        up to 1, those in favour of the loser are negative; null where the means are equal);
        ``decides`` (whether it is in the smallest set of queries without which the winner would not
        be ahead); ``order_unsure`` (whether tie order alone could reverse the query, because the
        range includes both signs; null without a range).

    Raises
    ------
    RetrievalReportError
        The scores break their contract, a model is unknown, or both are the same.

    Examples
    --------
    Two queries account for the whole lead of "a".

    >>> import polars as pl
    >>> values = {"a": [0.9, 0.5, 0.4, 0.7], "b": [0.2, 0.5, 0.5, 0.4]}
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": f"q{number}",
    ...             "metric": "ap",
    ...             "cutoff": None,
    ...             "policy": "expected",
    ...             "value": value,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for model, column in values.items()
    ...         for number, value in enumerate(column)
    ...     ]
    ... )
    >>> deciding_queries(scores, "a", "b").select(
    ...     "query", "difference", pl.col("share").round(2), "decides"
    ... ).rows()
    [('q0', 0.7, 0.78, True), ('q3', 0.3, 0.33, True), ('q2', -0.1, -0.11, False), ('q1', 0.0, 0.0,
    False)]
    """
    frame = check_scores(scores)
    grid = Grid.of(frame)
    for name, model in (("model_a", model_a), ("model_b", model_b)):
        check_choice(name, model, grid.models)
    if model_a == model_b:
        raise ParameterError(
            f"model_b: {model_b!r} is also model_a; two different models are needed"
        )
    rows = np.array([grid.models.index(model_a)]), np.array([grid.models.index(model_b)])
    schema: dict[str, Any] = {**DECIDING, "query": frame.schema["query"]}
    queries = pl.Series("query", grid.queries, dtype=frame.schema["query"])
    parts = [pl.DataFrame(schema=schema)]
    for at in asked_measures(grid, None):
        columns = {"query": queries, **_columns(grid, at, *rows)}
        here = measured(columns, grid.measures[at], schema, model_a=model_a, model_b=model_b)
        here = here.filter(pl.col("difference").is_not_null())
        parts.append(here.sort(pl.col("difference").abs(), descending=True, maintain_order=True))
    return pl.concat(parts)


def _columns(grid: Grid, at: int, first: Indices, second: Indices) -> dict[str, object]:
    """Return the columns per query, for one metric, cutoff and policy."""
    difference = differences(grid.value[at], first, second)[0]
    total = float(np.nansum(difference))
    room = 10.0**-DIGITS * difference.size * float(largest(grid.value[at], first, second)[0])
    level = abs(total) <= room
    # If tie order is against the first model, and if it is in its favour.
    worst, best = grid.under(at, "worst"), grid.under(at, "best")
    low, high = worst[first[0]] - best[second[0]], best[first[0]] - worst[second[0]]
    return {
        "value_a": grid.value[at][first[0]],
        "value_b": grid.value[at][second[0]],
        "difference": difference,
        "lowest": low,
        "highest": high,
        "tie_std": np.sqrt(grid.std[at][first[0]] ** 2 + grid.std[at][second[0]] ** 2),
        "share": np.full(difference.size, np.nan) if level else difference / total + 0.0,
        "decides": np.zeros(difference.size, np.bool_)
        if level
        else _fewest(difference * np.sign(total), room),
        "order_unsure": [
            None if np.isnan(start) else bool(start < -room < room < end)
            for start, end in zip(low, high, strict=True)
        ],
    }


def _fewest(gains: Floats, room: float) -> Bools:
    """Mark the smallest set of largest gains without which the sum is at most 0, with ``room`` for
    rounding.
    """
    order = np.argsort(-np.nan_to_num(gains), kind="stable")
    left = np.nansum(gains) - np.cumsum(np.nan_to_num(gains)[order])
    needed = int(np.argmax(left <= room)) + 1
    marked = np.zeros(gains.size, np.bool_)
    marked[order[:needed]] = True
    return marked

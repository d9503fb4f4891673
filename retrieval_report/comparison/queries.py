"""Find the queries whose scores depend on tie order, and those that decide between two models."""

from __future__ import annotations

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import BOUNDS, NAIVE_ERROR, check_scores, side_by_side
from retrieval_report.engines.score_grid import (
    DIGITS,
    Grid,
    Pairs,
    Scores,
    differences,
    measured,
    rounding,
)
from retrieval_report.kernels.lists import Bools, Floats

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
    tie_columns = pl.col("std").filter(policy="expected").first(), pl.col("truncated").any()
    return (
        side_by_side(check_scores(scores), keys, ("naive", "expected", *BOUNDS), *tie_columns)
        .with_columns(
            spread=pl.col("highest") - pl.col("lowest"),
            naive_error=NAIVE_ERROR,
        )
        .select(pl.exclude("truncated"), "truncated")
        .sort(
            *(pl.col(name).round(DIGITS) for name in ("spread", "std")),
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

        ``model_a``, ``model_b``, ``query``, ``metric``, ``cutoff``, ``policy``; ``value_a``,
        ``value_b``, ``difference`` (a − b); ``lowest``, ``highest`` (the differences that the
        worst order for one and the best for the other would show; null unless policies best and
        worst are in the scores), ``tie_std`` (of the difference, under random tie order drawn for
        each on its own; null for policies without one); ``share`` (of the difference of the means
        that comes from this query: all shares add up to 1, those in favour of the loser are
        negative; null where the means are equal); ``decides`` (whether it is in the smallest set
        of queries without whose differences the winner would not be ahead: of several such sets,
        that of the largest differences); ``order_unsure``
        (whether tie order alone could reverse the query, because the range includes both signs;
        null without a range).

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
    pair = Pairs(*(np.array([grid.models.index(model)]) for model in (model_a, model_b)))
    ids = frame.schema["query"]
    contract = {**DECIDING, "query": ids}
    queries = pl.Series("query", grid.queries, dtype=ids)
    parts = [pl.DataFrame(schema=contract)]
    for part in grid.asked(None):
        columns = {"query": queries, "model_a": model_a, "model_b": model_b, **_columns(part, pair)}
        rows = measured(columns, part.measure, contract).drop_nulls("difference")
        parts.append(rows.sort(pl.col("difference").abs(), descending=True, maintain_order=True))
    return pl.concat(parts)


def _columns(scores: Scores, pair: Pairs) -> Named:
    """Return the columns per query, for one metric, cutoff and policy."""
    first, second = pair.first[0], pair.second[0]
    difference = differences(scores.value, pair)[0]
    part = difference if scores.weight is None else difference * scores.weight[first]
    total = np.nansum(part)
    margin = rounding(scores.value, pair)[0]
    level = abs(total) <= margin
    # If tie order is against the first model, and if it is in its favour.
    low = scores.lowest[first] - scores.highest[second]
    high = scores.highest[first] - scores.lowest[second]
    return {
        "value_a": scores.value[first],
        "value_b": scores.value[second],
        "difference": difference,
        "lowest": low,
        "highest": high,
        "tie_std": np.sqrt(scores.std[first] ** 2 + scores.std[second] ** 2),
        "share": np.nan if level else part / total + 0.0,
        "decides": False if level else _fewest(part * np.sign(total), margin),
        "order_unsure": np.where(np.isnan(low), np.nan, (low < -margin) & (margin < high)),
    }


def _fewest(gains: Floats, margin: float) -> Bools:
    """Mark the smallest set of largest gains without which
    the sum is at most 0, with ``margin`` for rounding.
    """
    order = np.argsort(-np.nan_to_num(gains), kind="stable")
    remaining_gain = np.nansum(gains) - np.cumsum(np.nan_to_num(gains)[order])
    needed = int(np.argmax(remaining_gain <= margin)) + 1
    marked = np.zeros(gains.size, np.bool_)
    marked[order[:needed]] = True
    return marked

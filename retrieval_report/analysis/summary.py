"""What is each model's mean score, and how uncertain is it, for which reason?"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.errors import ColumnError, KeyMismatchError
from retrieval_report.reading.frames import to_polars
from retrieval_report.schema import SCORES, SUMMARY, check_choice, check_queries, refuse

__all__ = ["summarise"]

GROUP = ["model", "metric", "cutoff", "policy"]
CONFIDENCE = 0.95
Floats = NDArray[np.float64]


def summarise(scores: object, *, queries: object = None, average: str = "micro") -> pl.DataFrame:
    """Average the scores of each model, metric, cutoff and policy over the queries.

    Two uncertainties are kept apart: ``tie_std`` is the exact standard deviation of the mean under random tie order
    (an accident of measurement), ``query_se`` its standard error under sampling of queries.

    Parameters
    ----------
    scores
        What :func:`evaluate` returns.
    queries
        ``query`` with ``label`` (for ``macro``) or ``weight`` (for ``weighted``); what :func:`list_weights` returns
        (weights by model, query and metric) is accepted too.
    average
        ``micro``: plain mean over queries. ``macro``: mean per label, then the plain mean of those. ``weighted``:
        Σ w·x / Σ w.

    Returns
    -------
    polars.DataFrame
        ``model``, ``metric``, ``cutoff``, ``policy``, ``value``, ``tie_std``, ``query_se``, ``ci_low``, ``ci_high``
        (95 %, Student's t over queries), ``queries`` (in the mean), and how many of the model's queries have
        ``no_relevant`` item, are ``missing`` (no rows) or ``unjudged``. Groups keep the order of the scores.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> rankings = pl.DataFrame({
    ...     "query": ["q", "q", "r", "r"], "item": ["a", "b", "a", "b"], "distance": [1, 1, 1, 2],
    ...     "relevance": [1, 0, 1, 0]})
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=1, policies="expected"))
    >>> summary.select("value", "tie_std", "query_se", "queries").row(0)
    (0.75, 0.25, 0.25, 2)
    """
    check_choice("average", average, ("micro", "macro", "weighted"))
    frame = to_polars(scores, "scores")
    missing = [name for name in SCORES if name not in frame.columns]
    if missing:
        raise ColumnError(f"scores: no column {', '.join(map(repr, missing))}; expected what evaluate returns")
    frame = _with_weights(frame, queries, average)
    order = frame.select(GROUP).unique(maintain_order=True).with_row_index("group")
    frame = frame.join(order, on=GROUP, how="left", nulls_equal=True).sort("group", "query")
    counts = frame.group_by("group", maintain_order=True).agg(
        queries=pl.col("value").is_not_null().sum(),
        no_relevant=(pl.col("n_relevant") == 0).sum(),
        missing=(pl.col("items") == 0).sum(),
        unjudged=pl.col("n_relevant").is_null().sum(),
    )
    kept = frame.filter(pl.col("value").is_not_null())
    means = _means(kept, average, order.height)
    result = pl.concat([order, counts.drop("group"), means], how="horizontal").select(list(SUMMARY))
    return result.cast({name: dtype for name, dtype in SUMMARY.items() if dtype is not None})


def _with_weights(frame: pl.DataFrame, queries: object, average: str) -> pl.DataFrame:
    """Add the label or the weight that the average needs."""
    if average == "micro":
        return frame
    column = "label" if average == "macro" else "weight"
    if queries is None:
        raise ColumnError(f"average={average!r}: needs queries with a column {column!r}")
    given = to_polars(queries, "queries")
    keys = ["query"]
    if average == "weighted" and {"model", "metric"} <= set(given.columns):
        keys = ["model", "query", "metric"]
    else:
        given = check_queries(given)
    if column not in given.columns:
        raise ColumnError(f"queries: no column {column!r}, which average={average!r} needs")
    if given.schema["query"].is_integer() != frame.schema["query"].is_integer():
        raise KeyMismatchError(
            f"column 'query' is {frame.schema['query']} in the scores and {given.schema['query']} in the queries"
        )
    given = given.select(*keys, column).with_columns(pl.col("query").cast(frame.schema["query"]))
    frame = frame.join(given, on=keys, how="left", maintain_order="left")
    refuse(frame, pl.col(column).is_null(), column, f"scores without {column}", "; the queries frame lacks them")
    return frame


def _means(kept: pl.DataFrame, average: str, groups: int) -> pl.DataFrame:
    from scipy import stats  # imported here: half a second that only a summary needs

    names = ("value", "tie_std", "query_se", "ci_low", "ci_high")
    columns: dict[str, list[float | None]] = {name: [None] * groups for name in names}
    for (group,), rows in kept.group_by("group", maintain_order=True):
        values, spread = rows["value"].to_numpy(), rows["std"].to_numpy()
        if average == "macro":
            value, tie, error, freedom = _macro(values, spread, rows["label"].to_numpy())
        else:
            weight = rows["weight"].to_numpy().astype(np.float64) if average == "weighted" else np.ones(values.size)
            value, tie, error, freedom = _weighted(values, spread, weight)
        reach = stats.t.ppf(0.5 + CONFIDENCE / 2, freedom) * error if freedom > 0 else math.nan
        for name, number in zip(names, (value, tie, error, value - reach, value + reach), strict=True):
            columns[name][int(str(group))] = None if math.isnan(number) else number
    return pl.DataFrame(columns, schema={name: pl.Float64 for name in names})


def _weighted(values: Floats, spread: Floats, weight: Floats) -> tuple[float, float, float, int]:
    """Mean, its standard deviation over tie orders, its standard error over queries, degrees of freedom."""
    total, size = math.fsum(weight), int(np.count_nonzero(weight))
    if total == 0:
        return 0.0, 0.0, math.nan, 0
    value = math.fsum(weight * values) / total
    tie = math.sqrt(math.fsum((weight * spread) ** 2)) / total
    if size < 2:
        return value, tie, math.nan, 0
    error = math.sqrt(math.fsum((weight * (values - value)) ** 2) * size / (size - 1)) / total
    return value, tie, error, size - 1


def _macro(values: Floats, spread: Floats, labels: NDArray[np.generic]) -> tuple[float, float, float, int]:
    """As ``_weighted``, for the plain mean of the labels' means; labels are strata, so only queries vary."""
    parts = [(values[labels == label], spread[labels == label]) for label in np.unique(labels)]
    means = [_weighted(value, std, np.ones(value.size)) for value, std in parts]
    value = math.fsum(mean for mean, *_ in means) / len(means)
    tie = math.sqrt(math.fsum(std**2 for _, std, *_ in means)) / len(means)
    if any(math.isnan(error) for _, _, error, _ in means):
        return value, tie, math.nan, 0
    error = math.sqrt(math.fsum(error**2 for _, _, error, _ in means)) / len(means)
    return value, tie, error, sum(freedom for *_, freedom in means)

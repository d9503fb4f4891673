"""Break ties by a second key, and measure the effect."""

from __future__ import annotations

from typing import Unpack

import polars as pl

from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import ColumnError, ParameterError
from retrieval_report.contracts.frames import check_rankings, order_column
from retrieval_report.contracts.options import EvaluateOptions, Options, options_with
from retrieval_report.engines.check_scores import MEAN
from retrieval_report.engines.summary import summarise
from retrieval_report.metrics.parsing import Cutoffs, Metrics, parse_metrics
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.layout import order_values
from retrieval_report.scoring.run import score_judged, score_lists


def resolve_ties(
    rankings: object, *, by: str, descending: bool = False, decimals: int | None = None
) -> pl.DataFrame:
    """Break the ties of every list by another column, such as a real-valued code or a re-ranker's
    score.

    Parameters
    ----------
    rankings
        A rankings frame with a further column.
    by
        That column: numbers, text or times. Items that also tie in it stay tied.
    descending
        Whether large values are near.
    decimals
        Round distances or scores first, as :func:`evaluate` does; the result has no decimals left
        to round.

    Returns
    -------
    polars.DataFrame
        The rankings in the order received, with ``distance`` the rank among the distinct pairs of
        distance (or score) and key in its list, from 1. Null distances stay null.

    Raises
    ------
    RetrievalReportError
        There is no such column, or it holds null or NaN.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 2],
    ...         "relevance": [0, 1, 0, 1],
    ...         "reranker": [0.3, 0.9, 0.1, 0.9],
    ...     }
    ... )
    >>> resolve_ties(rankings, by="reranker", descending=True).select(
    ...     "item", "distance", "relevance"
    ... ).rows()
    [('a', 1, 0), ('b', 2, 1), ('c', 3, 0), ('d', 2, 1)]
    """
    options = Options(decimals=decimals)
    given = to_polars(rankings, "rankings")
    frame = check_rankings(given, relevance=False, null_distance=True)
    order = order_column(frame)
    keyed = frame.with_columns(_key(given, frame, by))
    column = order_values(frame, options)
    one_list = [name for name in ("model", "query") if name in frame.columns]
    spread = frame.height + 1  # more than there are distinct keys in a list
    first = column.rank("dense", descending=order == "score").over(one_list).cast(pl.Int64)
    second = pl.col("key").rank("dense", descending=descending).over(one_list).cast(pl.Int64)
    return (
        keyed.with_columns(position=first * spread + second)
        .with_columns(pl.col("position").rank("dense").over(one_list).cast(pl.Int64))
        .select(
            pl.col("position").alias("distance") if name == order else pl.col(name)
            for name in frame.columns
        )
    )


def _key(given: pl.DataFrame, frame: pl.DataFrame, by: str) -> pl.Series:
    """The column to break ties by, as ``key``."""
    if not isinstance(by, str) or by not in {*given.columns, *frame.columns}:
        raise ColumnError(
            f"rankings: no column {by!r} to break ties by; found "
            f"{', '.join(map(repr, given.columns))}"
        )
    key = frame[by] if by in frame.columns else given[by]
    if key.dtype.is_nested() or key.dtype == pl.Null:
        raise ColumnError(
            f"rankings: column {by!r} is {key.dtype}, which has no order to break ties by"
        )
    checked = frame.with_columns(key.alias("key"))
    refuse(checked, pl.col("key").is_null(), by, "null", "; every item needs a key")
    if key.dtype.is_float():
        refuse(checked, pl.col("key").is_nan(), by, "NaN", "; every item needs a key")
    return key.alias("key")


def tie_break_effect(
    rankings: object,
    *,
    by: str,
    descending: bool = False,
    judgements: object = None,
    queries: object = None,
    metrics: Metrics = None,
    cutoffs: Cutoffs = None,
    **options: Unpack[EvaluateOptions],
) -> pl.DataFrame:
    """Measure how much of the uncertainty from tie order a second key removes.

    The arguments are those of :func:`evaluate` and of :func:`resolve_ties`; ``policies`` has no
    effect, and ``distance_threshold`` is refused, because ranks are not distances.

    Returns
    -------
    polars.DataFrame
        ``model``, ``metric``, ``cutoff``; ``value`` and ``tie_std`` (expected mean over the
        queries, and its standard deviation under random tie order) with ``_before`` and ``_after``;
        ``removed``: 1 − after / before of ``tie_std``, null if there was none. It can be negative,
        because the key may rule out orders that were alike.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 2],
    ...         "relevance": [0, 1, 0, 1],
    ...         "reranker": [0.3, 0.9, 0.1, 0.9],
    ...     }
    ... )
    >>> removed = tie_break_effect(
    ...     rankings, by="reranker", descending=True, metrics="rr", cutoffs=None, truncated="no"
    ... )
    >>> removed.select(
    ...     "value_before", "value_after", pl.col("tie_std_before").round(4), "removed"
    ... ).row(0)
    (0.4444444444444444, 0.5, 0.0786, 1.0)
    """
    if options.get("distance_threshold") is not None:
        raise ParameterError(
            "distance_threshold: broken ties have ranks instead of distances; set the relevance of "
            "items beyond the "
            "threshold to 0 instead"
        )
    checked, requests = options_with(options, policies="expected"), parse_metrics(metrics, cutoffs)
    given = to_polars(rankings, "rankings")
    resolved = resolve_ties(given, by=by, descending=descending, decimals=checked.decimals)
    judged = judge(given, judgements, queries, checked)
    ranked = _with_ranks(judged, resolved)
    before = summarise(score_lists(judged, requests, checked).frame())
    after = summarise(score_judged(ranked, requests, checked).frame())
    before = before.select(*MEAN, value_before="value", tie_std_before="tie_std")
    after = after.select(*MEAN, value_after="value", tie_std_after="tie_std")
    both = before.join(after, on=MEAN, how="left", nulls_equal=True, maintain_order="left")
    left = pl.col("tie_std_after") / pl.col("tie_std_before")
    numbers = ("value_before", "value_after", "tie_std_before", "tie_std_after")
    return both.select(
        *MEAN, *numbers, removed=pl.when(pl.col("tie_std_before") > 0).then(1 - left)
    )


def _with_ranks(judged: Judged, resolved: pl.DataFrame) -> Judged:
    """The same lists with ranks instead of distances: those of `resolve_ties`, whose ties are
    broken.
    """
    rows = judged.retrieved.drop(judged.order)
    keys = [name for name in ("model", "query", "item") if name in rows.columns]
    ranks = resolved.select(*keys, "distance").cast({name: rows.schema[name] for name in keys})
    return judged.with_values(rows.join(ranks, on=keys, how="left", maintain_order="left"))

"""What profile, hints and audit start from: rows with the relevance they count with, and means over queries."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import polars as pl

from retrieval_report.contracts.errors import RetrievalReportWarning
from retrieval_report.contracts.frames import check_counts, check_judgements, check_rankings, order_column
from retrieval_report.contracts.options import Options
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.judged import Prepared, prepare

__all__ = ["MEANS", "checked_rows", "judged_rows", "tie_means", "told_once", "within_threshold"]

MEANS = {
    "model": pl.String,
    "metric": pl.String,
    "cutoff": pl.Int64,
    "policy": pl.String,
    "value": pl.Float64,
    "tie_std": pl.Float64,
    "shortest": pl.Int64,
}


@contextmanager
def told_once() -> Iterator[None]:
    """Silence this package's warnings while a frame is checked that has been checked before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RetrievalReportWarning)
        yield


def judged_rows(rankings: object, judgements: object, queries: object, options: Options) -> pl.DataFrame:
    """Rows that ``evaluate`` ranks, with the relevance they count with there.

    Frames that ``evaluate`` refuses are refused here with the same words. Masked rows, rows without distance and rows
    of unjudged queries are gone; distances are rounded where ``decimals`` says so. A counts frame keeps its ``count``.
    ``distance_threshold`` is left to `within_threshold`.

    >>> rows = judged_rows(
    ...     {"query": ["q", "q"], "item": ["a", "b"], "distance": [1, 2]},
    ...     {"query": ["q"], "item": ["b"], "relevance": [3]}, None, Options(policies=("expected",)))
    >>> rows["relevance"].to_list()
    [0, 3]
    """
    return checked_rows(rankings, judgements, queries, options)[0]


def checked_rows(
    rankings: object, judgements: object, queries: object, options: Options
) -> tuple[pl.DataFrame, Prepared]:
    """What `judged_rows` returns, and the lists as ``evaluate`` lays them out."""
    frame = to_polars(rankings, "rankings")
    judgements = None if judgements is None else to_polars(judgements, "judgements")
    prepared = prepare(frame, judgements, queries, options)
    if "model" not in frame.columns:
        frame = frame.with_columns(model=pl.lit("model"))
    with told_once():
        if "count" in frame.columns:
            rows = check_counts(frame)
        else:
            rows = check_rankings(frame, relevance=judgements is None, null_distance=True)
        if judgements is not None:
            rows = _join(rows, check_judgements(judgements))
    if "mask" in rows.columns:
        rows = rows.filter("mask")
    order = order_column(rows)
    rows = rows.filter(pl.col(order).is_not_null())
    if options.unjudged == "drop":
        rows = rows.filter(pl.col("relevance").is_not_null())
    rows = rows.with_columns(pl.col("relevance").fill_null(0))
    if options.decimals is not None and not rows.schema[order].is_integer():
        rows = rows.with_columns(pl.col(order).round(options.decimals))
    return rows, prepared


def within_threshold(rows: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Rows or counts with relevance 0 beyond ``distance_threshold``.

    Only what goes no further than one list may have it so: an item can be near in one model and far in another, and
    models that disagree about a relevance are refused.

    >>> counts = pl.DataFrame({"distance": [1, 2], "relevance": [3, 3]})
    >>> within_threshold(counts, Options(distance_threshold=1))["relevance"].to_list()
    [3, 0]
    """
    if options.distance_threshold is None:
        return rows
    near = pl.col("distance") <= options.distance_threshold
    return rows.with_columns(relevance=pl.when(near).then("relevance").otherwise(0))


def _join(rows: pl.DataFrame, judgements: pl.DataFrame) -> pl.DataFrame:
    """Give the rows of judged queries the relevance of the judgements; null where an item is not judged."""
    keys = ["query", "item"]
    judgements = judgements.with_columns(pl.col(key).cast(rows.schema[key]) for key in keys)
    judged = judgements.select("query").unique()
    rows = rows.drop("relevance", strict=False).join(judged, on="query", how="semi", maintain_order="left")
    return rows.join(judgements, on=keys, how="left", maintain_order="left")


def tie_means(scores: pl.DataFrame) -> pl.DataFrame:
    """Plain mean over the queries of every model, metric, cutoff and policy, added up in the order of the queries.

    Returns the columns ``MEANS``: ``tie_std`` is that of the mean under random tie order (null where a score has none),
    ``shortest`` the items of the model's shortest list; values are null where no query has one, or a score in the mean
    has no bound. ``summarise`` adds intervals, which cost more.

    >>> from retrieval_report.evaluation import evaluate
    >>> rankings = {"query": ["q", "q"], "item": ["a", "b"], "distance": [1, 1], "relevance": [0, 1]}
    >>> tie_means(evaluate(rankings, metrics="rr", cutoffs=1, policies="expected")).row(0)
    ('model', 'rr', 1, 'expected', 0.5, 0.5, 2)
    """
    if scores.is_empty():
        return pl.DataFrame(schema=MEANS)
    labels = scores.select("metric", "cutoff", "policy").unique(maintain_order=True)
    lists = scores.select("model", "items").gather_every(labels.height)
    values = scores["value"].to_numpy().reshape(lists.height, labels.height)
    spreads = scores["std"].to_numpy().reshape(lists.height, labels.height)
    starts = np.flatnonzero((lists["model"] != lists["model"].shift()).fill_null(True).to_numpy())
    kept = ~np.isnan(values)
    if "truncated" in scores.columns:  # one that nothing bounds leaves the mean without a bound
        kept = kept | scores["truncated"].to_numpy().reshape(lists.height, labels.height)
    size = np.add.reduceat(kept.astype(np.float64), starts, axis=0)
    size[size == 0] = np.nan
    value = np.add.reduceat(np.where(kept, values, 0.0), starts, axis=0) / size
    spread = np.sqrt(np.add.reduceat(np.where(kept, spreads, 0.0) ** 2, starts, axis=0)) / size
    shortest = np.minimum.reduceat(lists["items"].to_numpy(), starts)
    which = np.repeat(np.arange(starts.size), labels.height)
    return pl.concat(
        [
            lists.select("model")[starts[which]],
            labels[np.tile(np.arange(labels.height), starts.size)],
            pl.DataFrame({"value": value.ravel(), "tie_std": spread.ravel()}).fill_nan(None),
            pl.DataFrame({"shortest": shortest[which]}),
        ],
        how="horizontal",
    ).cast(MEANS)  # type: ignore[arg-type]

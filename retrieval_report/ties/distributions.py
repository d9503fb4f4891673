"""Compute how probable every score of a list, and every mean of a model, is under random tie
order.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import check_whole
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.contracts.options import ListOptions, options_with
from retrieval_report.contracts.registry import schema
from retrieval_report.contracts.truncated import NO
from retrieval_report.engines.check_scores import at_measure, hold
from retrieval_report.engines.paired import DIGITS
from retrieval_report.metrics.parsing import Requests, parse_measure, parse_metrics
from retrieval_report.metrics.record import Metric
from retrieval_report.scoring.closed_distributions import closed
from retrieval_report.scoring.convolution import Spread, every_sum, merged
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.layout import lay_out
from retrieval_report.scoring.run import run_of
from retrieval_report.scoring.score_distribution import score_orders
from retrieval_report.ties.orders import lists_of_query

DISTRIBUTION = schema("score_distribution")
MEAN_DISTRIBUTION = schema("distribution")
OF_MODEL = {name: MEAN_DISTRIBUTION[name] for name in ("model", "value", "probability")}
NEAR = 1e-12  # of sums of scores: what differs by less is the same
SURE = 1e-9
DRAWS = 2_000
OWN_OPTIONS = ("shuffles", "policies", "progress")  # that the way of computing decides


def score_distribution(
    rankings: object,
    *,
    model: str,
    query: object,
    metric: str | Metric,
    cutoff: int | None = None,
    judgements: object = None,
    queries: object = None,
    seed: int = 0,
    draws: int = DRAWS,
    **options: Unpack[ListOptions],
) -> pl.DataFrame:
    """Compute which scores tie order can give one list, and how probable each is.

    Precision, recall, F1, hit rate and reciprocal rank have closed forms for ties of any size. For
    other metrics, if at most 2000 orders differ in the relevances that the metric sees, all are
    scored and weighted by the share of orders they stand for; otherwise orders are drawn, the same
    as in :func:`shuffled_means`.

    Parameters
    ----------
    rankings, judgements, queries
        As for :func:`evaluate`; counts frames are refused.
    model, query
        The model and query of the list.
    metric, cutoff
        One measure; the cutoff None means the whole list.
    seed, draws
        Seed and number of the drawn orders, if there are too many to try all.
    **options
        Options of :func:`evaluate`; ``truncated`` has no effect: the scores are those of the given
        rows.

    Returns
    -------
    polars.DataFrame
        One row per score (equal to 12 digits), ascending: ``value``, ``probability``, ``method``
        ("exact" or "draws"), ``orders`` (distinguished by the metric, or drawn). No rows if the
        query is left out or has no list.

    Examples
    --------
    One relevant item among four that tie has each rank with the same probability.

    >>> rankings = {
    ...     "query": ["q"] * 4,
    ...     "item": list("abcd"),
    ...     "distance": [1] * 4,
    ...     "relevance": [1, 0, 0, 0],
    ... }
    >>> scores = score_distribution(rankings, model="model", query="q", metric="rr", cutoff=2)
    >>> scores.rows()
    [(0.0, 0.5, 'exact', 3), (0.5, 0.25, 'exact', 3), (1.0, 0.25, 'exact', 3)]
    """
    check_whole("draws", draws, 1)
    frame, given = lists_of_query(rankings, query, judgements, queries)
    if frame.filter(pl.col("model") == model).is_empty():
        return pl.DataFrame(schema=DISTRIBUTION)
    requests = parse_metrics(metric, cutoff)
    scoring = {name: value for name, value in options.items() if name not in OWN_OPTIONS}
    only = options_with(scoring, seed=seed, truncated=NO, policies="expected")
    prepared = run_of(judge(frame, **given, options=only), requests, only).prepared
    found = score_orders(prepared.only({(model, query)}), requests, only, draws)
    orders = [
        one.distribution(0, DIGITS).with_columns(orders=pl.lit(one.chance.size, dtype=pl.Int64))
        for one in found
    ]
    return pl.concat([pl.DataFrame(schema=DISTRIBUTION), *orders])


def mean_distribution(
    rankings: object,
    summary: object,
    *,
    metric: str | Metric,
    cutoff: int | str | None = None,
    judgements: object = None,
    queries: object = None,
    **options: Any,
) -> pl.DataFrame:
    """Compute the probability of every mean over the queries under random tie order.

    Precision, recall, F1, hit rate and reciprocal rank have distributions in closed form for every
    list; the distribution of the mean is their convolution, which is formed if the means lie on a
    lattice or are few.

    Parameters
    ----------
    rankings, judgements, queries
        As for :func:`evaluate`; counts frames are refused.
    summary
        The result of :func:`summarise` for them, with policy expected and plain means over the
        queries.
    metric, cutoff
        One measure in it: ``"precision@10"``, or metric and cutoff.
    **options
        The options that were passed to :func:`evaluate`.

    Returns
    -------
    polars.DataFrame
        One row per possible mean, ascending within each ``model``: ``metric``, ``cutoff``,
        ``value`` and its ``probability``, which add up to 1. Models are left out if tie order does
        not affect them, if their lists are cut, or if they have too many means; other metrics give
        no rows.

    Examples
    --------
    >>> from retrieval_report import evaluate, summarise
    >>> rankings = {
    ...     "query": list("ppqq"),
    ...     "item": list("abab"),
    ...     "distance": [1] * 4,
    ...     "relevance": [1, 0, 1, 0],
    ... }
    >>> summary = summarise(evaluate(rankings, metrics="precision@1"))
    >>> mean_distribution(rankings, summary, metric="precision@1").select(
    ...     "value", "probability"
    ... ).rows()
    [(0.0, 0.25), (0.5, 0.5), (1.0, 0.25)]
    """
    name, depth = parse_measure(metric, cutoff)
    means = _moved(hold(summary, SUMMARY, "summary", "summarise"), name, depth)
    requests = _requests(metric if isinstance(metric, Metric) else name, depth)
    if not means or not requests or not closed(requests[0][0].term):
        return pl.DataFrame(schema=MEAN_DISTRIBUTION)
    kept = {name: value for name, value in options.items() if name not in OWN_OPTIONS}
    checked = options_with(kept, policies="expected")
    parts: dict[str, list[Spread]] = {}
    prepared = lay_out(judge(rankings, judgements, queries, checked), checked)
    for one in score_orders(prepared, requests, checked, 1):
        if one.model in means and one.exact:
            parts.setdefault(one.model, []).append(
                Spread(*merged(one.value[:, 0], one.chance, NEAR))
            )
    frames = [_frame(model, parts.get(model, []), *mean) for model, mean in means.items()]
    whole = pl.concat([pl.DataFrame(schema=OF_MODEL), *frames])
    measure = whole.with_columns(metric=pl.lit(name), cutoff=pl.lit(depth, dtype=pl.Int64))
    return measure.select(list(MEAN_DISTRIBUTION))


def _requests(metric: str | Metric, cutoff: int | None) -> Requests:
    """One metric at one cutoff; nothing for the text of one that is made of a function of the
    caller's.
    """
    try:
        return parse_metrics(metric, cutoff)
    except ParameterError:
        return []


def _moved(summary: pl.DataFrame, metric: str, cutoff: int | None) -> dict[str, tuple[float, int]]:
    """Expected mean and number of queries of the models that tie order moves."""
    moved = (pl.col("tie_std") > 0) & (pl.col("truncated_share").fill_null(0) == 0)
    rows = summary.filter(at_measure(metric, cutoff) & moved, policy="expected").select(
        "model", "value", "queries"
    )
    return {model: (value, queries) for model, value, queries in rows.rows()}


def _frame(model: str, parts: list[Spread], mean: float, queries: int) -> pl.DataFrame:
    """The means of one model; none where their average is not the expected one, as with weighted
    means.
    """
    whole = every_sum(parts, NEAR) if parts else None
    known = whole is not None and abs(
        float(whole.chance @ whole.value) / queries - mean
    ) <= SURE * max(mean, 1.0)
    value, chance = (
        (whole.value / queries, whole.chance) if whole is not None and known else (np.empty(0),) * 2
    )
    return pl.DataFrame(
        {"model": [model] * value.size, "value": value, "probability": chance}, schema=OF_MODEL
    )

"""Compute the scores of one list under all its tie orders, and how probable each score is."""

from __future__ import annotations

from typing import Unpack

import polars as pl

from retrieval_report.analysis.orders import lists_of_query
from retrieval_report.analysis.paired import DIGITS
from retrieval_report.contracts.arguments import check_whole
from retrieval_report.contracts.options import ListOptions, options_with
from retrieval_report.contracts.registry import schema
from retrieval_report.contracts.truncated import NO
from retrieval_report.metrics.catalogue import Metric
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.scoring.every_order import score_orders
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.layout import lay_out

DISTRIBUTION = schema("score_distribution")
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

    Precision, recall, F1, hit rate and reciprocal rank have closed forms for ties of any size. For other metrics, if at
    most 2000 orders differ in the relevances that the metric sees, all are scored and weighted by the share of orders
    they stand for; otherwise orders are drawn, the same as in :func:`shuffled_means`.

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
        Options of :func:`evaluate`; ``truncated`` has no effect: the scores are those of the given rows.

    Returns
    -------
    polars.DataFrame
        One row per score (equal to 12 digits), ascending: ``value``, ``probability``, ``method`` ("exact" or "draws"),
        ``orders`` (distinguished by the metric, or drawn). No rows if the query is left out or has no list.

    Examples
    --------
    One relevant item among four that tie has each rank with the same probability.

    >>> rankings = {"query": ["q"] * 4, "item": list("abcd"), "distance": [1] * 4, "relevance": [1, 0, 0, 0]}
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
    prepared = lay_out(judge(frame, **given, options=only), only)
    found = score_orders(prepared.only({(model, query)}), requests, only, draws)
    orders = [one.distribution(0, DIGITS).with_columns(orders=pl.lit(one.chance.size, dtype=pl.Int64)) for one in found]
    return pl.concat([pl.DataFrame(schema=DISTRIBUTION), *orders])

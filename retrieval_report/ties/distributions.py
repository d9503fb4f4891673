"""Compute how probable every score of a list, and every mean of a model, is under random tie order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import check_text, check_whole, grouped
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import NO, ListOptions, Options, options_with
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.engines.check_scores import at_measure
from retrieval_report.engines.score_grid import DIGITS
from retrieval_report.metrics.parsing import named_requests, parse_metrics
from retrieval_report.metrics.record import Metric
from retrieval_report.scoring.convolution import every_sum, merged
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.run import runs_of
from retrieval_report.scoring.score_distribution import closed, score_orders
from retrieval_report.ties.orders import lists_of_query

DISTRIBUTION = schema("score_distribution")
MEAN_DISTRIBUTION = schema("distribution")
SAME_SUM = 1e-12  # of sums of scores: what differs by less is the same
SURE = 1e-9
DRAWS = 2_000


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
    frame, sources = lists_of_query(rankings, query, judgements, queries)
    check_text("model", model)
    requests = parse_metrics(metric, cutoff)
    if len(requests) > 1 or len(requests[0][1]) > 1:
        raise ParameterError("metric: it takes one metric at one cutoff")
    only = options_with(options, seed=seed, truncated=NO, policies="expected", progress=False)
    (run,) = runs_of(judge(frame, **sources, options=only), requests, only)
    list_names = enumerate(run.prepared.names.rows())
    list_numbers = np.array(
        [number for number, name in list_names if name == (model, query)], np.int64
    )
    rows = pl.DataFrame(schema=DISTRIBUTION)
    for list_scores in score_orders(run.repeated(list_numbers), draws):
        scores = pl.DataFrame(
            {"value": list_scores.value.round(DIGITS), "probability": list_scores.chance}
        )
        rows = (
            scores.sort("value")
            .group_by("value", maintain_order=True)
            .agg(pl.sum("probability"))
            .with_columns(
                method=pl.lit("exact" if list_scores.exact else "draws"),
                orders=pl.lit(list_scores.chance.size, dtype=pl.Int64),
            )
        )
    return rows


def mean_distribution(
    judged: Judged,
    options: Options,
    summary: pl.DataFrame,
    metric: str,
    cutoff: int | None,
    of_run: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Compute the probability of every mean over the queries under random tie order.

    Precision, recall, F1, hit rate and reciprocal rank have distributions in closed form for every
    list; the distribution of the mean is their convolution, which is formed if the means lie on a
    lattice or are few.

    Parameters
    ----------
    judged, options
        What was scored, and how.
    summary
        The result of :func:`summarise` for it, with policy expected and plain means over the
        queries.
    metric, cutoff
        One measure in it.
    of_run
        The model of every run, where models are means over runs; by default each is one.

    Returns
    -------
    polars.DataFrame
        One row per possible mean, ascending within each ``model``: ``metric``, ``cutoff``,
        ``value`` and its ``probability``, which add up to 1. Models are left out if tie order does
        not affect them, if their lists are cut, or if they have too many means; other metrics give
        no rows.
    """
    nothing = pl.DataFrame(schema=MEAN_DISTRIBUTION)
    requests = named_requests([(metric, cutoff)])
    moved = (pl.col("tie_std") > 0) & (pl.col("truncated_share").fill_null(0) == 0)
    means = summary.filter(at_measure(metric, cutoff) & moved, policy="expected")
    if means.is_empty() or not requests or not closed(requests[0][0].term):
        return nothing
    (run,) = runs_of(judged, requests, replace(options, policies="expected"))
    models = of_run or {}
    lists = grouped(
        (models.get(name, name), merged(value, chance, SAME_SUM))
        for name, _, value, chance, _ in score_orders(run)
    )
    frames, runs = [nothing], Counter(models.values())
    for model, mean, queries in means.select("model", "value", "queries").rows():
        queries *= runs.get(model, 1)
        whole = every_sum(lists[model], SAME_SUM) if model in lists else None
        if whole is None:
            continue
        average = float(whole.chance @ whole.value) / queries
        if abs(average - mean) <= SURE * max(mean, 1.0):  # not so with weighted means
            chances = pl.DataFrame({"value": whole.value / queries, "probability": whole.chance})
            measure = {"model": pl.lit(model), "metric": pl.lit(metric), "cutoff": cutoff}
            frames.append(in_contract(chances.with_columns(**measure), MEAN_DISTRIBUTION))
    return pl.concat(frames)

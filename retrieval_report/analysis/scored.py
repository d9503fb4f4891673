"""Compute scores of the same rankings as needed: exact policies together, random orders by metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from retrieval_report.analysis.likeness import score_like
from retrieval_report.analysis.study_data import Data, Draws, Measure
from retrieval_report.contracts.registry import schema
from retrieval_report.evaluation import evaluate, evaluate_with_draws
from retrieval_report.metrics.parsing import parse_metrics

Scored = tuple[pl.DataFrame, pl.DataFrame]  # scores, and means under every single random order


def scores_under(data: Data, policies: Sequence[str], measures: Sequence[Measure], draws: Draws) -> pl.DataFrame:
    """Return scores of all models and queries as from `evaluate`, drawing random orders only if needed.

    Parameters
    ----------
    data
        What to score.
    policies, measures
        Some of those of the data; other results may be included, but no other random orders.
    draws
        Settings of the policy shuffled.
    """
    if "shuffled" not in policies:
        return _exact(data, draws).filter(pl.col("policy").is_in(policies))
    if _at_once(data, measures, draws):
        found = _everything(data, draws)[0]
    else:
        metrics = list(dict.fromkeys(metric for metric, _ in measures))
        exact = _exact(data, draws).filter(pl.col("metric").is_in(metrics))
        found = _in_order(data, [exact, *(_drawn(data, metric, draws)[0] for metric in metrics)])
    return found if set(data.policies) <= set(policies) else found.filter(pl.col("policy").is_in(policies))


def drawn_means(data: Data, measures: Sequence[Measure], draws: Draws) -> pl.DataFrame:
    """Return means over the queries under every single random order, as from `shuffled_means`."""
    if _at_once(data, measures, draws):
        return _everything(data, draws)[1]
    metrics = list(dict.fromkeys(metric for metric, _ in measures))
    parts = pl.concat(_drawn(data, metric, draws)[1] for metric in metrics)
    return parts.sort("model", maintain_order=True)


def _at_once(data: Data, measures: Sequence[Measure], draws: Draws) -> bool:
    """Return whether to compute everything together, as is always done for another system's definitions."""
    whole = set(measures) == set(data.measures) and not data.found.known("exact")
    return whole or data.like is not None or data.found.known(("everything", draws))


def _everything(data: Data, draws: Draws) -> Scored:
    """Compute scores and random orders of all measures together."""

    def make() -> Scored:
        options = {**data.options, **draws._asdict()}
        asked: dict[str, Any] = {**data.asked, "policies": data.policies, **options}
        if data.like is None:
            return evaluate_with_draws(data.judged, **asked)
        return score_like(data.judged, data.like, judgements=None, queries=None, **asked)

    return data.found.find(("everything", draws), make)


def _exact(data: Data, draws: Draws) -> pl.DataFrame:
    """Return scores under all policies that need no random orders."""
    exact = [policy for policy in data.policies if policy != "shuffled"]
    if data.like is not None or data.found.known(("everything", draws)):
        return _everything(data, draws)[0].filter(pl.col("policy").is_in(exact))
    return data.found.find("exact", lambda: evaluate(data.judged, **data.asked, policies=exact, **data.options))


def _drawn(data: Data, metric: str, draws: Draws) -> Scored:
    """Return scores and means under random orders for one metric at all its cutoffs."""

    def make() -> Scored:
        record, cutoffs = next(request for request in parse_metrics(**data.asked) if str(request[0]) == metric)
        options = {**data.options, **draws._asdict()}
        return evaluate_with_draws(data.judged, metrics=record, cutoffs=cutoffs, policies="shuffled", **options)

    return data.found.find(("drawn", metric, draws), make)


def _in_order(data: Data, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Combine scores as if they had been computed together."""
    frame = pl.concat(parts)
    wanted = schema("scores", "metric", "cutoff")
    ranks = pl.DataFrame(list(data.measures), schema=wanted, orient="row").with_row_index("measure")
    keyed = frame.join(ranks, on=list(wanted), how="left", nulls_equal=True, maintain_order="left")
    policies = pl.col("policy").replace_strict(data.policies, range(len(data.policies)), return_dtype=pl.Int8)
    keyed = keyed.with_columns(under=policies)
    return keyed.sort("model", "query", "measure", "under", maintain_order=True).drop("measure", "under")

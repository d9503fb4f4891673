"""List weights and weighted gains from item weights, by the rule of KerasRS and TensorFlow Ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.contracts.checks import check_unique, refuse
from retrieval_report.contracts.errors import ColumnError, ParameterError
from retrieval_report.contracts.frames import check_rankings, with_model
from retrieval_report.metrics import terms
from retrieval_report.metrics.catalogue import AP, DCG, NDCG
from retrieval_report.metrics.parsing import parse_metric, parse_metrics
from retrieval_report.metrics.record import Metric
from retrieval_report.reading.frames import to_polars

KEYS = ["model", "query"]


def query_weights(
    rankings: object, *, metrics: str | Metric | Sequence[str | Metric]
) -> pl.DataFrame:
    """Return the weight of every list, computed from its items' weights: w_q = Σ w·g / Σ g.

    For DCG and NDCG, g is the gain; for other metrics it is 1 for items of relevance 1 or more,
    whatever ``relevant_from`` is when the lists are scored. A list in which every g is 0 gets the
    mean weight of the model's other lists. An item of weight 0 is masked: leave it out of the
    rankings that are scored. A list of masked items alone has weight 0. Source: KerasRS 0.4,
    ``metrics/ranking_metrics_utils``, where the mean runs over a batch; here it runs over all lists
    of the model.

    In DCG, NDCG and AP, KerasRS also multiplies the term of every item by the item's weight. A
    weight per list has the same effect only if all items of the list with a gain above 0 have the
    same weight; other weights are refused. :func:`weigh_gains` accepts them.

    Parameters
    ----------
    rankings
        A rankings frame with a column ``weight`` and ``relevance``.
    metrics
        The same as for :func:`evaluate`; cutoffs in them are ignored.

    Returns
    -------
    polars.DataFrame
        ``model``, ``query``, ``metric``, ``weight``, to be passed to ``summarise(queries=…,
        average="weighted")``.

    Raises
    ------
    ParameterError
        If a metric is DCG, NDCG, AP or a variant of them, and items of a list with a gain above 0
        differ in weight.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q", "q", "r"],
    ...         "item": ["a", "b", "a"],
    ...         "distance": [1, 2, 1],
    ...         "relevance": [1, 1, 0],
    ...         "weight": [1.0, 3.0, 5.0],
    ...     }
    ... )
    >>> query_weights(rankings, metrics="rr")["weight"].to_list()
    [2.0, 2.0]
    """
    frame, everything = _read(rankings)
    parts = []
    for metric, _ in parse_metrics(metrics, None):
        if isinstance(metric, DCG | AP):
            _refuse_uneven(frame, metric)
        parts.append(list_sums(frame, everything, metric))
    return list_weights(pl.concat(parts))


class WeighedGains(NamedTuple):
    """Result of :func:`weigh_gains`: arguments for ``evaluate`` and for ``summarise``."""

    rankings: pl.DataFrame
    metric: Metric
    weights: pl.DataFrame


def weigh_gains(rankings: object, metric: str | Metric = "ndcg") -> WeighedGains:
    """Multiply gains by item weights in DCG, NDCG and AP, as KerasRS and TensorFlow Ranking do.

    An item of weight w counts w·gain(rel), in the ideal of NDCG too; DCG is divided by the
    weight of its list, which the weighted mean over lists multiplies back. AP becomes Σ
    w·precision@i / Σ w over the relevant items, those of relevance 1 or more. Ties stay exact,
    because an item's weight is a property of the item.

    Source: KerasRS 0.4, ``metrics/dcg``, ``metrics/ndcg`` and ``metrics/mean_average_precision``.

    Parameters
    ----------
    rankings
        A rankings frame with a column ``weight`` and ``relevance``.
    metric
        AP, or DCG or NDCG, whose own gain is used (KerasRS has ``"ndcg(gain=exp2,ideal=list)"``); a
        cutoff in it is ignored.

    Returns
    -------
    WeighedGains
        ``rankings`` whose relevance is the weighted gain and the ``metric`` that reads it, both for
        ``evaluate``, and ``weights`` of the lists (columns of :func:`query_weights`) for
        ``summarise(queries=…, average="weighted")``. In AP the relevance is the weight over the
        mean weight of the list's relevant items; the extremes of tie orders are not computed.

    Raises
    ------
    ParameterError
        If the metric is none of AP, DCG and NDCG, or AP does not divide by all relevant items.

    Examples
    --------
    The relevant item of weight 3 is second, but first in the ideal, so 1 + 3/log2(3) is divided by
    3 + 1/log2(3).

    >>> import polars as pl
    >>> from retrieval_report import evaluate, summarise
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q", "q"],
    ...         "item": ["a", "b"],
    ...         "distance": [1, 2],
    ...         "relevance": [1, 1],
    ...         "weight": [1.0, 3.0],
    ...     }
    ... )
    >>> weighed = weigh_gains(rankings, "ndcg(ideal=list)")
    >>> scores = evaluate(
    ...     weighed.rankings, metrics=weighed.metric, cutoffs=None, policies="expected"
    ... )
    >>> summarise(scores, queries=weighed.weights, average="weighted").select(
    ...     "metric", "value"
    ... ).row(0)
    ('ndcg(ideal=list)', 0.7967075809905068)
    """
    parsed_metric, _ = parse_metric(metric)
    if not isinstance(parsed_metric, DCG | AP):
        raise ParameterError(
            f"weigh_gains: {parsed_metric} has no gains; item weights are defined for ap, dcg and ndcg"
        )
    frame, everything = _read(rankings)
    sums, weighed, gain = weigh(frame, everything, parsed_metric)
    rows = frame.with_columns(relevance=gain).drop("weight", "mask", strict=False)
    return WeighedGains(rows, weighed, list_weights(sums).with_columns(metric=pl.lit(str(weighed))))


@dataclass(frozen=True)
class _WeighedAP(AP):
    """AP of rankings whose relevance is the weight of the item over the mean weight of the list's
    relevant items, so that R is the sum of all weights.
    """

    term = terms.WEIGHED_PRECISIONS


def weigh(
    frame: pl.DataFrame, everything: pl.DataFrame, metric: Metric
) -> tuple[pl.DataFrame, Metric, pl.Series]:
    """Return the sums of the lists, and the metric and
    relevance that put weights of items into scores.
    """
    sums = list_sums(frame, everything, metric)
    if isinstance(metric, AP) and _uneven(frame, metric).height:
        return sums, *_weigh_precisions(frame, metric)
    if not isinstance(metric, DCG):
        return sums, metric, frame["relevance"]
    gain = _gains(frame, metric) * frame["weight"].cast(pl.Float64)
    if not isinstance(metric, NDCG):  # DCG is divided by the weight of its list
        weights = list_weights(sums)
        of_lists = frame.select(KEYS).join(weights, on=KEYS, how="left", maintain_order="left")
        divisor = pl.when(pl.col("weight") > 0).then("weight").otherwise(1.0)
        gain /= of_lists.select(divisor).to_series()
    return sums, replace(metric, gain="linear"), gain


def _weigh_precisions(frame: pl.DataFrame, metric: AP) -> tuple[Metric, pl.Series]:
    """Return AP that reads weights as relevance, and
    these; relevant items have a relevance of 1 or more.
    """
    if str(metric) != "ap":
        raise ParameterError(
            f"weight: {metric}: relevant items of a list differ in weight; KerasRS defines "
            "that only for ap over all relevant items, and for none of its variants"
        )
    relevant = _gains(frame, metric)
    weight = frame["weight"].cast(pl.Float64) * relevant
    sums = frame.select(KEYS).with_columns(weight=weight, relevant=relevant)
    total, count = (pl.sum(name).over(KEYS) for name in ("weight", "relevant"))
    share = sums.select(pl.when(total > 0).then(pl.col("weight") * count / total).otherwise(0.0))
    return _WeighedAP(), share.to_series()


def _read(rankings: object) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the checked rows that count, and all lists."""
    frame = with_model(check_rankings(to_polars(rankings, "rankings")))
    if "weight" not in frame.columns:
        raise ColumnError("rankings: no column 'weight'")
    row_mask = pl.col("mask") if "mask" in frame.columns else pl.lit(True)
    refuse(frame, pl.col("relevance").is_null() & row_mask, "relevance", "null or NaN")
    check_unique(frame, (*KEYS, "item"), "rankings")
    everything = frame.select(KEYS).unique().sort(KEYS)
    frame = frame.filter(row_mask & (pl.col("weight") > 0))
    return frame, everything


def _gains(frame: pl.DataFrame, metric: Metric) -> pl.Series:
    """Return what each item counts before it is weighted."""
    relevance = frame["relevance"].cast(pl.Float64).to_numpy()
    grades, code = np.unique(relevance, return_inverse=True)
    gain = (grades >= 1).astype(np.float64)
    if isinstance(metric, DCG):
        gain = metric.term.values.of(grades, grades > 0)
    return pl.Series(gain[code], dtype=pl.Float64)


def _uneven(frame: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Return the lists in which items with a gain above 0 differ in weight."""
    weights = frame.filter(_gains(frame, metric) > 0).group_by(KEYS).agg(pl.n_unique("weight"))
    return weights.filter(pl.col("weight") > 1).sort(KEYS)


def _refuse_uneven(frame: pl.DataFrame, metric: Metric) -> None:
    """Raise if items of a list with a gain above 0 differ
    in weight, which KerasRS puts into the score itself.
    """
    uneven = _uneven(frame, metric)
    if uneven.height:
        model, query, _ = uneven.row(0)
        raise ParameterError(
            f"weight: {metric}: in {uneven.height} lists the relevant items differ in weight, "
            f"first in query {query!r} of model {model!r}; KerasRS then weights the term of each "
            "item, which weights of lists cannot express; weigh_gains() accepts such weights for "
            "ap, dcg and ndcg"
        )


def list_sums(frame: pl.DataFrame, everything: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Return what :func:`list_weights` needs of every list: its items' weights and gains, and
    weight times gain, summed.
    """
    lists = (
        frame.select(KEYS)
        .with_columns(weight=frame["weight"].cast(pl.Float64), gain=_gains(frame, metric))
        .with_columns(product=pl.col("weight") * pl.col("gain"))
        .sort(KEYS, maintain_order=True)
        .group_by(KEYS, maintain_order=True)
        .agg(pl.col("product", "gain", "weight").sum())
    )
    joined = everything.join(lists, on=KEYS, how="left", maintain_order="left")
    sums = pl.col("product", "gain", "weight").fill_null(0.0)
    return joined.select(*KEYS, sums, metric=pl.lit(str(metric)))


def list_weights(sums: pl.DataFrame) -> pl.DataFrame:
    """Return ``model``, ``query``, ``metric`` and the ``weight`` of every list from its sums."""
    weighed_gain = (pl.col("gain") > 0) & (pl.col("weight") > 0)
    mean = pl.when(weighed_gain).then(pl.col("product") / pl.col("gain"))
    filled = mean.fill_null(mean.mean().over("model", "metric")).fill_null(1.0)
    weight = pl.when(pl.col("weight") > 0).then(filled).otherwise(0.0)
    return sums.select(*KEYS, "metric", weight=weight)

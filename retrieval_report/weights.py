"""List weights from item weights, by the rule of KerasRS and TensorFlow Ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.checking import check_unique, refuse
from retrieval_report.errors import ColumnError
from retrieval_report.metrics import DCG, Metric
from retrieval_report.needs import Gain, gain_rule
from retrieval_report.parsing import parse_metrics
from retrieval_report.reading.frames import to_polars
from retrieval_report.schema import check_rankings, with_model

__all__ = ["list_weights"]

KEYS = ["model", "query"]
Floats = NDArray[np.float64]


def list_weights(rankings: object, *, metrics: str | Metric | Sequence[str | Metric]) -> pl.DataFrame:
    """Weight of every list from its items' weights: w_q = Σ w·g / Σ g.

    g is the gain for DCG and NDCG, and 1 for items of relevance 1 or more for the others. A list in which every g is
    0 gets the mean weight of the model's other lists; a list whose items all weigh 0 or are masked gets 0. Source:
    KerasRS 0.4, ``metrics/ranking_metrics_utils``, whose mean runs over a batch; here it runs over all lists of the
    model.

    Parameters
    ----------
    rankings
        A rankings frame with a column ``weight`` and ``relevance``.
    metrics
        As for :func:`evaluate`; cutoffs in them are ignored.

    Returns
    -------
    polars.DataFrame
        ``model``, ``query``, ``metric``, ``weight``: give it to ``summarise(queries=…, average="weighted")``.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame({
    ...     "query": ["q", "q", "r"], "item": ["a", "b", "a"], "distance": [1, 2, 1],
    ...     "relevance": [1, 1, 0], "weight": [1.0, 3.0, 5.0]})
    >>> list_weights(rankings, metrics="rr")["weight"].to_list()
    [2.0, 2.0]
    """
    frame = with_model(check_rankings(to_polars(rankings, "rankings")))
    if "weight" not in frame.columns:
        raise ColumnError("rankings: no column 'weight'")
    kept = pl.col("mask") if "mask" in frame.columns else pl.lit(True)
    refuse(frame, pl.col("relevance").is_null() & kept, "relevance", "null or NaN")
    check_unique(frame, (*KEYS, "item"), "rankings")
    everything = frame.select(KEYS).unique().sort(KEYS)
    if "mask" in frame.columns:
        frame = frame.filter("mask")
    parts = [_weights_of(frame, everything, metric) for metric, _ in parse_metrics(metrics, None)]
    return pl.concat(parts).select("model", "query", "metric", "weight")


def _weights_of(frame: pl.DataFrame, everything: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    relevance = frame["relevance"].cast(pl.Float64).to_numpy()
    grades, code = np.unique(relevance, return_inverse=True)
    gain: Floats = (grades >= 1).astype(np.float64)
    if isinstance(metric, DCG):
        gain = Gain(gain_rule(metric.gain)).of(grades, grades > 0)
    weight = frame["weight"].cast(pl.Float64)
    lists = (
        frame.select(KEYS)
        .with_columns(weight=weight, gain=pl.Series(gain[code], dtype=pl.Float64))
        .with_columns(product=pl.col("weight") * pl.col("gain"))
        .sort(KEYS, maintain_order=True)
        .group_by(KEYS, maintain_order=True)
        .agg(pl.col("product", "gain", "weight").sum())
    )
    known = (pl.col("gain") > 0) & (pl.col("weight") > 0)
    own = pl.when(known).then(pl.col("product") / pl.col("gain"))
    filled = own.fill_null(own.mean().over("model")).fill_null(1.0)
    weighted = lists.select(*KEYS, weight=pl.when(pl.col("weight") > 0).then(filled).otherwise(0.0))
    joined = everything.join(weighted, on=KEYS, how="left", maintain_order="left")
    return joined.select(*KEYS, metric=pl.lit(str(metric)), weight=pl.col("weight").fill_null(0.0))

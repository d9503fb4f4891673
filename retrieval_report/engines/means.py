"""Plain means over queries, without intervals."""

from __future__ import annotations

import numpy as np
import polars as pl

from retrieval_report.contracts.registry import schema

MEANS = {
    **schema("summary", "model", "metric", "cutoff", "policy", "value", "tie_std"),
    "shortest": pl.Int64,
}


def tie_means(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the plain mean over queries of every model, metric, cutoff and policy, summed in the
    order of the queries.

    The columns are ``MEANS``: ``tie_std`` is that of the mean under random tie order (null if a
    score has none) and ``shortest`` the items of the model's shortest list; values are null if no
    query has one, or if a score in the mean has no bound. ``summarise`` adds intervals, which cost
    more.

    >>> from retrieval_report.engines.evaluate import evaluate
    >>> rankings = {
    ...     "query": ["q", "q"],
    ...     "item": ["a", "b"],
    ...     "distance": [1, 1],
    ...     "relevance": [0, 1],
    ... }
    >>> tie_means(
    ...     evaluate(rankings, metrics="rr", cutoffs=1, policies="expected", truncated="no")
    ... ).row(0)
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

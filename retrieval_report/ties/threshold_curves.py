"""What a model accepts at every threshold: its pairs,
counted by query and distance, and rates of these counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.kernels.lists import Floats, Integers

RATES = {  # sums of counts that are divided
    "precision": ("tp", "tp fp"),
    "recall": ("tp", "tp fn"),
    "f1": ("tp tp", "tp tp fp fn"),
    "fpr": ("fp", "fp tn"),
    "npv": ("tn", "tn fn"),
    "accuracy": ("tp tn", "tp fp tn fn"),
}
Counts = dict[str, Floats]  # tp, fp, tn and fn at every threshold


@dataclass(frozen=True)
class Curve:
    """The pairs of one model, counted by query and threshold."""

    values: pl.Series  # the distinct thresholds, the strictest first
    step: Integers  # of every count, which of the thresholds it has
    query: Integers  # and which query
    hits: Floats  # relevant items, in the mean over tie orders
    misses: Floats  # items that are not relevant
    variance: Floats  # of the hits

    @classmethod
    def of(cls, ties: pl.DataFrame, order: str, k: int | None) -> Curve:
        """Count the first k items of every query in the ties of one model."""
        ties = ties if k is None else ties.filter(pl.col("before") < k)
        size, relevant, before = (
            ties[name].to_numpy().astype(np.float64) for name in ("size", "relevant", "before")
        )
        inside = size if k is None else np.minimum(size, k - before)
        hits, misses = relevant * inside / size, (size - relevant) * inside / size
        variance = hits * (misses / inside) * (size - inside) / np.maximum(size - 1, 1)
        falling = order == "score"
        values = ties[order].unique().sort(descending=falling)
        step = ties[order].rank("dense", descending=falling).to_numpy().astype(np.int64) - 1
        return cls(values, step, ties["query"].rle_id().to_numpy(), hits, misses, variance)

    @property
    def queries(self) -> int:
        """How many queries have items."""
        return int(self.query[-1]) + 1

    def up_to(self, counts: Floats) -> Floats:
        """Return the sum of the counts up to every threshold."""
        return np.cumsum(np.bincount(self.step, counts, len(self.values)))

    def outcomes(self, times: Integers | Floats | None = None) -> Counts:
        """Return TP, FP, TN and FN at every threshold; ``times`` says how often a query counts."""
        weight = 1 if times is None else times[self.query]
        tp, fp = self.up_to(self.hits * weight), self.up_to(self.misses * weight)
        return {"tp": tp, "fp": fp, "tn": fp[-1] - fp, "fn": tp[-1] - tp}


def rate(name: str, counts: Counts) -> Floats:
    """Return a rate at every threshold; NaN where its divisor is 0.

    >>> rate("f1", {"tp": np.ones(1), "fp": np.ones(1), "tn": np.ones(1), "fn": np.zeros(1)})
    array([0.66666667])
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(np.divide(*parts_of(name, counts)))


def parts_of(name: str, counts: Mapping[str, Any]) -> list[Any]:
    """Return the numerator and the divisor of a rate at every threshold."""
    return [sum(counts[part] for part in parts.split()) for parts in RATES[name]]

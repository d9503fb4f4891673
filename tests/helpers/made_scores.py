"""Scores frames for tests of the analysis, made without rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.frames import SCORES

Values = Sequence[float | None] | NDArray[np.float64]


def scores_of(
    models: Mapping[str, Values],
    *,
    stds: Mapping[str, Values] | None = None,
    metric: str = "ap",
    cutoff: int | None = 10,
    policy: str = "expected",
) -> pl.DataFrame:
    """Scores of each model on queries 0, 1, 2 …; None is a query left out."""
    parts = []
    for model, values in models.items():
        spread = [0.0] * len(values) if stds is None else list(stds[model])
        if policy in ("naive", "best", "worst"):
            spread = [None] * len(values)
        parts.append(
            pl.DataFrame(
                {
                    "model": [model] * len(values),
                    "query": [f"q{number:05}" for number in range(len(values))],
                    "metric": [metric] * len(values),
                    "cutoff": [cutoff] * len(values),
                    "policy": [policy] * len(values),
                    "value": list(values),
                    "std": spread,
                    "items": [100] * len(values),
                    "n_relevant": [5] * len(values),
                    "truncated": [False] * len(values),
                    "pooled": [False] * len(values),
                },
                schema={name: dtype or pl.String for name, dtype in SCORES.items()},
            )
        )
    return pl.concat(parts)


def bounded_scores(models: Mapping[str, tuple[Values, Values, Values, Values]]) -> pl.DataFrame:
    """Scores under expected, naive, worst and best, in this order for each model; every expected
    std is 0.1.
    """
    policies = ("expected", "naive", "worst", "best")
    stds = {model: [0.1] * len(values[0]) for model, values in models.items()}
    return pl.concat(
        scores_of(
            {model: values[column] for model, values in models.items()}, policy=policy, stds=stds
        )
        for column, policy in enumerate(policies)
    )


def within(share: float, nominal: float, trials: int) -> bool:
    """Whether a share of independent trials is within four standard deviations of its nominal
    value.
    """
    return bool(abs(share - nominal) <= 4 * (nominal * (1 - nominal) / trials) ** 0.5)

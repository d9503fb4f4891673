"""Scores frames for tests of the analysis, made without rankings."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
    sizes = [len(values) for values in models.values()]
    column_of = partial(pl.Series, dtype=pl.Float64)
    spread = pl.lit(None if policy in ("naive", "best", "worst") else 0.0, pl.Float64)
    if stds is not None and policy not in ("naive", "best", "worst"):
        spread = pl.lit(pl.concat(column_of(values=stds[model]) for model in models))
    return pl.DataFrame(
        {
            "model": pl.Series([*models]).gather(np.repeat(np.arange(len(sizes)), sizes)),
            "query": np.concatenate([np.arange(size) for size in sizes]),
            "value": pl.concat(column_of(values=values) for values in models.values()),
        }
    ).select(
        "model",
        query=pl.format("q{}", pl.col("query").cast(pl.String).str.zfill(5)),
        metric=pl.lit(metric),
        cutoff=pl.lit(cutoff, pl.Int64),
        policy=pl.lit(policy),
        value="value",
        std=spread,
        items=pl.lit(100, pl.Int64),
        n_relevant=pl.lit(5, pl.Int64),
        truncated=False,
        pooled=False,
    )


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

"""The probability that random tie order alone shows a pair of models in the other order."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.analysis.inputs import Floats, hold
from retrieval_report.reading.frames import to_polars

__all__ = ["FEW", "ROUNDING", "Draws", "drawn_chance", "draws_by_place", "normal_chance"]

FEW = 30  # tied queries below which a mean over them may be far from normal
ROUNDING = 1e-12  # means this close, relative to the larger, are equal

DRAWS = {"model": pl.String, "metric": pl.String, "cutoff": pl.Int64, "draw": pl.Int64, "value": pl.Float64}
Draws = dict[tuple[str, int | None], dict[str, Floats]]


def normal_chance(difference: NDArray[np.float64], tie_std: NDArray[np.float64]) -> Floats:
    """Φ(−|difference| / tie_std): 0 without spread, NaN without difference (there is no order to reverse).

    >>> normal_chance(np.array([0.02, -0.02, 0.02, 0.0]), np.array([0.01, 0.01, 0.0, 0.01])).round(4).tolist()
    [0.0228, 0.0228, 0.0, nan]
    """
    from scipy.special import ndtr

    far = np.full(difference.shape, np.inf)
    np.divide(np.abs(difference), tie_std, out=far, where=~(tie_std <= 0))
    chance: Floats = np.where(difference == 0, np.nan, ndtr(-far))
    return chance


def drawn_chance(leader: Floats, other: Floats) -> float:
    """Share of all pairs of draws in which the leader's mean is below the other's; equal means reverse nothing.

    >>> drawn_chance(np.array([0.5, 0.6]), np.array([0.4, 0.55, 0.6]))
    0.3333333333333333
    """
    margin = ROUNDING * max(np.abs(leader).max(), np.abs(other).max())
    below = np.searchsorted(np.sort(other), leader + margin, side="right")
    return float((other.size - below).sum() / (leader.size * other.size))


def draws_by_place(draws: object) -> Draws:
    """Means of every draw, by metric and cutoff, then model; a model with a null mean is left out."""
    frame = hold(to_polars(draws, "draws"), DRAWS, "draws", "shuffled_means")
    places: Draws = {}
    for (metric, cutoff, model), rows in frame.group_by("metric", "cutoff", "model", maintain_order=True):
        if rows["value"].null_count() == 0:
            places.setdefault((str(metric), cutoff), {})[str(model)] = rows["value"].to_numpy()
    return places

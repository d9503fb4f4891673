"""Compute means over queries with both uncertainties and a confidence interval, for every way to average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from retrieval_report.analysis.grid import Floats

BATCH = 2_000_000  # resampled values held at a time


class Mean(NamedTuple):
    """A mean, its standard deviation over tie orders, its standard error over queries, degrees of freedom."""

    value: float
    tie_std: float
    query_se: float
    freedom: int


class Interval(NamedTuple):
    """A confidence interval; NaN where there are too few queries."""

    low: float
    high: float


NOWHERE = Interval(math.nan, math.nan)


def power_above(*numbers: Floats) -> int:
    """Return the exponent of a power of two above all numbers, in whose units sums and squares stay finite.

    >>> power_above(np.array([0.25, np.nan]), np.array([3.0]))
    2
    """
    return math.frexp(max(float(np.nan_to_num(part).max(initial=0.0)) for part in numbers))[1]


def weighted_mean(values: Floats, spread: Floats, weight: Floats) -> Mean:
    """Return Σ w·x / Σ w; sums are exact, so the order of the queries does not matter."""
    total, size = math.fsum(weight), int(np.count_nonzero(weight))
    if total == 0:
        return Mean(math.nan, math.nan, math.nan, 0)
    value = math.fsum(weight * values) / total
    tie_std = math.sqrt(math.fsum((weight * spread) ** 2)) / total
    if size < 2:
        return Mean(value, tie_std, math.nan, 0)
    error = math.sqrt(math.fsum((weight * (values - value)) ** 2) * size / (size - 1)) / total
    return Mean(value, tie_std, error, size - 1)


def stratified_mean(strata: Sequence[tuple[Floats, Floats]]) -> Mean:
    """Return the plain mean of the strata's means; strata are fixed, and only the queries in them vary."""
    means = [weighted_mean(values, spread, np.ones(values.size)) for values, spread in strata]
    value = math.fsum(mean.value for mean in means) / len(means)
    tie_std = math.sqrt(math.fsum(mean.tie_std**2 for mean in means)) / len(means)
    if any(mean.freedom == 0 for mean in means):
        return Mean(value, tie_std, math.nan, 0)
    error = math.sqrt(math.fsum(mean.query_se**2 for mean in means)) / len(means)
    return Mean(value, tie_std, error, sum(mean.freedom for mean in means))


def t_interval(mean: Mean, confidence: float) -> Interval:
    """Return the interval by Student's t over the queries."""
    from scipy.special import stdtrit  # what `scipy.stats.t.ppf` calls, without the half second of its import

    if mean.freedom == 0:
        return NOWHERE
    reach = float(stdtrit(mean.freedom, 0.5 + confidence / 2)) * mean.query_se
    return Interval(mean.value - reach, mean.value + reach)


def bca_interval(
    strata: Sequence[Floats], weight: Floats | None, confidence: float, resamples: int, seed: int
) -> Interval:
    """Return the bias-corrected and accelerated bootstrap interval (Efron 1987), resampling queries within strata.

    One stratum may have weights, which are resampled with their queries; queries of weight 0 take no part.
    """
    if weight is not None:
        strata, weight = [strata[0][weight > 0]], weight[weight > 0]
    if min(stratum.size for stratum in strata) < 2:
        return NOWHERE
    # Relative to each stratum's smallest value, in units of the widest range, so that rounding cannot fake a spread.
    least = [float(stratum.min()) for stratum in strata]
    unit = max(float(np.ptp(stratum)) for stratum in strata)
    origin = math.fsum(least) / len(least)
    if unit == 0:
        return Interval(origin, origin)
    scaled = [(stratum - low) / unit for stratum, low in zip(strata, least, strict=True)]
    low, high = _bootstrap(scaled, weight, confidence, resamples, seed)
    return Interval(origin + unit * low, origin + unit * high)


def _bootstrap(strata: list[Floats], weight: Floats | None, confidence: float, resamples: int, seed: int) -> Interval:
    from scipy import stats

    def mean_of_means(*samples: Floats, axis: int) -> Floats:
        return np.asarray(sum(sample.mean(axis=axis) for sample in samples) / len(samples))

    def ratio(values: Floats, weights: Floats, axis: int) -> Floats:
        return np.asarray((values * weights).sum(axis=axis) / weights.sum(axis=axis))

    result = stats.bootstrap(
        strata if weight is None else [strata[0], weight],
        mean_of_means if weight is None else ratio,
        paired=weight is not None,
        vectorized=True,
        axis=-1,
        n_resamples=resamples,
        batch=max(1, BATCH // sum(stratum.size for stratum in strata)),
        confidence_level=confidence,
        method="BCa",
        random_state=np.random.default_rng(seed),
    )
    return Interval(float(result.confidence_interval.low), float(result.confidence_interval.high))

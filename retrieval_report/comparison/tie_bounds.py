"""Bounds of the probability of a reversal from the mean, variance and range of every list alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from retrieval_report.engines.score_grid import Pairs, Scores
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.kernels.products import product

BERRY_ESSEEN = 0.56  # Shevtsova 2010, for summands of different distributions


@dataclass(frozen=True)
class Ranges:
    """Known ranges of every list at one metric and
    cutoff, (models, queries); infinite if not known.
    """

    value: Floats
    variance: Floats
    fall: Floats  # how far the score can be below its mean
    rise: Floats  # how far above it

    @cached_property
    def loose(self) -> Bools:
        """Return which lists' scores tie order affects, or may affect."""
        return (self.variance > 0) & ((self.fall > 0) | (self.rise > 0))

    def at_mean(self, where: Bools) -> Ranges:
        """Return the same ranges, but some lists' as the point that is their mean."""
        parts = (np.where(where, 0.0, part) for part in (self.variance, self.fall, self.rise))
        return Ranges(self.value, *parts)


def ranges(scores: Scores) -> Ranges:
    """Return the ranges for one measure; best and worst
    are used if available, else scores are at least 0.
    """
    has_value = ~np.isnan(scores.value)
    variance = np.where(np.isnan(scores.std), np.inf, scores.std**2)
    lowest = np.nan_to_num(scores.lowest, nan=0.0)
    value = np.where(has_value, scores.value, 0.0)
    fall = np.maximum(value - lowest, 0.0)
    rise = np.maximum(np.nan_to_num(scores.highest, nan=np.inf) - value, 0.0)
    # If the range is a point, up to rounding, tie order has no effect.
    still = np.maximum(fall, rise) <= 1e-12 * np.maximum(value, lowest)
    fixed = still | (variance == 0) | ~has_value
    return Ranges(scores.value, *(np.where(fixed, 0.0, part) for part in (variance, fall, rise)))


def over_sides(each: Floats | Bools, score_ranges: Ranges, pairs: Pairs) -> Floats:
    """Return the sums over the lists of the first and of the second model of each pair, on the
    queries that both have: (2, pairs).
    """
    scored = (~np.isnan(score_ranges.value)).T.astype(np.float64)
    endless = np.isinf(each)
    total = product(np.where(endless, 0.0, each), scored)
    total[product(endless.astype(np.float64), scored) > 0] = np.inf
    return np.stack([total[pairs.first, pairs.second], total[pairs.second, pairs.first]])


def over_pairs(each: Floats | Bools, score_ranges: Ranges, pairs: Pairs) -> Floats:
    """Return the sums over the lists of both models."""
    total: Floats = over_sides(each, score_ranges, pairs).sum(axis=0)
    return total


def lead_left(score_ranges: Ranges, pairs: Pairs, lead: Floats) -> Floats:
    """Return how far the lowest sum of the model ahead is above the highest of the other."""
    fall, rise = (
        over_sides(each, score_ranges, pairs) for each in (score_ranges.fall, score_ranges.rise)
    )
    left: Floats = np.abs(lead) - np.where(lead > 0, fall[0] + rise[1], fall[1] + rise[0])
    return left


def normal_chances(lead: Floats, deviation: Floats) -> Floats:
    """Φ(−|lead| / deviation): 0 without deviation, NaN without lead (there is no order to reverse).

    >>> normal_chances(np.array([0.02, -0.02, 0.02, 0.0]), np.array([0.01, 0.01, 0.0, 0.01])).round(
    ...     4
    ... ).tolist()
    [0.0228, 0.0228, 0.0, nan]
    """
    from scipy.special import ndtr

    far = np.full(lead.shape, np.inf)
    np.divide(np.abs(lead), deviation, out=far, where=~(deviation <= 0))
    return np.where(lead == 0, np.nan, ndtr(-far))


def tail_bounds(score_ranges: Ranges, pairs: Pairs, lead: Floats) -> tuple[Floats, Floats]:
    """Return bounds of the probability that random tie
    order removes the lead of each pair, from moments.

    ``lead`` is that of the first model in the sum over the paired queries; no lead is left alone.
    From above: Cantelli's, Hoeffding's and Bennett's inequality; from both sides the normal
    distribution with the remainder of Berry and Esseen. All of them hold for any independent lists.
    """
    from scipy.special import ndtr

    first, second = pairs.first, pairs.second
    farthest = np.maximum(score_ranges.fall, score_ranges.rise)
    with np.errstate(invalid="ignore"):  # 0 times anything is 0
        cubes = np.where(
            (score_ranges.variance == 0) | (farthest == 0), 0.0, score_ranges.variance * farthest
        )
    variance, square, third = (
        over_pairs(each, score_ranges, pairs)
        for each in (score_ranges.variance, (score_ranges.fall + score_ranges.rise) ** 2, cubes)
    )
    fall = score_ranges.fall.max(axis=1, initial=0.0)
    rise = score_ranges.rise.max(axis=1, initial=0.0)
    reach = np.where(
        lead > 0, np.maximum(fall[first], rise[second]), np.maximum(fall[second], rise[first])
    )
    far = np.abs(lead)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        cantelli = variance / (variance + far**2)
        hoeffding = np.exp(-2 * far**2 / square)
        ratio = reach * far / variance
        bennett = np.exp(-variance / reach**2 * ((1 + ratio) * np.log1p(ratio) - ratio))
        bennett = np.where(ratio > 1e-6, bennett, 1.0)
        remainder = BERRY_ESSEEN * third / variance**1.5
        normal = ndtr(-far / np.sqrt(variance))
    remainder = np.where(np.isfinite(remainder), remainder, 1.0)
    # What is not known is infinite, and makes a bound NaN, which bounds nothing.
    above = np.fmin.reduce([cantelli, hoeffding, bennett, normal + remainder, np.ones_like(far)])
    below = np.maximum(normal - remainder, 0.0)
    some = variance > 0
    return np.where(some, below, 0.0), np.where(some, above, 0.0)

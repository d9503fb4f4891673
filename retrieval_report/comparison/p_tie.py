"""The probability that random tie order reverses a pair of models, from the scores of each list:
all sums if they are few, else bounds from a Fourier series.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from retrieval_report.comparison.verdicts import ROUNDING, TIE_RISK
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.kernels.products import dot
from retrieval_report.kernels.waves import Complex
from retrieval_report.scoring.convolution import Spread, every_sum, series_below
from retrieval_report.scoring.waves import TiedList, characteristic

REFINE_ABOVE_WIDTH = 0.01  # bounds farther apart than this are worth more work
MANY_AFFECTED_LISTS = (
    5_000  # lists that tie order affects; beyond, only a verdict left open is worth their orders
)
NARROW_ENOUGH = 0.02  # apart enough to be worth the orders of so many lists
FEW_AFFECTED_LISTS = 1_000  # whose orders cost little: a pair has them whatever other pairs need
PRINTED_ALIKE = 1e-4  # bounds this close are printed as one number
TERMS = (
    64  # of a series, for every standard deviation that fits into its period: bounds 0.006 apart
)
MAX_DEVIATIONS = 8  # standard deviations from the mean within which bounds are asked for
TAIL_PROBABILITY = 1e-6  # what sums beyond the period may count
MOST_TERMS = 1 << 15


class Chance(NamedTuple):
    """The probability of a reversal with bounds, that
    of equal means (NaN: not known), and the method.
    """

    low: float
    value: float
    high: float
    equal: float
    method: str


@dataclass(eq=False)
class Side:
    """One model's lists over the paired queries; what is computed of them serves all its pairs."""

    total: float  # of the means of all lists
    fixed: float  # of those that tie order does not affect
    lists: list[TiedList]  # the others
    waves: dict[tuple[float, int], Complex] = field(default_factory=dict)

    @property
    def near(self) -> float:
        """Sums this close are equal."""
        return ROUNDING * self.total

    @cached_property
    def sums(self) -> Spread | None:
        """All sums; None if they are too many."""
        spreads = [lists.spread for lists in self.lists if lists.spread is not None]
        whole = len(spreads) == len(self.lists)
        sums = every_sum(spreads, self.near / (2 * max(len(spreads), 1))) if whole else None
        return sums and Spread(sums.value + self.fixed, sums.chance)

    @cached_property
    def moments(self) -> Floats:
        """Least, mean and most of the sum of the lists, and how far one moves it."""
        each = [(lists.least, lists.mean, lists.most) for lists in self.lists]
        least, mean, most = columns = np.reshape(each, (-1, 3)).T
        reach = np.maximum(most - mean, mean - least).max(initial=0.0)
        return np.append(columns.sum(axis=1), reach)

    def wave(self, period: float, terms: int) -> Complex:
        """Return the characteristic function of the sum of the lists."""
        key = period, terms
        if key not in self.waves:
            self.waves[key] = characteristic(self.lists, period, terms)
        return self.waves[key]


def chance_of_reversal(ahead: Side | None, behind: Side | None) -> Chance | None:
    """Return the probability that the sum of the model ahead is lower: exactly if the sums are few,
    else bounds from a Fourier series; None if something is not known of a list.
    """
    if ahead is None or behind is None:
        return None
    near = max(ahead.near, behind.near)
    if ahead.sums is not None and behind.sums is not None:
        sums, chance = ahead.sums, behind.sums.chance
        below = sums.below(behind.sums.value - near)
        level = sums.below(behind.sums.value + near)
        low = dot(chance, below)
        return Chance(low, min(low, 1.0), min(low, 1.0), dot(chance, level - below), "exact")
    if any(lists.wave is None for lists in (*ahead.lists, *behind.lists)):
        return None
    by_series = _by_series(ahead, behind, near, TERMS)
    wide = by_series.high - by_series.low > REFINE_ABOVE_WIDTH
    return _by_series(ahead, behind, near, 16 * TERMS) if wide else by_series


def _by_series(ahead: Side, behind: Side, near: float, fineness: int) -> Chance:
    """Return bounds of the probability of a difference below −``near``."""
    leader, trailer = ahead.moments, behind.moments
    shift = ahead.fixed - behind.fixed  # a constant only rotates the waves
    least, mean, most = shift + leader[:3] - trailer[2::-1]
    if not least < -near <= most:
        sure = float(-near > least)
        return Chance(sure, sure, sure, np.nan, "convolved")
    deviation = np.sqrt(sum(each.variance for each in (*ahead.lists, *behind.lists)))
    reach = MAX_DEVIATIONS * deviation
    bound = float(np.clip(-near, mean - reach, mean + reach))
    period, outside = _period(most - least, deviation, max(leader[3], trailer[3]))
    power = np.ceil(np.log2(fineness * period / deviation))
    terms = 1 << int(np.clip(power, 6, np.log2(MOST_TERMS)))
    first, second = (side.wave(period, terms) for side in (ahead, behind))
    low, value, high = series_below(first * np.conj(second), mean - shift, bound - shift, period)
    # A bound nearer to the mean, where the series is of use, leaves one side open.
    low = max(low - outside, 0.0) if bound <= -near else 0.0
    high = min(high + outside, 1.0) if bound >= -near else 1.0
    return Chance(low, min(max(value, low), high), high, np.nan, "convolved")


def worth_lists(low: Floats, high: Floats, moved: Floats) -> Bools:
    """Return whether moments' bounds leave so much open that the orders of ``moved`` lists pay.

    >>> worth_lists(np.full(2, 0.1), np.full(2, 0.115), np.array([20, 50_000])).tolist()
    [True, False]
    """
    apart = high - low
    decided = (apart <= NARROW_ENOUGH) | (low > TIE_RISK) | (high <= TIE_RISK)
    wide = (apart > REFINE_ABOVE_WIDTH) & ((moved <= MANY_AFFECTED_LISTS) | ~decided)
    return wide | ((apart > PRINTED_ALIKE) & (moved <= FEW_AFFECTED_LISTS))


def _period(width: float, deviation: float, reach: float) -> tuple[float, float]:
    """Return how far from a bound sums may be, and how much sums beyond contribute (Bernstein's
    inequality); one list moves a sum by ``reach`` at most.

    It is a power of √2, so that pairs share the sums of their models.
    """
    away = MAX_DEVIATIONS * deviation
    whole = _up(width + 1e-9 * away)
    period = _up(away + 4 * deviation)
    while period < whole:
        beyond = np.arange(1, 100) * period - away  # a sum beyond m periods counts m times
        tail = 2 * np.exp(-(beyond**2) / (2 * (deviation**2 + reach * beyond / 3)))
        if tail.sum() <= TAIL_PROBABILITY and beyond[-1] > whole:
            return period, float(tail.sum())
        period *= 2**0.5
    return whole, 0.0


def _up(length: float) -> float:
    """Return the next power of √2."""
    return float(2.0 ** (np.ceil(2 * np.log2(length)) / 2))

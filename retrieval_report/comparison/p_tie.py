"""The probability that random tie order reverses a pair of models, from the possible scores of each
list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from retrieval_report.comparison.tie_bounds import Ranges
from retrieval_report.comparison.verdicts import TIE_RISK
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.kernels.walks import sampled_walks
from retrieval_report.scoring.convolution import (
    Complex,
    Spread,
    characteristic,
    every_sum,
    series_below,
)
from retrieval_report.scoring.score_distribution import Drawn
from retrieval_report.scoring.score_paths import Walk

WIDE = 0.01  # bounds farther apart than this are worth more work
MANY = 5_000  # lists that tie order affects; beyond, only a verdict left open is worth their orders
NARROW = 0.02  # so close do draws bring them, unless the verdict is decided before
DRAWS = 1_000  # random orders of a pair at first
LOOKS = (
    DRAWS,
    4 * DRAWS,
    10 * DRAWS,
)  # the last decides the verdict wherever bounds remain wider than NARROW
MOST_DRAWN = 1 << 30  # items of lists drawn for one pair beyond the first orders: 20 seconds
SURE = 1e-4 / len(LOOKS)  # how often the bounds of a share of draws may miss
TERMS = (
    64  # of a series, for every standard deviation that fits into its period: bounds 0.006 apart
)
AWAY = 8  # standard deviations from the mean within which bounds are asked for
OUTSIDE = 1e-6  # what sums beyond the period may count
MOST_TERMS = 1 << 15


class ListOrders(NamedTuple):
    """The scores of one list under tie order: all of them, as a walk and, if they are few, listed;
    or those of drawn orders.
    """

    spread: Spread | None
    walk: Walk | None
    drawn: Drawn | None  # None: all orders are counted
    column: int  # of the drawn scores
    seed: int  # seed for drawing from all orders

    @property
    def mean(self) -> float:
        """Return the mean score."""
        if self.walk is not None:
            return float(self.walk.mean)
        return float(self.sample(DRAWS).mean())

    def sample(self, draws: int) -> Floats:
        """Return scores in random orders; those of different lists are independent."""
        if self.drawn is not None:
            return self.drawn.first(draws, self.column)
        found = np.empty(draws)
        if self.walk is not None:
            sampled_walks(self.walk.steps, self.walk.last, np.uint64(self.seed), found)
        return found


class Chance(NamedTuple):
    """The probability of a reversal with bounds, that of equal means (NaN: not known), and the
    method, if any.
    """

    low: float
    value: float
    high: float
    equal: float
    method: str | None


class Side(NamedTuple):
    """One model's lists over the paired queries."""

    key: tuple[int, bytes]
    fixed: float  # sum of the lists that tie order does not affect
    lists: tuple[ListOrders | None, ...]  # the others; None if nothing is known of one

    @property
    def counted(self) -> bool:
        """Return whether all orders of every list are known."""
        return all(orders is not None and orders.drawn is None for orders in self.lists)

    @property
    def walks(self) -> list[Walk]:
        """Return the lists whose orders are all known as walks."""
        return [one.walk for one in self.lists if one is not None and one.walk is not None]


Sides = tuple[Side, Side]


@dataclass
class Reversals:
    """Pairs of models at one metric and cutoff; sums over the lists of a model serve all its
    pairs.
    """

    known: Ranges
    lists: Mapping[tuple[int, int], ListOrders]  # by rows of model and query
    _sums: dict[object, Spread | None] = field(default_factory=dict)
    _waves: dict[object, Complex] = field(default_factory=dict)

    def sides(self, first: int, second: int) -> Sides:
        """Return the lists of both models of a pair."""
        paired = ~np.isnan(self.known.value[first]) & ~np.isnan(self.known.value[second])
        sides = []
        for row in (first, second):
            fixed, lists = 0.0, []
            for query in np.flatnonzero(paired):
                if self.known.loose[row, query]:
                    lists.append(self.lists.get((row, int(query))))
                else:
                    fixed += float(self.known.value[row, query])
            sides.append(Side((row, paired.tobytes()), fixed, tuple(lists)))
        return sides[0], sides[1]

    def of(
        self, ahead: Side, behind: Side, near: float, bounds: tuple[float, float]
    ) -> Chance | None:
        """Return bounds of the probability that the sum of the model ahead is lower by ``near``,
        given the ``bounds`` that moments give.

        None: no more is known.
        """
        found = self._counted(ahead, behind, near) if ahead.counted and behind.counted else None
        if found is not None and found.high - found.low <= NARROW:
            return found
        for draws in LOOKS:
            drawn = _from_draws(ahead, behind, near, draws)
            if drawn is None:
                break
            found = drawn if found is None else _narrowed(found, drawn)
            low, high = max(found.low, bounds[0]), min(found.high, bounds[1])
            if high - low <= NARROW or low > TIE_RISK or high <= TIE_RISK:
                break
        return found

    def _counted(self, ahead: Side, behind: Side, near: float) -> Chance:
        """Return the chance from all sums if they are few, else bounds from a Fourier series."""
        sums, others = self._summed(ahead, near), self._summed(behind, near)
        if sums is None or others is None:
            found = self._by_series(ahead, behind, near, TERMS)
            wide = found.high - found.low > WIDE
            return self._by_series(ahead, behind, near, 16 * TERMS) if wide else found
        below, level = sums.below(others.value - near), sums.below(others.value + near)
        low, equal = float(others.chance @ below), float(others.chance @ (level - below))
        return Chance(low, min(low, 1.0), min(low, 1.0), equal, "exact")

    def equal(self, ahead: Side, behind: Side, near: float) -> float:
        """Return the probability of equal sums; NaN if it is not known."""
        return (
            self._counted(ahead, behind, near).equal if ahead.counted and behind.counted else np.nan
        )

    def _summed(self, side: Side, near: float) -> Spread | None:
        """Return the sums of a model; None if they are too many."""
        if side.key not in self._sums:
            spreads = [
                one.spread for one in side.lists if one is not None and one.spread is not None
            ]
            whole = len(spreads) == len(side.lists)
            sums = every_sum(spreads, near / (2 * max(len(spreads), 1))) if whole else None
            self._sums[side.key] = sums and Spread(sums.value + side.fixed, sums.chance)
        return self._sums[side.key]

    def _by_series(self, ahead: Side, behind: Side, near: float, fineness: int) -> Chance:
        """Return bounds of the probability of a difference below −``near``."""
        sums = _Sums.of(ahead, behind)
        if not sums.least < -near <= sums.most:
            sure = float(-near > sums.least)
            return Chance(sure, sure, sure, np.nan, "convolved")
        if abs(sums.mean + near) > AWAY * sums.deviation:
            return Chance(0.0, float(-near > sums.mean), 1.0, np.nan, "convolved")
        period, outside = sums.period()
        power = np.ceil(np.log2(fineness * period / sums.deviation))
        terms = 1 << int(np.clip(power, 6, np.log2(MOST_TERMS)))
        first, second = (self._wave(side, period, terms) for side in (ahead, behind))
        shift = ahead.fixed - behind.fixed  # a constant only rotates the waves
        low, value, high = series_below(
            first * np.conj(second), sums.mean - shift, -near - shift, period
        )
        low, high = max(low - outside, 0.0), min(high + outside, 1.0)
        return Chance(low, min(max(value, low), high), high, np.nan, "convolved")

    def _wave(self, side: Side, period: float, terms: int) -> Complex:
        key = (side.key, period, terms)
        if key not in self._waves:
            self._waves[key] = characteristic(side.walks, period, terms)
        return self._waves[key]


def _from_draws(ahead: Side, behind: Side, near: float, draws: int) -> Chance | None:
    """Return the share of drawn orders that reverse the pair; None if a list has none, or they
    are too many.
    """
    totals = np.full(draws, ahead.fixed - behind.fixed)
    lists = [(1.0, one) for one in ahead.lists] + [(-1.0, one) for one in behind.lists]
    items = draws * sum(
        one.drawn.cells for _, one in lists if one is not None and one.drawn is not None
    )
    if draws > DRAWS and items > MOST_DRAWN:
        return None
    for sign, one in lists:
        if one is None:
            return None
        totals += sign * one.sample(draws)
    count = int((totals < -near).sum())
    low, high = binomial_bounds(count, draws)
    return Chance(low, count / draws, high, np.nan, "shuffles")


def worth_lists(low: Floats | float, high: Floats | float, moved: Floats | float) -> Bools:
    """Return whether moments' bounds leave so much open that the orders of ``moved`` lists pay.

    >>> worth_lists(0.1, 0.115, np.array([20, 50_000])).tolist()
    [True, False]
    """
    clear = (np.subtract(high, low) <= NARROW) | np.greater(low, TIE_RISK)
    found: Bools = (np.subtract(high, low) > WIDE) & ~(
        np.greater(moved, MANY) & (clear | np.less_equal(high, TIE_RISK))
    )
    return found


def binomial_bounds(count: int, draws: int) -> tuple[float, float]:
    """Return Clopper and Pearson's bounds of a probability; of all looks at a pair, one fails once
    in 10 000 pairs.

    >>> [round(bound, 4) for bound in binomial_bounds(0, 1000)]
    [0.0, 0.0109]
    """
    from scipy.special import betaincinv

    low = float(betaincinv(count, draws - count + 1, SURE / 2)) if count else 0.0
    high = float(betaincinv(count + 1, draws - count, 1 - SURE / 2)) if count < draws else 1.0
    return low, high


class _Sums(NamedTuple):
    """The range of the difference of two sums, and how far single lists move it."""

    least: float
    most: float
    mean: float
    deviation: float
    reach: float

    @classmethod
    def of(cls, first: Side, second: Side) -> _Sums:
        """Return the range of the first minus the second."""
        ahead, behind, fixed = first.walks, second.walks, first.fixed - second.fixed
        least = fixed + sum(walk.least for walk in ahead) - sum(walk.most for walk in behind)
        most = fixed + sum(walk.most for walk in ahead) - sum(walk.least for walk in behind)
        mean = fixed + sum(walk.mean for walk in ahead) - sum(walk.mean for walk in behind)
        both = [*ahead, *behind]
        reach = max(max(walk.most - walk.mean, walk.mean - walk.least) for walk in both)
        return cls(least, most, mean, float(np.sqrt(sum(walk.variance for walk in both))), reach)

    def period(self) -> tuple[float, float]:
        """Return how far from a bound sums may be, and how much sums beyond contribute (Bernstein's
        inequality).

        It is a power of √2, so that pairs share the sums of their models.
        """
        away = AWAY * self.deviation
        whole = _up(self.most - self.least + 1e-9 * away)
        period = _up(away + 4 * self.deviation)
        while period < whole:
            beyond = np.arange(1, 100) * period - away  # a sum beyond m periods counts m times
            tail = 2 * np.exp(-(beyond**2) / (2 * (self.deviation**2 + self.reach * beyond / 3)))
            if tail.sum() <= OUTSIDE and beyond[-1] > whole:
                return period, float(tail.sum())
            period *= 2**0.5
        return whole, 0.0


def _up(length: float) -> float:
    """Return the next power of √2."""
    return float(2.0 ** (np.ceil(2 * np.log2(length)) / 2))


def _narrowed(found: Chance, drawn: Chance) -> Chance:
    """Combine two valid pairs of bounds; certain bounds win if draws contradict them."""
    low, high = max(found.low, drawn.low), min(found.high, drawn.high)
    if low > high or (low, high) == (found.low, found.high):
        return found
    return Chance(low, min(max(drawn.value, low), high), high, found.equal, drawn.method)

"""The probability that random tie order reverses a pair of models, from the possible scores of each
list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from retrieval_report.comparison.tie_bounds import Ranges
from retrieval_report.comparison.verdicts import ROUNDING, TIE_RISK
from retrieval_report.engines.score_grid import Bools, Floats
from retrieval_report.kernels.walks import sampled_walks
from retrieval_report.scoring.convolution import (
    Complex,
    Spread,
    characteristic,
    every_sum,
    likely_sums,
    series_below,
)
from retrieval_report.scoring.score_distribution import Drawn
from retrieval_report.scoring.score_paths import Walk, walk_of_values

WIDE = 0.01  # bounds farther apart than this are worth more work
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
STRAY = 2.0 ** np.arange(2, 13)  # standard deviations that lists without distribution are granted


Bounds = tuple[float, float, float]  # the least, likely and greatest chance


class ListOrders(NamedTuple):
    """The scores of one list under tie order: all of them, listed or as a walk, or those of drawn
    orders.
    """

    spread: Spread | None
    walk: Walk | None
    drawn: Drawn | None  # None: all orders are counted
    column: int  # of the drawn scores
    seed: int  # seed for drawing from all orders


class Chance(NamedTuple):
    """The probability of a reversal with bounds, that of equal means (NaN: not known), and the
    method, if any.
    """

    low: float
    value: float
    high: float
    equal: float
    method: str | None


class _Side(NamedTuple):
    """One model's lists over the paired queries."""

    row: int
    paired: Bools
    parts: tuple[ListOrders, ...]  # lists for which all orders are counted
    fixed: float  # expected sum of all other lists
    stray: float  # variance of those among them that tie order affects


@dataclass
class Reversals:
    """Pairs of models at one metric and cutoff; sums over the lists of a model serve all its
    pairs.
    """

    known: Ranges
    lists: Mapping[tuple[int, int], ListOrders]  # by rows of model and query
    _sums: dict[object, Spread | None] = field(default_factory=dict)
    _waves: dict[object, Complex] = field(default_factory=dict)

    def covers(self, first: int, second: int) -> bool:
        """Return whether every list of a pair that tie order affects is available with all its
        orders.
        """
        paired = self._paired(first, second)
        found = (
            self.lists.get((row, int(query)))
            for row in (first, second)
            for query in np.flatnonzero(paired & self.known.loose[row])
        )
        return all(orders is not None and orders.drawn is None for orders in found)

    def of(
        self, first: int, second: int, lead: float, bounds: tuple[float, float]
    ) -> Chance | None:
        """Return bounds for one pair, given the ``lead`` of the first and the ``bounds`` that
        moments give.

        None: no more is known.
        """
        paired = self._paired(first, second)
        ahead, behind = (first, second) if lead >= 0 else (second, first)
        sides = self._side(ahead, paired), self._side(behind, paired)
        near = ROUNDING * max(float(self.known.value[row][paired].sum()) for row in (first, second))
        found = self._without_draws(sides, near) if any(side.parts for side in sides) else None
        if lead == 0 or (found is not None and found.high - found.low <= NARROW):
            return found
        for draws in LOOKS:
            drawn = self._from_draws(sides, near, draws)
            if drawn is None:
                break
            found = drawn if found is None else _narrowed(found, drawn)
            low, high = max(found.low, bounds[0]), min(found.high, bounds[1])
            if high - low <= NARROW or low > TIE_RISK or high <= TIE_RISK:
                break
        return found

    def _paired(self, first: int, second: int) -> Bools:
        paired: Bools = ~np.isnan(self.known.value[first]) & ~np.isnan(self.known.value[second])
        return paired

    def _side(self, row: int, paired: Bools) -> _Side:
        parts, fixed, stray = [], 0.0, 0.0
        for query in np.flatnonzero(paired):
            orders = self.lists.get((row, int(query)))
            if self.known.loose[row, query] and orders is not None and orders.drawn is None:
                parts.append(orders)
            else:
                fixed += self.known.value[row, query]
                stray += self.known.variance[row, query]
        return _Side(row, paired, tuple(parts), float(fixed), float(stray))

    def _without_draws(self, sides: tuple[_Side, _Side], near: float) -> Chance | None:
        """Return bounds from lists for which all orders are counted, allowing for the variance of
        the others.
        """
        stray = sides[0].stray + sides[1].stray
        if not np.isfinite(stray):
            return None
        sums = self._summed(sides, near, every=True)
        if sums is None:
            found = _with_stray(self._below_by_waves(sides, TERMS), stray, near, "convolved")
            if found.high - found.low <= WIDE:
                return found
            sums = self._summed(sides, near, every=False)
            if sums is None:
                return (
                    found
                    if stray > 0
                    else _with_stray(self._below_by_waves(sides, 16 * TERMS), 0, near, "convolved")
                )
        exact = stray == 0 and sums[0].left_open == sums[1].left_open == 0
        chance = _with_stray(
            lambda bound: _below(sums, bound), stray, near, "exact" if exact else "convolved"
        )
        if stray > 0 or max(sums[0].left_open, sums[1].left_open) > 1e-4:
            return chance
        equal = float(
            sums[1].chance
            @ (sums[0].below(sums[1].value + near) - sums[0].below(sums[1].value - near))
        )
        return chance._replace(equal=equal)

    def _summed(
        self, sides: tuple[_Side, _Side], near: float, *, every: bool
    ) -> tuple[Spread, Spread] | None:
        """Return the sums of both models, all or the likely ones."""
        found = []
        for side in sides:
            key = (side.row, side.paired.tobytes(), every)
            if key not in self._sums:
                form = every_sum if every else likely_sums
                spreads = [part.spread for part in side.parts if part.spread is not None]
                whole = len(spreads) == len(side.parts)
                own = form(spreads, near / (2 * max(len(spreads), 1))) if whole else None
                self._sums[key] = (
                    None if own is None else Spread(own.value + side.fixed, own.chance)
                )
            own = self._sums[key]
            if own is None:
                return None
            found.append(own)
        return found[0], found[1]

    def _below_by_waves(
        self, sides: tuple[_Side, _Side], fineness: int
    ) -> Callable[[float], Bounds]:
        """Return a function that bounds the probability of a difference below any bound, by Fourier
        series.
        """
        sums = _Sums.of(sides)
        # A constant only rotates the waves.
        shift = sides[0].fixed - sides[1].fixed
        period, outside = sums.period()

        def below(bound: float) -> Bounds:
            if not sums.least < bound <= sums.most:
                return (0.0,) * 3 if bound <= sums.least else (1.0,) * 3
            if abs(bound - sums.mean) > AWAY * sums.deviation:
                return 0.0, float(bound > sums.mean), 1.0
            terms = 1 << int(
                np.clip(
                    np.ceil(np.log2(fineness * period / sums.deviation)), 6, np.log2(MOST_TERMS)
                )
            )
            ahead, behind = (self._wave(side, period, terms) for side in sides)
            low, value, high = series_below(
                ahead * np.conj(behind), sums.mean - shift, bound - shift, period
            )
            return max(low - outside, 0.0), value, min(high + outside, 1.0)

        return below

    def _wave(self, side: _Side, period: float, terms: int) -> Complex:
        key = (side.row, side.paired.tobytes(), period, terms)
        if key not in self._waves:
            self._waves[key] = characteristic([_walk(part) for part in side.parts], period, terms)
        return self._waves[key]

    def _from_draws(self, sides: tuple[_Side, _Side], near: float, draws: int) -> Chance | None:
        """Return the share of drawn orders that reverse the pair; None if a list has none, or they
        are too many.
        """
        total, lists = 0.0, []
        for side, sign in zip(sides, (1.0, -1.0), strict=True):
            for query in np.flatnonzero(side.paired):
                orders = self.lists.get((side.row, int(query)))
                if not self.known.loose[side.row, query]:
                    total += sign * self.known.value[side.row, query]
                elif orders is None:
                    return None
                else:
                    lists.append((sign, orders))
        items = draws * sum(orders.drawn.cells for _, orders in lists if orders.drawn is not None)
        if draws > DRAWS and items > MOST_DRAWN:
            return None
        totals = np.full(draws, total)
        for sign, orders in lists:
            totals += sign * _sample(orders, draws)
        count = int((totals < -near).sum())
        low, high = binomial_bounds(count, draws)
        return Chance(low, count / draws, high, np.nan, "shuffles")


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
    def of(cls, sides: tuple[_Side, _Side]) -> _Sums:
        """Return the range of the first minus the second."""
        ahead, behind = ([_walk(part) for part in side.parts] for side in sides)
        fixed = sides[0].fixed - sides[1].fixed
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


def _walk(part: ListOrders) -> Walk:
    """Return the list as a walk: its own, unless it has fewer scores than steps."""
    if part.spread is not None and (part.walk is None or part.spread.value.size <= part.walk.size):
        return walk_of_values(*part.spread)
    assert part.walk is not None
    return part.walk


def _below(sums: tuple[Spread, Spread], bound: float) -> Bounds:
    """Return bounds of the probability that one sum minus another is below a bound."""
    ahead, behind = sums
    least = float(behind.chance @ ahead.below(behind.value + bound))
    left_open = ahead.left_open + behind.left_open
    return least, min(least + left_open / 2, 1.0), min(least + left_open, 1.0)


def _with_stray(below: Callable[[float], Bounds], stray: float, near: float, method: str) -> Chance:
    """Return the probability of a sum below 0 after adding lists of known variance, by Cantelli's
    inequality.
    """
    low, value, high = below(-near)
    if stray > 0:
        low, high = 0.0, 1.0
        for far in np.sqrt(stray) * STRAY:
            beyond = stray / (stray + far**2)
            low = max(low, below(-near - far)[0] - beyond)
            high = min(high, below(-near + far)[2] + beyond)
    return Chance(low, min(max(value, low), high), high, np.nan, method)


def _narrowed(found: Chance, drawn: Chance) -> Chance:
    """Combine two valid pairs of bounds; certain bounds win if draws contradict them."""
    low, high = max(found.low, drawn.low), min(found.high, drawn.high)
    if low > high or (low, high) == (found.low, found.high):
        return found
    return Chance(low, min(max(drawn.value, low), high), high, found.equal, drawn.method)


def _sample(orders: ListOrders, draws: int) -> Floats:
    """Return scores of a list in random orders; those of different lists are independent."""
    if orders.drawn is not None:
        return orders.drawn.first(draws, orders.column)
    walk = _walk(orders)
    found = np.empty(draws)
    sampled_walks(walk.steps, walk.last, np.uint64(orders.seed), found)
    return found

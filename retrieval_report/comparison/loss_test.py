"""Test that a mean loss is below a margin, for differences that may be sparse and skewed.

Quantising or pruning leaves most queries as they are and costs a few of them much. Student's t
certifies such losses by chance: with hit@1, a true loss of 2 % of the queries and 10 queries, 82 %
of samples show no loss at all, and a spread of 0. Three tests must therefore all reject (p is the
largest of theirs):

- Student's t with one degree of freedom less than the queries that *differ*;
- Hall's t, corrected for skewness by a monotone transformation, so that it has an interval (P.
  Hall, *On the Removal of Skewness by Transformation*, JRSS B 54(1), 1992);
- the chance that n queries miss all losses that would be needed to bring the mean from what was
  seen to the margin, if the queries that were missed lose as much as a query can. It needs no
  assumption on the distribution. Without a loss it is (1 − margin/largest loss)^n.

The level is held by the tests together in all distributions of ``benchmarks/calibration.py``.
"""

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from retrieval_report.comparison.clusters import by_cluster
from retrieval_report.comparison.significance import PairedT, paired_t
from retrieval_report.engines.score_grid import DIGITS, Indices
from retrieval_report.kernels.lists import Floats

MAX_QUERIES = 10**9  # larger numbers are of no use


def loss_test(
    difference: Floats,
    cluster: Indices | None,
    moments: PairedT,
    margin: Floats,
    alpha: float,
    largest_loss: Floats,
) -> tuple[Floats, Floats]:
    """Return p-values against a loss of the margin or more, and lower bounds, of paired differences
    (pairs, queries), whose moments are from `paired_t`.

    The largest loss is that of one query. NaN where there are fewer than two units.
    """
    units, scale = _units(difference, cluster, moments)
    shape = _shape(units, moments)
    lead = lead_over(-margin, moments.mean)
    p, low = _unseen(moments, lead, alpha, largest_loss * scale)
    return (
        np.maximum(_p_of_spread(lead, moments.spread, *shape), p),
        np.minimum(moments.mean - _reach(*shape, alpha) * moments.spread, low),
    )


def excess_test(
    difference: Floats,
    cluster: Indices | None,
    moments: PairedT,
    margin: Floats,
    alpha: float,
    largest_gain: Floats,
) -> tuple[Floats, Floats]:
    """Return p-values against a loss of the margin or less, and upper bounds, as `loss_test` does.

    They are Student's t. Where nothing varies, or so few units that even their signs could fall
    alike, the chance to have missed the largest gains must be small as well: two losses of one
    size have a spread of 0, but a coin falls on one side twice as easily.
    """
    _, scale = _units(difference, cluster, moments)
    loss = moments._replace(mean=-moments.mean)
    lead = lead_over(margin, loss.mean)
    size = np.maximum(loss.units, 2.0)
    p = _p_of_spread(lead, loss.spread, size, size - 1.0, np.zeros_like(size))
    missed, low = _unseen(loss, lead, alpha, largest_gain * scale)
    thin = (loss.spread == 0) | (0.5**loss.units > alpha)
    return (
        np.where(thin, np.maximum(p, missed), p),
        np.where(thin, np.maximum(moments.high, -low), moments.high),
    )


def lead_over(least: float | Floats, mean: Floats) -> Floats:
    """Return how far means are above a number, 0 where they differ from it by rounding alone."""
    lead = mean - least
    rounding = 10.0**-DIGITS * np.maximum(np.abs(mean), np.abs(least))
    return np.where(np.abs(lead) <= rounding, 0.0, lead)


def difference_test(difference: Floats, cluster: Indices | None = None) -> Floats:
    """Return the two-sided p that paired differences (pairs, queries) have a mean of 0, the larger
    of Student's t with one degree of freedom less than the queries that differ and Hall's t; where
    nothing varies, that of `paired_t`.

    >>> rarely_ahead = np.array([[0.0] * 16 + [0.5, 0.4, 0.6, 0.5]])
    >>> paired_t(rarely_ahead, 0.95).p.round(3).tolist()
    [0.044]
    >>> difference_test(rarely_ahead).round(3).tolist()
    [0.12]
    """
    moments = paired_t(difference, 0.95, cluster)
    units, _ = _units(difference, cluster, moments)
    size, freedom, skewness = _shape(units, moments)
    sides = [
        _p_of_spread(side * moments.mean, moments.spread, size, freedom, side * skewness)
        for side in (1.0, -1.0)
    ]
    return np.where(moments.spread > 0, np.minimum(2 * np.minimum(*sides), 1.0), moments.p)


def _shape(units: Floats, moments: PairedT) -> tuple[Floats, Floats, Floats]:
    """Return the number of units, at least 2; one less than those that differ, at least 1; and the
    sample skewness, 0 where nothing varies or there are fewer than three units.
    """
    differing = (np.abs(np.nan_to_num(units)) > 10.0**-DIGITS).sum(axis=1)
    size = np.maximum(moments.units, 3.0)
    rest = np.where(np.isnan(units), 0.0, units - moments.mean[:, None])
    third = (rest**3).sum(axis=1) * size / ((size - 1.0) * (size - 2.0))
    varies = (moments.spread > 0) & (moments.units > 2)
    skewness = np.where(varies, third / np.where(varies, moments.spread, 1.0) ** 3, 0.0)
    return np.maximum(moments.units, 2.0), np.maximum(differing - 1.0, 1.0), skewness


def _units(difference: Floats, cluster: Indices | None, moments: PairedT) -> tuple[Floats, Floats]:
    """Return what was drawn, of which the mean is the mean difference, and how many times the
    largest loss of a query one of them may lose.
    """
    if cluster is None:
        return difference, np.ones(len(difference))
    paired = ~np.isnan(difference)
    rest = np.where(paired, difference - moments.mean[:, None], 0.0)
    sizes = by_cluster(paired.astype(np.float64), cluster)
    share = moments.units / np.maximum(sizes.sum(axis=1), 1.0)  # one over the mean size
    units = moments.mean[:, None] + by_cluster(rest, cluster) * share[:, None]
    return np.where(sizes > 0, units, np.nan), sizes.max(axis=1, initial=0.0) * share


def _p_of_spread(
    lead: Floats, spread: Floats, size: Floats, freedom: Floats, skewness: Floats
) -> Floats:
    """Return the larger p of Student's t and of Hall's."""
    from scipy.special import stdtr

    varies = spread > 0
    ratio = lead / np.where(varies, spread, 1.0)
    root = np.sqrt(size)
    bent = _bent(ratio, size, skewness)
    p = np.maximum(stdtr(freedom, -root * ratio), stdtr(size - 1.0, -root * bent))
    return np.where(varies, p, np.where(lead > 0, 0.0, 1.0))


def _bent(ratio: Floats, size: Floats, skewness: Floats) -> Floats:
    """Return means in spreads as Hall transforms them: without skewness, as they are."""
    return ratio + skewness * ratio**2 / 3 + skewness**2 * ratio**3 / 27 + skewness / (6 * size)


def _reach(size: Floats, freedom: Floats, skewness: Floats, alpha: float) -> Floats:
    """Return how many spreads the lower bound is below the mean, by that of Student's t and Hall's
    which reaches further.
    """
    from scipy.special import stdtrit

    root = np.sqrt(size)
    bent = stdtrit(size - 1.0, 1.0 - alpha) / root - skewness / (6 * size)
    flat = np.abs(skewness) < 1e-9
    by = np.where(flat, 1.0, skewness)
    straight = np.where(flat, bent, 3 / by * (np.cbrt(1 + by * bent) - 1))
    reach: Floats = np.maximum(stdtrit(freedom, 1.0 - alpha) / root, straight)
    return reach


def _unseen(moments: PairedT, lead: Floats, alpha: float, worst: Floats) -> tuple[Floats, Floats]:
    """Return the p and the lower bound that need no assumption on the distribution; NaN where there
    are fewer than two units.
    """
    size = np.maximum(moments.units, 2.0)
    low = moments.mean - (1.0 - alpha ** (1.0 / size)) * (worst + moments.mean)
    few = (moments.units < 2) | np.isnan(moments.spread)
    p = _p_of_unseen(lead, moments.mean, worst, size)
    return np.where(few, np.nan, p), np.where(few, np.nan, low)


def _p_of_unseen(lead: Floats, mean: Floats, worst: Floats, size: Floats) -> Floats:
    """Return the chance that so many units miss every loss of the worst size, if their share is
    what would bring the mean down by ``lead``.
    """
    room = worst + mean
    share = np.clip(lead / np.where(room > 0, room, 1.0), 0.0, 1.0)
    return (1.0 - np.where(room > 0, share, 1.0)) ** size


def units_to_pass(
    spread: float,
    lead: float,
    mean: float,
    worst: float,
    alpha: float,
    power: float = 0.8,
    *,
    differing: float = 1.0,
    skewness: float = 0.0,
) -> int | None:
    """Return how many units pass with some probability, if their true mean is ``lead`` above the
    largest loss that does not matter; None if no number does, or more than 10⁹.

    ``differing`` is the share of units that differ. The bound passes if the mean is far enough
    above the true one, the chance of which is Hall's p, as near as that is to uniform.

    >>> units_to_pass(0.0, 0.02, 0.0, 1.0, 0.05), units_to_pass(0.3, 0.02, 0.0, 1.0, 0.05)
    (149, 1393)
    >>> units_to_pass(0.11, 0.05, 0.0, 1.0, 0.05, skewness=-8.6)
    224
    """
    from scipy.special import ndtri, stdtr

    if not spread >= 0 or not lead > 0:
        return None

    def passes(units: int) -> bool:
        root = math.sqrt(units)
        shift = ndtri(power) * spread / root
        unseen = _p_of_unseen(*(np.array(x) for x in (lead - shift, mean - shift, worst, units)))
        if unseen > alpha or power_of_t(lead, spread, units, alpha) < power:
            return False
        if spread == 0:
            return True
        size, bend = np.array(float(units)), np.array(skewness)
        reach = _reach(size, np.maximum(differing * size - 1.0, 1.0), bend, alpha)
        p = stdtr(size - 1.0, -root * _bent(reach - lead / spread, size, bend))
        return bool(p >= power)

    return fewest(passes)


def sparsity(
    difference: Floats, cluster: Indices | None, moments: PairedT
) -> tuple[Floats, Floats]:
    """Return which share of the units differs, and how skewed they are, of paired differences as
    `loss_test` takes them.
    """
    units, _ = _units(difference, cluster, moments)
    size, freedom, skewness = _shape(units, moments)
    return np.minimum((freedom + 1.0) / size, 1.0), skewness


def fewest(passes: Callable[[int], bool]) -> int | None:
    """Return the smallest number from 2 to 10⁹ that passes, if all above it do, or None.

    >>> fewest(lambda queries: queries >= 156), fewest(lambda queries: False)
    (156, None)
    """
    high = 2
    while not passes(high):
        high *= 2
        if high > 2 * MAX_QUERIES:
            return None
    numbers = range(high // 2 + 1, high)
    return numbers.start + bisect_left(numbers, True, key=passes)


def power_of_t(effect: float, spread: float, queries: int, alpha: float) -> float:
    """Return the probability that a one-sided paired t-test finds an effect.

    >>> round(power_of_t(0.02, 0.1, 156, 0.05), 3), power_of_t(0.02, 0.0, 2, 0.05)
    (0.8, 1.0)
    """
    from scipy.special import nctdtr, stdtrit  # `scipy.stats` takes half a second to import

    if effect <= 0:
        return alpha
    if spread == 0:
        return 1.0
    freedom = queries - 1
    shift = effect / spread * math.sqrt(queries)
    return float(1 - nctdtr(freedom, shift, -stdtrit(freedom, alpha)))

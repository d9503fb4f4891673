"""Paired tests of many pairs at once: one row of
differences per pair, one column per query, NaN if unpaired.
"""

from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.comparison.clusters import by_cluster, comparable, sums_of_pairs
from retrieval_report.contracts.arguments import Array
from retrieval_report.engines.score_grid import (
    DIGITS,
    Indices,
    Pairs,
    divided,
    largest,
    rounding,
    row_ranks,
)
from retrieval_report.kernels.lists import Bools, Floats, Integers, all_frozen, frozen
from retrieval_report.kernels.products import product
from retrieval_report.kernels.reaching import Family, Sums, count_in_blocks, count_reached

EXACT = 13  # with up to this many non-zero differences, all sign patterns are tried (2^13)
# Sign patterns drawn at a time; fixed, or else the draws would depend on the number of models
CHUNK = 512
NORMAL_FROM = (
    1_000  # so many differences of one size, or as even ones: sums of more are taken as normal
)
# Up to this many non-zero differences, Wilcoxon's distribution without ties is exact, as in R
SHORT = 49


class PairedT(NamedTuple):
    """Mean difference, its sample standard deviation, p-value and interval of each pair; NaN if
    undefined. The standard error is ``spread`` / √``units``, with one degree of freedom less than
    units: queries, or clusters of them.
    """

    mean: Floats
    std: Floats
    p: Floats
    low: Floats
    high: Floats
    spread: Floats
    units: Floats


def paired_t(difference: Floats, confidence: float, cluster: Indices | None = None) -> PairedT:
    """Test paired differences by Student's t, two-sided; of clusters of queries, with the variance
    of the mean Σ(S − n·mean)²/N² · G/(G − 1), where S is the sum of n differences of one of G
    clusters, and G − 1 degrees of freedom (Liang and Zeger, 1986).

    If all differences are equal, p is 1 if they are 0, else the chance that all have one sign, and
    the interval is the difference itself. One query has neither p nor interval.
    """
    from scipy.special import stdtr, stdtrit  # `scipy.stats` takes half a second to import

    paired = ~np.isnan(difference)
    size = paired.sum(axis=1)
    filled = np.where(paired, difference, 0.0)
    mean = filled.sum(axis=1) / np.maximum(size, 1)
    square = np.where(paired, (filled - mean[:, None]) ** 2, 0.0).sum(axis=1)
    std = np.sqrt(square / np.maximum(size - 1, 1))
    least = np.fmin.reduce(difference, axis=1, initial=np.inf)
    constant = least == np.fmax.reduce(difference, axis=1, initial=-np.inf)
    std[constant], mean[constant] = 0.0, least[constant]
    spread, units = std, size
    if cluster is not None:
        spread, units = _spread_of_clusters(filled - mean[:, None], paired, cluster)
        mean[np.abs(mean) <= _rounding(difference)] = 0.0
    error = spread / np.sqrt(np.maximum(units, 1))
    ratio = divided(np.abs(mean), error, np.where(mean == 0, 0.0, np.inf))
    freedom = np.maximum(units - 1, 1)
    p = np.where(np.isinf(ratio), 2 * 0.5**units, 2 * stdtr(freedom, -ratio))
    reach = stdtrit(freedom, 0.5 + confidence / 2) * error
    low, high = mean - reach, mean + reach
    for column in (p, low, high, spread):
        column[units < 2] = np.nan
    std[size < 2] = np.nan
    mean[size == 0] = np.nan
    return PairedT(mean, std, p, low, high, spread, units)


def _spread_of_clusters(rest: Floats, paired: Bools, cluster: Indices) -> tuple[Floats, Floats]:
    """Return the standard deviation that G independent clusters would need for the standard error
    of the mean, and G.
    """
    sums = by_cluster(np.where(paired, rest, 0.0), cluster)
    sums[np.abs(sums) <= _rounding(rest)[:, None]] = 0.0
    units = (by_cluster(paired.astype(np.float64), cluster) > 0).sum(axis=1)
    variance = (sums**2).sum(axis=1) * units / np.maximum(units - 1, 1)
    return np.sqrt(variance * units) / np.maximum(paired.sum(axis=1), 1), units


def _rounding(difference: Floats) -> Floats:
    """Return up to what sums of differences may be rounding."""
    far = np.abs(np.nan_to_num(difference)).max(axis=1, initial=0.0)
    margin: Floats = 10.0**-DIGITS * far * difference.shape[1]
    return margin


def wilcoxon(difference: Floats) -> Floats:
    """Return the two-sided p of Wilcoxon's signed-rank
    test; zeros are dropped first (Wilcoxon 1945).

    Exact below 50 non-zero differences without ties among their sizes, else the normal
    approximation, corrected for ties and for continuity, as in R's ``wilcox.test``; but up to 13
    exact with ties too, and as exact where zeros were dropped: there, R approximates. R ranks the
    differences as they are given; `differences` has rounded those of scores, as R does if
    ``digits.rank = 12``.

    >>> wilcoxon(
    ...     np.array([[0.1, 0.1, 0.1, 0.1, 0.1]])
    ... ).item()  # 2 of 32 patterns of signs; R prints 0.0369
    0.0625
    """
    from scipy.special import ndtr

    filled = np.nan_to_num(difference)
    zeros = (filled == 0).sum(axis=1)
    count = filled.shape[1] - zeros
    # Zeros rank lowest, so their number takes them off the ranks of the others.
    ranks = np.sign(filled) * (np.add(*row_ranks(np.abs(filled))) / 2 - zeros[:, None])
    squares = (ranks**2).sum(
        axis=1
    )  # the variance of the sum of ranks with random signs, ties or not
    untied = squares == count * (count + 1) * (2 * count + 1) / 6
    # The sum of positive ranks moves in steps of 1/2 or 1, that of signed ranks in twice these: R
    # takes 1 off it.
    total = np.abs(ranks.sum(axis=1))
    far = np.maximum(total - 1.0, 0.0)
    p: Floats = 2 * ndtr(-far / np.sqrt(np.maximum(squares, 1.0)))
    few = count <= EXACT
    p[few] = exact_sign_flips(np.where(np.isnan(difference[few]), np.nan, ranks[few]))
    short = ~few & untied & (count <= SHORT)
    smaller = (count * (count + 1) / 2 - total) / 2  # of the sums of positive and negative ranks
    for size in np.unique(count[short]):
        rows = short & (count == size)
        p[rows] = _signed_ranks(int(size))[smaller[rows].astype(np.intp)]
    return p


@cache
def _signed_ranks(size: int) -> Floats:
    """Return the two-sided p for every smaller sum of signed ranks 1 … size.

    >>> _signed_ranks(3).tolist()
    [0.25, 0.5, 0.75, 1.0]
    """
    ways = np.ones(1)  # up to 2⁴⁹ patterns of signs, counted exactly
    for rank in range(1, size + 1):
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    return np.minimum(2 * np.cumsum(ways)[: ways.size // 2 + 1] / 2.0**size, 1.0)


def holm(p: Floats) -> Floats:
    """Return p-values adjusted by Holm (1979), which control the probability of any false finding
    in the family.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    return _stepwise(p, np.argsort(p, kind="stable"), np.arange(p.size, 0, -1), np.maximum)


def benjamini_hochberg(p: Floats) -> Floats:
    """Return p-values adjusted by Benjamini and Hochberg
    (1995), which control the share of false findings.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.04, 0.04]
    """
    return _stepwise(p, np.argsort(-p), p.size / np.arange(p.size, 0.0, -1), np.minimum)


def _stepwise(p: Floats, order: Indices, factor: Array, bound: np.ufunc) -> Floats:
    """Return p-values times factors, none beyond those before it in an order."""
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(bound.accumulate(p[order] * factor), 1.0)
    return adjusted


def exact_sign_flips(difference: Floats, unit: Floats | None = None) -> Floats:
    """Return the two-sided p of the sign-flip test over
    all patterns; NaN for over 13 non-zero differences.

    It is the share of patterns whose mean difference is at least as far from 0 as the observed one.
    Zeros have no sign, so only non-zero differences count. ``unit`` is what the differences of each
    row were rounded to 12 digits of (by default 1), so that sums that are equal without rounding
    count as equal.

    >>> exact_sign_flips(np.array([[0.5, 0.25, 0.0, 0.5], [0.0, 0.0, np.nan, 0.0]])).tolist()
    [0.25, 1.0]
    """
    filled = np.nan_to_num(difference)
    count = np.count_nonzero(filled, axis=1)
    p = np.full(count.size, np.nan)
    p[(count == 0) & ~np.isnan(difference).all(axis=1)] = 1.0
    for size in np.unique(count[(count > 0) & (count <= EXACT)]):
        rows = np.flatnonzero(count == size)
        nonzero = filled[rows][filled[rows] != 0].reshape(-1, size)
        sums = np.abs(product(nonzero, every_pattern(size)))
        observed = np.abs(nonzero.sum(axis=1)) - 10.0**-DIGITS * size * (
            1.0 if unit is None else unit[rows]
        )
        p[rows] = (sums >= observed[:, None]).mean(axis=1)
    return p


def every_pattern(queries: int) -> Floats:
    """Return all patterns of signs (queries, patterns); one stands for its opposite too, which is
    equally far from 0.

    >>> every_pattern(2).tolist(), every_pattern(0).shape
    ([[1.0, -1.0], [1.0, 1.0]], (0, 1))
    """
    patterns = np.arange(2 ** max(queries - 1, 0))
    return np.where((patterns >> np.arange(queries)[:, None]) & 1, -1.0, 1.0)


def sign_flips(value: Floats, pairs: Pairs, resamples: int, seed: int) -> tuple[Floats, pl.Series]:
    """Return the p of the sign-flip test of every pair, NaN where they share no query, and how it
    was found: "exact", by all patterns, for up to 13 non-zero differences; "normal", from the
    distribution that their sum then has, for 1 000 even ones or more; else "sampled".

    >>> p, method = sign_flips(np.array([[0.5, 0.75, 0.5], [0.0, 0.5, 0.0]]), Pairs.every(2), 99, 0)
    >>> p.tolist(), method.item()
    ([0.25], 'exact')
    """
    from scipy.special import ndtr

    def of_part(part: Pairs) -> tuple[Floats, Bools, Bools]:
        difference = sums_of_pairs(value, part)
        enough = comparable(difference, part)
        length, even, least = spreads(difference)
        p = np.where(enough, exact_sign_flips(difference, largest(value, part)), np.nan)
        normal = enough & np.isnan(p) & even
        far = np.maximum(np.abs(np.nansum(difference, axis=1)) - least, 0.0)
        p[normal] = 2 * ndtr(-far[normal] / length[normal])
        return p, normal, enough & np.isnan(p)

    p, normal, resampled = pairs.in_blocks(value.shape[1], of_part)
    if resampled.any():
        p[resampled] = sampled_sign_flips(value, pairs.part(resampled), resamples, seed)
    method = np.select([resampled, normal, ~np.isnan(p)], ["sampled", "normal", "exact"], "")
    return p, pl.Series(method).replace("", None)


def spreads(difference: Floats) -> tuple[Floats, Bools, Floats]:
    """Return, for each row d of differences, the facts of its sum with random signs: √Σ d², its
    standard deviation; whether it is taken as normal, as (Σ d²)² / Σ d⁴ is `NORMAL_FROM` or more
    (so many differences of one size have the same kurtosis); and, for those that may be, the
    smallest difference, half the step in which sums of equal ones move.

    >>> [part.tolist() for part in spreads(np.full((1, 1_600), -3.0))]
    [[120.0], [True], [3.0]]
    """
    size = np.abs(difference)
    size[np.isnan(size)] = 0.0
    length = np.sqrt((size**2).sum(axis=1))
    normal, least = length < 0, np.zeros_like(length)
    if size.shape[1] >= NORMAL_FROM:
        unit = np.where(length > 0, length, 1.0)
        fourth = (((size / unit[:, None]) ** 2) ** 2).sum(axis=1)
        normal = divided(np.ones_like(fourth), fourth, np.inf) >= NORMAL_FROM
        least[length > 0] = np.where(size > 0, size, np.inf).min(axis=1)[length > 0]
    return length, normal, least


def sampled_sign_flips(value: Floats, pairs: Pairs, resamples: int, seed: int) -> Floats:
    """Return the two-sided p of the sign-flip test, (b + 1) / (B + 1) over B random patterns.

    Every query has one sign per pattern, shared by all pairs. The patterns depend only on the
    ``seed`` and on the number of queries.
    """
    (observed,) = pairs.in_blocks(value.shape[1], lambda part: (sums_seen(value, part),))
    family = Family(pairs.first, pairs.second, observed, np.ones_like(observed))
    resampled = flipped_sums(value, resamples, seed, cluster=pairs.cluster)
    return (count_all(resampled, family, self_only=True) + 1) / (resamples + 1)


def sums_seen(value: Floats, pairs: Pairs) -> Floats:
    """Return how far from 0 the sum of each pair is, less what may be rounding, which must not set
    equal sums apart.
    """
    total = np.abs(np.nansum(value[pairs.first] - value[pairs.second], axis=1))
    observed: Floats = total - rounding(value, pairs)
    return observed


def count_all(resampled: Iterable[Floats | Sums], family: Family, *, self_only: bool) -> Integers:
    """Return in how many patterns each pair is as far from 0 as it was, or, if not ``self_only``,
    it or a pair before it.
    """
    reached = np.zeros(family.seen.size, np.int64)
    frozen_family = all_frozen(family)
    for sums in resampled:
        if isinstance(sums, np.ndarray):
            count_reached(frozen(sums), frozen_family, np.zeros(sums.shape[1]), self_only, reached)
        else:
            count_in_blocks(sums, frozen_family, self_only, reached)
    return reached


def flipped_sums(
    value: Floats,
    resamples: int,
    seed: int,
    *,
    normal: bool = False,
    cluster: Indices | None,
) -> Iterator[Floats | Sums]:
    """Yield sums with `CHUNK` random patterns of signs at a time; with ``normal``, as many draws
    from the normal distribution with the same covariance, which cost the same for any number of
    queries. A cluster of queries has one sign. See `sums_with`.
    """
    if normal:
        yield from _normal_sums(by_cluster(np.nan_to_num(value), cluster), resamples, seed)
        return
    # Where all models have one score, no sum of a pair depends on the sign.
    differs = np.flatnonzero((value != value[0]).any(axis=0))
    differing = np.ascontiguousarray(value[:, differs])
    unit = np.arange(value.shape[1]) if cluster is None else cluster
    for signs in random_signs(unit.max(initial=-1) + 1, resamples, seed, unit[differs]):
        yield sums_with(differing, signs)


def sums_with(value: Floats, signs: Floats) -> Floats | Sums:
    """Return the sums of the scores of models with patterns of signs (queries, patterns), whose
    differences are the sums of pairs; or, if models lack different queries, what sums up pairs.
    """
    if same_queries(value):
        return product(np.nan_to_num(value), signs)
    return partial(_turned, value, signs)


def same_queries(value: Floats) -> bool:
    """Return whether all models have scores for the same queries."""
    missing = np.isnan(value)
    return bool((missing == missing[:1]).all())


def _turned(value: Floats, signs: Floats, first: Indices, second: Indices) -> Floats:
    return product(np.nan_to_num(value[first] - value[second]), signs)


def _normal_sums(value: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield draws (models, draws) with the covariance of sums with random signs."""
    centred = value - value.mean(axis=0)  # what models share cancels in every pair
    variance, axes = np.linalg.eigh(centred @ centred.T)
    root = axes * np.sqrt(np.maximum(variance, 0.0))
    generator = np.random.default_rng(seed)
    for done in range(0, resamples, CHUNK):
        yield root @ generator.standard_normal((min(CHUNK, resamples - done), len(value))).T


def random_signs(queries: int, resamples: int, seed: int, which: Indices) -> Iterator[Floats]:
    """Yield random signs of some queries (queries, patterns), chunk by chunk, ``resamples``
    patterns in all; the signs of a query do not depend on which others are wanted.
    """
    generator = np.random.default_rng(seed)
    for done in range(0, resamples, CHUNK):
        count = queries * min(CHUNK, resamples - done)
        packed = np.frombuffer(generator.bytes((count + 7) // 8), np.uint8)
        signs = np.unpackbits(packed, count=count).reshape(-1, queries)[:, which].astype(np.float64)
        signs *= -2.0
        signs += 1.0
        yield signs.T

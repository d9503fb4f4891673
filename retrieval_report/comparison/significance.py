"""Paired tests of many pairs at once: one row of differences per pair, one column per query, NaN if
unpaired.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from retrieval_report.engines.score_grid import (
    DIGITS,
    Pairs,
    differences,
    largest,
    rounding,
    shared_queries,
)
from retrieval_report.kernels.lists import Bools, Floats

EXACT = 13  # with up to this many non-zero differences, all sign patterns are tried (2^13)
CHUNK = 512  # sign patterns drawn at a time; fixed, or else the draws would depend on the number of models
ROWS = 1 << 12  # differences whose flipped sums are held at a time
SHORT = 49  # up to this many non-zero differences, Wilcoxon's distribution without ties is exact, as in R


class PairedT(NamedTuple):
    """Mean difference, its sample standard deviation, p-value and interval of each pair; NaN if
    undefined.
    """

    mean: Floats
    std: Floats
    p: Floats
    low: Floats
    high: Floats


def paired_t(difference: Floats, confidence: float) -> PairedT:
    """Test paired differences by Student's t, two-sided.

    If all differences are equal, p is 1 if they are 0, else 0, and the interval is the difference
    itself. One query has neither p nor interval.
    """
    from scipy import stats  # imported here: half a second that only an analysis needs

    paired = ~np.isnan(difference)
    size = paired.sum(axis=1)
    counted = np.maximum(size, 1)
    filled = np.where(paired, difference, 0.0)
    mean = filled.sum(axis=1) / counted
    square = np.where(paired, (filled - mean[:, None]) ** 2, 0.0).sum(axis=1)
    std = np.sqrt(square / np.maximum(size - 1, 1))
    least = np.where(paired, difference, np.inf).min(axis=1, initial=np.inf)
    most = np.where(paired, difference, -np.inf).max(axis=1, initial=-np.inf)
    constant = least == most
    std[constant], mean[constant] = 0.0, least[constant]
    error = std / np.sqrt(counted)
    ratio = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0.0, np.inf), where=error > 0)
    freedom = np.maximum(size - 1, 1)
    p = 2 * stats.t.sf(ratio, freedom)
    reach = stats.t.ppf(0.5 + confidence / 2, freedom) * error
    low, high = mean - reach, mean + reach
    for column in (std, p, low, high):
        column[size < 2] = np.nan
    mean[size == 0] = np.nan
    return PairedT(mean, std, p, low, high)


def wilcoxon(difference: Floats) -> Floats:
    """Return the two-sided p of Wilcoxon's signed-rank test; zeros are dropped first (Wilcoxon
    1945).

    Exact below 50 non-zero differences without ties among their sizes, else the normal
    approximation, corrected for ties and for continuity, as in R's ``wilcox.test``; but up to 13,
    where R approximates, exact with ties too. R ranks the differences as they are given;
    `differences` has rounded those of scores, as R does if ``digits.rank = 12``.

    >>> wilcoxon(
    ...     np.array([[0.1, 0.1, 0.1, 0.1, 0.1]])
    ... ).item()  # 2 of 32 patterns of signs; R prints 0.0369
    0.0625
    """
    from scipy import special, stats

    filled = np.nan_to_num(difference)
    zeros = (filled == 0).sum(axis=1)
    count = filled.shape[1] - zeros
    # Zeros rank lowest, so their number takes them off the ranks of the others.
    ranks = np.sign(filled) * (stats.rankdata(np.abs(filled), axis=1) - zeros[:, None])
    squares = (ranks**2).sum(
        axis=1
    )  # the variance of the sum of ranks with random signs, ties or not
    untied = squares == count * (count + 1) * (2 * count + 1) / 6
    # The sum of positive ranks moves in steps of 1/2 or 1, that of signed ranks in twice these: R
    # takes 1 off it.
    far = np.maximum(np.abs(ranks.sum(axis=1)) - 1.0, 0.0)
    p: Floats = 2 * special.ndtr(-far / np.sqrt(np.maximum(squares, 1.0)))
    few = count <= EXACT
    p[few] = exact_sign_flips(np.where(np.isnan(difference[few]), np.nan, ranks[few]))
    short = ~few & untied & (count <= SHORT)
    for size in np.unique(count[short]):
        rows = short & (count == size)
        kept = ranks[rows][ranks[rows] != 0].reshape(-1, size)
        p[rows] = stats.wilcoxon(kept, axis=1, method="exact").pvalue
    return p


def holm(p: Floats) -> Floats:
    """Return p-values adjusted by Holm (1979), which control the probability of any false finding
    in the family.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Return p-values adjusted by Benjamini and Hochberg (1995), which control the share of false
    findings.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.04, 0.04]
    """
    from scipy import stats

    adjusted: Floats = stats.false_discovery_control(p, method="bh") if p.size else p
    return adjusted


def exact_sign_flips(difference: Floats, unit: Floats | None = None) -> Floats:
    """Return the two-sided p of the sign-flip test over all patterns; NaN for over 13 non-zero
    differences.

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
        kept = filled[rows][filled[rows] != 0].reshape(-1, size)
        sums = np.abs(kept @ every_pattern(size))
        seen = np.abs(kept.sum(axis=1)) - 10.0**-DIGITS * size * (
            1.0 if unit is None else unit[rows]
        )
        p[rows] = (sums >= seen[:, None]).mean(axis=1)
    return p


def every_pattern(queries: int) -> Floats:
    """Return all patterns of signs (queries, patterns); one stands for its opposite too, which is
    equally far from 0.

    >>> every_pattern(2).tolist(), every_pattern(0).shape
    ([[1.0, -1.0], [1.0, 1.0]], (0, 1))
    """
    patterns = np.arange(2 ** max(queries - 1, 0))
    return np.where((patterns >> np.arange(queries)[:, None]) & 1, -1.0, 1.0)


def sign_flips(value: Floats, pairs: Pairs, resamples: int, seed: int) -> tuple[Floats, Bools]:
    """Return the p of the sign-flip test of every pair, NaN where they share no query, and where
    its patterns were drawn: for pairs with more than 13 non-zero differences.

    >>> p, drawn = sign_flips(np.array([[0.5, 0.75, 0.5], [0.0, 0.5, 0.0]]), Pairs.every(2), 99, 0)
    >>> p.tolist(), drawn.tolist()
    ([0.25], [False])
    """
    p = np.concatenate(
        [
            exact_sign_flips(differences(value, part), largest(value, part))
            for part in pairs.blocks(value.shape[1])
        ]
    )
    drawn: Bools = np.isnan(p) & (shared_queries(value, pairs) > 0)
    if drawn.any():
        p[drawn] = sampled_sign_flips(value, pairs.part(drawn), resamples, seed)
    return p, drawn


def sampled_sign_flips(value: Floats, pairs: Pairs, resamples: int, seed: int) -> Floats:
    """Return the two-sided p of the sign-flip test, (b + 1) / (B + 1) over B random patterns.

    Every query has one sign per pattern, shared by all pairs. The patterns depend only on the
    ``seed`` and on the number of queries.
    """
    reached = []
    for part in pairs.blocks(1, ROWS):
        difference = np.nan_to_num(value[part.first] - value[part.second])
        seen = np.abs(difference.sum(axis=1)) - rounding(value, part)
        reached.append(np.zeros(seen.size, np.int64))
        for signs in random_signs(value.shape[1], resamples, seed):
            flipped = np.abs(difference @ signs)
            reached[-1] += np.count_nonzero(flipped >= seen[:, None], axis=1)
    p: Floats = (np.concatenate(reached) + 1) / (resamples + 1)
    return p


def random_signs(queries: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield random signs (queries, patterns), chunk by chunk, ``resamples`` patterns in all."""
    generator = np.random.default_rng(seed)
    for done in range(0, resamples, CHUNK):
        count = queries * min(CHUNK, resamples - done)
        packed = np.frombuffer(generator.bytes((count + 7) // 8), np.uint8)
        bits = np.unpackbits(packed, count=count).astype(np.float64)
        yield (1.0 - 2.0 * bits).reshape(-1, queries).T

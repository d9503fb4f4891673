"""Paired tests of many pairs at once: one row of differences per pair, one column per query, NaN if unpaired."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retrieval_report.analysis.grid import Floats
from retrieval_report.analysis.sign_flips import EXACT, exact_sign_flips

SHORT = 49  # up to this many non-zero differences, Wilcoxon's distribution without ties is exact, as in R


class PairedT(NamedTuple):
    """Mean difference, its sample standard deviation, p-value and interval of each pair; NaN if undefined."""

    mean: Floats
    std: Floats
    p: Floats
    low: Floats
    high: Floats


def paired_t(difference: Floats, confidence: float) -> PairedT:
    """Test paired differences by Student's t, two-sided.

    If all differences are equal, p is 1 if they are 0, else 0, and the interval is the difference itself. One query
    has neither p nor interval.
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
    """Return the two-sided p of Wilcoxon's signed-rank test; zeros are dropped first (Wilcoxon 1945).

    As in R: exact below 50 non-zero differences without ties among their sizes, else the normal approximation,
    corrected for ties and for continuity; but exact up to 13 with ties and zeros too. Nothing but zeros gives 1.
    """
    from scipy import special, stats

    filled = np.nan_to_num(difference)
    zeros = (filled == 0).sum(axis=1)
    count = filled.shape[1] - zeros
    # Zeros rank lowest, so their number takes them off the ranks of the others.
    ranks = np.sign(filled) * (stats.rankdata(np.abs(filled), axis=1) - zeros[:, None])
    squares = (ranks**2).sum(axis=1)  # the variance of the sum of ranks with random signs, ties or not
    untied = squares == count * (count + 1) * (2 * count + 1) / 6
    # The sum of positive ranks moves in steps of 1/2 or 1, that of signed ranks in twice these: R takes 1 off it.
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
    """Return p-values adjusted by Holm (1979), which control the probability of any false finding in the family.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Return p-values adjusted by Benjamini and Hochberg (1995), which control the share of false findings.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.04, 0.04]
    """
    from scipy import stats

    adjusted: Floats = stats.false_discovery_control(p, method="bh") if p.size else p
    return adjusted

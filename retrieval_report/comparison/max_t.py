"""Test all pairs of models as one family: max-T over studentised differences, stepped down."""

from __future__ import annotations

import numpy as np

from retrieval_report.comparison.clusters import comparable, sums_of_pairs
from retrieval_report.comparison.significance import (
    EXACT,
    MANY,
    ROWS,
    Sums,
    every_pattern,
    flipped_sums,
    same_queries,
    spreads,
    sums_with,
)
from retrieval_report.engines.score_grid import Indices, Pairs, rounding
from retrieval_report.kernels.lists import Bools, Floats


def step_down(value: Floats, pairs: Pairs, resamples: int, seed: int) -> Floats:
    r"""Return the p of every pair, adjusted for all pairs; NaN without a shared query.

    Every query has one sign per pattern, shared by all pairs, so that the dependence between pairs
    is kept. The statistic of a pair is \|Σ d\| / √Σ d² over the queries that both models have,
    which rises with \|t\| and stays finite where all differences are equal. Of clusters of queries,
    d are the sums of the differences of a cluster, which has one sign. A pair is compared with
    the largest statistic of those pairs that are not more significant than it (Westfall and Young,
    *Resampling-Based Multiple Testing*, 1993). If at most 13 queries differ at all, every pattern
    is tried and p is exact; else p = (b + 1) / (B + 1). Where the sums of all pairs are normal, as
    with some thousand queries, they are drawn from the normal distribution with their covariances
    (Hothorn, Bretz and Westfall, *Simultaneous Inference in General Parametric Models*, Biometrical
    Journal 50, 2008), which takes no longer for more queries.

    Parameters
    ----------
    value
        Scores (models, queries), NaN where there is none.
    pairs
        The family.
    resamples, seed
        B, and the seed of the patterns, which otherwise depend only on the number of queries.

    Examples
    --------
    The first model beats both others in all four queries. Two of 16 patterns do that, and two the
    same with one.

    >>> value = np.array([[0.9, 0.8, 0.9, 0.7], [0.3, 0.1, 0.2, 0.2], [0.2, 0.2, 0.1, 0.3]])
    >>> step_down(value, Pairs.every(3), 9_999, 0).tolist()
    [0.25, 0.25, 1.0]
    """
    blocks = [_statistics(value, part) for part in pairs.blocks(value.shape[1])]
    seen, scale, even, step = (
        np.concatenate([block[column] for block in blocks]) for column in range(4)
    )
    differing = np.logical_or.reduce([block[4] for block in blocks])
    normal = bool((even >= MANY).all()) and same_queries(value)
    order = np.argsort(seen, kind="stable")
    seen = np.maximum(seen - step, 0.0) if normal else seen
    family = pairs.part(order), seen[order], scale[order]
    count = int(differing.sum())
    if count > EXACT:
        drawn = flipped_sums(value, resamples, seed, normal=normal, cluster=pairs.cluster)
        reached = sum((_reached(*family, sums) for sums in drawn), np.zeros(order.size))
        p = (reached + 1) / (resamples + 1)
    else:
        signs = np.ones((differing.size, 2 ** max(count - 1, 0)))
        signs[differing] = every_pattern(count)
        turned = signs if pairs.cluster is None else signs[pairs.cluster]
        p = _reached(*family, sums_with(value, turned)) / signs.shape[1]
    adjusted = np.empty(order.size)
    adjusted[order] = np.maximum.accumulate(p[::-1])[::-1]
    return np.where(comparable(value, pairs), adjusted, np.nan)


def _statistics(value: Floats, pairs: Pairs) -> tuple[Floats, Floats, Floats, Floats, Bools]:
    """Return |Σ d| / √Σ d², less a margin for rounding, and 1 / √Σ d² of each pair, both 0 without
    a difference; how many even differences it has, and by what the first moves; and in which
    queries, or clusters of them, some pair differs.
    """
    rounded = sums_of_pairs(value, pairs)
    length, even, least = spreads(rounded)
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    # Equal sums of other scores differ by rounding, which must not set them apart.
    total = np.abs(np.nansum(value[pairs.first] - value[pairs.second], axis=1))
    seen = np.maximum(total - rounding(value, pairs), 0.0) * scale
    return seen, scale, even, least * scale, (np.nan_to_num(rounded) != 0).any(axis=0)


def _reached(pairs: Pairs, seen: Floats, scale: Floats, sums: Sums) -> Indices:
    """Count for each pair, the least significant first, the patterns in which it, or a less
    significant pair, is as far from 0 as it was.
    """
    largest: Floats | None = None
    reached = np.zeros(seen.size, np.intp)
    for start in range(0, seen.size, ROWS):
        rows = slice(start, start + ROWS)
        flipped = sums(pairs.part(rows))
        flipped *= scale[rows, None]
        if largest is None:
            largest = np.zeros(flipped.shape[1])
        reached[rows] = _reaching(flipped, seen[rows], largest)
    return reached


def _reaching(flipped: Floats, seen: Floats, largest: Floats) -> Indices:
    """Return how many patterns reach each pair of a block, and raise the ``largest`` statistic of
    each pattern so far.

    In most patterns no pair of a block exceeds the largest so far: these are counted together, by
    bisection.

    >>> largest = np.array([0.0, 5.0])
    >>> (
    ...     _reaching(np.array([[1.0, 1.0], [3.0, 2.0]]), np.array([1.5, 4.0]), largest).tolist(),
    ...     largest.tolist(),
    ... )
    ([1, 1], [3.0, 5.0])
    """
    grown = flipped.max(axis=0, initial=0.0) > largest
    still = np.sort(largest[~grown])
    reaching: Indices = still.size - np.searchsorted(still, seen, side="left")
    if grown.any():
        rising = np.ascontiguousarray(flipped[:, grown].T)
        rising[:, 0] = np.maximum(rising[:, 0], largest[grown])
        np.maximum.accumulate(rising, axis=1, out=rising)
        reaching += np.count_nonzero(rising >= seen, axis=0)
        largest[grown] = rising[:, -1]
    return reaching

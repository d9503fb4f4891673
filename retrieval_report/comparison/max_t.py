"""Test all pairs of models as one family: max-T over studentised differences, stepped down."""

from __future__ import annotations

import numpy as np

from retrieval_report.comparison.clusters import comparable, sums_of_pairs
from retrieval_report.comparison.significance import (
    EXACT,
    MANY,
    count_all,
    every_pattern,
    flipped_sums,
    same_queries,
    spreads,
    sums_with,
)
from retrieval_report.engines.score_grid import Pairs, rounding
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.kernels.reaching import Family


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
    ranked = pairs.part(order)
    family = Family(ranked.first, ranked.second, seen[order], scale[order])
    count = int(differing.sum())
    if count > EXACT:
        drawn = flipped_sums(value, resamples, seed, normal=normal, cluster=pairs.cluster)
        p = (count_all(drawn, family, alone=False) + 1) / (resamples + 1)
    else:
        signs = np.ones((differing.size, 2 ** max(count - 1, 0)))
        signs[differing] = every_pattern(count)
        turned = signs if pairs.cluster is None else signs[pairs.cluster]
        p = count_all([sums_with(value, turned)], family, alone=False) / signs.shape[1]
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

"""Test all pairs of models as one family: max-T over studentised differences, stepped down."""

import numpy as np

from retrieval_report.comparison.clusters import comparable, sums_of_pairs
from retrieval_report.comparison.significance import (
    EXACT,
    count_all,
    every_pattern,
    flipped_sums,
    same_queries,
    spreads,
    sums_seen,
    sums_with,
)
from retrieval_report.contracts.arguments import Array
from retrieval_report.engines.score_grid import Pairs, divided
from retrieval_report.kernels.lists import Floats
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

    def of_part(part: Pairs) -> tuple[Array, ...]:
        difference = sums_of_pairs(value, part)
        length, even, least = spreads(difference)
        scale = divided(np.ones_like(length), length, 0.0)
        observed = np.maximum(sums_seen(value, part), 0.0) * scale
        differs = np.logical_or.reduce(np.abs(difference) > 0, axis=0)
        return observed, scale, even, least * scale, comparable(difference, part), differs[None]

    observed, scale, even, step, enough, differs = pairs.in_blocks(value.shape[1], of_part)
    differing = differs.any(axis=0)
    normal = bool(even.all()) and same_queries(value)
    order = np.argsort(observed, kind="stable")
    observed = np.maximum(observed - step, 0.0) if normal else observed
    ranked = pairs.part(order)
    family = Family(ranked.first, ranked.second, observed[order], scale[order])
    count = int(differing.sum())
    if count > EXACT:
        resampled = flipped_sums(value, resamples, seed, normal=normal, cluster=pairs.cluster)
        p = (count_all(resampled, family, self_only=False) + 1) / (resamples + 1)
    else:
        signs = np.ones((differing.size, 2 ** max(count - 1, 0)))
        signs[differing] = every_pattern(count)
        turned = signs if pairs.cluster is None else signs[pairs.cluster]
        p = count_all([sums_with(value, turned)], family, self_only=False) / signs.shape[1]
    adjusted = np.empty(order.size)
    adjusted[order] = np.maximum.accumulate(p[::-1])[::-1]
    return np.where(enough, adjusted, np.nan)

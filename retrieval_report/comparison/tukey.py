"""Tukey's honest significant difference by permutation: one critical distance for all pairs of
models.
"""

from __future__ import annotations

import numpy as np

from retrieval_report.comparison.clusters import by_cluster
from retrieval_report.engines.score_grid import DIGITS, Indices, Pairs, complete_queries
from retrieval_report.kernels.lists import Floats

BLOCK = 1 << 21  # permuted scores held at a time


def tukey(value: Floats, pairs: Pairs, resamples: int, seed: int) -> Floats:
    """Return the p of every pair by randomised Tukey HSD, on the queries that all models have; NaN
    if there are none.

    If the models of a query could have exchanged their scores, these may be permuted among the
    models; every pair is compared with the distance between the best and the worst mean of a
    permutation (Carterette, *Multiple Testing in Statistical Analysis of Systems-Based Information
    Retrieval Experiments*, TOIS 30(1), 2012).

    Parameters
    ----------
    value
        Scores (models, queries), NaN where there is none.
    pairs
        The pairs to test; the distance is that of all models. Models exchange the scores of a whole
        cluster of queries.
    resamples, seed
        Number and seed of the permutations.

    Examples
    --------
    Two models, whose difference has one sign in all four queries: two of 16 patterns reach it.

    >>> tukey(np.array([[1.0] * 4, [0.0] * 4]), Pairs.every(2), 9999, 0).round(1).tolist()
    [0.1]
    """
    known = complete_queries(value)
    complete = value[:, known]
    exchanged = complete if pairs.cluster is None else _of_clusters(complete, pairs.cluster[known])
    if not exchanged.size:
        return np.full(pairs.first.size, np.nan)
    means = complete.mean(axis=1)
    return share_beyond(
        range_draws(exchanged, resamples, seed), np.abs(means[pairs.first] - means[pairs.second])
    )


def _of_clusters(value: Floats, cluster: Indices) -> Floats:
    """Return a number for each cluster of queries, whose mean over clusters is that over queries;
    nothing of fewer than two clusters.

    >>> _of_clusters(np.array([[1.0, 0.0, 0.5]]), np.array([0, 1, 0])).tolist()
    [[1.0, 0.0]]
    """
    sums = by_cluster(value, cluster)
    clusters = sums.shape[1]
    return sums * (clusters / value.shape[1]) if clusters > 1 else sums[:, :0]


def range_draws(values: Floats, resamples: int, seed: int) -> Floats:
    """Distance between the highest and the lowest mean in every permutation of scores within
    queries, rising.

    Parameters
    ----------
    values
        Scores (models, queries), none missing.
    resamples, seed
        How many permutations, and which.

    Examples
    --------
    Two models: each query's difference keeps or changes its sign.

    >>> range_draws(np.array([[1.0, 1.0], [0.0, 0.0]]), 8, 0).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    """
    generator = np.random.default_rng(seed)
    by_query = np.ascontiguousarray(values.T)
    draws = []
    step = max(1, BLOCK // max(by_query.size, 1))
    for start in range(0, resamples, step):
        part = np.repeat(by_query[None], min(step, resamples - start), axis=0)
        means = generator.permuted(part, axis=2, out=part).mean(axis=1)
        draws.append(np.ptp(means, axis=1))
    return np.sort(np.concatenate(draws))


def share_beyond(draws: Floats, seen: Floats) -> Floats:
    """(b + 1) / (B + 1), where b of B rising draws are at least as large as what was seen, rounding
    aside.

    >>> share_beyond(np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.0, 0.4])).tolist()
    [0.5, 1.0, 0.25]
    """
    margin = 10.0**-DIGITS * max(1.0, float(np.abs(draws).max(initial=0.0)))
    beyond = draws.size - np.searchsorted(draws, seen - margin, side="left")
    share: Floats = (beyond + 1) / (draws.size + 1)
    return share

"""Related queries: which cluster each belongs to, and differences summed by cluster."""

from dataclasses import replace

import numpy as np
import polars as pl

from retrieval_report.engines.score_grid import (
    DIGITS,
    Grid,
    Indices,
    Pairs,
    differences,
    largest,
)
from retrieval_report.engines.summary import with_clusters
from retrieval_report.kernels.lists import Bools, Floats


def clustered(pairs: Pairs, grid: Grid, cluster: str | None, queries: object) -> Pairs:
    """Return pairs that know the cluster of every query of a grid; unchanged where none is named,
    or where each query is a cluster of its own. All are one cluster, which has no test, where a
    query stands alone for others.
    """
    if grid.alone:
        return replace(pairs, cluster=np.zeros(len(grid.queries), np.intp))
    if cluster is None:
        return pairs
    names = with_clusters(pl.DataFrame({"query": grid.queries}), queries, cluster)["cluster"]
    if names.n_unique() == len(names):
        return pairs
    return replace(pairs, cluster=numbered(names))


def numbered(names: pl.Series) -> Indices:
    """Return names as numbers from 0, in the order in which they first appear.

    >>> numbered(pl.Series(["b", "a", "b"])).tolist()
    [0, 1, 0]
    """
    first = {name: number for number, name in enumerate(names.unique(maintain_order=True))}
    return np.array([first[name] for name in names], np.intp)


def by_cluster(columns: Floats, cluster: Indices | None) -> Floats:
    """Return the sums over the queries of each cluster, (rows, clusters), in a fixed order.

    >>> by_cluster(np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 0])).tolist()
    [[5.0, 2.0]]
    """
    if cluster is None or not cluster.size:
        return columns
    order = np.argsort(cluster, kind="stable")
    starts = np.unique(cluster[order], return_index=True)[1]
    return np.add.reduceat(columns[:, order], starts, axis=1)


def sums_of_pairs(value: Floats, pairs: Pairs) -> Floats:
    """Return the differences of each pair summed by cluster, NaN where it shares no query; without
    clusters, the differences.

    Sums are rounded to 12 digits of the pair's largest score, so that 0.1 + 0.2 − 0.3 is no
    difference.

    >>> value = np.array([[0.1, 0.2, 0.0, 1.0], [0.0, 0.0, 0.3, np.nan]])
    >>> sums_of_pairs(value, replace(Pairs.every(2), cluster=np.array([0, 0, 0, 1]))).tolist()
    [[0.0, nan]]
    """
    difference = differences(value, pairs)
    if pairs.cluster is None:
        return difference
    unit = largest(value, pairs)[:, None]
    sums = by_cluster(np.nan_to_num(difference), pairs.cluster)
    has_difference = by_cluster((~np.isnan(difference)).astype(np.float64), pairs.cluster) > 0
    return np.where(has_difference, np.round(sums / unit, DIGITS) * unit + 0.0, np.nan)


def comparable(sums: Floats, pairs: Pairs) -> Bools:
    """Return which pairs can be tested, by the result of `sums_of_pairs`: those that share a query,
    of clustered queries two clusters.
    """
    enough: Bools = (~np.isnan(sums)).sum(axis=1) > (pairs.cluster is not None)
    return enough

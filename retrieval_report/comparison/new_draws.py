"""The chance that one new draw of queries, runs, judges or data sets reverses two models, all else
as it is.
"""

import math

import numpy as np

from retrieval_report.comparison.clusters import by_cluster
from retrieval_report.comparison.significance import paired_t
from retrieval_report.comparison.verdicts import ALPHA
from retrieval_report.engines.score_grid import DIGITS, Indices
from retrieval_report.kernels.lists import Floats

ENOUGH_VOTES = 5  # judges or data sets; of fewer no count tells anything


def new_queries(
    difference: Floats, cluster: Indices | None = None, tie_std: float = 0.0
) -> float | None:
    """Return the chance that as many new queries have
    the other model ahead; None of one query or cluster.

    The mean difference d of these queries and that of new ones both miss the true one, each with
    the standard error e, so that the chance is that of Student's t below −|d| / √(2e²). The error
    of clusters is cluster-robust (Liang and Zeger, 1986), with a degree of freedom less than
    clusters. ``tie_std`` is the standard deviation of the difference under random tie order: with
    it, the new queries are seen in one tie order, as another tool prints them, and the chance is
    that below −|d| / √(2e² + tie_std²).

    >>> differences = np.array([0.3, -0.1, 0.2, 0.0])
    >>> round(new_queries(differences), 4), round(new_queries(differences, tie_std=0.1), 4)
    (0.2475, 0.2918)
    >>> new_queries(np.array([0.1]))
    """
    from scipy.special import stdtr  # `scipy.stats` takes half a second to import

    t = paired_t(difference[None], 0.95, cluster)
    mean, spread, units = float(t.mean[0]), float(t.spread[0]), int(t.units[0])
    if units < 2:
        return None
    deviation = math.hypot(spread * math.sqrt(2 / units), tie_std)
    return float(stdtr(units - 1, -abs(mean) / deviation)) if deviation else 0.0


def enough_queries(difference: Floats, cluster: Indices | None = None) -> bool:
    """Whether so many queries, or clusters of them, differ
    that flipping all their signs could find a difference.

    >>> enough_queries(np.full(5, 0.1)), enough_queries(np.full(6, 0.1))
    (False, True)
    """
    sums = by_cluster(difference[None], cluster)
    margin = 10.0**-DIGITS * difference.size * np.abs(difference).max(initial=0.0)
    return 2.0 ** (1 - int((np.abs(sums) > margin).sum())) <= ALPHA


def new_runs(first: Floats, second: Floats) -> float | None:
    """Return the chance that one new run of each of two models has the other model ahead, from the
    means of their runs; None where one has a single run.

    It is that of Student's t below −|D| / √(s_a² (1 + 1/a) + s_b² (1 + 1/b)) with the degrees of
    freedom of Satterthwaite (*An approximate distribution of estimates of variance components*,
    Biometrics Bulletin 2, 1946), where D is the difference of the means of a and b runs.

    >>> round(new_runs(np.array([0.5, 0.7]), np.array([0.6, 0.4, 0.3, 0.5])), 4)
    0.2813
    """
    from scipy.special import stdtr

    if min(first.size, second.size) < 2:
        return None
    parts = [runs.var(ddof=1) * (1 + 1 / runs.size) for runs in (first, second)]
    variance = math.fsum(parts)
    if variance == 0:
        return 0.0
    sizes = first.size, second.size
    weights = [(part / variance) ** 2 / (n - 1) for part, n in zip(parts, sizes, strict=True)]
    far = abs(float(first.mean() - second.mean())) / math.sqrt(variance)
    return float(stdtr(1 / math.fsum(weights), -far))


def enough_runs(first: int, second: int) -> bool:
    """Whether a permutation of so many runs of two models could find a difference, as that of 4 and
    4 or of 3 and 5 can.

    >>> enough_runs(4, 4), enough_runs(3, 5), enough_runs(3, 4)
    (True, True, False)
    """
    return min(first, second) > 1 and 2 / math.comb(first + second, first) <= ALPHA


def new_vote(against: int, level: int, votes: int) -> float | None:
    """Return the chance that the next judge or data set orders two models the other way, where so
    many of ``votes`` do so or have them level: by the rule of succession with half a vote for
    either side; None without votes.

    >>> new_vote(0, 0, 1), new_vote(0, 0, 9), new_vote(1, 1, 4), new_vote(0, 0, 0)
    (0.25, 0.05, 0.4, None)
    """
    return (against + level / 2 + 0.5) / (votes + 1) if votes else None

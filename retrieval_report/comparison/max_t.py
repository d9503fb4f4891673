"""Test all pairs of models as one family: max-T over studentised differences, stepped down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.comparison.significance import EXACT, every_pattern, random_signs
from retrieval_report.engines.score_grid import Pairs, differences, rounding, shared_queries
from retrieval_report.kernels.lists import Bools, Floats

STEP = 256  # pairs whose flipped sums are held at a time


def step_down(value: Floats, pairs: Pairs, resamples: int, seed: int) -> Floats:
    r"""Return the p of every pair, adjusted for all pairs; NaN without a shared query.

    Every query has one sign per pattern, shared by all pairs, so that the dependence between pairs
    is kept. The statistic of a pair is \|Σ d\| / √Σ d² over the queries that both models have,
    which rises with \|t\| and stays finite where all differences are equal. A pair is compared with
    the largest statistic of those pairs that are not more significant than it (Westfall and Young,
    *Resampling-Based Multiple Testing*, 1993). If at most 13 queries differ at all, every pattern
    is tried and p is exact; else p = (b + 1) / (B + 1).

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
    seen, scale = (np.concatenate([block[column] for block in blocks]) for column in (0, 1))
    differing = np.logical_or.reduce([block[2] for block in blocks])
    order = np.argsort(seen, kind="stable")
    family = value, pairs.part(order), seen[order], scale[order]
    count = int(differing.sum())
    if count > EXACT:
        drawn = (
            _reached(*family, signs) for signs in random_signs(value.shape[1], resamples, seed)
        )
        p = (sum(drawn, np.zeros(order.size)) + 1) / (resamples + 1)
    else:
        signs = np.ones((differing.size, 2 ** max(count - 1, 0)))
        signs[differing] = every_pattern(count)
        p = _reached(*family, signs) / signs.shape[1]
    adjusted = np.empty(order.size)
    adjusted[order] = np.maximum.accumulate(p[::-1])[::-1]
    return np.where(shared_queries(value, pairs) > 0, adjusted, np.nan)


def _statistics(value: Floats, pairs: Pairs) -> tuple[Floats, Floats, Bools]:
    """Return |Σ d| / √Σ d², less a margin for rounding, and 1 / √Σ d² of each pair, both 0 without
    a difference, and in which queries some pair differs.
    """
    rounded = differences(value, pairs)
    length = np.sqrt(np.nansum(rounded**2, axis=1))
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    # Equal sums of other scores differ by rounding, which must not set them apart.
    total = np.abs(np.nansum(value[pairs.first] - value[pairs.second], axis=1))
    seen = np.maximum(total - rounding(value, pairs), 0.0) * scale
    return seen, scale, (np.nan_to_num(rounded) != 0).any(axis=0)


def _reached(
    value: Floats, pairs: Pairs, seen: Floats, scale: Floats, signs: Floats
) -> NDArray[np.intp]:
    """Count for each pair, the least significant first, the patterns in which it, or a less
    significant pair, is as far from 0 as it was.
    """
    missing = np.isnan(value)
    # Where all models have the same queries, the sum of a pair is the difference of their sums.
    alike = (missing == missing[0]).all()
    sums = np.where(missing, 0.0, value) @ signs if alike else None
    largest = np.zeros(signs.shape[1])
    reached = np.zeros(seen.size, np.intp)
    for start in range(0, seen.size, STEP):
        rows = slice(start, start + STEP)
        part = pairs.part(rows)
        if sums is None:
            flipped = np.nan_to_num(value[part.first] - value[part.second]) @ signs
        else:
            flipped = sums[part.first]
            flipped -= sums[part.second]
        np.abs(flipped, out=flipped)
        flipped *= scale[rows, None]
        reached[rows] = _reaching(flipped, seen[rows], largest)
    return reached


def _reaching(flipped: Floats, seen: Floats, largest: Floats) -> NDArray[np.intp]:
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
    reaching: NDArray[np.intp] = still.size - np.searchsorted(still, seen, side="left")
    if grown.any():
        rising = np.ascontiguousarray(flipped[:, grown].T)
        rising[:, 0] = np.maximum(rising[:, 0], largest[grown])
        np.maximum.accumulate(rising, axis=1, out=rising)
        reaching += np.count_nonzero(rising >= seen, axis=0)
        largest[grown] = rising[:, -1]
    return reaching

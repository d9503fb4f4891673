"""Test all pairs of models as one family: max-T over studentised differences, stepped down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from retrieval_report.comparison.significance import EXACT, every_pattern, random_signs
from retrieval_report.engines.paired import DIGITS, differences, largest
from retrieval_report.engines.score_grid import Bools, Floats, Indices, Pairs

STEP = 256  # pairs whose flipped sums are held at a time
MOST_PAIRS = 1 << 21  # pairs, of all measures, for which the same signs serve


def step_down(values: Floats, pairs: Pairs, resamples: int, seed: int) -> Floats:
    r"""Return the p of every pair by every measure, adjusted for all pairs of the measure; NaN without a shared query.

    Every query has one sign per pattern, shared by all pairs, so that the dependence between pairs
    is kept. The statistic of a pair is \|Σ d\| / √Σ d² over the queries that both models have,
    which rises with \|t\| and stays finite where all differences are equal. A pair is compared with
    the largest statistic of those pairs that are not more significant than it (Westfall and Young,
    *Resampling-Based Multiple Testing*, 1993). If at most 13 queries differ at all, every pattern
    is tried and p is exact; else p = (b + 1) / (B + 1).

    Parameters
    ----------
    values
        Scores (measures, models, queries), NaN where there is none.
    pairs
        The family.
    resamples, seed
        B, and the seed of the patterns, which otherwise depend only on the number of queries.

    Examples
    --------
    The first model beats both others in all four queries. Two of 16 patterns do that, and two the
    same with one.

    >>> values = np.array([[[0.9, 0.8, 0.9, 0.7], [0.3, 0.1, 0.2, 0.2], [0.2, 0.2, 0.1, 0.3]]])
    >>> step_down(values, Pairs.every(3), 9_999, 0).tolist()
    [[0.25, 0.25, 1.0]]
    """
    together = max(1, MOST_PAIRS // max(pairs.first.size, 1))
    parts = [
        _tested(values[start : start + together], pairs, resamples, seed)
        for start in range(0, len(values), together)
    ]
    return np.concatenate(parts) if parts else np.empty((0, pairs.first.size))


def _tested(values: Floats, pairs: Pairs, resamples: int, seed: int) -> Floats:
    """The same for few enough pairs."""
    families = [_Family.of(value, pairs) for value in values]
    sampled = [family for family in families if family.differing.sum() > EXACT]
    for signs in random_signs(values.shape[2], resamples, seed) if sampled else ():
        for family in sampled:
            family.count(signs)
    return np.stack(
        [
            family.sampled_p(resamples) if family in sampled else family.exact_p()
            for family in families
        ]
    )


@dataclass(eq=False)
class _Family:
    """The pairs by one measure, the least significant first, and how many patterns reached each so
    far.
    """

    values: Floats  # (models, queries), NaN if there is no score
    order: Indices  # of the pairs given
    pairs: Pairs
    seen: Floats  # statistics of the scores as they are, minus a margin for rounding; rising
    scale: Floats  # 1 / √Σ d², 0 if there is no difference
    tested: Bools  # whether the two models share a query
    differing: Bools  # queries in which some pair differs
    reached: NDArray[np.int64]

    @classmethod
    def of(cls, value: Floats, pairs: Pairs) -> Self:
        """Compute what does not depend on signs."""
        size = pairs.first.size
        seen, scale, tested = np.zeros(size), np.zeros(size), np.zeros(size, np.bool_)
        differing = np.zeros(value.shape[1], np.bool_)
        for block in pairs.blocks(value.shape[1]):
            first, second = pairs.first[block], pairs.second[block]
            rounded = differences(value, first, second)
            tested[block] = ~np.isnan(rounded).all(axis=1)
            differing |= (np.nan_to_num(rounded) != 0).any(axis=0)
            length = np.sqrt(np.nansum(rounded**2, axis=1))
            scale[block] = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
            # Equal sums of other scores differ by rounding, which must not set them apart.
            rounding = 10.0**-DIGITS * value.shape[1] * largest(value, first, second)
            total = np.abs(np.nansum(value[first] - value[second], axis=1))
            seen[block] = np.maximum(total - rounding, 0.0) * scale[block]
        order = np.argsort(seen, kind="stable")
        ordered = Pairs(pairs.first[order], pairs.second[order])
        reached = np.zeros(size, np.int64)
        return cls(value, order, ordered, seen[order], scale[order], tested, differing, reached)

    def count(self, signs: Floats) -> None:
        """Count for each pair the patterns in which it, or a less significant pair, is as far from
        0 as it was.
        """
        missing = np.isnan(self.values)
        filled = np.where(missing, 0.0, self.values)
        alike = bool(
            (missing == missing[0]).all()
        )  # then the sum of a pair is the difference of the models' sums
        sums = filled @ signs if alike else None
        largest = np.zeros(signs.shape[1])
        for start in range(0, self.seen.size, STEP):
            part = slice(start, start + STEP)
            first, second = self.pairs.first[part], self.pairs.second[part]
            if sums is None:
                flipped = np.nan_to_num(self.values[first] - self.values[second]) @ signs
            else:
                flipped = sums[first]
                flipped -= sums[second]
            np.abs(flipped, out=flipped)
            flipped *= self.scale[part, None]
            self.reached[part] += _reaching(flipped, self.seen[part], largest)

    def sampled_p(self, resamples: int) -> Floats:
        """Return p from the patterns counted, which were drawn; the scores as they are count as one
        more.
        """
        return self._monotone((self.reached + 1) / (resamples + 1))

    def exact_p(self) -> Floats:
        """Return p from all patterns of the queries in which any pair differs."""
        signs = np.ones((self.differing.size, 2 ** max(int(self.differing.sum()) - 1, 0)))
        signs[self.differing] = every_pattern(int(self.differing.sum()))
        self.count(signs)
        return self._monotone(self.reached / signs.shape[1])

    def _monotone(self, p: Floats) -> Floats:
        """Return p in the order of the pairs given; that of a pair is not below those of more
        significant pairs.
        """
        adjusted = np.empty_like(p)
        adjusted[self.order] = np.maximum.accumulate(p[::-1])[::-1]
        return np.where(self.tested, adjusted, np.nan)


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

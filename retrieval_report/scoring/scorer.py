"""Score lists by metrics, running each kernel once for all metrics that share it, on a thread pool;
and the scores, as arrays and as a long frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.frames import SCORES
from retrieval_report.kernels.ap_retrieved import ratio_extremes
from retrieval_report.kernels.compile import Kernel
from retrieval_report.kernels.lists import (
    FEW,
    Bools,
    Floats,
    Integers,
    Lists,
    Moments,
    running,
    slots_walked,
)
from retrieval_report.kernels.tables import NO_WEIGHTS, Given
from retrieval_report.kernels.walk import work_together
from retrieval_report.metrics import terms
from retrieval_report.metrics.parsing import Depths, Requests
from retrieval_report.metrics.record import Metric
from retrieval_report.scoring.arrays import ordered, over_ranges, singles, stretched
from retrieval_report.scoring.layout import Prepared

# Below these, sums of gains and of their squares would lose digits: float64 holds all of them from
# 2^-1022 on, and sizes and discounts divide.
LEAST_GAIN = 2.0**-1000
LEAST_SQUARED_GAIN = 2.0**-481
NOBODY = np.empty(0, np.int64)
WHOLE = np.iinfo(np.int64).max  # the cutoff null
BOUNDS = ("worst", "best")  # policies with the ties in one order
LONGEST = 2**32  # positions for which a table of weights is made


def arrange(prepared: Prepared, policy: str) -> Lists:
    """Return lists in the order of a policy: the true
    ties, the order received, or high or low grades first.
    """
    if policy == "naive":
        assert prepared.naive is not None
        return singles(running(prepared.length), prepared.naive)
    if policy == "expected":
        return prepared.ties
    return ordered(prepared.ties, best=policy == "best")


@dataclass
class Scorer:
    """Scorer of lists at one set of cutoffs; it holds
    what does not change between policies and draws.
    """

    prepared: Prepared
    cutoffs: Depths  # kept in ascending order; empty for metrics with a depth of their own
    workers: int
    _ideals: dict[terms.Ideal, Floats] = field(default_factory=dict)
    _short: tuple[Lists, Lists] | None = (
        None  # the last lists that were shortened, and their result
    )

    def __post_init__(self) -> None:
        self.length = self.prepared.length.astype(np.float64)[:, None]
        relevant = np.maximum(self.prepared.relevant, 0)[:, None]
        self.relevant = relevant.astype(np.float64)
        self.asked, self.cutoff = relevant, self.relevant
        if self.cutoffs:
            self.cutoffs = tuple(sorted(self.cutoffs, key=lambda k: WHOLE if k is None else k))
            ranks = [WHOLE if k is None else min(k, WHOLE - 1) for k in self.cutoffs]
            self.asked = np.broadcast_to(np.array(ranks), (relevant.size, len(ranks)))
            depths = np.array([float(k or 0) for k in self.cutoffs])
            self.cutoff = np.where(depths == 0, self.length, depths)
        self.depths = np.minimum(self.asked, self.prepared.length[:, None])

    def columns(self, cutoffs: Depths) -> Integers:
        """Return the indices of cutoffs among the ascending columns; 0 without any."""
        return np.array([self.cutoffs.index(k) if self.cutoffs else 0 for k in cutoffs])

    def ideal(self, term: terms.Ideal) -> Floats:
        """Return the ideal DCG at every cutoff."""
        if term not in self._ideals:
            lists = self.prepared.judged if term.over == "judged" else self.prepared.retrieved
            length = lists.length[:, None]
            depths = np.minimum(self.asked, length) if term.over == "judged" else self.depths
            self._ideals[term] = self.moments(term.sum, "naive", lists, depths).mean
        return self._ideals[term]

    def scores(
        self,
        requests: Requests,
        policy: str,
        lists: Lists | None = None,
        into: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Return values and standard deviations of every metric at its cutoffs, each of shape
        (lists, columns), written into an array of both, if given. The ``lists`` are in the order of
        the policy, if given.
        """
        lists = arrange(self.prepared, policy) if lists is None else lists
        self._short = None  # draws write into the same lists
        # asked once: a user's may hold a new function every time
        term_columns = [
            (metric, metric.term, self.columns(cutoffs)) for metric, cutoffs in requests
        ]
        deepest: dict[terms.Sum, int] = {}  # no sum goes deeper than some metric asks
        for _, term, columns in term_columns:
            deepest[term] = max(deepest.get(term, 0), int(columns.max()) + 1)
        sums = {
            term: self.moments(term, policy, lists, np.ascontiguousarray(self.depths[:, :most]))
            for term, most in deepest.items()
        }
        end, width = 0, sum(columns.size for _, _, columns in term_columns)
        scores = np.empty((2, len(self.asked), width)) if into is None else into
        for metric, term, columns in term_columns:
            end += columns.size
            self._divide(metric, sums[term], columns, scores[:, :, end - columns.size : end])
        return scores[0], scores[1]

    def _divide(self, metric: Metric, sums: Moments, columns: Integers, into: Floats) -> None:
        """Write some columns of a metric's scores, 0 where the divisor is 0."""
        divisor = np.broadcast_to(self.divisor(metric), self.asked.shape)

        def divide(first: int, last: int) -> None:  # some lists at a time, which stay in the cache
            mean, variance, by = (part[first:last, columns] for part in (*sums, divisor))
            std = quotient(np.sqrt(variance), by)
            std[~np.isfinite(std)] = np.nan  # the squares left float64
            into[0, first:last], into[1, first:last] = quotient(mean, by), std

        over_ranges(divide, np.arange(len(divisor) + 1) * columns.size, self.workers)

    def divisor(self, metric: Metric) -> Floats:
        """Return what divides a sum; infinite where a user's function takes no infinite length."""
        try:
            return metric.divisor(self)
        except (ValueError, OverflowError):
            if np.isfinite(self.length).all():
                raise
            return np.full((1, 1), np.inf)

    def moments(
        self, term: terms.Sum, policy: str, lists: Lists, depths: Integers | None = None
    ) -> Moments:
        """Return mean and variance of a sum, with columns in ascending order of cutoff.

        Every list is scored by itself, so the ranges of lists that threads take do not change a
        bit.
        """
        depths = self.depths if depths is None else depths
        prepared, gains = self.prepared, self.prepared.gains(term)
        kernel = term.kernel_for(policy in BOUNDS)
        given = Given(
            gains,
            term.weights.table(_longest(depths)) if term.fades else NO_WEIGHTS,
            term.fades,
            term.ratio == "ideal",
            best=policy == "best",
            want_variance=policy == "expected",
            most=prepared.most_others if term.judged_only else NOBODY,
        )
        # which orders the true ties itself
        lists = prepared.ties if kernel is ratio_extremes else lists
        unmade = kernel.unmade
        if unmade and not (kernel is ratio_extremes or term.judged_only or gains[0]):
            lists = self._shortened(lists)
        moments = Moments(np.zeros(depths.shape), np.zeros(depths.shape))
        over_ranges(
            lambda first, last: kernel(first, last, lists, depths, given, moments),
            _work(kernel, lists, depths),
            1 if unmade else self.workers,  # threads of Python wait for each other
        )
        if not np.isfinite(moments.mean).all():
            raise DataError(
                "a sum of gains is above the largest float64; use smaller grades or gains"
            )
        _hide_underflow(gains, lists, moments)
        return moments

    def _shortened(self, lists: Lists) -> Lists:
        """Return lists for Python to walk over, with stretches of what brings nothing as one tie."""
        if lists.grade.size < FEW:
            return lists
        if self._short is None or self._short[0] is not lists:
            self._short = lists, stretched(lists)
        return self._short[1]


def _hide_underflow(gains: Floats, lists: Lists, moments: Moments) -> None:
    """Replace sums of lists with gains so small that
    float64 rounds them, or squares them, to nearly nothing.
    """
    for limit, sums in ((LEAST_GAIN, moments.mean), (LEAST_SQUARED_GAIN, moments.variance)):
        small = (gains > 0) & (gains < limit)
        if small.any():
            cells = small[lists.grade] & (lists.items > 0)
            ends = lists.tie[lists.start]
            sums[np.diff(running(cells.astype(np.int64))[ends]) > 0] = np.nan


def _work(kernel: Kernel, lists: Lists, depths: Integers) -> Integers:
    """Return running totals of the cells that a kernel walks over: where it stops at the deepest
    cutoff, threads would take longer to start than it takes to score a thousand lists down to 10.
    """
    ends = lists.tie[lists.start]
    if kernel.costs not in (slots_walked, work_together) or not depths.shape[1]:
        return ends
    return running(np.minimum(np.diff(ends), depths[:, -1]))


def quotient(part: Floats, divisor: Floats) -> Floats:
    """Divide, with 0 where the divisor is 0."""
    with np.errstate(all="ignore"):
        return np.where(divisor != 0.0, part / divisor, 0.0)


def _longest(depths: Integers) -> int:
    """Return the deepest position of a sum, rounded up by
    at most an eighth so that calls share their tables.
    """
    most = int(depths.max(initial=1))
    if most > LONGEST:
        raise DataError(
            f"a list is to be scored {most} positions deep; at most {LONGEST} are possible"
        )
    unit = 1 << max(most.bit_length() - 4, 4)
    return -(-most // unit) * unit


Scored = tuple[pl.DataFrame, pl.DataFrame]  # scores, and means under every random order
PIECE = 1_000_000  # rows of the long frame that are written together
ARRAYS = ("values", "spreads", "truncated", "pooled")
SCORES_OF_ARRAYS = ("value", "std", "truncated", "pooled")  # their columns of the long frame


@dataclass(frozen=True)
class ListScores:
    """Scores of lists with one column per metric, cutoff
    and policy, at a sixth of the long frame's size.
    """

    lists: (
        pl.DataFrame
    )  # model, query, items, n_relevant (several where levels differ), pooled; of parts unseen too
    columns: (
        pl.DataFrame
    )  # metric, cutoff, policy; where lists have several, relevant: the name of R
    values: Floats  # (lists, columns), NaN if there is none
    spreads: Floats  # standard deviations, likewise
    truncated: Bools  # (lists, columns), whether a score depends on what truncation leaves open
    pooled: Bools  # (lists, columns), whether it depends on an R that counts what models retrieved

    @classmethod
    def of(cls, parts: Sequence[ListScores]) -> ListScores:
        """Combine scores of different lists, sorted by model and query."""
        arrays = [np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS]
        whole = cls(pl.concat([part.lists for part in parts]), parts[0].columns, *arrays)
        return whole.take(
            whole.lists.select(pl.arg_sort_by("model", "query")).to_series().to_numpy()
        )

    @classmethod
    def beside(cls, parts: Sequence[ListScores], requests: Requests) -> ListScores:
        """Combine scores of the same lists by different
        metrics, in the requested order of the metrics.
        """
        if len(parts) == 1:
            return parts[0]
        names = ["n_relevant", *(f"n_relevant {number}" for number in range(1, len(parts)))]
        columns = pl.concat(
            part.columns.with_columns(relevant=pl.lit(name))
            for name, part in zip(names, parts, strict=True)
        )
        lists = parts[0].lists.with_columns(
            part.lists["n_relevant"].alias(name) for name, part in zip(names, parts, strict=True)
        )
        measure = pl.col("metric").cast(pl.Enum([str(metric) for metric, _ in requests]))
        which = columns.with_row_index().sort(measure, maintain_order=True)["index"].to_numpy()
        arrays = [
            np.concatenate([getattr(part, name) for part in parts], axis=1)[:, which]
            for name in ARRAYS
        ]
        return cls(lists, columns[which], *arrays)

    def take(self, which: NDArray[np.integer] | slice) -> ListScores:
        """Return the scores of some of the lists."""
        return ListScores(
            self.lists[which], self.columns, *(getattr(self, name)[which] for name in ARRAYS)
        )

    def frames(self, rows: int = PIECE) -> Iterator[pl.DataFrame]:
        """Yield the long frame in pieces of about so many rows."""
        step = max(rows // max(self.columns.height, 1), 1)
        for first in range(0, max(self.lists.height, 1), step):
            yield self.take(slice(first, first + step)).frame()

    def frame(self) -> pl.DataFrame:
        """Return the long frame, with one row per list, metric, cutoff and policy."""
        numbers = [name for name in self.lists.columns if name.startswith("n_relevant")]
        lists = self.lists.select("model", "query", "items", *numbers)
        arrays = zip(SCORES_OF_ARRAYS, (getattr(self, name) for name in ARRAYS), strict=True)
        frame = lists.join(self.columns, how="cross", maintain_order="left_right").hstack(
            [pl.Series(name, of.reshape(-1), nan_to_null=True) for name, of in arrays]
        )
        if "relevant" in frame.columns:
            number = pl.coalesce(pl.when(relevant=name).then(name) for name in numbers)
            frame = frame.with_columns(n_relevant=number)
        return pl.DataFrame([frame[name] for name in SCORES])

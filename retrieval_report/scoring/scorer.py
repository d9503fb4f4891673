"""Score lists by metrics, running each kernel once for all metrics that share it, on a thread
pool.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from retrieval_report.contracts.errors import DataError
from retrieval_report.kernels.ap_retrieved import ratio_extremes
from retrieval_report.kernels.lists import Floats, Integers, Lists, Moments, running
from retrieval_report.metrics import terms
from retrieval_report.metrics.parsing import Depths
from retrieval_report.metrics.record import Metric
from retrieval_report.scoring.arrays import ordered, over_ranges, singles
from retrieval_report.scoring.layout import Prepared

WHOLE = np.iinfo(np.int64).max  # the cutoff null
LONGEST = 2**32  # positions for which a table of weights is made


class Scores(NamedTuple):
    """Value and standard deviation, each of shape (lists, cutoffs)."""

    value: Floats
    std: Floats


class Target(NamedTuple):
    """A metric, the requested columns of its moments, and the columns to which their scores are
    written.
    """

    metric: Metric
    columns: Integers
    scores: Scores
    places: Integers


class Arrangement(NamedTuple):
    """Lists in the order of a policy; ``ties`` are the true ties, and ``extreme`` is best, worst or
    empty.
    """

    lists: Lists
    ties: Lists
    extreme: str | None
    want_variance: bool


def arrange(prepared: Prepared, policy: str) -> Arrangement:
    """Return lists in the order of a policy: the true ties, the order received, or high or low
    grades first.
    """
    if policy == "naive":
        assert prepared.naive is not None
        lists = singles(running(prepared.length), prepared.naive)
        return Arrangement(lists, lists, None, False)
    if policy == "expected":
        return Arrangement(prepared.ties, prepared.ties, None, True)
    return Arrangement(ordered(prepared.ties, best=policy == "best"), prepared.ties, policy, False)


class Given(NamedTuple):
    """Quantities that a metric may divide by."""

    cutoff: Floats
    length: Floats
    relevant: Floats

    def ideal(self, term: terms.Ideal) -> Floats:
        """Refuse: what divides by an ideal divides by nothing else (see `Facts`)."""
        raise NotImplementedError(term)


@dataclass
class Scorer:
    """Scorer of lists at one set of cutoffs; it holds what does not change between policies and
    draws.
    """

    prepared: Prepared
    cutoffs: Depths  # as requested; empty for metrics with a depth of their own
    workers: int
    _ideals: dict[terms.Ideal, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.length = self.prepared.length.astype(np.float64)[:, None]
        self.relevant = np.maximum(self.prepared.relevant, 0).astype(np.float64)[:, None]
        if self.cutoffs:
            asked = np.array(
                [WHOLE if k is None else min(k, WHOLE - 1) for k in self.cutoffs], dtype=np.int64
            )
            self.order = np.argsort(asked, kind="stable")
            asked = asked[self.order]
            self.asked = np.broadcast_to(asked, (self.prepared.length.size, asked.size))
            depths = np.array([0.0 if k is None else float(k) for k in self.cutoffs])[self.order]
            self.cutoff = np.where(asked == WHOLE, self.length, depths)
        else:
            self.order = np.zeros(1, np.int64)
            self.asked = np.maximum(self.prepared.relevant, 0)[:, None]
            self.cutoff = self.asked.astype(np.float64)
        self.depths = np.minimum(self.asked, self.prepared.length[:, None])

    def columns(self, cutoffs: Depths) -> Integers:
        """Return the indices of cutoffs among the ascending columns; 0 without any."""
        given = [self.cutoffs.index(cutoff) if self.cutoffs else 0 for cutoff in cutoffs]
        return np.argsort(self.order)[given]

    def ideal(self, term: terms.Ideal) -> Floats:
        """Return the ideal DCG at every cutoff."""
        if term not in self._ideals:
            lists = self.prepared.judged if term.over == "judged" else self.prepared.retrieved
            length = lists.length[:, None]
            depths = np.minimum(self.asked, length) if term.over == "judged" else self.depths
            self._ideals[term] = self.moments(
                term.sum, Arrangement(lists, lists, None, False), depths
            ).mean
        return self._ideals[term]

    def values(self, metrics: Iterable[Metric], policy: str) -> dict[Metric, Floats]:
        """Return the values of every metric, with columns in ascending order of cutoff."""
        shape = self.asked.shape
        columns = np.arange(self.asked.shape[1])
        result = {metric: Scores(np.empty(shape), np.empty(shape)) for metric in metrics}
        self.write(
            [Target(metric, columns, scores, columns) for metric, scores in result.items()],
            arrange(self.prepared, policy),
        )
        return {metric: scores.value for metric, scores in result.items()}

    def write(self, targets: Iterable[Target], arrangement: Arrangement) -> None:
        """Write value and standard deviation of every metric to the columns of its target."""
        sums: dict[terms.Term, Moments] = {}
        for target in sorted(targets, key=lambda target: -target.columns.max()):
            metric = target.metric
            term = metric.term  # asked once: a user's may hold a new function every time
            if term not in sums:  # no deeper than some metric asks, which comes first
                depths = np.ascontiguousarray(self.depths[:, : target.columns.max() + 1])
                sums[term] = self.moments(term, arrangement, depths)
            divisor = np.broadcast_to(self._divisor(metric), self.asked.shape)
            finite = over_ranges(
                partial(write_scores, target, sums[term], divisor),
                np.arange(self.asked.shape[0] + 1) * target.columns.size,
                self.workers,
            )
            if not all(finite):
                raise DataError(
                    f"{metric}: a sum of gains is above the largest float64; use smaller grades or "
                    "gains"
                )

    def _divisor(self, metric: Metric) -> Floats:
        """Return what divides a sum; infinite where a user's function takes no infinite length."""
        try:
            return metric.divisor(self)
        except (ValueError, OverflowError):
            if np.isfinite(self.length).all():
                raise
            return np.full((1, 1), np.inf)

    def moments(
        self, term: terms.Term, arrangement: Arrangement, depths: Integers | None = None
    ) -> Moments:
        """Return mean and variance of a sum, with columns in ascending order of cutoff.

        Every list is scored by itself, so the ranges of lists that threads take do not change a
        bit.
        """
        depths = self.depths if depths is None else depths
        kernel, given = term.kernel(self, arrangement, _longest(depths))
        lists = arrangement.ties if kernel is ratio_extremes else arrangement.lists
        moments = Moments(np.zeros(depths.shape), np.zeros(depths.shape))
        over_ranges(
            lambda first, last: kernel(first, last, lists, depths, given, moments),
            lists.tie[lists.start],
            self.workers,
        )
        return moments

    def gains(self, term: terms.Term) -> Floats:
        """Return what an item of each grade brings to a sum."""
        return term.gains(self.prepared.grades, self.prepared.relevant_grade)


def write_scores(target: Target, moments: Moments, divisor: Floats, first: int, last: int) -> bool:
    """Write value and standard deviation of the lists ``first`` … ``last`` − 1 to the columns of a
    target, 0 where the divisor is 0; return whether all values are finite.
    """
    _, columns, scores, places = target
    by = divisor[first:last, columns]
    mean, variance = (part[first:last, columns] for part in moments)
    with np.errstate(all="ignore"):
        for sums, into in zip((mean, np.sqrt(variance)), scores, strict=True):
            into[first:last, places] = np.where(by != 0.0, sums / by, 0.0)
    return bool(np.isfinite(scores.value[first:last, places]).all())


def _longest(depths: Integers) -> int:
    """Return the deepest position of a sum, rounded up by at most an eighth so that calls share
    their tables.
    """
    most = int(depths.max(initial=1))
    if most > LONGEST:
        raise DataError(
            f"a list is to be scored {most} positions deep; at most {LONGEST} are possible"
        )
    unit = 1 << max(most.bit_length() - 4, 4)
    return -(-most // unit) * unit

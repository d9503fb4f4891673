"""Lists and metrics → arrays of scores: runs each kernel once for all metrics that share it, over a thread pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval_report import needs
from retrieval_report.arrays import Integers, Lists, ordered, over_ranges
from retrieval_report.joining import Prepared
from retrieval_report.kernels import additive, cascade, pairwise, ratios, tables
from retrieval_report.metrics import NDCG, Metric

__all__ = ["Arrangement", "Moments", "Scorer", "arrange"]

Floats = NDArray[np.float64]
WHOLE = np.iinfo(np.int64).max  # the cutoff null


class Moments(NamedTuple):
    """Mean and variance over the orders inside ties, (lists, cutoffs) each."""

    mean: Floats
    variance: Floats


class Arrangement(NamedTuple):
    """Lists in the order that a policy gives them; ``ties`` are the true ties, ``extreme`` asks for best or worst."""

    lists: Lists
    ties: Lists
    extreme: str | None
    want_variance: bool


def arrange(prepared: Prepared, policy: str) -> Arrangement:
    """The order of a policy: the true ties, the order received, or high or low grades first."""
    if policy == "naive":
        assert prepared.naive is not None
        return Arrangement(prepared.naive, prepared.naive, None, False)
    if policy == "expected":
        return Arrangement(prepared.ties, prepared.ties, None, True)
    return Arrangement(ordered(prepared.ties, best=policy == "best"), prepared.ties, policy, False)


@dataclass
class Scorer:
    """Scores lists at one set of cutoffs; holds what does not change between policies and draws."""

    prepared: Prepared
    cutoffs: tuple[int | None, ...]  # as asked; for metrics with a depth of their own: empty
    workers: int
    _ideals: dict[needs.Ideal, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.length = self.prepared.length.astype(np.float64)[:, None]
        self.relevant = np.maximum(self.prepared.relevant, 0).astype(np.float64)[:, None]
        if self.cutoffs:
            asked = np.array([WHOLE if k is None else k for k in self.cutoffs], dtype=np.int64)
            self.order = np.argsort(asked, kind="stable")
            self.asked = np.broadcast_to(asked[self.order], (self.prepared.length.size, asked.size))
        else:
            self.order = np.zeros(1, np.int64)
            self.asked = np.maximum(self.prepared.relevant, 0)[:, None]
        self.depths = np.minimum(self.asked, self.prepared.length[:, None])
        self.cutoff = np.where(self.asked == WHOLE, self.length, self.asked.astype(np.float64))

    @property
    def longest(self) -> int:
        """The deepest position that any sum looks at, rounded up so that tables are shared between calls."""
        most = max(int(self.prepared.length.max(initial=1)), int(self.prepared.judged.length.max(initial=1)))
        return 1 << (most - 1).bit_length() if most > 1 else 1

    def ideal(self, need: needs.Ideal) -> Floats:
        """Ideal DCG at every cutoff."""
        if need not in self._ideals:
            lists = self.prepared.judged if need.over == "judged" else self.prepared.listed
            length = lists.length[:, None]
            depths = np.minimum(self.asked, length) if need.over == "judged" else self.depths
            wanted = needs.Sum(need.gain, need.discount)
            self._ideals[need] = self._run(_sum_task(self, wanted), lists, depths).mean
        return self._ideals[need]

    def score(self, metrics: Iterable[Metric], arrangement: Arrangement) -> dict[Metric, Moments]:
        """Value and variance of every metric at every cutoff, columns in ascending order of cutoff."""
        sums: dict[needs.Need, Moments] = {}
        result = {}
        for metric in metrics:
            if metric.need not in sums:
                sums[metric.need] = self._moments(metric.need, arrangement)
            divisor = metric.divisor(self)
            mean, variance = sums[metric.need]
            result[metric] = Moments(_ratio(mean, divisor), _ratio(variance, divisor**2))
        return result

    def check(self, metrics: Iterable[Metric]) -> None:
        """Raise for grades that a metric cannot take, before anything is computed."""
        for metric in metrics:
            if isinstance(metric, NDCG):
                needs.Gain(needs.gain_rule(metric.gain)).of(self.prepared.grades, self.prepared.relevant_grade)
            if isinstance(metric.need, needs.OwnIdeal):
                metric.need.check(self.prepared.grades)

    def _moments(self, need: needs.Need, arrangement: Arrangement) -> Moments:
        lists = arrangement.lists
        if isinstance(need, needs.Sum):
            return self._run(_sum_task(self, need), lists, self.depths)
        if isinstance(need, needs.Pairs):
            if need.retrieved and arrangement.extreme:
                return self._run(_pairs_extreme_task(self, need, arrangement.extreme), arrangement.ties, self.depths)
            return self._run(_pairs_task(self, need), lists, self.depths)
        if isinstance(need, needs.FirstRelevant):
            return self._run(_first_relevant_task(self, need), lists, self.depths)
        if isinstance(need, needs.Stops):
            return self._run(_stops_task(self, need, arrangement.want_variance), lists, self.depths)
        if arrangement.extreme:
            return self._run(_own_ideal_extreme_task(self, need, arrangement.extreme), arrangement.ties, self.depths)
        return self._run(_own_ideal_task(self, need), lists, self.depths)

    def _run(self, task: Task, lists: Lists, depths: Integers) -> Moments:
        """Run a task over ranges of lists; every list is scored by itself, so ranges do not change any bit."""
        moments = Moments(np.zeros(depths.shape), np.zeros(depths.shape))
        cells = lists.tie[lists.start]
        over_ranges(lambda first, last: task(first, last, lists, depths, moments), cells, self.workers)
        return moments


Task = Callable[[int, int, Lists, Integers, Moments], None]


def _ratio(values: Floats, divisor: Floats) -> Floats:
    """Values / divisor, 0 where the divisor is 0."""
    divisor = np.broadcast_to(divisor, values.shape)
    return np.divide(values, divisor, out=np.zeros_like(values), where=divisor != 0)


def _sum_task(scorer: Scorer, need: needs.Sum) -> Task:
    values = need.values.of(scorer.prepared.grades, scorer.prepared.relevant_grade)
    weights = need.weights.table(scorer.longest)
    unit = isinstance(need.weights, needs.Unit)

    def task(first: int, last: int, lists: Lists, depths: Integers, out: Moments) -> None:
        additive.additive_moments(first, last, lists, depths, values, unit, weights, *out)

    return task


def _pair_values(scorer: Scorer, need: needs.Pairs) -> Floats:
    relevant = scorer.prepared.relevant_grade
    return np.where(relevant, scorer.prepared.grades, 0.0) if need.graded else relevant.astype(np.float64)


def _pairs_task(scorer: Scorer, need: needs.Pairs) -> Task:
    values, harmonic = _pair_values(scorer, need), tables.reciprocal_weights(scorer.longest)

    def task(first: int, last: int, lists: Lists, depths: Integers, out: Moments) -> None:
        pairwise.pairwise_moments(first, last, lists, depths, values, harmonic, need.retrieved, *out)

    return task


def _pairs_extreme_task(scorer: Scorer, need: needs.Pairs, extreme: str) -> Task:
    values, harmonic = _pair_values(scorer, need), tables.reciprocal_weights(scorer.longest)

    def task(first: int, last: int, lists: Lists, depths: Integers, out: Moments) -> None:
        ratios.retrieved_extremes(first, last, lists, depths, values, harmonic, extreme == "best", out.mean)

    return task


def _first_relevant_task(scorer: Scorer, need: needs.FirstRelevant) -> Task:
    relevant = scorer.prepared.relevant_grade

    def task(first: int, last: int, lists: Lists, depths: Integers, out: Moments) -> None:
        other = Moments(np.empty(depths.shape), np.empty(depths.shape))
        hit, reciprocal = (other, out) if need.reciprocal else (out, other)
        cascade.first_relevant_moments(first, last, lists, depths, relevant, *hit, *reciprocal)

    return task


def _stops_task(scorer: Scorer, need: needs.Stops, want_variance: bool) -> Task:
    stop = need.of(scorer.prepared.grades)

    def task(first: int, last: int, lists: Lists, depths: Integers, out: Moments) -> None:
        cascade.stopping_moments(first, last, lists, depths, stop, want_variance, *out)

    return task


def _own_ideal_task(scorer: Scorer, need: needs.OwnIdeal) -> Task:
    relevant, weights = scorer.prepared.grades > 0, need.discount.table(scorer.longest)

    def task(first: int, last: int, lists: Lists, depths: Integers, out: Moments) -> None:
        ratios.own_ideal_moments(first, last, lists, depths, relevant, weights, *out)

    return task


def _own_ideal_extreme_task(scorer: Scorer, need: needs.OwnIdeal, extreme: str) -> Task:
    relevant, weights = scorer.prepared.grades > 0, need.discount.table(scorer.longest)

    def task(first: int, last: int, lists: Lists, depths: Integers, out: Moments) -> None:
        ratios.own_ideal_extremes(first, last, lists, depths, relevant, weights, extreme == "best", out.mean)

    return task

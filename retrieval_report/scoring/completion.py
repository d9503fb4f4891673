"""Scores over every completion of a cut list: the least and the most that a deeper retrieval could make of them.

A completion adds any number of items at the last distance (or behind it, where the last tie is whole), of any
relevance that judgements, ``n_relevant`` or the grades seen still allow, in every order. Items at greater distances
need no case of their own: every order of theirs is also an order of items at the last distance. So the extremes are
those of a list whose last tie holds all that may follow, with as many irrelevant items as the deepest cutoff has room
for, and the kernels that bound tie orders bound completions too. What depends on the number of items retrieved, or on
a number of relevant items that nobody knows, is mended metric by metric; docs/metrics.md has the derivations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels import completions
from retrieval_report.metrics import terms
from retrieval_report.metrics.catalogue import ACG, AP, DCG, NDCG, WAP, APAtR, HitRate, Metric, Recall, RPrecision
from retrieval_report.scoring import arrays
from retrieval_report.scoring.arrays import Cells, Integers, Lists
from retrieval_report.scoring.cut_preferences import cut_preferences
from retrieval_report.scoring.following import BY_RELEVANT, Following, ungraded, values_of
from retrieval_report.scoring.layout import Prepared
from retrieval_report.scoring.scorer import Scorer, arrange

__all__ = ["Completions"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DEEP = 2**20  # a cutoff beyond it counts as the whole list: no list is filled up so far
MOST_SEARCHED = (
    200  # positions down to which the best NDCG of unknown ideals is searched for; deeper it is bounded by 1
)


class Completions:
    """The completions of cut lists, and the extreme scores over them."""

    def __init__(self, prepared: Prepared, cutoffs: Sequence[int | None], workers: int) -> None:
        """Take lists that are open, and the cutoffs (none for metrics that look at the first R positions)."""
        self.prepared = prepared if prepared.relevant_grade.any() else _with_grade(prepared)
        self.workers, self.own_depth = workers, not cutoffs
        self.near = tuple(sorted(k for k in cutoffs if k is not None and k <= DEEP))
        self.deep = tuple(k for k in cutoffs if k is None or k > DEEP)
        self.following = Following.of(self.prepared)
        self.before = self.prepared.beyond.before
        self.relevant = np.maximum(self.prepared.relevant, 0).astype(np.float64)
        self.least = int(np.flatnonzero(self.prepared.relevant_grade)[0])  # relevant grade, and the largest of all
        self.most = self.prepared.grades.size - 1

    def extremes(self, metrics: Iterable[Metric], *, best: bool) -> dict[tuple[Metric, int | None], Floats]:
        """The least or the largest value of every list, for each metric and cutoff (own depth: None)."""
        asked = list(metrics)
        result: dict[tuple[Metric, int | None], Floats] = {}
        metrics = [metric for metric in asked if not isinstance(metric.term, terms.Preferences)]
        for metric in asked:
            if metric not in metrics:
                result[metric, None] = cut_preferences(self.prepared, self.following, self.workers, best=best)
        if not metrics:
            return result
        if self.near or self.own_depth:
            scorer = self.high if best else self.low
            found = scorer.score(metrics, arrange(scorer.prepared, "best" if best else "worst"))
            for metric in metrics:
                values = self._mended(metric, found[metric].value) if best else found[metric].value
                for column, cutoff in enumerate(self.near or (None,)):
                    result[metric, cutoff] = values[:, column]
        for cutoff in self.deep:
            for metric in metrics:
                result[metric, cutoff] = (self._most_of_all if best else self._least_of_all)(metric, cutoff)
        return result

    @cached_property
    def low(self) -> Scorer:
        """For the least scores: irrelevant items first, ideals as high and relevant items as many as they can be."""
        ideal = self._cells(self.most, more=self.reach, unseen=True, zeros=True)
        lists = self._lists(self._cells(self.least, more=self.reach, unseen=True, zeros=True))
        scorer = self._scorer(lists, self._ideal(self._lists(ideal)), self._unknown(self.most, self.reach), self.near)
        scorer.relevant = np.where(self.following.unlimited, np.inf, self.relevant)[:, None]
        return scorer

    @cached_property
    def high(self) -> Scorer:
        """For the most: relevant items first. Of R unknown, as few more relevant items as fill the top k."""
        lists = self._lists(self._cells(self.most, more=self.reach, unseen=True, zeros=True))
        scorer = self._scorer(lists, self._ideal(lists), self._unknown(self.least, 0 * self.reach), self.near)
        scorer.length = self.retrieved[:, None]
        if not self.own_depth:
            here = self.seen.total_of_last(self.prepared.relevant_grade)
            more = np.maximum(scorer.asked - (self.before + here)[:, None], 0)
            scorer.relevant = self.relevant[:, None] + np.where(self.following.unlimited[:, None], more, 0)
        return scorer

    @cached_property
    def seen(self) -> Lists:
        """Lists that the relevant items which are known, and no others, follow."""
        return self._lists(self._cells(self.most, more=0 * self.reach, unseen=True, zeros=True))

    @cached_property
    def reach(self) -> Integers:
        """Positions that a finite cutoff reaches; as many items of a kind are enough."""
        deepest = np.minimum(self.prepared.relevant, DEEP) if self.own_depth else max(self.near, default=0)
        return np.asarray(np.maximum(np.broadcast_to(deepest, self.before.size), 1), dtype=np.int64)

    @cached_property
    def retrieved(self) -> Floats:
        """Items of a list that goes on with relevant items alone."""
        unseen = self.following.unseen
        relevant = unseen.items * self.prepared.relevant_grade[unseen.grade]
        more = np.diff(np.concatenate([[0], np.cumsum(relevant)])[unseen.start]) + self.following.free
        return np.where(self.following.unlimited, np.inf, self.prepared.length + more)

    def _cells(self, grade: int, *, more: Integers, unseen: bool, zeros: bool) -> Cells:
        """What may follow each list; relevant items of unknown grade have ``grade``, unlimited ones are ``more``."""
        follow, lists = self.following, self.before.size
        every, loose = np.arange(lists), np.flatnonzero(~self.prepared.relevant_grade)[-1]
        parts = [
            (every, np.full(lists, grade), follow.free + np.where(follow.unlimited, more, 0)),
            (every, np.full(lists, loose), np.where(follow.loose, more, 0)),
        ]
        if unseen:
            parts.append((np.repeat(every, np.diff(follow.unseen.start)), follow.unseen.grade, follow.unseen.items))
        if zeros:
            parts.append((every, np.zeros(lists, np.int64), self.reach))
        owner, code, items = (np.concatenate([part[number] for part in parts]) for number in range(3))
        order = np.argsort(owner, kind="stable")
        return Cells(arrays.starts(owner, lists), code[order].astype(np.int32), items[order].astype(np.int64))

    def _unknown(self, grade: int, more: Integers) -> Cells:
        """What follows and is not among the items known."""
        return self._cells(grade, more=more, unseen=False, zeros=False)

    def _lists(self, extra: Cells) -> Lists:
        """The lists with what follows in their last tie, or in one behind it."""
        ties, kinds = self.prepared.ties, self.prepared.grades.size
        lists, cells = self.before.size, ties.grade.size + extra.grade.size
        start, tie = np.zeros(lists + 1, np.int64), np.zeros(ties.tie.size + lists, np.int64)
        new = Lists(start, tie, np.empty(cells, np.int32), np.empty(cells, np.int64))
        found, size = completions.complete(ties, self.prepared.beyond.within, extra, kinds, new)
        return Lists(start, tie[: found + 1].copy(), new.grade[:size].copy(), new.items[:size].copy())

    def _ideal(self, lists: Lists, extra: Cells | None = None) -> Lists:
        """All items of the lists by falling grade."""
        none = Cells(np.zeros(self.before.size + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
        return arrays.ideal_lists(lists, none if extra is None else extra, self.prepared.grades.size)

    def _scorer(self, lists: Lists, listed: Lists, unknown: Cells, cutoffs: tuple[int | None, ...]) -> Scorer:
        judged = self._ideal(self.prepared.known, unknown)
        own = replace(self.prepared, ties=lists, naive=None, retrieved=listed, judged=judged, length=lists.length)
        return Scorer(own, cutoffs, self.workers)

    def _mended(self, metric: Metric, values: Floats) -> Floats:
        """The largest values, where they depend on how many relevant items there are, or on what is in the ideal."""
        unlimited = self.following.unlimited[:, None]
        if isinstance(metric, RPrecision | APAtR):
            return np.where(unlimited, 1.0, values)
        if isinstance(metric, AP) and metric.denominator in BY_RELEVANT:
            return np.where(unlimited, self._most_ap(metric), values) if unlimited.any() else values
        if isinstance(metric, NDCG) and metric.ideal != "cutoff":
            return self._most_ndcg(metric, values)
        return values

    def _most_ap(self, metric: AP) -> Floats:
        """The largest AP where any number of relevant items may follow: one more is one more term and one more in R."""
        asked, scorer = self.high.asked, self.high
        if isinstance(metric, WAP):  # its terms depend on grades: only bounded, by the most of the sum and the least R
            total = scorer.moments(metric.term, arrange(scorer.prepared, "best")).mean
            least = np.maximum(self.relevant, 1.0)[:, None]
            return total / (least if metric.denominator == "total" else np.minimum(asked, least))
        seen = self._scorer(self.seen, self._ideal(self.seen), self._unknown(self.least, 0 * self.reach), self.near)
        sums = seen.moments(metric.term, arrange(seen.prepared, "best")).mean
        here = self.seen.total_of_last(self.prepared.relevant_grade)
        ahead = self.seen.total(self.prepared.relevant_grade) - here
        result = np.zeros(asked.shape)
        for row in np.flatnonzero(self.following.unlimited):
            for column, cutoff in enumerate(asked[row]):
                first = int(self.before[row] + here[row])
                rank = np.arange(first + 1, max(int(cutoff), first) + 1)
                terms = (ahead[row] + here[row] + np.arange(1, rank.size + 1)) / rank
                found = sums[row, column] + np.concatenate([[0.0], np.cumsum(terms)])
                relevant = self.relevant[row] + np.arange(found.size)
                by = relevant if metric.denominator == "total" else np.minimum(cutoff, relevant)
                result[row, column] = np.divide(found, by, out=np.zeros_like(found), where=by > 0).max()
        return result

    def _most_ndcg(self, metric: NDCG, values: Floats) -> Floats:
        """The largest NDCG, where what follows has a part in the ideal; at most 1 where that is not searched for."""
        follow, over_list = self.following, metric.ideal == "list"
        unknown = follow.some if over_list else ungraded(self.prepared, follow)
        open_ideal = follow.unlimited | follow.loose | unknown
        if not open_ideal.any():
            return values
        term = metric.term
        assert isinstance(term, terms.Sum)
        gains = values_of(self.high, term)
        search = _Search.of(self, term, gains / self.high.unit(term), over_list)
        least = self._unknown(self.least, 0 * self.reach)  # of all grades; that of the list may be higher
        own = self._scorer(self.prepared.ties, self.prepared.retrieved, least, self.near)
        result = np.where(own.asked > self.before[:, None], values, _best_of_ties(own, metric))
        for row in np.flatnonzero(open_ideal).tolist():
            for column, cutoff in enumerate(self.high.asked[row].tolist()):
                if cutoff <= self.before[row]:
                    continue  # more in the ideal, and nothing more in the sum
                if cutoff > MOST_SEARCHED or gains[0] > 0 or follow.loose[row]:
                    result[row, column] = 1.0
                else:
                    result[row, column] = search.best(row, cutoff)
        return result

    def _least_of_all(self, metric: Metric, cutoff: int | None) -> Floats:
        """The least score of a whole list: what may be cut is infinitely far away, behind irrelevant items."""
        prepared, unlimited = self.prepared, self.following.unlimited
        shown = prepared.retrieved.total(prepared.relevant_grade)
        if cutoff is None and isinstance(metric, Recall):
            return np.divide(shown, self.relevant, out=np.zeros(shown.size), where=(self.relevant > 0) & ~unlimited)
        if cutoff is None and isinstance(metric, HitRate):
            return (shown > 0).astype(np.float64)
        if isinstance(metric, NDCG) and metric.ideal != "judged":
            return np.zeros(shown.size)
        scorer = self._far(_closed(prepared.ties, prepared.beyond.within), cutoff, np.inf)
        scorer.relevant = np.where(unlimited, np.inf, self.relevant)[:, None]
        if isinstance(metric, AP) and metric.denominator == "retrieved":  # all of R may be retrieved, far away
            metric = type(metric)()
        values = scorer.score([metric], arrange(scorer.prepared, "worst"))[metric].value[:, 0]
        return np.where(unlimited, 0.0, values) if isinstance(metric, NDCG) else values

    def _most_of_all(self, metric: Metric, cutoff: int | None) -> Floats:
        """The largest score of a whole list; NaN where nothing bounds it or the bound is not known."""
        lists = self._lists(self._cells(self.most, more=np.ones_like(self.reach), unseen=True, zeros=False))
        scorer = self._far(lists, cutoff, self.retrieved)
        values = scorer.score([metric], arrange(scorer.prepared, "best"))[metric].value[:, 0]
        term, follow = metric.term, self.following
        if isinstance(term, terms.FirstRelevant):
            return values
        if isinstance(metric, ACG) and cutoff is None:
            return np.full(values.size, self.prepared.grades[-1])
        unknown = follow.unlimited | follow.loose
        if isinstance(metric, NDCG):
            unknown = unknown | (metric.ideal != "judged") | ((follow.free > 0) & (self.least < self.most))
        if isinstance(term, terms.Sum):
            unknown = unknown | bool(values_of(scorer, term)[0] > 0)
        if isinstance(metric, AP):
            graded = isinstance(metric, WAP) and metric.denominator != "total" and cutoff is None
            unknown = unknown | graded | (metric.denominator == "retrieved")
        bounded = isinstance(metric, NDCG) or not isinstance(metric, DCG | ACG | WAP)
        return np.where(unknown, 1.0 if bounded else np.nan, values)

    def _far(self, lists: Lists, cutoff: int | None, length: Floats | float) -> Scorer:
        """A scorer of whole lists that divides by a cutoff and a length of its own."""
        scorer = self._scorer(lists, self._ideal(lists), self._unknown(self.most, self.reach), (None,))
        scorer.length = np.broadcast_to(np.asarray(length, np.float64), self.before.size)[:, None]
        scorer.cutoff = scorer.length if cutoff is None else np.full((1, 1), float(cutoff))
        return scorer


@dataclass(frozen=True)
class _Search:
    """What the search for the best NDCG asks of every list: items by grade, (lists, grades)."""

    won: Floats  # best DCG of the positions that are known
    ideal: Integers  # in the ideal, whatever follows
    front: Integers  # of them what can stand right behind the known positions
    optional: Integers  # may follow, and is in the ideal if it does
    least: Integers  # how many of the optional ones follow at least
    most: Integers  # and at most
    gains: Floats
    before: Integers
    discount: terms.Discount

    @classmethod
    def of(cls, own: Completions, term: terms.Sum, gains: Floats, over_list: bool) -> _Search:
        prepared, follow = own.prepared, own.following
        closed = _closed(prepared.ties, prepared.beyond.within)
        scorer = own._scorer(closed, own._ideal(closed), own._unknown(own.least, 0 * own.reach), (None,))
        unseen = _by_grade(own, Lists(follow.unseen.start, np.arange(follow.unseen.grade.size + 1), *follow.unseen[1:]))
        shown = _by_grade(own, prepared.retrieved)
        last = shown - _by_grade(own, closed)
        known = shown if over_list else _by_grade(own, prepared.known)
        more = np.where(follow.unlimited, DEEP, follow.free)[:, None] * prepared.relevant_grade
        assert isinstance(term.weights, terms.Discount)
        return cls(
            scorer.moments(term, arrange(scorer.prepared, "best")).mean[:, 0],
            known,
            last if over_list else last + unseen,
            more + unseen if over_list else more,
            0 * follow.free if over_list else follow.free,
            np.where(follow.unlimited, DEEP, follow.free + (unseen.sum(axis=1) if over_list else 0)),
            gains,
            own.before,
            term.weights,
        )

    def best(self, row: int, cutoff: int) -> float:
        weights = self.discount.table(MOST_SEARCHED)
        head = completions.Head(int(self.before[row]), float(self.won[row]), int(self.least[row]), int(self.most[row]))
        following = completions.Following(self.ideal[row], self.front[row], self.optional[row], self.gains)
        return completions.best_ratio(head, cutoff, following, weights)


def _best_of_ties(scorer: Scorer, metric: Metric) -> Floats:
    """The best that tie order alone can do."""
    return scorer.score([metric], arrange(scorer.prepared, "best"))[metric].value


def _by_grade(own: Completions, lists: Lists) -> Integers:
    kinds = own.prepared.grades.size
    return np.stack([lists.total(np.arange(kinds) == kind) for kind in range(kinds)], axis=1)


def _closed(ties: Lists, within: Bools) -> Lists:
    """The lists without their last tie, where that may be cut."""
    dropped = within & (np.diff(ties.start) > 0)
    kept = np.ones(ties.tie.size - 1, np.bool_)
    kept[ties.start[1:][dropped] - 1] = False
    cells = np.diff(ties.tie)
    of_cell = np.repeat(kept, cells)
    start = np.concatenate([[0], np.cumsum(np.diff(ties.start) - dropped)])
    return Lists(start, np.concatenate([[0], np.cumsum(cells[kept])]), ties.grade[of_cell], ties.items[of_cell])


def _with_grade(prepared: Prepared) -> Prepared:
    """The lists with a relevant grade, where no relevant item is known: what follows has to have one."""
    grade = max(1.0, float(np.nextafter(prepared.grades[-1], np.inf)))
    return replace(
        prepared, grades=np.append(prepared.grades, grade), relevant_grade=np.append(prepared.relevant_grade, True)
    )

"""The lowest and highest scores over all completions of a truncated list, as a deeper retrieval could show.

A completion adds any number of items at the last distance (or beyond it, if the last tie is whole), of any
relevance that judgements, ``n_relevant`` or the grades seen still allow, in every order. Items at greater distances
need no separate case, because each of their orders is also an order of items at the last distance. The extremes are
therefore those of a list whose last tie holds all that may follow, with as many irrelevant items as fit above the
deepest cutoff, and the kernels that bound tie orders also bound completions. Scores that depend on the number of items
retrieved, or on an unknown number of relevant items, are corrected metric by metric; docs/metrics.md derives this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from retrieval_report.kernels import completions
from retrieval_report.kernels.lists import Bools, Cells, Floats, Integers, Lists
from retrieval_report.metrics import terms
from retrieval_report.metrics.catalogue import ACG, AP, DCG, NDCG, WAP, APAtR, HitRate, Metric, Recall, RPrecision
from retrieval_report.scoring import arrays
from retrieval_report.scoring.cut_preferences import cut_preferences
from retrieval_report.scoring.following import BY_RELEVANT, Following, ungraded, values_of
from retrieval_report.scoring.layout import Prepared
from retrieval_report.scoring.scorer import Scorer, arrange

DEEP = 2**20  # a larger cutoff counts as the whole list, because no list is extended that far
MOST_SEARCHED = 200  # depth down to which the best NDCG with unknown ideals is searched for; beyond it the bound is 1


class Completions:
    """The completions of truncated lists, and the extreme scores over them."""

    def __init__(self, prepared: Prepared, cutoffs: Sequence[int | None], workers: int) -> None:
        """Take truncated lists, and the cutoffs (none for metrics over the first R positions)."""
        self.prepared = prepared if prepared.relevant_grade.any() else _with_grade(prepared)
        self.workers, self.own_depth = workers, not cutoffs
        self.near = tuple(sorted(k for k in cutoffs if k is not None and k <= DEEP))
        self.deep = tuple(k for k in cutoffs if k is None or k > DEEP)
        self.following = Following.of(self.prepared)
        self.before = self.prepared.beyond.before
        self.relevant = np.maximum(self.prepared.relevant, 0).astype(np.float64)
        self.least = int(np.flatnonzero(self.prepared.relevant_grade)[0])  # relevant grade, and the largest of all
        self.most = self.prepared.grades.size - 1

    def extremes(self, metrics: Sequence[Metric], *, best: bool) -> dict[tuple[Metric, int | None], Floats]:
        """Return the lowest or highest value of every list, for each metric and cutoff (None: its own depth)."""
        result: dict[tuple[Metric, int | None], Floats] = {}
        sums = [metric for metric in metrics if not isinstance(metric.term, terms.Preferences)]
        for metric in set(metrics) - set(sums):
            result[metric, None] = cut_preferences(self.prepared, self.following, self.workers, best=best)
        if sums and (self.near or self.own_depth):
            scorer = self.high if best else self.low
            for metric, found in scorer.score(sums, arrange(scorer.prepared, "best" if best else "worst")).items():
                values = self._mended(metric, found.value) if best else found.value
                result |= {(metric, cutoff): values[:, column] for column, cutoff in enumerate(self.near or (None,))}
        whole = self._most_of_all if best else self._least_of_all
        return result | {(metric, cutoff): whole(metric, cutoff) for cutoff in self.deep for metric in sums}

    @cached_property
    def low(self) -> Scorer:
        """Return the scorer of the lowest scores: irrelevant items first, the highest ideals, the largest R."""
        ideal = self._cells(self.most, more=self.reach, unseen=True, zeros=True)
        lists = self._lists(self._cells(self.least, more=self.reach, unseen=True, zeros=True))
        scorer = self._scorer(lists, self._ideal(self._lists(ideal)), self._unknown(self.most, self.reach), self.near)
        scorer.relevant = np.where(self.following.unlimited, np.inf, self.relevant)[:, None]
        return scorer

    @cached_property
    def high(self) -> Scorer:
        """Return the scorer for the highest scores: relevant items first, only as many more as fill the top k."""
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
        """Return lists completed with the known relevant items and no others."""
        return self._lists(self._cells(self.most, more=0 * self.reach, unseen=True, zeros=True))

    @cached_property
    def reach(self) -> Integers:
        """Return the positions that a finite cutoff reaches; more items of a kind are never needed."""
        deepest = np.minimum(self.prepared.relevant, DEEP) if self.own_depth else max(self.near, default=0)
        return np.asarray(np.maximum(np.broadcast_to(deepest, self.before.size), 1), dtype=np.int64)

    @cached_property
    def retrieved(self) -> Floats:
        """Return the length of each list if only relevant items follow."""
        more = self.following.relevant(self.prepared.relevant_grade)
        return np.where(self.following.unlimited, np.inf, self.prepared.length + more)

    def _cells(self, grade: int, *, more: Integers, unseen: bool, zeros: bool) -> Cells:
        """Return what may follow each list; items of unknown grade get ``grade``, unlimited ones number ``more``."""
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
        """Return following items that are not among the known ones."""
        return self._cells(grade, more=more, unseen=False, zeros=False)

    def _lists(self, extra: Cells) -> Lists:
        """Return the lists with following items in their last tie, or in a tie after it."""
        ties, kinds = self.prepared.ties, self.prepared.grades.size
        lists, cells = self.before.size, ties.grade.size + extra.grade.size
        start, tie = np.zeros(lists + 1, np.int64), np.zeros(ties.tie.size + lists, np.int64)
        new = Lists(start, tie, np.empty(cells, np.int32), np.empty(cells, np.int64))
        found, size = completions.complete(ties, self.prepared.beyond.within, extra, kinds, new)
        return Lists(start, tie[: found + 1].copy(), new.grade[:size].copy(), new.items[:size].copy())

    def _ideal(self, lists: Lists, extra: Cells | None = None) -> Lists:
        """Return all items of the lists by descending grade."""
        return arrays.ideal_lists(lists, extra, self.prepared.grades.size)

    def _scorer(self, lists: Lists, listed: Lists, unknown: Cells, cutoffs: tuple[int | None, ...]) -> Scorer:
        judged = self._ideal(self.prepared.known, unknown)
        own = replace(self.prepared, ties=lists, naive=None, retrieved=listed, judged=judged, length=lists.length)
        return Scorer(own, cutoffs, self.workers)

    def _mended(self, metric: Metric, values: Floats) -> Floats:
        """Correct the highest values that depend on the number of relevant items or on the ideal."""
        unlimited = self.following.unlimited[:, None]
        if isinstance(metric, RPrecision | APAtR):
            return np.where(unlimited, 1.0, values)
        if isinstance(metric, AP) and metric.denominator in BY_RELEVANT:
            return np.where(unlimited, self._most_ap(metric), values) if unlimited.any() else values
        if isinstance(metric, NDCG) and metric.ideal != "cutoff":
            return self._most_ndcg(metric, values)
        return values

    def _most_ap(self, metric: AP) -> Floats:
        """Return the highest AP if any number of relevant items may follow, each adding a term and increasing R."""
        asked, scorer = self.high.asked, self.high
        if isinstance(metric, WAP):  # terms depend on grades: only a bound, by the largest sum and the smallest R
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
        """Return the highest NDCG if following items enter the ideal; 1 where no search is made."""
        follow, over_list = self.following, metric.ideal == "list"
        unknown = follow.some if over_list else ungraded(self.prepared, follow)
        open_ideal = follow.unlimited | follow.loose | unknown
        if not open_ideal.any():
            return values
        term = metric.term
        assert isinstance(term, terms.Sum)
        gains = values_of(self.high, term)
        search = _search(self, term, gains / self.high.unit(term), over_list)
        least = self._unknown(self.least, 0 * self.reach)  # of all grades; that of the list may be higher
        own = self._scorer(self.prepared.ties, self.prepared.retrieved, least, self.near)
        of_ties = own.score([metric], arrange(own.prepared, "best"))[metric].value  # what tie order alone can give
        result = np.where(own.asked > self.before[:, None], values, of_ties)
        for row in np.flatnonzero(open_ideal).tolist():
            for column, cutoff in enumerate(self.high.asked[row].tolist()):
                if cutoff <= self.before[row]:
                    continue  # this would increase the ideal but not the sum
                if cutoff > MOST_SEARCHED or gains[0] > 0 or follow.loose[row]:
                    result[row, column] = 1.0
                else:
                    result[row, column] = search(row, cutoff)
        return result

    def _least_of_all(self, metric: Metric, cutoff: int | None) -> Floats:
        """Return the lowest score of a whole list: missing items lie infinitely far away, after irrelevant ones."""
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
        """Return the highest score of a whole list; NaN if it is unbounded or the bound is not known."""
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
        """Return a scorer of whole lists with a given cutoff and length to divide by."""
        scorer = self._scorer(lists, self._ideal(lists), self._unknown(self.most, self.reach), (None,))
        scorer.length = np.broadcast_to(np.asarray(length, np.float64), self.before.size)[:, None]
        scorer.cutoff = scorer.length if cutoff is None else np.full((1, 1), float(cutoff))
        return scorer


def _search(own: Completions, term: terms.Sum, gains: Floats, over_list: bool) -> Callable[[int, int], float]:
    """Return the search for the best NDCG of a list at a cutoff.

    Items that follow are counted by list and grade: those of the ideal whatever follows, those that can come right
    after the known positions, and those that may follow and are in the ideal if they do.
    """
    prepared, follow = own.prepared, own.following
    closed = _closed(prepared.ties, prepared.beyond.within)
    scorer = own._scorer(closed, own._ideal(closed), own._unknown(own.least, 0 * own.reach), (None,))
    unseen = _by_grade(own, Lists(follow.unseen.start, np.arange(follow.unseen.grade.size + 1), *follow.unseen[1:]))
    shown = _by_grade(own, prepared.retrieved)
    ideal = shown if over_list else _by_grade(own, prepared.known)
    front = shown - _by_grade(own, closed) + (0 if over_list else unseen)
    free = np.where(follow.unlimited, DEEP, follow.free)
    optional = free[:, None] * prepared.relevant_grade + (unseen if over_list else 0)
    least = 0 * follow.free if over_list else follow.free
    most = np.where(follow.unlimited, DEEP, follow.free + (unseen.sum(axis=1) if over_list else 0))
    won = scorer.moments(term, arrange(scorer.prepared, "best")).mean[:, 0]  # best DCG of the known positions

    def best(row: int, cutoff: int) -> float:
        head = completions.Head(int(own.before[row]), float(won[row]), int(least[row]), int(most[row]))
        following = completions.Following(ideal[row], front[row], optional[row], gains)
        return completions.best_ratio(head, cutoff, following, term.weights.table(MOST_SEARCHED))

    return best


def _by_grade(own: Completions, lists: Lists) -> Integers:
    kinds = own.prepared.grades.size
    return np.stack([lists.total(np.arange(kinds) == kind) for kind in range(kinds)], axis=1)


def _closed(ties: Lists, within: Bools) -> Lists:
    """Return the lists without their last tie if it may be cut."""
    dropped = within & (np.diff(ties.start) > 0)
    kept = np.ones(ties.tie.size - 1, np.bool_)
    kept[ties.start[1:][dropped] - 1] = False
    cells = np.diff(ties.tie)
    of_cell = np.repeat(kept, cells)
    start = np.concatenate([[0], np.cumsum(np.diff(ties.start) - dropped)])
    return Lists(start, np.concatenate([[0], np.cumsum(cells[kept])]), ties.grade[of_cell], ties.items[of_cell])


def _with_grade(prepared: Prepared) -> Prepared:
    """Add a relevant grade to lists without a known relevant item, because following items need one."""
    grade = max(1.0, float(np.nextafter(prepared.grades[-1], np.inf)))
    return replace(
        prepared, grades=np.append(prepared.grades, grade), relevant_grade=np.append(prepared.relevant_grade, True)
    )

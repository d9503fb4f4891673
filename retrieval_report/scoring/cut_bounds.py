"""The lowest and highest scores over all completions
of a truncated list, as a deeper retrieval could show.

A completion adds any number of items at the last distance (or beyond it, if the last tie is whole),
of any relevance that judgements, ``n_relevant`` or the grades seen still allow, in every order.
Items at greater distances need no separate case, because each of their orders is also an order of
items at the last distance. The extremes are therefore those of a list whose last tie holds all that
may follow, with as many irrelevant items as fit above the deepest cutoff, and the kernels that
bound tie orders also bound completions. Scores that depend on the number of items retrieved, or on
an unknown number of relevant items, are corrected metric by metric; docs/metrics.md derives this.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from retrieval_report.contracts.options import Options
from retrieval_report.kernels.lists import (
    Bools,
    Cells,
    Floats,
    Integers,
    Lists,
    running,
)
from retrieval_report.metrics import terms
from retrieval_report.metrics.parsing import Depths
from retrieval_report.metrics.record import Metric
from retrieval_report.scoring import arrays
from retrieval_report.scoring.cut_lists import Following, ideal_open, ungraded
from retrieval_report.scoring.layout import Prepared
from retrieval_report.scoring.scorer import Scorer, arrange, quotient

Measure = tuple[Metric, int | None]
DEEPEST_CUTOFF = (
    2**20
)  # a larger cutoff counts as the whole list, because no list is extended that far
BLOCK = 1 << 20  # scores held in memory at a time


class Completions:
    """The completions of truncated lists, and the extreme scores over them."""

    def __init__(
        self,
        prepared: Prepared,
        measures: Sequence[Measure],
        options: Options,
        *,
        largest_grade: float | None,
        judged_only: bool,
    ) -> None:
        """Take truncated lists, and metrics that look down to cutoffs, or all of them over the
        first R positions.

        Where no relevant grade was seen, missing items have the ``largest_grade`` that the metrics
        accept; where there is no such limit, `_open_ended` leaves out what depends on it. Of
        ``judged_only`` lists only judged items can follow, so that their number is known.
        """
        # The grade of missing relevant items that have no upper limit.
        self.unlimited_grade: float | None = None
        if not prepared.relevant_grade.any():  # following items need a relevant grade
            grade = largest_grade
            if grade is None:
                least = options.relevant_from or 1.0
                grade = max(least, float(np.nextafter(prepared.grades[-1], np.inf)))
                self.unlimited_grade = grade
            grades = np.append(prepared.grades, grade)
            relevant_grade = np.append(prepared.relevant_grade, True)
            prepared = replace(prepared, grades=grades, relevant_grade=relevant_grade)
        self.prepared = prepared
        self.workers = options.workers
        self.measures = measures
        self.own_depth = measures[0][0].own_depth
        cutoffs = set() if self.own_depth else {cutoff for _, cutoff in measures}
        self.needs_ideals = any(metric.ideals for metric, _ in measures)
        self.near = tuple(sorted(k for k in cutoffs if k is not None and k <= DEEPEST_CUTOFF))
        self.deep = tuple(k for k in cutoffs if k is None or k > DEEPEST_CUTOFF)
        self.following = Following.of(self.prepared)
        self.judged_only = judged_only
        if judged_only and self.deep:  # no list is longer
            self.near = tuple(sorted({*self.near, int(self.prepared.judged.length.max(initial=1))}))
        self.before = self.prepared.before
        self.relevant = np.maximum(self.prepared.relevant, 0).astype(np.float64)
        # the smallest relevant grade, and the largest of all
        self.least = int(np.flatnonzero(self.prepared.relevant_grade)[0])
        self.most = self.prepared.grades.size - 1
        # the positions that a finite cutoff reaches; more items of a kind are never needed
        deepest = np.full(self.before.size, max(self.near, default=0))
        if self.own_depth:
            deepest = np.minimum(self.prepared.relevant, DEEPEST_CUTOFF)
        self.reach = np.maximum(deepest, 1)
        # how many items of grade 0 may follow, as far as a cutoff reaches
        self.zeros = self.reach
        if judged_only:
            self.zeros = np.minimum(self.reach, self._left(self.prepared.grades == 0))
        # the length of each list if only relevant items follow
        more = self.following.relevant(self.prepared.relevant_grade)
        self.retrieved = np.where(self.following.unlimited, np.inf, self.prepared.length + more)

    def extremes(self, *, best: bool) -> dict[Measure, Floats]:
        """Return the lowest or highest value of every list,
        for each metric and cutoff (None: its own depth).
        """
        measures = self.measures
        metrics = list(dict.fromkeys(metric for metric, _ in measures))
        sums = [metric for metric in metrics if not metric.term.judged_only]
        result: dict[Measure, Floats] = {
            (metric, None): _preferences(self.prepared, self.following, self.workers, best=best)
            for metric in metrics
            if metric.term.judged_only
        }
        if self.near or self.own_depth:
            for metric, values in (self._highest if best else self._lowest)(sums).items():
                columns = enumerate(self.near or (None,))
                result |= {(metric, cutoff): values[:, column] for column, cutoff in columns}
        whole = self._most_of_all if best else self._least_of_all
        for metric, cutoff in measures:
            if metric in sums and cutoff in self.deep:
                known_end = self.judged_only and metric.reads.isdisjoint(("length", "cutoff"))
                end = metric, self.near[-1] if self.near else None
                result[metric, cutoff] = result[end] if known_end else whole(metric, cutoff)
        if self.unlimited_grade is not None:
            result |= {
                measure: self._open_ended(measure[0], result[measure], best=best)
                for measure in measures
                if self._grade_counts(measure[0], self.unlimited_grade)
            }
        return result

    def _grade_counts(self, metric: Metric, grade: float) -> bool:
        """Return whether a metric tells a relevant item of a grade from one of half of it."""
        relevant = np.array([True])
        half, whole = (metric.term.values.of(np.array([g]), relevant) for g in (grade / 2, grade))
        return bool(half != whole)

    def _open_ended(self, metric: Metric, values: Floats, *, best: bool) -> Floats:
        """Return bounds of lists that a relevant item may follow whose grade has no limit: no
        highest value but that of the metric, and below any ideal no lowest but 0.
        """
        graded = self.following.unlimited | (self.following.free > 0)
        if best:
            limit = metric.largest if isinstance(metric.largest, float) else np.nan
        elif metric.ideals:
            limit = 0.0
        else:
            return values
        return np.where(graded, limit, values)

    def _lowest(self, metrics: Sequence[Metric]) -> dict[Metric, Floats]:
        """Return the lowest values down to each cutoff."""
        gaining = [metric for metric in metrics if self.prepared.gains(metric.term)[0] > 0]
        binary = [metric for metric in metrics if self.judged_only and self._is_binary(metric)]
        plain = [metric for metric in metrics if metric not in (*gaining, *binary)]
        # Irrelevant items push others down, but where they bring something, a list is worst without
        # them.
        result = self._worst(
            self.fullest if self.least == self.most else self._full(self.least), plain
        )
        for metric in binary:  # only the irrelevant items that are left push others down
            result |= self._worst(self._lists(self._without_gain(metric)), [metric])
        return result | (self._worst(self.closed_and_cut[0], gaining) if gaining else {})

    def _is_binary(self, metric: Metric) -> bool:
        """Return whether all that a metric tells of an item is that it gains, and not in an ideal
        of the list itself.
        """
        gains = np.unique(self.prepared.gains(metric.term))
        needs_lists = any(ideal.over == "list" for ideal in metric.ideals) or metric.term.ratio
        return gains.size < 3 and gains[0] == 0 and not needs_lists and "length" not in metric.reads

    def _worst(self, lists: Lists, metrics: Sequence[Metric]) -> dict[Metric, Floats]:
        """Return values of lists in their worst order, with the highest ideals and the largest R."""
        scorer = self._scorer(lists, self.fullest, self.near)
        scorer.relevant = np.where(self.following.unlimited, np.inf, self.relevant)[:, None]
        scorer.length = np.full((1, 1), np.inf)
        return _values(scorer, metrics, "worst")

    @cached_property
    def high(self) -> Scorer:
        """Return the scorer for the highest scores: relevant items first, only as many more as fill
        the top k.
        """
        scorer = self._scorer(self.fullest, self.prepared.ties, self.near, highest=True)
        scorer.length = self.retrieved[:, None]
        if not self.own_depth:
            relevant = self.prepared.relevant_grade
            possible_relevant = self.prepared.open_end(relevant) + self.following.relevant(relevant)
            more = np.maximum(scorer.asked - (self.before + possible_relevant)[:, None], 0)
            scorer.relevant = self.relevant[:, None] + np.where(
                self.following.unlimited[:, None], more, 0
            )
        return scorer

    @cached_property
    def fullest(self) -> Lists:
        """Return lists completed with everything that may follow, as far as a cutoff reaches."""
        return self._full(self.most)

    def _full(self, grade: int) -> Lists:
        return self._lists(self._cells(grade, more=self.reach, unseen=True, zeros=True))

    @cached_property
    def closed_and_cut(self) -> tuple[Lists, Lists]:
        """Return the lists without their last tie if it may be cut, and these last ties, which what
        follows joins.
        """
        ties, size = self.prepared.ties, np.diff(self.prepared.ties.start)
        is_cut = self.prepared.within & (size > 0)
        last = ties.start[1:][is_cut] - 1
        inner = np.delete(np.arange(ties.tie.size - 1), last)
        return (
            ties.with_ties(running(size - is_cut), inner),
            ties.with_ties(running(is_cut.astype(np.int64)), last),
        )

    def _left(self, grades: Bools) -> Integers:
        """Return how many judged items of some grades are not in each list."""
        items_left = self.prepared.judged.total(grades) - self.prepared.retrieved.total(grades)
        return np.asarray(np.maximum(items_left, 0))

    def _without_gain(self, metric: Metric) -> Cells:
        """Return the judged items that may follow each list and gain nothing, as of grade 0."""
        lists = self.before.size
        items = self._left(self.prepared.gains(metric.term) == 0)
        return Cells(np.arange(lists + 1), np.zeros(lists, np.int32), items)

    def _cells(self, grade: int, *, more: Integers, unseen: bool, zeros: bool) -> Cells:
        """Return what may follow each list; items of unknown
        grade get ``grade``, unlimited ones number ``more``.
        """
        follow = self.following
        lists = self.before.size
        loose = np.flatnonzero(~self.prepared.relevant_grade)[-1]
        items = [
            follow.free + np.where(follow.unlimited, more, 0),
            np.where(follow.loose, more, 0),
            self.zeros if zeros else 0 * self.reach,
        ]
        unknown = Cells(
            len(items) * np.arange(lists + 1),
            np.tile(np.array([grade, loose, 0], np.int32), lists),
            np.stack(items, axis=1).ravel(),
        )
        if not unseen:
            return unknown
        return arrays.ideal_lists(follow.unseen, unknown, self.prepared.grades.size).cells

    def _lists(self, extra: Cells) -> Lists:
        """Return the lists with following items in their last tie, or in a tie after it."""
        closed, last = self.closed_and_cut
        end = arrays.ideal_lists(last, extra, self.prepared.grades.size).cells
        added = np.diff(end.start)
        # Grades rise within a tie, and fall in ideals.
        turned = np.repeat(end.start[:-1] + end.start[1:] - 1, added) - np.arange(end.grade.size)
        behind = np.repeat(closed.cells.start[1:], added)
        longer = added > 0
        return Lists(
            closed.start + running(longer.astype(np.int64)),
            running(np.insert(np.diff(closed.tie), closed.start[1:][longer], added[longer])),
            np.insert(closed.grade, behind, end.grade[turned]),
            np.insert(closed.items, behind, end.items[turned]),
        )

    def _scorer(
        self, lists: Lists, ideal_lists: Lists, cutoffs: Depths, *, highest: bool = False
    ) -> Scorer:
        """Return a scorer of lists whose ideal is that of the lists ``ideal_lists``, or of what is
        known and may follow: everything of the highest grade, or only what must, of the lowest.
        """
        completed = replace(self.prepared, ties=lists, naive=None, length=lists.length)
        if self.needs_ideals:
            grade, more = (self.least, 0 * self.reach) if highest else (self.most, self.reach)
            unknown = self._cells(grade, more=more, unseen=False, zeros=False)
            kinds = self.prepared.grades.size
            judged = arrays.ideal_lists(self.prepared.known, unknown, kinds)
            completed = replace(completed, judged=judged)
            if ideal_lists is not self.prepared.ties:
                retrieved = arrays.ideal_lists(ideal_lists, None, kinds)
                completed = replace(completed, retrieved=retrieved)
        return Scorer(completed, cutoffs, self.workers)

    def _largest(self, metric: Metric) -> float:
        """Return the largest score of a metric that any list can reach, NaN if there is no limit."""
        if metric.ideals and self.prepared.gains(metric.term)[0] > 0:
            return np.nan  # items without judgement bring something, but not to the ideal
        if metric.largest == "grade":
            return float(self.prepared.grades[-1])
        return np.nan if metric.largest is None else float(metric.largest)

    def _highest(self, metrics: Sequence[Metric]) -> dict[Metric, Floats]:
        """Return the highest values down to each cutoff."""
        highest = _values(self.high, metrics, "best")
        return {metric: self._corrected(metric, values) for metric, values in highest.items()}

    def _corrected(self, metric: Metric, values: Floats) -> Floats:
        """Correct the highest values that depend on R, on
        the number of items retrieved, or on the ideal.
        """
        unlimited = self.following.unlimited
        if self.own_depth:
            return np.where(unlimited[:, None], self._largest(metric), values)
        if metric.ideals:
            return self._most_ndcg(metric, values)
        reads = metric.reads
        rows = np.flatnonzero(("length" in reads) | (unlimited & ("relevant" in reads)))
        if rows.size:
            values = values.copy()
            for column, cutoff in enumerate(self.high.asked[0].tolist()):
                values[rows, column] = self._most_of(metric, self.high, rows, cutoff, cutoff)
        return values

    def _most_of(
        self, metric: Metric, scorer: Scorer, rows: Integers, column: int, cutoff: int | None
    ) -> Floats:
        """Return the highest values of some lists over the number of relevant items that follow.

        Each adds to the sum as long as a cutoff reaches it, and may increase R and the length of
        the list. A sum over the first so many relevant items is that over the positions that they
        fill, if nothing else counts.
        """
        relevant = self.prepared.relevant_grade
        only_relevant = not (self.prepared.gains(metric.term)[~relevant] > 0).any()
        relevant_following = self.following.relevant(relevant)[rows]
        first = (self.before + self.prepared.open_end(relevant))[rows]
        slots = np.maximum(column - first, 0)
        most = np.where(
            self.following.unlimited[rows], slots, np.minimum(slots, relevant_following)
        )
        result = np.empty(rows.size)
        step = max(1, BLOCK // (int(most.max(initial=0)) + 1))
        for block in (slice(first, first + step) for first in range(0, rows.size, step)):
            more = np.minimum(np.arange(most[block].max() + 1), most[block][:, None])
            part = Scorer(scorer.prepared.take(rows[block]), scorer.cutoffs, self.workers)
            depths = (
                np.minimum(first[block][:, None] + more, column)
                if only_relevant
                else np.full(more.shape, column)
            )
            reached = np.minimum(depths, part.prepared.length[:, None])
            lists = arrange(part.prepared, "best")
            sums = part.moments(metric.term, "best", lists, reached).mean
            part.length = (self.prepared.length[rows[block]][:, None] + more).astype(np.float64)
            part.cutoff = part.length if cutoff is None else np.full((1, 1), float(cutoff))
            more_relevant = np.maximum(more - relevant_following[block][:, None], 0)
            part.relevant = self.relevant[rows[block]][:, None] + more_relevant
            result[block] = quotient(sums, metric.divisor(part)).max(axis=1)
        return np.fmin(result, self._largest(metric))

    def _most_ndcg(self, metric: Metric, values: Floats) -> Floats:
        """Return bounds of the highest NDCG if following items enter the ideal: all that may follow
        over the ideal of what is known, and at most the largest score.
        """
        follow = self.following
        ideal = metric.ideals[0]
        gains = self.prepared.gains(metric.term)
        opens = ideal_open(metric, self.prepared, follow, self.high.asked)
        open_ideal = follow.unlimited[:, None] | opens
        if not open_ideal.any():
            return values
        largest = self._largest(metric)
        if metric.term != ideal.sum:
            return np.where(open_ideal, largest, values)
        ties = self.prepared.ties
        scorer = self._scorer(ties, ties, self.near, highest=True)
        of_ties = _values(scorer, [metric], "best")[metric]  # what tie order alone can give
        loose = (follow.loose | bool(gains[0] > 0))[:, None] | (self.high.ideal(ideal) == 0)
        bound = np.where(loose, np.inf, values)
        bound = np.where(open_ideal, np.minimum(bound, largest), values)
        return np.where(scorer.asked > self.before[:, None], bound, of_ties)

    def _least_of_all(self, metric: Metric, cutoff: int | None) -> Floats:
        """Return the lowest score of a whole list: missing
        items lie infinitely far away, after irrelevant ones.
        """
        prepared = self.prepared
        follow = self.following
        ties = prepared.ties
        if cutoff is not None or metric.term.fades:
            ties, _ = self.closed_and_cut
        length: Floats | float = np.inf
        if self.judged_only:
            gains = self.prepared.gains(metric.term)
            follows = gains == 0 if self._is_binary(metric) else gains >= 0
            length = (prepared.length + self._left(follows)).astype(np.float64)
        scorer = self._far(ties, cutoff, length)
        scorer.relevant = np.where(follow.unlimited, np.inf, self.relevant)[:, None]
        metric = metric.when_all_follow()
        values = _values(scorer, [metric], "worst")[metric][:, 0]
        return np.where(follow.unlimited | follow.loose, 0.0, values) if metric.ideals else values

    def _most_of_all(self, metric: Metric, cutoff: int | None) -> Floats:
        """Return the highest score of a whole list; NaN
        if it is unbounded or the bound is not known.
        """
        lists = self._lists(
            self._cells(self.most, more=np.ones_like(self.reach), unseen=True, zeros=False)
        )
        scorer = self._far(lists, cutoff, self.retrieved)
        term = metric.term
        follow = self.following
        values = _values(scorer, [metric], "best")[metric][:, 0]
        if term.first_only:
            return values
        unknown = (
            follow.unlimited
            | follow.loose
            | bool(self.prepared.gains(metric.term)[0] > 0 or term.ratio)
        )
        for ideal in metric.ideals:
            unknown |= (ideal.over != "judged") | ungraded(self.prepared, follow)
        if "length" in metric.reads or ("cutoff" in metric.reads and cutoff is None):
            rows = np.flatnonzero(~unknown)
            values[rows] = self._most_of(
                metric, scorer, rows, DEEPEST_CUTOFF if cutoff is None else cutoff, cutoff
            )
        return np.where(unknown, self._largest(metric), values)

    def _far(self, lists: Lists, cutoff: int | None, length: Floats | float) -> Scorer:
        """Return a scorer of whole lists with a given cutoff and length to divide by."""
        scorer = self._scorer(lists, lists, (None,))
        scorer.length = np.broadcast_to(np.asarray(length, np.float64), self.before.size)[:, None]
        scorer.cutoff = scorer.length if cutoff is None else np.full((1, 1), float(cutoff))
        return scorer


def _values(scorer: Scorer, metrics: Sequence[Metric], policy: str) -> dict[Metric, Floats]:
    """Return the values of every metric at all cutoffs, ascending."""
    requests = [(metric, scorer.cutoffs or (None,)) for metric in metrics]
    values = np.split(scorer.scores(requests, policy)[0], len(metrics) or 1, axis=1)
    return dict(zip(metrics, values, strict=False))  # of no metrics there is an empty one


def _preferences(prepared: Prepared, following: Following, workers: int, *, best: bool) -> Floats:
    """Return the lowest or highest bpref of every list; NaN if the judged items are not known.

    Such lists hold only judged items, so what may follow is known: the judged items that were not
    retrieved. The highest value: all relevant ones follow immediately, before the others of a tie
    that was cut. The lowest: only the others follow, and those in a cut tie come before its
    relevant items.
    """
    policy = "best" if best else "worst"
    scorer, lists = Scorer(prepared, (), workers), arrange(prepared, policy)
    total = scorer.moments(terms.PREFERENCES, policy, lists).mean[:, 0]
    relevant = prepared.relevant_grade
    retrieved = prepared.retrieved.total(~relevant)
    most = prepared.most_others
    if best:
        before = retrieved - prepared.open_end(~relevant)
        total += following.relevant(relevant) * _preference(before, most)
    else:
        more = np.maximum(prepared.judged.total(~relevant) - retrieved, 0)
        lost = _preference(retrieved, most) - _preference(retrieved + more, most)
        total -= prepared.open_end(relevant) * lost
    all_judged = prepared.all_judged & ~following.unlimited
    return np.where(all_judged, np.maximum(total, 0.0) / np.maximum(prepared.relevant, 1), np.nan)


def _preference(before: Integers, most: Integers) -> Floats:
    """Return what a relevant item contributes after ``before`` others."""
    return np.where(most == 0, 1.0, np.maximum(1.0 - before / np.maximum(most, 1), 0.0))

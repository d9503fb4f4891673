"""What may follow a list that was cut, and which scores it could change."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from retrieval_report.kernels.lists import Bools, Cells, Integers
from retrieval_report.metrics.record import Metric
from retrieval_report.scoring import arrays
from retrieval_report.scoring.layout import Prepared, difference
from retrieval_report.scoring.scorer import WHOLE, Scorer

MORE = 64  # items by which a list is lengthened to see whether a divisor grows with it


@dataclass(frozen=True)
class Following:
    """What may follow each list, apart from irrelevant items."""

    unseen: Cells  # items of known grade
    free: Integers  # relevant items of unknown grade
    unlimited: Bools  # whether any number of further relevant items may follow
    loose: Bools  # whether any number of items may follow whose grade is above 0 but not relevant
    loose_grade: Bools  # which of the known grades are such

    @classmethod
    def of(cls, prepared: Prepared) -> Following:
        """Derive it from the lists; nothing that counts follows beyond a distance threshold."""
        near = ~prepared.far
        free = prepared.relevant - prepared.known.total(prepared.relevant_grade)
        unseen = difference(prepared.known, prepared.retrieved, prepared.grades.size)
        items = np.where(np.repeat(near, np.diff(unseen.start)), unseen.items, 0)
        loose_grade = (prepared.grades > 0) & ~prepared.relevant_grade
        return cls(
            unseen._replace(items=items),
            free=np.where(near, free, 0),
            unlimited=near & prepared.pooled,
            loose=near & bool(loose_grade.any() and not prepared.all_judged),
            loose_grade=loose_grade,
        )

    def known(self, counts: Bools) -> Integers:
        """Return the number of items of known grade that may follow each list; ``counts`` says
        which grades count.
        """
        return arrays.sums(self.unseen.items * counts[self.unseen.grade], self.unseen.start)

    def relevant(self, relevant_grade: Bools) -> Integers:
        """Return the number of relevant items that may follow each list, if it is limited."""
        return self.known(relevant_grade) + self.free

    def highest(self, prepared: Prepared) -> Integers:
        """Return the highest grade that may follow each list, 0 for none; of a grade above all that
        were seen, their number.
        """
        lists = np.repeat(np.arange(self.free.size), np.diff(self.unseen.start))
        unknown = prepared.grades.size - bool(prepared.relevant_grade.any())
        highest = np.where((self.free > 0) | self.unlimited, unknown, 0)
        if self.loose.any():
            loose = np.flatnonzero(self.loose_grade)[-1]
            highest = np.maximum(highest, np.where(self.loose, loose, 0))
        np.maximum.at(highest, lists, np.where(self.unseen.items > 0, self.unseen.grade, 0))
        return highest

    def counted(self, counts: Bools) -> Bools:
        """Return which lists may be followed by an item of a grade that counts."""
        loose = self.loose & bool((counts & self.loose_grade).any())
        return (self.known(counts) > 0) | (self.free > 0) | self.unlimited | loose


def reaching(scorer: Scorer, metric: Metric, follow: Following) -> Bools:
    """Return which scores (lists, cutoffs) of cut lists depend on what truncation leaves open."""
    prepared = scorer.prepared
    term = metric.term
    relevant = prepared.relevant_grade
    if term.judged_only:  # it looks at the whole list, down to its last relevant item
        opens = follow.counted(relevant) | (prepared.open_end(relevant) > 0)
        return np.broadcast_to(opens[:, None], scorer.asked.shape)
    deeper = scorer.asked > prepared.before[:, None]
    if term.first_only:
        last = prepared.open_end(relevant)
        deeper &= (prepared.retrieved.total(relevant) == last)[:, None]
    gains = prepared.gains(term)
    counts = gains > gains[0]  # more than an irrelevant item
    if isinstance(persistence := term.weights.rule, float):
        # all that follows, at the most: grades that were not seen may come, too
        further = persistence**prepared.before * max(gains[-1], 1.0)
        deeper &= (further > np.finfo(np.float64).eps)[:, None]
    mixed = prepared.open_end(counts) > 0
    longer = (scorer.asked > prepared.length[:, None]) & bool(gains[0] > 0)
    reached = deeper & ((follow.counted(counts) | mixed)[:, None] | longer)
    opens = ideal_open(metric, prepared, follow, scorer.asked)
    return reached | opens | _divided_by_length(metric, scorer)


def ideal_open(metric: Metric, prepared: Prepared, follow: Following, cutoffs: Integers) -> Bools:
    """Return of which lists the ideal may change at which cutoffs. That of the list itself does not
    where as many items as the cutoff are no worse than all that may follow.
    """
    opens = np.zeros((follow.loose.size, 1), np.bool_)
    for ideal in metric.ideals:
        if ideal.over == "list":
            highest, cells = follow.highest(prepared), prepared.retrieved.cells
            as_good = cells.grade >= np.repeat(highest, np.diff(cells.start))
            best = arrays.sums(cells.items * as_good, cells.start)[:, None]
            opens = opens | ((highest > 0)[:, None] & (best < cutoffs))
        else:
            opens = opens | (follow.loose | ungraded(prepared, follow))[:, None]
    return opens


def unsure(scorer: Scorer, metric: Metric, follow: Following) -> Bools:
    """Return which scores of cut lists are open at every cutoff because R or the grades in the
    ideal are not known.
    """
    unknown = follow.unlimited & metric.needs_all_relevant
    return unknown[:, None] | ideal_open(metric, scorer.prepared, follow, scorer.asked)


def depends_on_unknown(scorer: Scorer, metric: Metric) -> Bools:
    """Return which scores depend on an R that is not known: not an ideal of k items where at least
    k are known to have the only grade above 0.
    """
    prepared = scorer.prepared
    unknown = (prepared.pooled & metric.needs_all_relevant)[:, None]
    if metric.own_depth or "relevant" in metric.reads or (prepared.grades > 0).sum() > 1:
        return unknown
    return unknown & (scorer.asked > prepared.relevant[:, None])


def ungraded(prepared: Prepared, follow: Following) -> Bools:
    """Return which lists have relevant items of unknown grade, if grades differ."""
    return (follow.free > 0) & (int(prepared.relevant_grade.sum()) > 1)


def _divided_by_length(metric: Metric, scorer: Scorer) -> Bools:
    """Return which scores change with the number of items that follow, relevant or not."""
    if "length" not in metric.reads and not (
        "cutoff" in metric.reads and (scorer.asked == WHOLE).any()
    ):
        return np.zeros_like(scorer.asked, np.bool_)
    longer = copy(scorer)
    longer.length = 2 * scorer.length + MORE
    longer.cutoff = np.where(scorer.asked == WHOLE, longer.length, scorer.cutoff)
    return np.asarray(metric.divisor(longer) != metric.divisor(scorer))

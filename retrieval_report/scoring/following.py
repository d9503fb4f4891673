"""What may follow a truncated list, and which scores it could change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from retrieval_report.kernels.lists import Bools, Cells, Floats, Integers
from retrieval_report.metrics import terms
from retrieval_report.metrics.catalogue import ACG, AP, F1, NDCG, APAtR, Metric, Precision, Recall
from retrieval_report.scoring import arrays
from retrieval_report.scoring.beyond import difference
from retrieval_report.scoring.layout import Prepared
from retrieval_report.scoring.scorer import WHOLE, Scorer

BY_RELEVANT = ("total", "min")  # denominators of AP that R decides


@dataclass(frozen=True)
class Following:
    """What may follow each list, apart from irrelevant items."""

    unseen: Cells  # items of known grade
    free: Integers  # relevant items of unknown grade
    unlimited: Bools  # whether any number of further relevant items may follow
    loose: Bools  # whether any number of items may follow whose grade is above 0 but not relevant

    @classmethod
    def of(cls, prepared: Prepared) -> Following:
        """Derive it from the lists; nothing that counts follows beyond a distance threshold."""
        near = ~prepared.beyond.far
        unseen = difference(prepared.known, prepared.retrieved)
        items = np.where(np.repeat(near, np.diff(unseen.start)), unseen.items, 0)
        graded = ((prepared.grades > 0) & ~prepared.relevant_grade).any() and not prepared.all_judged
        return cls(
            unseen._replace(items=items), np.where(near, prepared.free, 0), near & prepared.beyond.pooled, near & graded
        )

    def relevant(self, relevant_grade: Bools) -> Integers:
        """Return the number of relevant items that may follow each list, if it is limited."""
        return arrays.sums(self.unseen.items * relevant_grade[self.unseen.grade], self.unseen.start) + self.free

    @property
    def some(self) -> Bools:
        """Return which lists may be followed by an item of relevance above 0."""
        unseen = arrays.sums(self.unseen.items, self.unseen.start)
        return np.asarray((unseen > 0) | (self.free > 0) | self.unlimited | self.loose)


def reaching(scorer: Scorer, metric: Metric, follow: Following) -> Bools:
    """Return which scores (lists, cutoffs) depend on what truncation leaves open."""
    prepared, beyond = scorer.prepared, scorer.prepared.beyond
    if isinstance(metric.term, terms.Preferences):  # it looks at the whole list
        return np.broadcast_to(beyond.open[:, None], scorer.asked.shape)
    deeper = (scorer.asked > beyond.before[:, None]) & beyond.open[:, None]
    relevant = prepared.relevant_grade
    if isinstance(metric.term, terms.FirstRelevant):  # what comes after the first relevant item is all the same
        last = np.where(beyond.within, prepared.ties.total_of_last(relevant), 0)
        deeper = deeper & (prepared.retrieved.total(relevant) == last)[:, None]
    graded = beyond.within & (prepared.ties.total_of_last(prepared.grades > 0) > 0)
    matters = (follow.some | graded)[:, None]
    if isinstance(metric, NDCG) and metric.ideal != "cutoff":  # what follows is in the ideal of every cutoff
        unknown = follow.some if metric.ideal == "list" else ungraded(prepared, follow)
        deeper = deeper | (unknown & beyond.open)[:, None]
    longer = scorer.asked > prepared.length[:, None]
    return deeper & (matters | (longer & _counts_retrieved(metric, scorer)))


def unsure(scorer: Scorer, metric: Metric, follow: Following) -> Bools:
    """Return which scores are open at every cutoff because R or the grades in the ideal are not known."""
    prepared = scorer.prepared
    divided = isinstance(metric, Recall | F1 | APAtR) or (isinstance(metric, AP) and metric.denominator in BY_RELEVANT)
    unknown = np.zeros_like(follow.unlimited)
    if divided:
        unknown = follow.unlimited
    elif isinstance(metric, NDCG) and metric.ideal == "judged":
        unknown = follow.unlimited | follow.loose | ungraded(prepared, follow)
    return np.broadcast_to((unknown & prepared.beyond.open)[:, None], scorer.asked.shape)


def ungraded(prepared: Prepared, follow: Following) -> Bools:
    """Return which lists have relevant items of unknown grade, if grades differ."""
    return np.asarray((follow.free > 0) & (int(prepared.relevant_grade.sum()) > 1))


def _counts_retrieved(metric: Metric, scorer: Scorer) -> Bools:
    """Return where even irrelevant items that follow change a score."""
    if isinstance(metric, Precision) and metric.denominator == "retrieved":
        return np.ones_like(scorer.asked, np.bool_)
    term, whole = metric.term, scorer.asked == WHOLE
    if isinstance(term, terms.Sum) and values_of(scorer, term)[0] > 0:
        return np.ones_like(whole)
    by_length = isinstance(metric, AP) and metric.denominator in ("k", "min")
    return np.asarray(whole & (by_length or isinstance(metric, Precision | F1 | ACG)))


def values_of(scorer: Scorer, term: terms.Sum) -> Floats:
    """Return what an item of each grade adds to a sum, before its weight."""
    return term.values.of(scorer.prepared.grades, scorer.prepared.relevant_grade)

"""The lowest and highest bpref over all completions of a cut list, as a deeper retrieval could
show.

Such lists hold only judged items, so what may follow is known: the judged items, relevant or not,
that were not retrieved. The highest value: all relevant ones follow immediately, before the others
of a tie that was cut. The
lowest: only the others follow, and those in a cut tie come before its relevant items.
"""

from __future__ import annotations

import numpy as np

from retrieval_report.kernels.lists import Floats, Integers
from retrieval_report.metrics.terms import Preferences
from retrieval_report.scoring.cut_following import Following
from retrieval_report.scoring.layout import Prepared
from retrieval_report.scoring.scorer import Scorer, arrange


def cut_preferences(
    prepared: Prepared, following: Following, workers: int, *, best: bool
) -> Floats:
    """Return the lowest or highest value of every list; NaN if the judged items are not known."""
    arrangement = arrange(prepared, "best" if best else "worst")
    total = Scorer(prepared, (), workers).moments(Preferences(), arrangement).mean[:, 0]
    relevant, within = prepared.relevant_grade, prepared.beyond.within
    judged, retrieved = prepared.judged.total(~relevant), prepared.retrieved.total(~relevant)
    count = np.maximum(prepared.relevant, 0)
    most = np.minimum(count, judged)
    last = np.where(within, prepared.ties.total_of_last(~relevant), 0)
    if best:
        total = total + following.relevant(relevant) * _preference(retrieved - last, most)
    else:
        more = np.maximum(judged - retrieved, 0)
        lost = _preference(retrieved, most) - _preference(retrieved + more, most)
        total = total - np.where(within, prepared.ties.total_of_last(relevant), 0) * lost
    known = prepared.all_judged & ~following.unlimited
    return np.where(known, np.maximum(total, 0.0) / np.maximum(count, 1), np.nan)


def _preference(before: Integers, most: Integers) -> Floats:
    """Return what a relevant item contributes after ``before`` others."""
    return np.where(most == 0, 1.0, np.maximum(1.0 - before / np.maximum(most, 1), 0.0))

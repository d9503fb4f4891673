"""Score rankings larger than memory, on disk or in a lazy frame, part by part.

A part holds all rows of its queries, of all models, so scoring it alone gives the same bits as scoring the whole.
``sources`` presents many files as one table, ``parts`` finds or makes the parts, ``known`` finds what a part cannot
see by itself, ``work`` runs the parts, and ``scores`` combines their results.

>>> sorted(__all__)
['ROWS_PER_PART', 'collect_counts', 'collect_scores', 'count_ties_to', 'evaluate_to', 'is_streamed']
"""

from __future__ import annotations

from retrieval_report.disk.scores import ROWS_PER_PART, collect_counts, collect_scores, count_ties_to, evaluate_to
from retrieval_report.disk.sources import is_streamed

__all__ = ["ROWS_PER_PART", "collect_counts", "collect_scores", "count_ties_to", "evaluate_to", "is_streamed"]

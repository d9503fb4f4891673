"""Larger than memory: rankings on disk, or a lazy frame, are scored part by part.

A part holds every row of its queries, of all models, so scoring it by itself gives the very bits that scoring the
whole would give. ``sources`` sees many files as one table, ``parts`` finds or makes the parts, ``facts`` tells a part
what it cannot see by itself, ``work`` runs them, ``scores`` puts together what comes out.

>>> sorted(__all__)
['ROWS_PER_PART', 'collect_counts', 'collect_scores', 'count_ties_to', 'evaluate_to', 'is_streamed']
"""

from __future__ import annotations

from retrieval_report.disk.scores import ROWS_PER_PART, collect_counts, collect_scores, count_ties_to, evaluate_to
from retrieval_report.disk.sources import is_streamed

__all__ = ["ROWS_PER_PART", "collect_counts", "collect_scores", "count_ties_to", "evaluate_to", "is_streamed"]

"""Larger than memory: rankings on disk are scored part by part, and the results stream to Parquet.

A part holds every row of its queries, of all models, so scoring it by itself gives the very bits that scoring the
whole would give. ``sources`` sees many files as one table, ``parts`` finds or makes the parts, ``facts`` tells a part
what it cannot see by itself, ``scores`` runs them.

>>> sorted(__all__)
['ROWS_PER_PART', 'count_ties_to', 'evaluate_to']
"""

from __future__ import annotations

from retrieval_report.stream.scores import ROWS_PER_PART, count_ties_to, evaluate_to

__all__ = ["ROWS_PER_PART", "count_ties_to", "evaluate_to"]

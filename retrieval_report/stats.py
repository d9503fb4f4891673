"""Tests, intervals and tables beyond :func:`retrieval_report.compare`; docs/choosing-a-test.md
helps to choose.

- many models: :func:`tie_ranks`, :func:`pair_verdicts`;
- no worse than a baseline: :func:`no_worse`, :func:`detectable_effect`, :func:`queries_needed`, and
  :class:`Gate`, which :func:`retrieval_report.gate` returns;
- segments of the queries: :func:`summarise_by`, :func:`compare_by`, :func:`segment_winners`;
- versions of a model: :func:`history`;
- few human judgements and many from a machine: :func:`estimate`;
- single queries and costs: :func:`deciding_queries`, :func:`cost_table`;
- seeds and folds: :func:`replicate_table`, :func:`replicate_pairs`; data sets:
  :func:`dataset_scores`, :func:`dataset_table`;
- thresholds of distance: :class:`Thresholds`, which :func:`retrieval_report.thresholds` returns;
- votes of neighbours: :class:`NearestLabels`, which :func:`retrieval_report.knn` returns;
- the draws behind the policy "shuffled": :func:`evaluate_with_draws`.

>>> import retrieval_report as rr
>>> rr.stats.queries_needed(std=0.1, effect=0.02)
156
"""

from retrieval_report.comparison.costs import cost_table
from retrieval_report.comparison.datasets import dataset_scores, dataset_table
from retrieval_report.comparison.estimate import estimate
from retrieval_report.comparison.flips import pair_verdicts
from retrieval_report.comparison.gate import Gate
from retrieval_report.comparison.history import history
from retrieval_report.comparison.noninferiority import detectable_effect, no_worse, queries_needed
from retrieval_report.comparison.queries import deciding_queries
from retrieval_report.comparison.replicates import replicate_pairs, replicate_table
from retrieval_report.comparison.segments import compare_by, segment_winners, summarise_by
from retrieval_report.comparison.tie_ranks import tie_ranks
from retrieval_report.engines.evaluate import evaluate_with_draws
from retrieval_report.ties.nearest_labels import NearestLabels
from retrieval_report.ties.thresholds import Thresholds

__all__ = [
    "Gate",
    "NearestLabels",
    "Thresholds",
    "compare_by",
    "cost_table",
    "dataset_scores",
    "dataset_table",
    "deciding_queries",
    "detectable_effect",
    "estimate",
    "evaluate_with_draws",
    "history",
    "no_worse",
    "pair_verdicts",
    "queries_needed",
    "replicate_pairs",
    "replicate_table",
    "segment_winners",
    "summarise_by",
    "tie_ranks",
]

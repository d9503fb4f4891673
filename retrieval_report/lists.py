"""Look inside ranked lists: at their ties, what cuts them, and how much of them is judged.

These functions complement :func:`retrieval_report.evaluate`; they look at items rather than at
scores:

- one list: :func:`tie_groups`, :func:`ranking_ties`, :func:`side_by_side` with another one,
  :func:`score_distribution`;
- many lists: :func:`ties_at_cutoff`, :func:`query_table`, :func:`ranking_similarity`,
  :func:`recall_curve`, :func:`grading_scale`, and items that are the same: :func:`duplicates`;
- judgements and weights: :func:`judgement_coverage`, :func:`neighbour_judgements`,
  :func:`query_weights`, :func:`weigh_gains`.

>>> import retrieval_report as rr
>>> rankings = {
...     "query": ["q"] * 4,
...     "item": list("abcd"),
...     "distance": [1] * 4,
...     "relevance": [1, 0, 0, 0],
... }
>>> scores = rr.lists.score_distribution(rankings, model="model", query="q", metric="rr", cutoff=2)
>>> scores.select("value", "probability").rows()
[(0.0, 0.5), (0.5, 0.25), (1.0, 0.25)]
"""

from retrieval_report.comparison.queries import query_table
from retrieval_report.metrics.weights import WeighedGains, query_weights, weigh_gains
from retrieval_report.reading.duplicates import duplicates
from retrieval_report.scoring.ties import tie_groups
from retrieval_report.ties.coverage import judgement_coverage
from retrieval_report.ties.distributions import score_distribution
from retrieval_report.ties.grading_scale import grading_scale
from retrieval_report.ties.neighbours import neighbour_judgements
from retrieval_report.ties.orders import ranking_ties, side_by_side
from retrieval_report.ties.profile import ties_at_cutoff
from retrieval_report.ties.recall_curve import recall_curve
from retrieval_report.ties.similarity import RankingSimilarity, ranking_similarity

__all__ = [
    "RankingSimilarity",
    "WeighedGains",
    "duplicates",
    "grading_scale",
    "judgement_coverage",
    "neighbour_judgements",
    "query_table",
    "query_weights",
    "ranking_similarity",
    "ranking_ties",
    "recall_curve",
    "score_distribution",
    "side_by_side",
    "tie_groups",
    "ties_at_cutoff",
    "weigh_gains",
]

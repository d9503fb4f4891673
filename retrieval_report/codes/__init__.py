"""Score binary codes and small integer vectors with
labels, without a distance matrix and without a sort.

:func:`count_codes` counts the items at every distance, which :func:`retrieval_report.evaluate`
scores exactly; :func:`count_relevant` counts what is relevant to each query;
:func:`evaluate_radius` scores the items within a Hamming radius, and :func:`radius_scores` does so
query by query.

>>> sorted(__all__)
['count_codes', 'count_relevant', 'evaluate_radius', 'radius_scores']
"""

from retrieval_report.codes.counts import count_codes, count_relevant
from retrieval_report.scoring.radius import evaluate_radius, radius_scores

__all__ = ["count_codes", "count_relevant", "evaluate_radius", "radius_scores"]

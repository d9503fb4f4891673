"""Other evaluators: how each computes a metric, and scores by its definitions and tie order.

:func:`conventions` is the table of what they do, and :func:`evaluate_like` scores as one of them
does. :func:`retrieval_report.audit` shows what all of them would print, and how much of that is due
to tie order.

>>> import retrieval_report as rr
>>> rankings = {"query": ["q"] * 3, "item": list("abc"), "score": [2, 2, 1], "relevance": [2, 1, 0]}
>>> scores = rr.systems.evaluate_like(rankings, "trec_eval", metrics="ndcg@1")
>>> scores.select("metric", "policy", "value").rows()
[('ndcg', 'expected', 0.75), ('ndcg', 'naive', 0.5)]
"""

from __future__ import annotations

from retrieval_report.systems.conventions import Convention, conventions
from retrieval_report.systems.evaluate_like import evaluate_like

__all__ = ["Convention", "conventions", "evaluate_like"]

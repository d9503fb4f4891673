"""Other evaluators: how each computes a metric, and scores by its definitions and tie order.

:func:`conventions` is the table of what they do, and :func:`evaluate_like` scores as one of them
does. :func:`retrieval_report.audit` shows what all of them would print, and how much of that is due
to tie order. :func:`register_in_ir_measures` makes ir_measures itself exact.

>>> import retrieval_report as rr
>>> rankings = {"query": ["q"] * 3, "item": list("abc"), "score": [2, 2, 1], "relevance": [2, 1, 0]}
>>> scores = rr.systems.evaluate_like(rankings, "trec_eval", metrics="ndcg@1")
>>> scores.select("metric", "policy", "value").rows()
[('ndcg', 'expected', 0.75), ('ndcg', 'naive', 0.5)]
"""

from __future__ import annotations

from retrieval_report.systems.conventions import conventions
from retrieval_report.systems.evaluate_like import evaluate_like

__all__ = ["conventions", "evaluate_like", "register_in_ir_measures"]


def register_in_ir_measures() -> object:
    """Make ir_measures compute exact means over all orders of ties, wherever a measure has them.

    ``ir_measures.calc_aggregate``, ``iter_calc`` and ``evaluator`` then ask this package first, and
    other providers for the rest. It needs ir_measures, of the extra ``ir_measures``.

    Returns
    -------
    object
        The provider, also under the name "retrieval_report" among those of ir_measures.

    Examples
    --------
    >>> import ir_measures
    >>> run = [ir_measures.ScoredDoc("q", item, 1.0) for item in "ab"]
    >>> qrels = [ir_measures.Qrel("q", "a", 1)]
    >>> provider = register_in_ir_measures()
    >>> ir_measures.calc_aggregate([ir_measures.RR], qrels, run)
    {RR: 0.75}
    >>> ir_measures.DefaultPipeline.providers.remove(provider)  # undoes it
    """
    from retrieval_report.systems.ir_measures_provider import register

    return register()

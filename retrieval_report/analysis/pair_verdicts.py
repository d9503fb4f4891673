"""Verdicts on pairs from a comparison alone, for charts and other uses without a summary."""

from __future__ import annotations

import polars as pl

from retrieval_report.analysis.inputs import check_fraction, hold
from retrieval_report.analysis.verdicts import ALPHA, SHOWN, TIE_RISK, order_of, significant, with_verdicts
from retrieval_report.contracts.registry import schema

JUDGED_PAIRS = schema("judged_pairs")
KEYS = ["model_a", "model_b", "metric", "cutoff"]


def pair_verdicts(comparison: object, *, tie_risk: float = TIE_RISK, alpha: float = ALPHA) -> pl.DataFrame:
    """Return for every pair whether its order can be trusted, by the rule and in the words of :func:`flips`.

    Charts of pairs accept this result; given a comparison, they compute it with the default thresholds. It uses only
    the paired means of the policies that were compared, whereas :func:`flips` also uses those of a summary.

    Parameters
    ----------
    comparison
        The result of :func:`compare`.
    tie_risk
        The largest probability of a reversal by tie order that still counts as safe, compared with ``p_tie_high``.
    alpha
        The smallest ``family_p`` that counts as not significant.

    Returns
    -------
    polars.DataFrame
        The columns of :func:`compare`, then ``disagree`` (other policies that favour the other model), ``significant``
        (whether ``family_p`` is below alpha; null if it was not tested) and ``verdict``.

    Examples
    --------
    >>> import retrieval_report as rr
    >>> rankings = {"model": ["a"] * 2 + ["b"] * 2, "query": ["q"] * 4, "item": list("xyxy"),
    ...             "distance": [1, 1, 1, 2], "relevance": [1, 0] * 2}
    >>> comparison = rr.compare(rr.evaluate(rankings, metrics="rr", cutoffs=2))
    >>> pair_verdicts(comparison).select("policy", "difference", "disagree", "verdict").row(0)
    ('expected', -0.25, '', 'depends on tie order')
    """
    check_fraction("tie_risk", tie_risk)
    check_fraction("alpha", alpha)
    pairs = hold(comparison, schema("comparison"), "comparison", "compare")
    order = order_of("value_a", "value_b")
    others = {name: f"__{name}" for name in SHOWN if name in set(pairs["policy"])}
    for name, column in others.items():  # naive scores, say, that name the other model
        own = pairs.filter(policy=name).select(*KEYS, order.alias(column))
        pairs = pairs.join(own, on=KEYS, how="left", nulls_equal=True, maintain_order="left")
    pairs = pairs.with_columns(
        cut=(pl.col("p_tie_method") == "truncated").fill_null(False),
        moved=(pl.col("tied_queries") > 0).fill_null(False),
        significant=significant(pl.col("family_p"), alpha),
    )
    orders = {name: pl.when(pl.col("policy") != name).then(pl.col(column)) for name, column in others.items()}
    return with_verdicts(pairs, order, orders, tie_risk=tie_risk, alpha=alpha).select(list(JUDGED_PAIRS))

"""Find how much of the top of the lists is judged, and
how far a score could rise if the rest were relevant.
"""

from __future__ import annotations

from typing import Any, Unpack

import polars as pl

from retrieval_report.contracts.arguments import Named, Names
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import check_table
from retrieval_report.contracts.options import Options, ScoringOptions
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.evaluate import evaluate
from retrieval_report.engines.summary import summarise
from retrieval_report.metrics.catalogue import RBP
from retrieval_report.metrics.parsing import Cutoffs
from retrieval_report.reading.frames import to_polars

ABOUT_RELEVANCE = ("relevant_from", "unjudged", "no_relevant", "distance_threshold")
TURNED = {"best": "worst", "worst": "best"}


def judgement_coverage(
    rankings: object,
    judgements: object,
    *,
    cutoffs: Cutoffs = (1, 5, 10, None),
    p: float = 0.8,
    policies: Names = ("expected", "naive", "best", "worst"),
    **options: Unpack[ScoringOptions],
) -> pl.DataFrame:
    """Compute the share of judged items among the top k, and the residual of rank-biased precision,
    exact under ties.

    ``judged`` is the share of the first min(k, n) items that have a judgement, relevant or not.
    ``rbp_residual`` is what RBP leaves open: the weight of all positions without judgement,
    including those after k and after the end of the list, 1 − (1 − p) Σ p^(i−1) · [item at i is
    judged] (Moffat and Zobel 2008). The true RBP lies between the one that counts unjudged items as
    not relevant and that value plus the residual.

    Parameters
    ----------
    rankings, judgements, cutoffs, policies
        As for :func:`evaluate`; a column ``relevance`` of the rankings is ignored. "best" gives
        upper bounds: for ``judged`` the order with most judged items first, for ``rbp_residual``
        the one that leaves most open.
    p
        Persistence of RBP.
    **options
        Other options of :func:`evaluate`, except those about relevance.

    Returns
    -------
    polars.DataFrame
        Scores as from :func:`evaluate`, for :func:`summarise`, with the metrics ``judged`` and
        ``rbp_residual(p=…)``; ``n_relevant`` counts the judged items of the query.

    Raises
    ------
    RetrievalReportError
        As for :func:`evaluate`, and for options about relevance.

    Examples
    --------
    One of the two items that tie for the first rank is judged.

    >>> rankings = {"query": ["q"] * 3, "item": ["a", "b", "c"], "distance": [1, 1, 2]}
    >>> found = judgement_coverage(
    ...     rankings, {"query": ["q"], "item": ["b"], "relevance": [0]}, cutoffs=1, p=0.5
    ... )
    >>> found.select("metric", "policy", "value").rows()[:3]
    [('judged', 'expected', 0.5), ('judged', 'naive', 0.0), ('judged', 'best', 1.0)]
    >>> found.filter(metric="rbp_residual(p=0.5)")["value"].to_list()
    [0.75, 1.0, 1.0, 0.5]
    """
    refused = sorted(options.keys() & set(ABOUT_RELEVANCE))
    if refused:
        raise ParameterError(
            f"judgement_coverage: {refused[0]} is about relevance, which is not used"
        )
    judged = check_table(
        to_polars(judgements, "judgements"), "judgements", repeated="highest"
    ).with_columns(relevance=pl.lit(1, pl.Int64))
    frame = to_polars(rankings, "rankings").drop("relevance", strict=False)
    weighed, names = RBP(p=p), Options(policies=policies).policies
    arguments: Named = {"judgements": judged, "cutoffs": cutoffs, **options}
    share = evaluate(frame, metrics="precision(denominator=retrieved)", policies=names, **arguments)
    # What is judged first leaves least open.
    residual = evaluate(
        frame, metrics=weighed, policies=[TURNED.get(name, name) for name in names], **arguments
    ).with_columns(
        metric=pl.lit(f"rbp_residual(p={weighed.p:g})"),
        policy=pl.col("policy").replace(TURNED),
        value=1.0 - pl.col("value"),
    )
    rows = pl.concat([share.with_columns(metric=pl.lit("judged")), residual])
    return rows.sort("model", "query", maintain_order=True)


def coverage_means(rankings: object, judgements: object, **options: Any) -> pl.DataFrame:
    """Return how much of every model's lists is judged."""
    return summarise(
        judgement_coverage(rankings, judgements, policies="expected", truncated="no", **options)
    ).select(list(schema("coverage")))

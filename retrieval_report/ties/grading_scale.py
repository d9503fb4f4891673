"""Find what a scale of few grades costs models that rank by grades, and what a finer
one could gain.
"""

from __future__ import annotations

from typing import Unpack

import polars as pl

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.frames import order_column, with_model
from retrieval_report.contracts.options import ScoringOptions
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.engines.check_scores import MEAN, at_measure, join_left
from retrieval_report.engines.evaluate import evaluate
from retrieval_report.engines.summary import summarise
from retrieval_report.metrics.parsing import Cutoffs, Metrics, measure_text
from retrieval_report.reading.frames import to_polars

GRADING_SCALE = schema("grading_scale")
POLICIES = ("expected", "best", "worst")  # the last two are the ends of `summarise`
MERGED = 2  # neighbouring grades that become one


def grading_scale(
    rankings: object,
    *,
    measures: Metrics = None,
    cutoffs: Cutoffs = None,
    judgements: object = None,
    queries: object = None,
    **options: Unpack[ScoringOptions],
) -> pl.DataFrame:
    """Return for every model how much a finer scale of its scores could gain at most, and how much
    a coarser one would lose.

    Is a scale of 0–3 enough? A model that grades passages on it leaves their order inside a grade
    to chance. A finer scale, or a second signal, can at best bring the relevant ones of every grade
    to the front.

    Parameters
    ----------
    rankings
        A rankings frame of few grades, as for :func:`evaluate`, such as that of
        :func:`from_labels`.
    measures, cutoffs, judgements, queries, **options
        As for :func:`evaluate`.

    Returns
    -------
    polars.DataFrame
        One row per ``model``, ``metric`` and ``cutoff``: ``grades`` (different scores that the
        model gives), ``value`` (the exact mean), ``highest`` (the mean if every tie were broken in
        the best way), ``could_gain`` (highest − value), ``coarser_grades`` and ``coarser`` (the
        number of grades, and the exact mean, once neighbouring grades are merged in twos, from the
        lowest score or the nearest distance on), ``scale_gain`` (value − coarser: what the scale
        gains over one of half its grades), and ``queries``.

    Raises
    ------
    RetrievalReportError
        As :func:`evaluate`; and for counts, whose grades are gone.

    Examples
    --------
    >>> rankings = {
    ...     "query": ["q"] * 4,
    ...     "item": list("abcd"),
    ...     "score": [3, 2, 2, 0],
    ...     "relevance": [0, 1, 0, 0],
    ... }
    >>> found = grading_scale(rankings, measures="rr@4", truncated="no")
    >>> numbers = pl.col("value", "highest", "coarser").round(4)
    >>> found.select("grades", numbers, "coarser_grades").row(0)
    (3, 0.4167, 0.5, 0.3611, 2)
    """
    sources: Named = {"judgements": judgements, "queries": queries}
    settings: Named = {**options, "measures": measures, "cutoffs": cutoffs, "policies": POLICIES}
    frame = with_model(to_polars(rankings, "rankings"))
    if "count" in frame.columns:
        raise DataError("rankings: counts have no grades; pass the rankings that were counted")
    order = order_column(frame)
    step = pl.col(order).rank("dense").over("model").cast(pl.Int64) - 1

    def means(rows: pl.DataFrame) -> pl.DataFrame:
        expected = summarise(evaluate(rows, **sources, **settings)).filter(policy="expected")
        grades = rows.group_by("model").agg(grades=pl.col(order).drop_nulls().n_unique())
        return expected.join(grades, on="model", maintain_order="left")

    fine, coarse = means(frame), means(frame.with_columns((step // MERGED).alias(order)))
    coarser_means = coarse.select(*MEAN, coarser="value", coarser_grades="grades")
    return in_contract(
        join_left(fine, coarser_means, MEAN).with_columns(
            could_gain=pl.col("highest") - pl.col("value"),
            scale_gain=pl.col("value") - pl.col("coarser"),
        ),
        GRADING_SCALE,
    )


def scale_sentence(scale: pl.DataFrame, metric: str, cutoff: int | None) -> str:
    """Say whether the scale of the best model by one measure is fine enough; empty if unknown.

    >>> row = {"model": ["gpt"], "metric": ["rr"], "cutoff": [4], "grades": [4], "value": [0.5]}
    >>> numbers = {"could_gain": [0.25], "scale_gain": [0.125], "coarser_grades": [2]}
    >>> scale_sentence(pl.DataFrame(row | numbers), "rr", 4)
    'gpt, the best by rr@4, has 4 grades: a finer scale could add at most 0.2500 to its 0.5000;
    its scale gains +0.1250 over grades merged in twos.'
    """
    rows = scale.filter(at_measure(metric, cutoff)).drop_nulls(["could_gain", "scale_gain"])
    if rows.is_empty():
        return ""
    best = rows.sort("value", descending=True, maintain_order=True).row(0, named=True)
    return (
        f"{best['model']}, the best by {measure_text(metric, cutoff)}, has "
        f"{best['grades']} grades: a finer scale could add at most "
        f"{best['could_gain']:.4f} to its {best['value']:.4f}; its scale gains "
        f"{best['scale_gain']:+.4f} over grades merged in twos."
    )

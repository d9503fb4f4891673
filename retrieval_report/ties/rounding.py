"""Compute the effect of rounding distances on scores, which adds ties and may change the ranking of
models.
"""

from __future__ import annotations

import polars as pl

from retrieval_report.contracts.errors import ColumnError, KeyMismatchError
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.engines.check_scores import hold
from retrieval_report.engines.paired import DIGITS

KEYS = ["model", "metric", "cutoff"]
ROUNDING_EFFECT = schema("rounding_effect")


def rounding_effect(summary: object, rounded: object) -> pl.DataFrame:
    """Put the expected means of distances as received and of rounded ones side by side.

    Parameters
    ----------
    summary
        The result of :func:`summarise`, with policy expected.
    rounded
        The same for scores with ``decimals``, for the same models, metrics and cutoffs.

    Returns
    -------
    polars.DataFrame
        One row per ``model``, ``metric``, ``cutoff``: ``value`` and ``value_rounded`` (expected
        means), ``change`` (rounded − received), ``tie_std`` and ``tie_std_rounded`` (of these means
        under random tie order), ``rank`` and ``rank_rounded`` among the models (1: the highest
        mean; equal ones share a rank). Metrics and cutoffs in the order received, best model first.

    Raises
    ------
    RetrievalReportError
        A summary lacks expected means, or the two do not match.

    Examples
    --------
    Rounded to whole numbers, the relevant item ties with the one after it.

    >>> from retrieval_report import evaluate, summarise
    >>> rankings = {
    ...     "query": ["q", "q"],
    ...     "item": ["a", "b"],
    ...     "distance": [0.9, 1.1],
    ...     "relevance": [1, 0],
    ... }
    >>> one, other = (
    ...     summarise(evaluate(rankings, metrics="rr@2", decimals=decimals, truncated="no"))
    ...     for decimals in (None, 0)
    ... )
    >>> rounding_effect(one, other).select(
    ...     "value", "value_rounded", "change", "tie_std", "tie_std_rounded"
    ... ).row(0)
    (1.0, 0.75, -0.25, 0.0, 0.25)
    """
    one, other = _expected(summary, "summary"), _expected(rounded, "rounded")
    keys = one.select(KEYS), other.select(KEYS)
    if any(
        mine.join(theirs, on=KEYS, how="anti", nulls_equal=True).height
        for mine, theirs in (keys, keys[::-1])
    ):
        raise KeyMismatchError(
            "rounded: models, metrics or cutoffs differ from those in the summary; evaluate the "
            "same ones"
        )
    joined = one.join(
        other, on=KEYS, how="left", nulls_equal=True, suffix="_rounded", maintain_order="left"
    )
    joined = joined.with_row_index("first")
    change = pl.col("value_rounded") - pl.col("value")
    joined = joined.with_columns(
        pl.when(change.round(DIGITS) != 0).then(change).otherwise(change * 0.0).alias("change"),
        *(
            pl.col(name)
            .round(DIGITS)
            .rank("min", descending=True)
            .over("metric", "cutoff")
            .alias(rank)
            for name, rank in (("value", "rank"), ("value_rounded", "rank_rounded"))
        ),
        pl.col("first").min().over("metric", "cutoff"),
    )
    ordered = joined.sort("first", "rank", "model", nulls_last=True)
    return in_contract(ordered, ROUNDING_EFFECT)


def _expected(summary: object, what: str) -> pl.DataFrame:
    frame = hold(summary, SUMMARY, what, "summarise").filter(policy="expected")
    if frame.is_empty():
        raise ColumnError(f"{what}: no row of policy 'expected'")
    return frame.select(*KEYS, "value", "tie_std")

"""Answer the same questions for segments of the queries,
by language, length, source, or any other column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np
import polars as pl

from retrieval_report.comparison.corrections import OF_SINGLE_TESTS, corrected_column
from retrieval_report.comparison.pairs import COMPARISON, ComparisonOptions, compare
from retrieval_report.comparison.verdicts import segment_rule
from retrieval_report.contracts.arguments import Named, check_text
from retrieval_report.contracts.checks import check_choice, refuse
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import (
    SCORE,
    at_measure,
    check_fraction,
    check_scores,
)
from retrieval_report.engines.score_grid import Grid, Measure, best_first, paired_mean
from retrieval_report.engines.summary import SummaryOptions, summarise, with_column
from retrieval_report.reading.frames import to_polars

WINNERS = schema("segments")
NO_VALUE = "(no value)"


def segments_of(scores: object, queries: object, by: str) -> list[tuple[str, pl.DataFrame]]:
    """Split the scores by a column of the queries frame.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`.
    queries
        A frame with ``query`` and the column.
    by
        The column: text, whole numbers, truth values or dates; floats have to be divided into
        classes first.

    Returns
    -------
    list of (str, polars.DataFrame)
        The value as text ("(no value)" for null) and the scores of its queries, by the value.

    Raises
    ------
    RetrievalReportError
        There is no such column, it holds floats, or the frame lacks queries of the scores.

    Examples
    --------
    >>> import polars as pl
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": "a",
    ...             "query": query,
    ...             "metric": "ap",
    ...             "cutoff": None,
    ...             "policy": "expected",
    ...             "value": 0.5,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for query in ("q1", "q2", "q3")
    ...     ]
    ... )
    >>> queries = pl.DataFrame({"query": ["q1", "q2", "q3"], "language": ["en", "de", "en"]})
    >>> [(name, part["query"].to_list()) for name, part in segments_of(scores, queries, "language")]
    [('de', ['q2']), ('en', ['q1', 'q3'])]
    """
    query_rows = to_polars(queries, "queries")
    kind = query_rows.schema.get(check_text("by", by))
    if kind is not None and (kind.is_float() or kind.is_decimal()):
        raise ColumnError(
            f"queries: column {by!r} is {kind}; cut it into classes, e.g. with .cut(), first"
        )
    if kind is not None:
        query_rows = query_rows.with_columns(pl.struct(value=by).alias(by))
    joined = with_column(check_scores(scores), query_rows, "by", by)
    lacking = "scores of queries that the queries frame lacks"
    refuse(joined, pl.col("by").is_null(), by, lacking, what="queries")
    # Null comes last; numbers (as text, too: files have no other) and dates are in their own order.
    value = pl.col("by").struct.field("value")
    number = value.cast(pl.String).cast(pl.Int64, strict=False)
    ordered = joined.sort(number, value, nulls_last=True, maintain_order=True)
    names = value.cast(pl.String).fill_null(NO_VALUE)
    parts = ordered.drop("by").group_by(ordered.select(names).to_series(), maintain_order=True)
    return [(str(name), part) for (name,), part in parts]


def summarise_by(
    scores: object, queries: object, by: str, **options: Unpack[SummaryOptions]
) -> pl.DataFrame:
    """Average the scores of each segment separately.

    Parameters
    ----------
    scores, queries, by
        The result of :func:`evaluate`; a frame with ``query`` and the column to split by; and the
        name of that column: text, whole numbers, truth values or dates. Floats have to be divided
        into classes first.
    **options
        Options of :func:`summarise`.

    Returns
    -------
    polars.DataFrame
        ``segment``, then the columns of :func:`summarise`.

    Examples
    --------
    >>> import polars as pl
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": "a",
    ...             "query": query,
    ...             "metric": "ap",
    ...             "cutoff": None,
    ...             "policy": "expected",
    ...             "value": value,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for query, value in (("q1", 0.5), ("q2", 1.0), ("q3", 0.25))
    ...     ]
    ... )
    >>> queries = pl.DataFrame({"query": ["q1", "q2", "q3"], "language": ["en", "de", "en"]})
    >>> summarise_by(scores, queries, "language").select(
    ...     "segment", "model", "value", "queries"
    ... ).rows()
    [('de', 'a', 1.0, 1), ('en', 'a', 0.375, 2)]
    """
    return _each(
        scores, queries, by, SUMMARY, lambda part: summarise(part, queries=queries, **options)
    )


def compare_by(
    scores: object, queries: object, by: str, **options: Unpack[ComparisonOptions]
) -> pl.DataFrame:
    """Compare the models within each segment, and correct for the number of segments.

    Parameters
    ----------
    scores, queries, by
        The result of :func:`evaluate`; a frame with ``query`` and the column to split by; and the
        name of that column: text, whole numbers, truth values or dates. Floats have to be divided
        into classes first.
    **options
        Options of :func:`compare`, except ``queries``; ``correction`` is "holm", by default, or
        "bh".

    Returns
    -------
    polars.DataFrame
        ``segment``, then the columns of :func:`compare`; ``family_p``, ``bh_p`` and ``family`` are
        over the pairs of all segments of the same metric, cutoff and policy.

    Examples
    --------
    >>> import polars as pl
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": f"q{number}",
    ...             "metric": "ap",
    ...             "cutoff": None,
    ...             "policy": "expected",
    ...             "value": lead + number / 99,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for model, lead in (("a", 0.5), ("b", 0.4))
    ...         for number in range(12)
    ...     ]
    ... )
    >>> queries = pl.DataFrame(
    ...     {"query": [f"q{number}" for number in range(12)], "language": ["en", "de"] * 6}
    ... )
    >>> pairs = compare_by(scores, queries, "language")
    >>> pairs.select("segment", pl.col("permutation_p", "family_p").round(4), "family").rows()
    [('de', 0.0312, 0.0625, 2), ('en', 0.0312, 0.0625, 2)]
    """
    correction = options.setdefault("correction", "holm")
    check_choice("correction", correction, tuple(OF_SINGLE_TESTS))
    p = pl.col(f"{options.get('adjust', 'permutation')}_p")
    clusters = None if options.get("cluster") is None else queries
    return _each(
        scores, queries, by, COMPARISON, lambda part: compare(part, queries=clusters, **options)
    ).with_columns(
        family_p=corrected_column(p, correction),
        bh_p=corrected_column(p, "bh"),
        family=p.count().over(SCORE).cast(pl.Int64),
    )


def segment_winners(
    scores: object,
    queries: object,
    by: str,
    *,
    overall: object = None,
    alpha: float = 0.05,
    resamples: int = 9_999,
    seed: int = 0,
) -> pl.DataFrame:
    """Find segments with another winner than all queries, and test whether that is significant.

    In each segment, all models are compared with the overall winner by the max-T test of
    :func:`compare`, which allows for picking the best of many; Holm's correction then allows for
    the number of segments.

    Parameters
    ----------
    scores, queries, by
        The result of :func:`evaluate`; a frame with ``query`` and the column to split by; and the
        name of that column: text, whole numbers, truth values or dates. Floats have to be divided
        into classes first.
    overall
        The scores whose plain means name the overall winner, if they are others: a study passes
        scores times the weight of their query.
    alpha
        Segments with a smaller corrected p have another winner significantly.
    resamples, seed
        Of the test.

    Returns
    -------
    polars.DataFrame
        One row per metric, cutoff and policy (except best and worst) and segment: ``segment``,
        ``metric``, ``cutoff``, ``policy``, ``queries``; ``winner`` and its ``value``;
        ``overall_winner`` (over all segments) and its ``overall_value`` here; ``difference``
        (winner − overall winner, on the queries that both have), ``tie_std`` of it; ``family_p``,
        ``segments_p`` (corrected over all segments; null where the winner is the same) and
        ``verdict``: "same winner", "other winner" (``segments_p`` below ``alpha``), "not
        significant" or "no score". If means are equal to 12 digits, the overall winner stays.

    Examples
    --------
    >>> import polars as pl
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": f"q{number}",
    ...             "metric": "ap",
    ...             "cutoff": None,
    ...             "policy": "expected",
    ...             "value": (german if number % 2 else english) + number / 999,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for model, english, german in (("a", 0.6, 0.4), ("b", 0.4, 0.5))
    ...         for number in range(20)
    ...     ]
    ... )
    >>> queries = pl.DataFrame(
    ...     {"query": [f"q{number}" for number in range(20)], "language": ["en", "de"] * 10}
    ... )
    >>> found = segment_winners(scores, queries, "language")
    >>> found.select("segment", "winner", pl.col("segments_p").round(3), "verdict").rows()
    [('de', 'b', 0.004, 'other winner'), ('en', 'a', None, 'same winner')]
    """
    alpha = check_fraction("alpha", alpha)
    parts = [(name, part, _winners(part)) for name, part in segments_of(scores, queries, by)]
    rows = [
        {"segment": name, **dict(zip(SCORE, measure, strict=True)), **winners[measure],
         **_against(part, measure, winners[measure], overall, resamples, seed)}
        for measure, overall in _winners(check_scores(scores if overall is None else overall)).items()
        for name, part, winners in parts
        if measure in winners
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=WINNERS)
    p = pl.col("family_p")
    # A segment with the same winner is looked at too, and finds nothing.
    frame = frame.with_columns(
        segments_p=pl.when(p.is_not_null()).then(corrected_column(p.fill_null(1.0), "holm"))
    )
    return frame.with_columns(verdict=segment_rule(alpha))


def _each(
    scores: object,
    queries: object,
    by: str,
    schema: Named,
    analyse: Callable[[pl.DataFrame], pl.DataFrame],
) -> pl.DataFrame:
    """The analysis of each segment, under its name."""
    parts = segments_of(scores, queries, by)
    frames = [analyse(part).select(pl.lit(name).alias("segment"), pl.all()) for name, part in parts]
    return pl.concat([pl.DataFrame(schema={"segment": pl.String, **schema}), *frames])


def _winners(frame: pl.DataFrame) -> dict[Measure, Named]:
    """Return the best model by every measure, its mean, and the number of queries."""
    grid = Grid.of(frame)
    winners = {}
    for part in grid.asked(None):
        has_value = ~np.isnan(part.value)
        means = paired_mean(part.value, has_value)
        best = int(best_first(means)[0])
        scored = has_value[best].any()
        winners[part.measure] = {
            "winner": grid.models[best] if scored else None,
            "value": float(means[best]) if scored else None,
            "queries": int(has_value.any(axis=0).sum()),
        }
    return winners


def _against(
    part: pl.DataFrame,
    measure: Measure,
    best: Named,
    overall: Named,
    resamples: int,
    seed: int,
) -> Named:
    """The overall winner beside that of a segment; p where they are not the same."""
    rows = part.filter(at_measure(*measure[:2]), policy=measure[2])
    winner, name = best["winner"], overall["winner"]
    value = rows.filter(model=name)["value"].mean()
    result = {"overall_winner": name, "overall_value": value}
    if winner is None or name is None or winner == name:
        return result
    pairs = compare(rows, baseline=name, resamples=resamples, seed=seed)
    row = pairs.filter(model_a=winner).row(0, named=True)
    if row["difference"] == 0:
        return {**result, "winner": name, "value": value}
    return result | {column: row[column] for column in ("difference", "tie_std", "family_p")}

"""Scores within a radius, that is, of the items at
distance r or nearer, which no tie order can change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import check_number, is_whole
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ColumnError, ParameterError
from retrieval_report.contracts.frames import SCORES, check_counts
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.warning import warn
from retrieval_report.kernels.lists import running
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.arrays import key_values
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.known_items import KEYS
from retrieval_report.scoring.layout import Prepared, lay_out
from retrieval_report.scoring.run import Run

Radii = float | Sequence[float]
METRICS = ("precision", "recall", "f1", "hit_rate")
LISTED = ("precision(denominator=retrieved)", "recall", "f1", "hit_rate")  # of the items inside


def evaluate_radius(
    counts: object,
    *,
    radii: Radii = (0, 1, 2),
    empty: str = "zero",
    no_relevant: str = "zero",
    relevant_from: float | None = None,
    queries: object = None,
) -> pl.DataFrame:
    """Average precision, recall, F1 and hit rate within a radius over the queries of each model.

    Parameters
    ----------
    counts
        The result of :func:`count_codes` or :func:`count_ties`, with a ``distance``; equal rows are
        added up. Counts limited to a depth must reach the largest radius.
    radii
        Distances; items at exactly that distance are inside. A warning names a radius that reaches
        beyond the end of lists that may be cut, such as those counted to a depth.
    empty
        One of {"zero", "skip"}: queries with no item inside score 0, or are left out of the means
        of that radius.
    no_relevant
        One of {"zero", "skip"}: queries without relevant items have recall 0, or are left out of
        all means.
    relevant_from
        Smallest grade that counts as relevant; by default every grade above 0.
    queries
        ``query`` and optionally ``n_relevant``, as :func:`count_relevant` returns them: R if the
        counts do not include every relevant item, and queries that have no counts.

    Returns
    -------
    polars.DataFrame
        One row per model and radius: ``model``, ``radius``, ``precision`` (relevant items inside /
        items inside), ``recall`` (… / R), ``f1`` (2 · … / (items inside + R)), ``hit_rate`` (share
        of queries with a relevant item inside), ``queries`` (in the means), ``empty`` (share of all
        queries with no item inside).

    Raises
    ------
    RetrievalReportError
        A ValueError that names the rule, the location and the value.

    Examples
    --------
    >>> import polars as pl
    >>> counts = pl.DataFrame(
    ...     {
    ...         "query": ["a", "a", "b"],
    ...         "distance": [0, 2, 3],
    ...         "relevance": [1, 0, 1],
    ...         "count": [1, 3, 1],
    ...     }
    ... )
    >>> evaluate_radius(counts, radii=(0, 2)).select(
    ...     "radius", "precision", "recall", "hit_rate", "empty"
    ... ).rows()
    [(0, 0.5, 0.5, 0.5, 0.5), (2, 0.125, 0.5, 0.5, 0.5)]
    >>> evaluate_radius(counts, radii=(0, 2), empty="skip").select(
    ...     "radius", "precision", "queries"
    ... ).rows()
    [(0, 1.0, 1), (2, 0.25, 1)]
    """
    scored = _scored(counts, radii, empty, no_relevant, relevant_from, queries)
    return scored.group_by("model", "radius", maintain_order=True).agg(
        *(pl.col(name).drop_nulls().mean() for name in METRICS),
        queries=pl.count("precision").cast(pl.Int64),
        empty=(pl.col("items") == 0).mean(),
    )


def radius_scores(
    counts: object,
    *,
    radii: Radii = (0, 1, 2),
    empty: str = "zero",
    no_relevant: str = "zero",
    relevant_from: float | None = None,
    queries: object = None,
) -> pl.DataFrame:
    """Score every query within a radius: a scores frame for :func:`summarise` and :func:`compare`.

    The arguments are those of :func:`evaluate_radius`.

    Returns
    -------
    polars.DataFrame
        The columns of :func:`evaluate`; ``metric`` is ``precision(radius=2)`` and so on, ``cutoff``
        null, ``policy`` ``expected``, ``std`` 0, ``items`` the items inside, ``truncated`` and
        ``pooled`` false. A value is null where the query was skipped.

    Examples
    --------
    >>> import polars as pl
    >>> counts = pl.DataFrame(
    ...     {"query": ["a", "a"], "distance": [0, 2], "relevance": [1, 0], "count": [1, 3]}
    ... )
    >>> radius_scores(counts, radii=2).select("metric", "value", "std", "items").row(0)
    ('precision(radius=2)', 0.25, 0.0, 4)
    """
    scored = _scored(counts, radii, empty, no_relevant, relevant_from, queries)
    scores = (
        scored.unpivot(
            METRICS, index=[*KEYS, "radius", "index", "items", "n_relevant"], variable_name="name"
        )
        .sort(*KEYS, pl.col("name").cast(pl.Enum(METRICS)), "index")
        .with_columns(metric=pl.format("{}(radius={})", "name", "radius"))
        .with_columns(
            cutoff=pl.lit(None, pl.Int64), policy=pl.lit("expected"), std=pl.col("value") * 0.0
        )
        .with_columns(truncated=False, pooled=False)  # counts reach the radius
    )
    return scores.select(list(SCORES))


def _scored(
    counts: object,
    radii: Radii,
    empty: str,
    no_relevant: str,
    relevant_from: float | None,
    queries: object,
) -> pl.DataFrame:
    """Score the items inside each radius as a list of their
    own, by model, query and radius; null where skipped.
    """
    radii_checked = _check_radii(radii)
    check_choice("empty", empty, ("zero", "skip"))
    check_choice("no_relevant", no_relevant, ("zero", "skip"))
    options = Options(relevant_from=relevant_from, policies="expected")
    judged = judge(check_counts(to_polars(counts, "counts")), None, queries, options)
    if judged.order == "score":
        raise ColumnError("counts: has a 'score'; a radius needs a 'distance'")
    prepared = lay_out(judged, options)
    distance = key_values(prepared.keys, judged.retrieved["distance"], falling=False)
    _warn_beyond(prepared, distance, max(radii_checked))
    parts = []
    for index, radius in enumerate(radii_checked):
        inside = distance.to_frame().select(pl.first() <= radius).to_series().to_numpy()
        start = running(inside.astype(np.int64))[prepared.ties.start]
        ties = prepared.ties.with_ties(start, np.flatnonzero(inside))
        near = replace(prepared, ties=ties, length=ties.length)
        scores, _ = Run(near, parse_metrics(LISTED, None), options).score("best")
        part = prepared.names.with_columns(items=near.length, n_relevant=prepared.relevant)
        part = part.with_columns(pl.DataFrame(scores, list(METRICS)))
        parts.append(part.with_columns(radius=radius, index=index))
    nothing = (pl.col("items") == 0) & (empty == "skip")
    skipped = nothing | ((pl.col("n_relevant") == 0) & (no_relevant == "skip"))
    return (
        pl.concat(parts).sort(*KEYS, "index").with_columns(pl.when(~skipped).then(pl.col(METRICS)))
    )


def _warn_beyond(prepared: Prepared, distance: pl.Series, radius: float) -> None:
    """Warn if a radius reaches beyond the end of lists that may be cut, so that items inside may be
    missing; ``distance`` is that of every tie.
    """
    cut = np.flatnonzero(prepared.open & (prepared.length > 0))
    ends = prepared.names[cut].with_columns(distance[prepared.ties.start[cut + 1] - 1])
    short = ends.filter(pl.col("distance") < radius)
    if short.height:
        model, query, end = short.row(0)
        warn(
            f"radii: {radius} reaches beyond the end of {short.height} lists that may be cut, "
            f"first query {query!r} of model {model!r}, which ends at {end}; items inside the "
            "radius may be missing: count without depth"
        )


def _check_radii(radii: Radii) -> list[float]:
    values = list(radii) if isinstance(radii, Sequence) else [radii]
    if not values:
        raise ParameterError("radii: none given")
    for radius in values:
        check_number("radii", radius, lambda least: least >= 0, "finite number of at least 0")
    kind = int if all(is_whole(radius) for radius in values) else float
    return list(dict.fromkeys(kind(radius) for radius in values))

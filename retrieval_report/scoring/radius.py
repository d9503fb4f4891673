"""Scores within a radius, that is, of the items at distance r or nearer, which no tie order can
change.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from retrieval_report.contracts.arguments import is_number, is_whole
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ColumnError, DataError, ParameterError
from retrieval_report.contracts.frames import (
    SCORES,
    check_counts,
    check_queries,
    order_column,
    with_model,
)
from retrieval_report.contracts.options import NO, Options, is_relevant
from retrieval_report.contracts.warning import warn
from retrieval_report.reading.frames import to_polars
from retrieval_report.reading.ids import in_kind_of
from retrieval_report.scoring.expected_lists import refuse_unnamed
from retrieval_report.scoring.known_items import KEYS
from retrieval_report.scoring.truncation import as_counted

METRICS = ("precision", "recall", "f1", "hit_rate")


def evaluate_radius(
    counts: object,
    *,
    radii: float | Sequence[float] = (0, 1, 2),
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
        beyond the end of lists that were counted to a depth or, where the counts do not say, whose
        numbers of items differ or lack relevant items.
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
    scored = _scored(_inside(counts, radii, relevant_from, queries), empty, no_relevant)
    return scored.group_by("model", "radius", maintain_order=True).agg(
        *(pl.col(name).drop_nulls().mean() for name in METRICS),
        queries=pl.count("precision").cast(pl.Int64),
        empty=(pl.col("items") == 0).mean(),
    )


def radius_scores(
    counts: object,
    *,
    radii: float | Sequence[float] = (0, 1, 2),
    empty: str = "zero",
    no_relevant: str = "zero",
    relevant_from: float | None = None,
    queries: object = None,
) -> pl.DataFrame:
    """Score every query within a radius, as a scores frame for :func:`summarise` and
    :func:`compare`.

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
    scored = _scored(_inside(counts, radii, relevant_from, queries), empty, no_relevant)
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


def _inside(
    counts: object, radii: float | Sequence[float], relevant_from: float | None, queries: object
) -> pl.DataFrame:
    """Count the items inside the radius, the relevant ones among them, and R, by model, query and
    radius.
    """
    wanted = _check_radii(radii)
    relevant_from = Options(relevant_from=relevant_from).relevant_from
    frame = with_model(check_counts(to_polars(counts, "counts")))
    if order_column(frame) == "score":
        raise ColumnError("counts: has a 'score'; a radius needs a 'distance'")
    relevant = is_relevant(pl.col("relevance"), relevant_from)
    count = pl.col("count")
    lists = _all_lists(frame, queries)
    parts = []
    known = frame.group_by(KEYS).agg(
        found=count.filter(relevant).sum(), held=count.sum(), end=pl.max("distance")
    )
    for index, radius in enumerate(wanted):
        near = frame.filter(pl.col("distance") <= radius)
        near = near.group_by(KEYS).agg(items=count.sum(), relevant=count.filter(relevant).sum())
        parts.append(
            lists.join(near, on=KEYS, how="left").with_columns(
                radius=pl.lit(radius), index=pl.lit(index)
            )
        )
    rows = pl.concat(parts).join(known, on=KEYS, how="left")
    rows = rows.with_columns(pl.col("items", "relevant", "found").fill_null(0))
    rows = rows.with_columns(n_relevant=pl.coalesce("n_relevant", "found")).sort(*KEYS, "index")
    less = rows.filter(pl.col("n_relevant") < pl.col("found"))
    if less.height:
        raise DataError(
            f"column 'n_relevant': query {less['query'][0]!r} of model {less['model'][0]!r} has "
            f"{less['found'][0]} "
            f"relevant items in the counts, but the queries frame says {less['n_relevant'][0]}"
        )
    _warn_beyond(frame, rows, wanted)
    return rows


def _warn_beyond(frame: pl.DataFrame, rows: pl.DataFrame, radii: Sequence[float]) -> None:
    """Warn if a radius reaches beyond the end of lists that are or seem cut, so that items inside
    may be missing.
    """
    lists = rows.unique(KEYS).drop_nulls("end")
    lacks = pl.col("n_relevant") > pl.col("found")
    uneven = pl.n_unique("held").over("model") > 1
    word = pl.col("model").replace_strict(as_counted(frame), default=None, return_dtype=pl.String)
    cut = pl.coalesce(word != NO, lacks | uneven)
    short = lists.filter((pl.col("end") < max(radii)) & cut).sort(KEYS)
    if short.is_empty():
        return
    first = short.row(0, named=True)
    warn(
        f"radii: {max(radii)} reaches beyond the end of {short.height} lists that seem cut, first "
        "query "
        f"{first['query']!r} of model {first['model']!r}, which ends at {first['end']}; items "
        "inside the radius may be "
        "missing: count without depth"
    )


def _all_lists(frame: pl.DataFrame, queries: object) -> pl.DataFrame:
    """Return every model with every query, and R if it is given."""
    names = known = frame.select("query").unique()
    if queries is not None:
        known = check_queries(to_polars(queries, "queries"))
        known = known.with_columns(in_kind_of(names["query"], known["query"], "counts", "queries"))
        known = known.with_columns(pl.col("query").cast(names.schema["query"]))
        refuse_unnamed(names.join(known, on="query", how="anti")["query"], "counts")
    number = pl.col("n_relevant") if "n_relevant" in known.columns else pl.lit(None)
    lists = known.select("query", n_relevant=number.cast(pl.Int64))
    return frame.select("model").unique().join(lists, how="cross")


def _scored(inside: pl.DataFrame, empty: str, no_relevant: str) -> pl.DataFrame:
    """Add precision, recall, F1 and hit of every row, null where skipped."""
    check_choice("empty", empty, ("zero", "skip"))
    check_choice("no_relevant", no_relevant, ("zero", "skip"))
    items, relevant, total = (
        pl.col(name).cast(pl.Float64) for name in ("items", "relevant", "n_relevant")
    )
    parts = {
        "precision": (relevant, items),
        "recall": (relevant, total),
        "f1": (2 * relevant, items + total),
    }
    shares = {
        name: pl.when(whole > 0).then(part / whole).otherwise(0.0)
        for name, (part, whole) in parts.items()
    }
    skipped = ((items == 0) & (empty == "skip")) | ((total == 0) & (no_relevant == "skip"))
    scored = inside.with_columns(**shares, hit_rate=(relevant > 0).cast(pl.Float64))
    return scored.with_columns(pl.when(~skipped).then(pl.col(name)).alias(name) for name in METRICS)


def _check_radii(radii: float | Sequence[float]) -> list[float]:
    wanted = list(radii) if isinstance(radii, Sequence) else [radii]
    if not wanted:
        raise ParameterError("radii: none given")
    for radius in wanted:
        if not is_number(radius) or radius < 0:
            raise ParameterError(f"radii: {radius!r} is not a finite number of at least 0")
    kind = int if all(is_whole(radius) for radius in wanted) else float
    return list(dict.fromkeys(kind(radius) for radius in wanted))

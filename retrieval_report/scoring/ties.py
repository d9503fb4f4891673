"""Define which items tie, by Polars window expressions over (model, query, distance)."""

from __future__ import annotations

import numpy as np
import polars as pl

from retrieval_report.contracts.frames import check_counts, order_column, with_model, with_row
from retrieval_report.contracts.options import Options
from retrieval_report.kernels.lists import running
from retrieval_report.metrics.expressions import tie, tie_relevant, tie_size, tie_start
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.arrays import key_values
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.known_items import KEYS
from retrieval_report.scoring.layout import Prepared, rounded, ties_of
from retrieval_report.scoring.pool import not_retrieved
from retrieval_report.scoring.truncation import as_counted


def tie_groups(rankings: object, *, relevant_from: float | None = None) -> pl.DataFrame:
    """Add to every row of a rankings frame the tie it belongs to.

    A tie is a maximal set of items of one list (model, query) at equal distance.

    Parameters
    ----------
    rankings
        A rankings frame (Polars, pandas, PyArrow, DuckDB …): ``model``, ``query``, ``item``,
        ``distance`` or ``score``, ``relevance``.
    relevant_from
        Smallest grade that counts as relevant; by default every grade above 0.

    Returns
    -------
    polars.DataFrame
        The rankings, sorted by model, query and tie (rows of a tie in the order received), with
        ``tie`` (number of the tie, from 1), ``tie_start`` (rank of its first slot, from 1),
        ``tie_size`` (items) and ``tie_relevant`` (relevant items).

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> tie_groups(rankings).select(
    ...     "item", "distance", "tie", "tie_start", "tie_size", "tie_relevant"
    ... )
    shape: (4, 6)
    ┌──────┬──────────┬─────┬───────────┬──────────┬──────────────┐
    │ item ┆ distance ┆ tie ┆ tie_start ┆ tie_size ┆ tie_relevant │
    │ ---  ┆ ---      ┆ --- ┆ ---       ┆ ---      ┆ ---          │
    │ str  ┆ i64      ┆ i64 ┆ i64       ┆ i64      ┆ i64          │
    ╞══════╪══════════╪═════╪═══════════╪══════════╪══════════════╡
    │ a    ┆ 0        ┆ 1   ┆ 1         ┆ 1        ┆ 0            │
    │ b    ┆ 2        ┆ 2   ┆ 2         ┆ 2        ┆ 1            │
    │ c    ┆ 2        ┆ 2   ┆ 2         ┆ 2        ┆ 1            │
    │ d    ┆ 5        ┆ 3   ┆ 4         ┆ 1        ┆ 1            │
    └──────┴──────────┴─────┴───────────┴──────────┴──────────────┘
    """
    checked = Options(relevant_from=relevant_from)
    frame = to_polars(rankings, "rankings").drop("count", strict=False)
    judged = _judged(with_row(frame))  # which puts the rows of a list together
    return with_ties(judged.scored_rows, checked.relevant_from)


def with_ties(frame: pl.DataFrame, least: float | None) -> pl.DataFrame:
    """Return the result of `tie_groups` for checked rows; ``least`` is the smallest relevant grade."""
    order = order_column(frame)
    nearness = {order: order}
    parts = (
        tie(**nearness),
        tie_start(**nearness),
        tie_size(**nearness),
        tie_relevant("relevance", **nearness, relevant_from=least),
    )
    return (
        with_row(frame)
        .with_columns(part.over("model", "query") for part in parts)
        .sort("model", "query", "tie", "row", maintain_order=True)
    )


def count_rows(rankings: object, models: int | None = None) -> pl.DataFrame:
    """Count the rows of every model, query, distance and relevance; see ``count_ties``.

    ``models`` is the number of models of the whole if these are the rows of some queries.
    """
    frame = to_polars(rankings, "rankings")
    if "count" in frame.columns:
        frame = with_model(check_counts(frame))
        as_counted(frame)  # refuses lists of one model that end in two ways
        keys = [name for name in frame.columns if name != "count"]
        return sorted_counts(frame.group_by(keys).agg(pl.sum("count")).select(frame.columns))
    judged = _judged(frame)
    counts = count_cells(judged)
    if (len(judged.whole.models) if models is None else models) < 2:
        return counts
    counts = counts.with_columns(retrieved=True)
    return sorted_counts(pl.concat([counts, not_retrieved(judged.retrieved, counts)]))


def sorted_counts(counts: pl.DataFrame) -> pl.DataFrame:
    """Return counts sorted by model, query, distance and
    relevance, with items that are not retrieved last.
    """
    return counts.sort("model", "query", order_column(counts), "relevance", nulls_last=True)


def count_cells(judged: Judged) -> pl.DataFrame:
    """Count the items of every list, distance and relevance."""
    options = Options(policies="expected")
    frame = judged.retrieved
    lists, _, keys = ties_of(judged, options, falling=False)
    owner = np.repeat(np.arange(judged.lists.height), np.diff(lists.tie[lists.start]))
    distance = key_values(keys, frame[judged.order], falling=False)
    return judged.lists.select(KEYS)[owner].with_columns(
        distance[np.repeat(np.arange(keys.size), np.diff(lists.tie))],
        pl.Series("relevance", judged.grades[lists.grade]).cast(frame.schema["relevance"]),
        count=lists.items,
    )


def tie_table(judged: Judged, prepared: Prepared, options: Options) -> pl.DataFrame:
    """Return one row per tie of the laid-out lists, except for queries without judgements.

    ``list`` (its number), ``model`` (a category: text would be most of the table), distance or
    score, ``size``, ``mixed`` (different relevances), ``relevant`` (items), ``before`` (items
    before it); sorted by list, nearest first.
    """
    ties = prepared.ties
    order = judged.order
    distances = rounded(judged.retrieved, options)[order]
    number = np.diff(ties.start)
    of_list = np.repeat(np.arange(number.size, dtype=np.uint32), number)
    models = prepared.names["model"]
    size = ties.of_ties()
    first = running(size)
    table = pl.DataFrame({"list": of_list}).with_columns(
        models.cast(pl.Enum(models.unique(maintain_order=True)))[of_list].set_sorted(),
        key_values(prepared.keys, distances, falling=order == "score"),
        size=size,
        mixed=np.diff(ties.tie) > 1,
        relevant=ties.of_ties(prepared.relevant_grade),
        before=first[:-1] - np.repeat(first[ties.start[:-1]], number),
    )
    judged_lists = prepared.relevant >= 0
    return table if judged_lists.all() else table.filter(judged_lists[of_list])


def _judged(frame: pl.DataFrame) -> Judged:
    """Check that rankings have a relevance in every row and no item twice."""
    return judge(frame, None, None, Options(unjudged="error"))

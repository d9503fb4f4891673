"""Which items tie: the definition, as Polars window expressions over (model, query, distance)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.frames import check_counts, check_rankings, order_column, with_model
from retrieval_report.contracts.options import Options, check_relevant_from
from retrieval_report.kernels import counting
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.arrays import (
    Codes,
    Rows,
    frozen,
    grade_codes,
    lists_from_rows,
    order_keys,
    over_ranges,
)
from retrieval_report.scoring.judged import check_items
from retrieval_report.scoring.lookup import Located

__all__ = ["count_rows", "tie_groups"]


def tie_groups(rankings: object, *, relevant_from: float | None = None) -> pl.DataFrame:
    """Add to every row of a rankings frame the tie it belongs to.

    A tie is a maximal set of items of one list (model, query) at equal distance.

    Parameters
    ----------
    rankings
        A rankings frame (Polars, pandas, PyArrow, DuckDB …): ``model``, ``query``, ``item``, ``distance`` or
        ``score``, ``relevance``.
    relevant_from
        Grades from here on count as relevant; by default every grade above 0.

    Returns
    -------
    polars.DataFrame
        The rankings, sorted by model, query and tie (rows of a tie in the order received), with ``tie`` (number of
        the tie, from 1), ``tie_start`` (place of its first slot, from 1), ``tie_size`` (items) and ``tie_relevant``
        (relevant items).

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame({
    ...     "query": ["q"] * 4, "item": list("abcd"), "distance": [0, 2, 2, 5], "relevance": [0, 1, 0, 1]})
    >>> tie_groups(rankings).select("item", "distance", "tie", "tie_start", "tie_size", "tie_relevant")
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
    frame = with_model(_checked(to_polars(rankings, "rankings")).frame)
    if "row" not in frame.columns:
        frame = frame.with_columns(row=pl.int_range(pl.len()))
    order = order_column(frame)
    falling = order == "score"
    least = None if relevant_from is None else check_relevant_from(relevant_from)
    relevant = pl.col("relevance") > 0 if least is None else pl.col("relevance") >= least
    in_list = ["model", "query"]
    in_tie = [*in_list, order]
    return frame.with_columns(
        pl.col(order).rank("dense", descending=falling).over(in_list).cast(pl.Int64).alias("tie"),
        pl.col(order).rank("min", descending=falling).over(in_list).cast(pl.Int64).alias("tie_start"),
        pl.len().over(in_tie).cast(pl.Int64).alias("tie_size"),
        relevant.sum().over(in_tie).cast(pl.Int64).alias("tie_relevant"),
    ).sort("model", "query", "tie", "row", maintain_order=True)


def count_rows(rankings: object) -> pl.DataFrame:
    """Count the rows of every model, query, distance and relevance; see ``count_ties``."""
    frame = to_polars(rankings, "rankings")
    if "count" in frame.columns:
        frame = with_model(check_counts(frame))
        keys = [name for name in frame.columns if name != "count"]
        return frame.group_by(keys).agg(pl.col("count").sum()).sort(keys)
    found = _checked(frame)
    names, rows, frame = found.names, found.rows, found.frame
    order, workers = order_column(frame), Options().workers
    key, grade = frozen(order_keys(frame[order], falling=False)), frozen(found.grade)
    lists, _ = lists_from_rows(rows, key, grade, np.empty(0, np.int64), found.kinds, naive=False, workers=workers)
    of_cell = np.empty(lists.grade.size, np.uint32)
    work = np.concatenate([[0], np.cumsum(rows.end - rows.begin)])
    over_ranges(lambda begin, end: counting.cell_rows(begin, end, *rows, key, grade, lists, of_cell), work, workers)
    cells = np.diff(lists.tie[lists.start])
    return pl.concat(
        [
            names[np.repeat(np.arange(names.height), cells)],
            frame.select(order, "relevance")[of_cell],
            pl.DataFrame({"count": lists.items}),
        ],
        how="horizontal",
    )


class _Counted(NamedTuple):
    frame: pl.DataFrame  # checked rows
    names: pl.DataFrame  # model, query of every list, sorted
    rows: Rows  # whose the rows are
    grade: Codes  # of every row
    kinds: int  # how many grades there are


def _checked(frame: pl.DataFrame) -> _Counted:
    """Rankings that hold to their contract, with a relevance in every row and no item twice, masked rows gone."""
    frame = check_rankings(frame)
    kept = pl.col("mask") if "mask" in frame.columns else pl.lit(True)
    refuse(frame, pl.col("relevance").is_null() & kept, "relevance", "null or NaN")
    frame = frame.filter(kept).drop("mask", strict=False)
    found, rows, keys = Located.of(frame)
    names = with_model(found)
    assert keys is not None
    grades, grade = grade_codes(_exact(frame["relevance"]), np.empty(0))
    check_items(frame, with_model(frame).clear(), names, rows, keys, grade, judged=False, workers=Options().workers)
    order = order_column(frame)
    if frame.schema[order].is_float():  # which of −0.0 and 0.0 comes first must not show
        frame = frame.with_columns(
            pl.when(pl.col(order) == 0).then(0.0).otherwise(pl.col(order)).cast(frame.schema[order]).alias(order)
        )
    return _Counted(frame, names, rows, grade, grades.size)


def _exact(relevance: pl.Series) -> pl.Series:
    """Relevances of which Float64 tells all apart: ranks, where whole numbers are too large for that."""
    large = relevance.dtype.is_integer() and int(relevance.max() or 0) > 2**53  # type: ignore[arg-type]
    return relevance.rank("dense") if large else relevance

"""Break ties by a second key."""

from __future__ import annotations

import polars as pl

from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.contracts.frames import check_rankings, order_column
from retrieval_report.contracts.options import Options
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.layout import order_values


def resolve_ties(
    rankings: object, *, by: str, descending: bool = False, decimals: int | None = None
) -> pl.DataFrame:
    """Break the ties of every list by another column, such as a real-valued code or a re-ranker's
    score.

    Parameters
    ----------
    rankings
        A rankings frame with a further column.
    by
        That column: numbers, text or times. Items that also tie in it stay tied.
    descending
        Whether large values are near.
    decimals
        Round distances or scores first, as :func:`evaluate` does; the result has no decimals left
        to round.

    Returns
    -------
    polars.DataFrame
        The rankings in the order received, with ``distance`` the rank among the distinct pairs of
        distance (or score) and key in its list, from 1. Null distances stay null.

    Raises
    ------
    RetrievalReportError
        There is no such column, or it holds null or NaN.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 2],
    ...         "relevance": [0, 1, 0, 1],
    ...         "reranker": [0.3, 0.9, 0.1, 0.9],
    ...     }
    ... )
    >>> resolve_ties(rankings, by="reranker", descending=True).select(
    ...     "item", "distance", "relevance"
    ... ).rows()
    [('a', 1, 0), ('b', 2, 1), ('c', 3, 0), ('d', 2, 1)]
    """
    options = Options(decimals=decimals)
    given = to_polars(rankings, "rankings")
    frame = check_rankings(given, relevance=False, null_distance=True)
    order = order_column(frame)
    keyed = frame.with_columns(_key(given, frame, by))
    column = order_values(frame, options)
    one_list = [name for name in ("model", "query") if name in frame.columns]
    spread = frame.height + 1  # more than there are distinct keys in a list
    first = column.rank("dense", descending=order == "score").over(one_list).cast(pl.Int64)
    second = pl.col("key").rank("dense", descending=descending).over(one_list).cast(pl.Int64)
    return (
        keyed.with_columns(position=first * spread + second)
        .with_columns(pl.col("position").rank("dense").over(one_list).cast(pl.Int64))
        .select(
            pl.col("position").alias("distance") if name == order else pl.col(name)
            for name in frame.columns
        )
    )


def _key(given: pl.DataFrame, frame: pl.DataFrame, by: str) -> pl.Series:
    """The column to break ties by, as ``key``."""
    if not isinstance(by, str) or by not in {*given.columns, *frame.columns}:
        raise ColumnError(
            f"rankings: no column {by!r} to break ties by; found "
            f"{', '.join(map(repr, given.columns))}"
        )
    key = frame[by] if by in frame.columns else given[by]
    if key.dtype.is_nested() or key.dtype == pl.Null:
        raise ColumnError(
            f"rankings: column {by!r} is {key.dtype}, which has no order to break ties by"
        )
    checked = frame.with_columns(key.alias("key"))
    refuse(checked, pl.col("key").is_null(), by, "null", "; every item needs a key")
    if key.dtype.is_float():
        refuse(checked, pl.col("key").is_nan(), by, "NaN", "; every item needs a key")
    return key.alias("key")

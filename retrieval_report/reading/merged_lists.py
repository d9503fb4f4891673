"""Find lists of several systems that would be merged, because the column that tells them apart has
a name that says nothing of models.
"""

import math
from collections.abc import Callable, Iterator

import polars as pl
import polars.selectors as cs

from retrieval_report.contracts.errors import ColumnError
from retrieval_report.contracts.frames import order_column
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import advice, setting
from retrieval_report.reading.printed_ranks import RANK

SAMPLED_ROWS, SAMPLED_QUERIES = 100_000, 50
MOST_SYSTEMS = 50
NO_ACCIDENT = math.log(30)  # one of so many orders: lists in one order are no accident


def check_merged(frame: pl.DataFrame, more_columns: Callable[[], pl.DataFrame], what: str) -> None:
    """Refuse lists that one of the other columns divides into lists with ranks of their own,
    and warn of lists that it divides into lists in the order of their scores, where the whole
    lists are neither.

    Parameters
    ----------
    frame
        Rankings without a model, with the ranks that were printed if there are any.
    more_columns
        Returns the columns of the same rows that have no meaning here.
    what
        The name of the data in messages.

    Raises
    ------
    ColumnError
        A column names systems that each have ranks of their own.

    Examples
    --------
    >>> run = pl.DataFrame({"query": "q", "score": [9, 8, 7] * 2, "printed_rank": [1, 2, 3] * 2})
    >>> arms = pl.DataFrame({"arm": list("xxxyyy")})
    >>> check_merged(run, lambda: arms, "run.csv")
    Traceback (most recent call last):
    retrieval_report.ColumnError: run.csv: each of the 2 values of column 'arm' has ranks of its
    own for every query, as systems have, and all of them would be one model; say
    columns={'model': 'arm'}, or leave the column out
    """
    rows = _sample(frame)
    ranked = "rank" in rows.columns
    again = pl.struct("query", "rank").is_duplicated() if ranked else pl.lit(False)
    better = (pl.col("near").diff() > 0).over("query")
    if rows.is_empty() or not rows.select((again | better).any()).item():
        return
    columns = [*_few_values(more_columns()[rows["index"]])]
    rank = pl.col("rank").sort()
    counts_up = (
        rank.first().is_in([0.0, 1.0]) & (rank == rank.first() + pl.int_range(pl.len())).all()
    )
    for column in columns if ranked and rows.select(again.any()).item() else ():
        if _divides(rows, column, counts_up, "rank"):
            raise ColumnError(
                f"{what}: each of the {column.n_unique()} values of column {column.name!r} "
                "has ranks of its own for every query, as systems have, and all of them "
                "would be one model"
                + advice("; say {}, or leave the column out", _as_model(column))
            )
    for column in columns if rows.select(better.any()).item() else ():
        if _divides(rows, column, (pl.col("near").diff().fill_null(0) <= 0).all(), "near"):
            warn(
                f"{what}: column {column.name!r} divides all lists into {column.n_unique()}, each "
                "in the order of its values, and all of them count as one model"
                + advice("; if it names models, say {}", _as_model(column))
            )


def _as_model(column: pl.Series) -> str:
    return setting("columns", {"model": column.name})


def _sample(frame: pl.DataFrame) -> pl.DataFrame:
    """Return ``index``, ``query``, ``near`` (large is near) and, if there is one, ``rank`` of all
    rows of some queries.
    """
    order = order_column(frame)
    if not {"query", order} <= {*frame.columns}:
        return pl.DataFrame()
    numbers = {"near": order, "rank": RANK}
    rows = frame.select(
        "query",
        **{
            name: pl.col(column).cast(pl.Float64, strict=False)
            for name, column in numbers.items()
            if column in frame.columns
        },
    ).with_row_index()
    rows = rows.filter(pl.col("query").is_in(first_queries(frame["query"])))
    return rows.with_columns(near=-pl.col("near")) if order == "distance" else rows


def first_queries(queries: pl.Series) -> pl.Series:
    """Return a list of the first different queries, all of whose rows are looked at."""
    return queries.head(SAMPLED_ROWS).unique(maintain_order=True).head(SAMPLED_QUERIES).implode()


def _few_values(columns: pl.DataFrame) -> Iterator[pl.Series]:
    """Yield the columns that may name systems."""
    kinds = cs.integer() | cs.boolean() | cs.by_dtype(pl.String, pl.Categorical, pl.Enum)
    for column in columns.select(kinds):
        if 2 <= column.n_unique() <= MOST_SYSTEMS and not column.null_count():
            yield column


def _divides(rows: pl.DataFrame, column: pl.Series, column_ranks: pl.Expr, order: str) -> bool:
    """Return whether the values of a column divide the rows of most queries into lists that each
    have an order of their own, which is no accident.
    """
    system_rows = rows.with_columns(system=column)
    lists = system_rows.group_by("query", "system", maintain_order=True).agg(
        own=column_ranks, different=pl.n_unique(order)
    )
    everywhere = (2 * lists.group_by("system").len()["len"] >= lists["query"].n_unique()).all()
    evidence = sum(math.lgamma(different + 1) for different in lists["different"])
    return bool(lists["own"].all()) and bool(everywhere) and evidence > NO_ACCIDENT

"""Rankings, judgements and queries → lists ready for the kernels: who is judged, who is missing, what is relevant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.arrays import Codes, Integers, Lists, ideal_lists, lists_from_rows, singles, starts
from retrieval_report.errors import DataError, KeyMismatchError, ParameterError
from retrieval_report.options import Options
from retrieval_report.reading.frames import to_polars
from retrieval_report.schema import (
    check_counts,
    check_judgements,
    check_queries,
    check_rankings,
    order_column,
    refuse,
)

__all__ = ["Prepared", "prepare"]

KEYS = ["model", "query"]


@dataclass(frozen=True)
class Prepared:
    """Everything the kernels need, one entry a list (model, query), sorted by model and query."""

    names: pl.DataFrame  # model, query
    ties: Lists  # the true ties
    naive: Lists | None  # every row a tie of its own, in the naive order
    judged: Lists  # all judged items, by falling grade
    listed: Lists  # the list's items, by falling grade
    grades: NDArray[np.float64]  # the distinct relevances, ascending; codes index into them
    relevant_grade: NDArray[np.bool_]
    relevant: Integers  # R of each list; −1 where the query has no judgements
    length: Integers  # items of each list


@dataclass(frozen=True)
class _Parts:
    rows: pl.DataFrame
    unretrieved: pl.DataFrame  # rows of items known but not retrieved: model, query, relevance
    judgements: pl.DataFrame | None
    queries: pl.DataFrame | None


def prepare(rankings: object, judgements: object, queries: object, options: Options) -> Prepared:
    """Check the frames, join them and lay them out as lists."""
    parts = _read(rankings, judgements, queries, options)
    parts = _judge(parts, options)
    names = _all_lists(parts, options)
    relevances = [parts.rows["relevance"], parts.unretrieved["relevance"]]
    if parts.judgements is not None:
        relevances.append(parts.judgements["relevance"])
    grades = np.unique(np.concatenate([[0.0], *(values.cast(pl.Float64).to_numpy() for values in relevances)]))
    relevant_grade = grades > 0 if options.relevant_from is None else grades >= options.relevant_from
    row_start, new_tie, grade, count, naive = _sorted_rows(parts.rows, names, grades, options)
    ties = lists_from_rows(row_start, new_tie, grade, count, grades.size)
    extra = _extra_cells(parts, names, grades)
    nothing = (np.zeros(names.height + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
    listed = ideal_lists(ties, *nothing, grades.size)
    if parts.judgements is None:
        judged = ideal_lists(ties, *extra, grades.size)
        relevant = judged.total(relevant_grade.astype(np.float64)).astype(np.int64)
        judged, relevant = _told_relevant(parts, names, judged, relevant, grades, relevant_grade)
    else:
        empty = Lists(np.zeros(names.height + 1, np.int64), np.zeros(1, np.int64), nothing[1], nothing[2])
        judged = ideal_lists(empty, *extra, grades.size)
        relevant = judged.total(relevant_grade.astype(np.float64)).astype(np.int64)
        known = parts.judgements.select("query").unique().with_columns(pl.lit(True).alias("known"))
        is_known = names.join(known, on="query", how="left", maintain_order="left")["known"].fill_null(False)
        relevant[~is_known.to_numpy()] = -1
    return Prepared(names, ties, naive, judged, listed, grades, relevant_grade, relevant, ties.length)


def _read(rankings: object, judgements: object, queries: object, options: Options) -> _Parts:
    """Checked frames, with masked rows gone, distances rounded and unretrieved rows apart."""
    frame = to_polars(rankings, "rankings")
    if "count" in frame.columns:
        rows = _check_counted(frame, judgements, options)
    else:
        allowed = options.null_distance == "not_retrieved"
        rows = check_rankings(frame, relevance=judgements is None, null_distance=allowed)
    if "mask" in rows.columns:
        rows = rows.filter("mask")
    order = order_column(rows)
    if options.decimals is not None and not rows.schema[order].is_integer():
        rows = rows.with_columns(pl.col(order).round(options.decimals))
    unretrieved = rows.filter(pl.col(order).is_null())
    rows = rows.filter(pl.col(order).is_not_null())
    if options.distance_threshold is not None:
        rows = _beyond_threshold(rows, order, options.distance_threshold)
    return _Parts(
        rows,
        unretrieved,
        None if judgements is None else check_judgements(to_polars(judgements, "judgements")),
        None if queries is None else check_queries(to_polars(queries, "queries")),
    )


def _check_counted(frame: pl.DataFrame, judgements: object, options: Options) -> pl.DataFrame:
    if "naive" in options.policies:
        raise ParameterError(
            "policies: 'naive' needs the order of the items, and a counts frame has none; evaluate the rankings, "
            "or leave 'naive' out"
        )
    if judgements is not None:
        raise ParameterError("judgements: a counts frame has no items to join them on; join them before counting")
    return check_counts(frame)


def _beyond_threshold(rows: pl.DataFrame, order: str, threshold: float) -> pl.DataFrame:
    if order == "score":
        raise ParameterError("distance_threshold: the rankings have a 'score'; a threshold needs a 'distance'")
    if "relevance" not in rows.columns:
        return rows.with_columns((pl.col("distance") > threshold).alias("beyond"))
    return rows.with_columns(
        pl.when(pl.col("distance") > threshold).then(0).otherwise(pl.col("relevance")).alias("relevance")
    )


def _judge(parts: _Parts, options: Options) -> _Parts:
    """Relevance of every row: from the judgements when there are any, else the rankings' own."""
    rows, judgements = parts.rows, parts.judgements
    if judgements is None:
        return _Parts(
            _settle_nulls(rows, options.unjudged or "error"),
            _settle_nulls(parts.unretrieved, options.unjudged or "error"),
            None,
            parts.queries,
        )
    for key in ("query", "item"):
        _same_kind(rows.schema[key], judgements.schema[key], key, "rankings", "judgements")
    judgements = judgements.with_columns(
        pl.col(key).cast(rows.schema[key]) for key in ("query", "item") if rows.schema[key] != judgements.schema[key]
    )
    joined = rows.join(
        judgements.rename({"relevance": "judged"}), on=["query", "item"], how="left", maintain_order="left"
    )
    if "relevance" in rows.columns and options.distance_threshold is None:
        differ = pl.col("relevance").cast(pl.Float64) != pl.col("judged").cast(pl.Float64)
        refuse(
            joined,
            differ,
            "relevance",
            "differ from the judgements",
            "; drop the column to use the judgements",
        )
    joined = joined.drop("relevance", strict=False).rename({"judged": "relevance"})
    if "beyond" in joined.columns:
        joined = joined.with_columns(pl.when("beyond").then(0).otherwise(pl.col("relevance")).alias("relevance"))
    return _Parts(
        _settle_nulls(joined, options.unjudged or "non_relevant"),
        parts.unretrieved.with_columns(pl.lit(0.0).alias("relevance")),  # the judgements know better
        judgements,
        parts.queries,
    )


def _settle_nulls(rows: pl.DataFrame, rule: str) -> pl.DataFrame:
    """Rows without relevance: refused, taken as not relevant, or dropped."""
    if rule == "error":
        hint = "; unjudged='non_relevant' or 'drop' decides what to do with them"
        refuse(rows, pl.col("relevance").is_null(), "relevance", "null or NaN", hint)
    if rule == "drop":
        return rows.filter(pl.col("relevance").is_not_null())
    return rows.with_columns(pl.col("relevance").fill_null(0))


def _same_kind(left: pl.DataType, right: pl.DataType, key: str, one: str, other: str) -> None:
    """Ids of one kind only: text and numbers are never cast into each other."""
    if left.is_integer() != right.is_integer():
        raise KeyMismatchError(
            f"column {key!r} is {left} in the {one} and {right} in the {other}; ids are never cast "
            "(7 and '007' would merge): make both text or both whole numbers"
        )


def _all_lists(parts: _Parts, options: Options) -> pl.DataFrame:
    """Every (model, query): those present, and the queries of others, of the judgements, of the queries frame."""
    present = pl.concat([parts.rows.select(KEYS), parts.unretrieved.select(KEYS)]).unique()
    universe = present.select("query").unique()
    if parts.judgements is not None:
        judged = parts.judgements.select("query").unique()
        _check_unjudged(universe, judged, options)
        universe = pl.concat([universe, judged]).unique()
    if parts.queries is not None:
        _same_kind(universe.schema["query"], parts.queries.schema["query"], "query", "rankings", "queries")
        told = parts.queries.select(pl.col("query").cast(universe.schema["query"]))
        absent = universe.join(told, on="query", how="anti").sort("query")
        if absent.height:
            raise KeyMismatchError(
                f"queries: {absent.height} queries of the rankings are not in the queries frame, "
                f"first {absent.item(0, 0)!r}"
            )
        universe = pl.concat([universe, told]).unique()
    everything = present.select("model").unique().join(universe, how="cross")
    missing = everything.join(present, on=KEYS, how="anti").sort(KEYS)
    if missing.height and options.missing_query == "error":
        model, query = missing.row(0)
        raise KeyMismatchError(
            f"{missing.height} (model, query) pairs have no rows, first query {query!r} of model {model!r}; "
            "missing_query='zero' counts them as 0, 'skip' leaves them out"
        )
    return everything.sort(KEYS)


def _check_unjudged(universe: pl.DataFrame, judged: pl.DataFrame, options: Options) -> None:
    unjudged = universe.join(judged, on="query", how="anti").sort("query")
    if unjudged.height and options.unjudged_query == "error":
        raise KeyMismatchError(
            f"{unjudged.height} of {universe.height} queries have no judgements, first {unjudged.item(0, 0)!r}; "
            "unjudged_query='skip' leaves them out and counts them"
        )


def _sorted_rows(
    rows: pl.DataFrame, names: pl.DataFrame, grades: NDArray[np.float64], options: Options
) -> tuple[Integers, NDArray[np.bool_], Codes, Integers, Lists | None]:
    """Rows sorted by list and distance as arrays: starts, first row of a tie?, grade codes, counts, naive order."""
    order = order_column(rows)
    coded = rows.join(names.with_row_index("list"), on=KEYS, how="left", maintain_order="left")
    by, falling = ["list", order], [False, order == "score"]
    naive = "naive" in options.policies
    if naive:
        by.append("row" if options.naive_order == "row" else "item")
        falling.append(options.naive_order == "item_descending")
    coded = coded.sort(by, descending=falling, maintain_order=True)
    new_tie = coded.select(
        ((pl.col(order) != pl.col(order).shift()) | (pl.col("list") != pl.col("list").shift())).fill_null(True)
    ).to_series().to_numpy()  # fmt: skip
    grade = np.searchsorted(grades, coded["relevance"].cast(pl.Float64).to_numpy()).astype(np.int32)
    row_start = starts(coded["list"].to_numpy(), names.height)
    count = coded["count"].to_numpy() if "count" in coded.columns else np.empty(0, np.int64)
    return row_start, new_tie, grade, count, singles(row_start, grade) if naive else None


def _extra_cells(parts: _Parts, names: pl.DataFrame, grades: NDArray[np.float64]) -> tuple[Integers, Codes, Integers]:
    """Judged items of every list that its rows do not show: all judgements, or the rows without distance."""
    if parts.judgements is None:
        items = parts.unretrieved.select(*KEYS, "relevance").join(names.with_row_index("list"), on=KEYS)
    else:
        cells = parts.judgements.group_by("query", "relevance").agg(pl.len().alias("count"))
        items = names.with_row_index("list").join(cells, on="query").select("list", "relevance", "count")
    if "count" not in items.columns:
        items = items.group_by("list", "relevance").agg(pl.len().alias("count"))
    items = items.sort("list", "relevance")
    grade = np.searchsorted(grades, items["relevance"].cast(pl.Float64).to_numpy()).astype(np.int32)
    return starts(items["list"].to_numpy(), names.height), grade, items["count"].cast(pl.Int64).to_numpy()


def _told_relevant(
    parts: _Parts,
    names: pl.DataFrame,
    judged: Lists,
    relevant: Integers,
    grades: NDArray[np.float64],
    relevant_grade: NDArray[np.bool_],
) -> tuple[Lists, Integers]:
    """R from the queries frame where it says so; with binary relevance the ideal gets the items it did not see."""
    if parts.queries is None or "n_relevant" not in parts.queries.columns:
        return judged, relevant
    told_frame = parts.queries.select(pl.col("query").cast(names.schema["query"]), pl.col("n_relevant").cast(pl.Int64))
    told = names.join(told_frame, on="query", how="left", maintain_order="left")["n_relevant"].to_numpy()
    less = np.flatnonzero(told < relevant)
    if less.size:
        model, query = names.row(int(less[0]))
        raise DataError(
            f"column 'n_relevant': {less.size} lists hold more relevant items than the queries frame says, first "
            f"query {query!r} of model {model!r}: {relevant[less[0]]} found, {told[less[0]]} told"
        )
    if grades.size == 2 and relevant_grade.sum() == 1:
        lists = names.height
        extra = (np.arange(lists + 1), np.full(lists, grades.size - 1, np.int32), told - relevant)
        return ideal_lists(judged, *extra, grades.size), told
    return judged, told

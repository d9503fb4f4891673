"""Rankings, judgements and queries → lists ready for the kernels: who is judged, who is missing, what is relevant."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report import arrays
from retrieval_report.arrays import Codes, Integers, Lists, Rows
from retrieval_report.errors import DataError, KeyMismatchError, ParameterError
from retrieval_report.kernels import grouping
from retrieval_report.options import Options
from retrieval_report.reading.frames import to_polars
from retrieval_report.schema import (
    check_counts,
    check_judgements,
    check_queries,
    check_rankings,
    check_unique,
    order_column,
    refuse,
    warn_merging,
    with_model,
)

__all__ = ["Prepared", "prepare"]

KEYS = ["model", "query"]
NO_CELLS = (np.empty(0, np.int32), np.empty(0, np.int64))


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
    rows: pl.DataFrame  # the items of the lists
    present: pl.DataFrame | None  # model, query of rows received, where some of them then leave their list
    unretrieved: pl.DataFrame  # items known but not retrieved: model, query, relevance
    judgements: pl.DataFrame | None
    queries: pl.DataFrame | None


def prepare(rankings: object, judgements: object, queries: object, options: Options) -> Prepared:
    """Check the frames, join them and lay them out as lists."""
    parts = _judge(_read(rankings, judgements, queries, options), options)
    found, rows = arrays.locate(parts.rows, [key for key in KEYS if key in parts.rows.columns])
    found = with_model(found)
    for column in KEYS:
        warn_merging(found, column, "rankings")
    known = _relevances(parts)
    grades, grade = arrays.grade_codes(parts.rows["relevance"], known)
    if "item" in parts.rows.columns:
        _check_items(parts, found, rows, grade, options)
    names = _all_lists(parts, found, options)
    rows = _spread(rows, found, names)
    relevant_grade = grades > 0 if options.relevant_from is None else grades >= options.relevant_from
    order = order_column(parts.rows)
    key = arrays.order_keys(parts.rows[order], falling=order == "score")
    count = parts.rows["count"].to_numpy() if "count" in parts.rows.columns else np.empty(0, np.int64)
    naive = "naive" in options.policies
    ties, singles = arrays.lists_from_rows(rows, key, grade, count, grades.size, naive=naive, workers=options.workers)
    none = np.zeros(names.height + 1, np.int64)
    listed = arrays.ideal_lists(ties, none, *NO_CELLS, grades.size)
    own = ties if parts.judgements is None else Lists(none, np.zeros(1, np.int64), *NO_CELLS)
    judged = arrays.ideal_lists(own, *_extra_cells(parts, names, grades), grades.size)
    relevant = judged.total(relevant_grade.astype(np.float64)).astype(np.int64)
    if parts.judgements is None:
        judged, relevant = _told_relevant(parts, names, judged, relevant, relevant_grade)
    else:
        told = parts.judgements.select("query").unique().with_columns(told=pl.lit(True))
        is_told = names.join(told, on="query", how="left", maintain_order="left")["told"].fill_null(False)
        relevant[~is_told.to_numpy()] = -1
    return Prepared(names, ties, singles, judged, listed, grades, relevant_grade, relevant, ties.length)


def _read(rankings: object, judgements: object, queries: object, options: Options) -> _Parts:
    """Checked frames, with masked rows gone, distances rounded and unretrieved rows apart."""
    frame = to_polars(rankings, "rankings")
    if "count" in frame.columns:
        rows = _check_counted(frame, judgements, options)
    else:
        allowed = options.null_distance == "not_retrieved"
        rows = _naive_order(check_rankings(frame, relevance=judgements is None, null_distance=allowed), options)
    order, everything = order_column(rows), rows
    if "mask" in rows.columns:
        rows = rows.filter("mask")
    if options.decimals is not None and not rows.schema[order].is_integer():
        rows = rows.with_columns(pl.col(order).round(options.decimals))
    unretrieved = rows.clear()
    if rows[order].null_count():
        unretrieved, rows = rows.filter(pl.col(order).is_null()), rows.filter(pl.col(order).is_not_null())
    return _Parts(
        rows,
        None if rows.height == everything.height else with_model(everything).select(KEYS).unique(),
        with_model(unretrieved),
        None if judgements is None else check_judgements(to_polars(judgements, "judgements")),
        None if queries is None else check_queries(to_polars(queries, "queries")),
    )


def _naive_order(rows: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Rows in the order that naive scores see: file order, or by item id."""
    if "naive" in options.policies:
        if options.naive_order != "row":
            rows = rows.sort("item", descending=options.naive_order == "item_descending", maintain_order=True)
        elif "row" in rows.columns and not rows["row"].is_sorted():
            rows = rows.sort("row", maintain_order=True)
    return rows.drop("row", strict=False)


def _check_counted(frame: pl.DataFrame, judgements: object, options: Options) -> pl.DataFrame:
    if "naive" in options.policies:
        raise ParameterError(
            "policies: 'naive' needs the order of the items, and a counts frame has none; evaluate the rankings, "
            "or leave 'naive' out"
        )
    if judgements is not None:
        raise ParameterError("judgements: a counts frame has no items to join them on; join them before counting")
    return check_counts(frame)


def _judge(parts: _Parts, options: Options) -> _Parts:
    """Relevance of every row: from the judgements when there are any, else the rankings' own."""
    if parts.judgements is not None:
        rows, judgements = _join_judgements(parts.rows, parts.judgements)
        unretrieved = parts.unretrieved.with_columns(relevance=pl.lit(0.0))  # the judgements know better
        parts = replace(parts, rows=rows, judgements=judgements, unretrieved=unretrieved)
    rule = options.unjudged or ("error" if parts.judgements is None else "non_relevant")
    rows, unretrieved = _settle_nulls(parts.rows, rule), _settle_nulls(parts.unretrieved, rule)
    present = parts.present
    if present is None and rows.height < parts.rows.height:
        present = with_model(parts.rows).select(KEYS).unique()
    if options.distance_threshold is not None:
        if "score" in rows.columns:
            raise ParameterError("distance_threshold: the rankings have a 'score'; a threshold needs a 'distance'")
        beyond = pl.col("distance") > options.distance_threshold
        rows = rows.with_columns(relevance=pl.when(beyond).then(0).otherwise(pl.col("relevance")))
    return replace(parts, rows=rows, present=present, unretrieved=unretrieved)


def _join_judgements(rows: pl.DataFrame, judgements: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    for key in ("query", "item"):
        _same_kind(rows.schema[key], judgements.schema[key], key, "rankings", "judgements")
    judgements = judgements.with_columns(
        pl.col(key).cast(rows.schema[key]) for key in ("query", "item") if rows.schema[key] != judgements.schema[key]
    )
    told = judgements.rename({"relevance": "judged"})
    joined = rows.join(told, on=["query", "item"], how="left", maintain_order="left")
    if "relevance" in rows.columns:
        differ = pl.col("relevance").cast(pl.Float64) != pl.col("judged").cast(pl.Float64)
        refuse(joined, differ, "relevance", "differ from the judgements", "; drop the column to use the judgements")
    return joined.drop("relevance", strict=False).rename({"judged": "relevance"}), judgements


def _settle_nulls(rows: pl.DataFrame, rule: str) -> pl.DataFrame:
    """Rows without relevance: refused, taken as not relevant, or dropped."""
    if rows["relevance"].null_count() == 0:
        return rows
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


def _relevances(parts: _Parts) -> NDArray[np.float64]:
    """Relevances of items that are in no list."""
    frames = [parts.unretrieved] if parts.judgements is None else [parts.unretrieved, parts.judgements]
    return np.concatenate([np.unique(frame["relevance"].cast(pl.Float64).to_numpy() + 0.0) for frame in frames])


def _check_items(parts: _Parts, found: pl.DataFrame, rows: Rows, grade: Codes, options: Options) -> None:
    """Refuse an item twice in a list, and an item with different relevance in two models' lists of a query."""
    keys = arrays.id_keys(parts.rows["item"])
    work = np.concatenate([[0], np.cumsum(rows.end - rows.begin)])
    suspects = arrays.over_ranges(
        lambda first, last: grouping.repeating_list(first, last, *rows, keys), work, options.workers
    )
    if max(suspects) >= 0 or parts.unretrieved.height:
        columns = [*KEYS, "item"]
        both = [with_model(parts.rows).select(columns), parts.unretrieved.select(columns)]
        check_unique(pl.concat(both), columns, "rankings")
    if parts.judgements is not None or found["model"].n_unique() < 2:
        return
    by_query = found.with_row_index("list").sort("query", maintain_order=True)
    first = by_query.select((pl.col("query") != pl.col("query").shift()).fill_null(True)).to_series().to_numpy()
    group_start = np.append(np.flatnonzero(first), found.height)
    row = grouping.disagreeing_row(
        group_start, arrays.frozen(by_query["list"].cast(pl.Int64).to_numpy()), *rows, keys, arrays.frozen(grade)
    )
    if row < 0:
        return
    query, item = parts.rows["query"][row], parts.rows["item"][row]
    same = parts.rows.filter(pl.col("query") == query, pl.col("item") == item).unique(
        ["relevance"], maintain_order=True
    )
    if same.height > 1:
        told = ", ".join(
            f"{value:g} in model {model!r}" for model, value in same.select("model", "relevance").rows()[:2]
        )
        raise DataError(
            f"column 'relevance': models disagree about item {item!r} of query {query!r}: {told}; "
            "give one set of judgements"
        )


def _all_lists(parts: _Parts, found: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Every (model, query): those present, and the queries of others, of the judgements, of the queries frame."""
    present = found if parts.present is None else pl.concat([found, parts.present]).unique()
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
        universe = told
    models = present.select("model").unique()
    if found.height == models.height * universe.height:
        return found
    everything = models.join(universe, how="cross").sort(KEYS)
    if options.missing_query == "error":
        missing = everything.join(present, on=KEYS, how="anti").sort(KEYS)
        model, query = missing.row(0)
        raise KeyMismatchError(
            f"{missing.height} (model, query) pairs have no rows, first query {query!r} of model {model!r}; "
            "missing_query='zero' counts them as 0, 'skip' leaves them out"
        )
    return everything


def _check_unjudged(universe: pl.DataFrame, judged: pl.DataFrame, options: Options) -> None:
    unjudged = universe.join(judged, on="query", how="anti").sort("query")
    if unjudged.height and options.unjudged_query == "error":
        raise KeyMismatchError(
            f"{unjudged.height} of {universe.height} queries have no judgements, first {unjudged.item(0, 0)!r}; "
            "unjudged_query='skip' leaves them out and counts them"
        )


def _spread(rows: Rows, found: pl.DataFrame, names: pl.DataFrame) -> Rows:
    """Rows of all lists; those that were not found have none."""
    if names.height == found.height:
        return rows
    place = found.join(names.with_row_index("list"), on=KEYS, how="left", maintain_order="left")["list"].to_numpy()
    begin, end = np.zeros(names.height, np.int64), np.zeros(names.height, np.int64)
    begin[place], end[place] = rows.begin, rows.end
    return Rows(begin, end, rows.row_of)


def _extra_cells(parts: _Parts, names: pl.DataFrame, grades: NDArray[np.float64]) -> tuple[Integers, Codes, Integers]:
    """Judged items of every list that its rows do not show: all judgements, or the rows without distance."""
    lists = names.with_row_index("list")
    if parts.judgements is None:
        keys, items = KEYS, parts.unretrieved
    else:
        keys, items = ["query"], parts.judgements
    cells = items.group_by(*keys, "relevance").agg(pl.len().alias("count"))
    cells = lists.join(cells, on=keys).select("list", "relevance", "count").sort("list", "relevance")
    grade = np.searchsorted(grades, cells["relevance"].cast(pl.Float64).to_numpy()).astype(np.int32)
    return arrays.starts(cells["list"].to_numpy(), names.height), grade, cells["count"].cast(pl.Int64).to_numpy()


def _told_relevant(
    parts: _Parts, names: pl.DataFrame, judged: Lists, relevant: Integers, relevant_grade: NDArray[np.bool_]
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
    if relevant_grade.size == 2 and relevant_grade.sum() == 1:
        lists = names.height
        extra = (np.arange(lists + 1), np.full(lists, 1, np.int32), told - relevant)
        judged = arrays.ideal_lists(judged, *extra, relevant_grade.size)
    return judged, told

"""Sorted rows of whole lists → lists ready for the kernels, after the order that this relies on has been checked.

A chunk is a Polars frame of counts or of single items, sorted by model, query and distance (score: falling). Rows of
three standings say what the joins of :func:`retrieval_report.evaluate` say on one machine: an item of the list, an
item or a row that is not in it, and what judgements and queries frames tell of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import ColumnError, DataError, KeyMismatchError, ParameterError
from retrieval_report.contracts.frames import check_counts, check_relevance, order_column, with_model
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.truncated import AUTO, NO
from retrieval_report.scoring import arrays
from retrieval_report.scoring.arrays import Cells, Integers, Rows
from retrieval_report.scoring.layout import Known, Prepared, lay_out, with_decisions
from retrieval_report.scoring.lookup import KEYS, UNJUDGED_HINT
from retrieval_report.scoring.truncation import Decision, given

__all__ = ["LISTED", "RECEIVED", "TOLD", "Whole", "prepare_chunk", "ready"]

TOLD = 0
"""Standing of a row that judgements or a queries frame make: the list is asked for, with ``count`` judged items."""
RECEIVED = 1
"""Standing of a row that is not in its list: masked, or known but not retrieved."""
LISTED = 2
"""Standing of an item, or of ``count`` of them, of the list: that of rows that do not say."""

Mask = NDArray[np.bool_]
Last = tuple[Any, Any]


@dataclass(frozen=True)
class Whole:
    """What a chunk cannot see: facts of the whole."""

    grades: tuple[float, ...] = ()  # the lowest and the highest relevance above 0
    judged: bool = False  # judgements were given: rows told hold the judged items
    asked: bool = False  # a queries frame was given: every list has a row told
    pooled: bool = False  # rows told hold the relevant items that any model shows


def ready(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with a model, a standing and a count in every row, and ids and relevances of our types."""
    if "query" not in frame.columns:
        raise ColumnError(f"stream: no column 'query'; found {', '.join(map(repr, frame.columns))}")
    frame = with_model(frame)
    texts = [key for key in KEYS if key == "model" or not frame.schema[key].is_integer()]
    frame = frame.with_columns(pl.col(texts).cast(pl.String))
    if "relevance" in frame.columns and not frame.schema["relevance"].is_integer():
        frame = frame.with_columns(pl.col("relevance").cast(pl.Float64).fill_nan(None))
    if "count" not in frame.columns:
        frame = frame.with_columns(count=pl.lit(1, pl.Int64))
    standing = pl.col("standing").fill_null(LISTED) if "standing" in frame.columns else pl.lit(LISTED)
    return frame.with_columns(standing=standing.cast(pl.Int8))


def prepare_chunk(frame: pl.DataFrame, last: Last | None, whole: Whole, options: Options) -> Prepared:
    """Check the rows of a chunk, which :func:`ready` has seen, and lay its lists out.

    ``last`` are model and query of the list before the chunk.
    """
    frame, names = _numbered(_settle(frame, whole, options))
    cells, rows = _cells(frame, whole), frame.filter(pl.col("standing") == LISTED)
    items = _checked(rows, options)
    _check_names(names, last)
    start = arrays.starts(rows["list"].to_numpy(), names.height)
    _check_order(pl.concat([items, rows.select(_naive_columns(rows, options))], how="horizontal"), start, options)
    known = np.unique(cells["relevance"].cast(pl.Float64).to_numpy() + 0.0)
    grades, grade = arrays.grade_codes(items["relevance"], np.concatenate([np.array(whole.grades), known]))
    missing = _without(frame, pl.col("standing") != TOLD, names)
    beside = _known(frame, cells, grades, names, whole)
    _check_lists(frame, names, missing, beside, whole, options)
    location = Rows(start[:-1], start[1:], np.empty(0, np.uint32))
    prepared = lay_out(names, missing, location, items, grades, grade, beside, options)
    # A stream shows no list beside another, so nothing can be found out here: what is not said is taken as whole.
    words = {model: NO if word == AUTO else word for model, word in given(options.truncated, _models(names)).items()}
    decisions = {model: Decision(word, "as given", 0) for model, word in words.items()}
    return with_decisions(prepared, decisions, options)


def _models(names: pl.DataFrame) -> list[str]:
    return names["model"].unique().to_list()


def _numbered(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The frame with the number of its list in every row, and model and query of the lists."""
    changes = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in KEYS)
    first = frame.select(changes).to_series().to_numpy().copy()
    first[:1] = True
    return frame.with_columns(list=pl.Series(np.cumsum(first) - 1)), frame.filter(first).select(KEYS)


def _settle(frame: pl.DataFrame, whole: Whole, options: Options) -> pl.DataFrame:
    """Give rows without relevance or without distance the standing that the options say."""
    order, listed = order_column(frame), pl.col("standing") == LISTED
    rule = options.unjudged or ("non_relevant" if whole.judged else "error")
    unjudged = listed & pl.col("relevance").is_null()
    if rule == "error":
        refuse(frame, unjudged, "relevance", "null or NaN", UNJUDGED_HINT)
    elif rule == "drop":
        frame = frame.with_columns(standing=pl.when(unjudged).then(pl.lit(RECEIVED, pl.Int8)).otherwise("standing"))
    else:
        frame = frame.with_columns(relevance=pl.when(unjudged).then(0).otherwise("relevance"))
    if options.null_distance == "not_retrieved":
        gone = listed & pl.col(order).is_null()
        frame = frame.with_columns(standing=pl.when(gone).then(pl.lit(RECEIVED, pl.Int8)).otherwise("standing"))
    return frame


def _checked(rows: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Items held to the contract of counts, rounded as asked."""
    naive = "naive" in options.policies
    if naive and (rows["count"] > 1).any():
        raise ParameterError("policies: 'naive' needs the order of the items, and counts above 1 have none")
    rows = check_counts(rows, "rankings")
    order = order_column(rows)
    if options.distance_threshold is not None and order == "score":
        raise ParameterError("distance_threshold: the rankings have a 'score'; a threshold needs a 'distance'")
    if options.decimals is not None and not rows.schema[order].is_integer():
        given, rows = rows, rows.with_columns(pl.col(order).round(options.decimals))
        if naive and (given[order] != rows[order]).any():  # ties that rounding makes stand in no naive order
            raise DataError(f"stream: column {order!r}: for naive scores, round to {options.decimals} before sorting")
    return rows.drop("count") if naive else rows


def _check_names(names: pl.DataFrame, last: Last | None) -> None:
    """Refuse lists out of order, and so every list that comes back."""
    if last is not None:
        names = pl.concat([pl.DataFrame([last], schema=names.schema, orient="row"), names])
    at = names.select(_behind(KEYS, falling=False).arg_true()).to_series()
    if len(at):
        old, new = names.row(int(at[0]) - 1), names.row(int(at[0]))
        raise DataError(
            f"stream: query {new[1]!r} of model {new[0]!r} comes after query {old[1]!r} of model {old[0]!r}; rows "
            "have to be sorted by model, query and distance, and no list may come back"
        )


def _naive_columns(rows: pl.DataFrame, options: Options) -> list[str]:
    """Columns that the order inside ties goes by; none where it is the order received."""
    if "naive" not in options.policies:
        return []
    if options.naive_order == "row":
        return [name for name in ("file", "row") if name in rows.columns]
    if "item" not in rows.columns:
        raise ColumnError(f"stream: no column 'item', which naive_order={options.naive_order!r} needs")
    return ["item"]


def _check_order(items: pl.DataFrame, start: Integers, options: Options) -> None:
    """Refuse lists whose items are not in order."""
    order = order_column(items)
    key = arrays.order_keys(items[order], falling=order == "score")
    inside = np.ones(key.size, np.bool_)
    inside[start[:-1][start[:-1] < key.size]] = False
    before = np.append(key[:1], key[:-1])
    _refuse_step(items, inside & (key < before), [order], "near first")
    columns = [name for name in items.columns if name in ("file", "row", "item")]
    if columns:
        wrong = _behind(columns, falling=options.naive_order == "item_descending")
        behind = items.select(wrong).to_series().to_numpy()
        _refuse_step(items, inside & (key == before) & behind, columns, "naive order inside ties")


def _behind(columns: list[str], *, falling: bool) -> pl.Expr:
    """Rows that do not come after the row before them; the first column decides first."""
    wrong = pl.lit(True)
    for name in reversed(columns):
        new, old = pl.col(name), pl.col(name).shift()
        wrong = (new > old if falling else new < old) | ((new == old) & wrong)
    return wrong.fill_null(False)


def _refuse_step(items: pl.DataFrame, wrong: Mask, columns: list[str], rule: str) -> None:
    at = np.flatnonzero(wrong)
    if at.size:
        old, new = (items.select(columns).row(int(row)) for row in (at[0] - 1, at[0]))
        model, query = items.select(KEYS).row(int(at[0]))
        raise DataError(
            f"stream: column {columns[-1]!r}: {new[-1]!r} comes after {old[-1]!r} in query {query!r} of model "
            f"{model!r}; rows have to be sorted by model, query and distance, {rule}"
        )


def _cells(frame: pl.DataFrame, whole: Whole) -> pl.DataFrame:
    """Rows of items that count in R and in the ideal though they are not in the list."""
    standing = TOLD if whole.judged or whole.pooled else RECEIVED
    told = frame.filter(pl.col("standing") == standing, pl.col("count") > 0)
    told = told.drop("item", strict=False)
    if not whole.judged:
        return check_relevance(told.filter(pl.col("relevance").is_not_null()), allow_null=False)
    refuse(told, pl.col("relevance").is_null(), "relevance", "null or NaN", what="judgements")
    return check_relevance(told, allow_null=False, what="judgements")


def _without(frame: pl.DataFrame, rows: pl.Expr, names: pl.DataFrame) -> Mask:
    """Lists that none of these rows belongs to."""
    rows_of = np.bincount(frame.filter(rows)["list"].to_numpy(), minlength=names.height)
    return np.asarray(rows_of == 0)


def _known(
    frame: pl.DataFrame, cells: pl.DataFrame, grades: NDArray[np.float64], names: pl.DataFrame, whole: Whole
) -> Known:
    which = cells["list"].to_numpy()
    grade = np.searchsorted(grades, cells["relevance"].cast(pl.Float64).to_numpy()).astype(np.int32)
    extra = Cells(arrays.starts(which, names.height), grade, cells["count"].cast(pl.Int64).to_numpy())
    if whole.judged:
        return Known(extra, judged=np.bincount(which, minlength=names.height) > 0)
    if "n_relevant" not in frame.columns:
        return Known(extra, pooled=whole.pooled)
    told = frame.filter(pl.col("n_relevant").is_not_null()).group_by("list").agg(pl.col("n_relevant").max())
    numbers = np.full(names.height, -1, np.int64)
    numbers[told["list"].to_numpy()] = told["n_relevant"].to_numpy()
    return Known(extra, pooled=whole.pooled, n_relevant=numbers)


def _check_lists(
    frame: pl.DataFrame, names: pl.DataFrame, missing: Mask, known: Known, whole: Whole, options: Options
) -> None:
    """Refuse lists that do not fit to the judgements, to the queries frame, or to what the options allow."""
    if whole.asked:
        absent = np.flatnonzero(_without(frame, pl.col("standing") == TOLD, names))
        if absent.size:
            raise KeyMismatchError(
                f"queries: {absent.size} queries of the rankings are not in the queries frame, "
                f"first {names.row(int(absent[0]))[1]!r}"
            )
    if known.judged is not None and options.unjudged_query == "error":
        unjudged = np.flatnonzero(~known.judged & ~missing)
        if unjudged.size:
            raise KeyMismatchError(
                f"{unjudged.size} of {names.height} queries have no judgements, "
                f"first {names.row(int(unjudged[0]))[1]!r}; unjudged_query='skip' leaves them out and counts them"
            )
    if missing.any() and options.missing_query == "error":
        model, query = names.row(int(np.flatnonzero(missing)[0]))
        raise KeyMismatchError(
            f"{missing.sum()} (model, query) pairs have no rows, first query {query!r} of model {model!r}; "
            "missing_query='zero' counts them as 0, 'skip' leaves them out"
        )

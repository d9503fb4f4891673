"""Turn sorted rows of whole lists into judged rankings, after checking that they are sorted.

A chunk is a Polars frame of counts or of single items, sorted by model, query and distance (score:
descending). Its rows have three roles, which replace the joins that
:func:`retrieval_report.evaluate` makes on one machine: an item of the list, an item or row outside
it, and what judgements and queries frames know of the list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import ColumnError, DataError, ParameterError
from retrieval_report.contracts.frames import (
    check_counts,
    check_relevance,
    order_column,
    with_model,
)
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.truncated import AUTO, WITHIN_TIE
from retrieval_report.kernels.lists import Rows
from retrieval_report.scoring import arrays
from retrieval_report.scoring.expected_lists import refuse_missing, refuse_unjudged, refuse_unnamed
from retrieval_report.scoring.judged import KNOWN, NOT_RETRIEVED, RETRIEVED, Judged, KnownOfWhole
from retrieval_report.scoring.known_items import KEYS, settle_nulls
from retrieval_report.scoring.layout import Prepared, lay_out, rounded
from retrieval_report.scoring.truncation import as_counted, given

Last = tuple[Any, Any]


def ready(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with a model, a role and a count in every row, and ids and relevances of our
    types.
    """
    if "query" not in frame.columns:
        raise ColumnError(f"stream: no column 'query'; found {', '.join(map(repr, frame.columns))}")
    frame = with_model(frame)
    texts = [key for key in KEYS if key == "model" or not frame.schema[key].is_integer()]
    frame = frame.with_columns(pl.col(texts).cast(pl.String))
    if "relevance" in frame.columns and not frame.schema["relevance"].is_integer():
        frame = frame.with_columns(pl.col("relevance").cast(pl.Float64).fill_nan(None))
    if "count" not in frame.columns:
        frame = frame.with_columns(count=pl.lit(1, pl.Int64))
    role = pl.col("role").fill_null(RETRIEVED) if "role" in frame.columns else pl.lit(RETRIEVED)
    if "retrieved" in frame.columns:  # of counts
        role = pl.when("retrieved").then(role).otherwise(NOT_RETRIEVED)
    return frame.with_columns(role=role.cast(pl.Int8)).drop("retrieved", strict=False)


def prepare_chunk(
    frame: pl.DataFrame, last: Last | None, whole: KnownOfWhole, options: Options
) -> Prepared:
    """Check the rows of a chunk prepared by :func:`ready` and lay out its lists.

    ``last`` holds model and query of the list before the chunk.
    """
    judged = judge_chunk(frame, last, whole, options)
    # Lists cannot be compared in a stream, so only counts can say that they are whole.
    counted, asked = (
        as_counted(judged.retrieved),
        given(options.truncated, list(judged.whole.models)),
    )
    words = {
        model: counted.get(model, WITHIN_TIE) if word == AUTO else word
        for model, word in asked.items()
    }
    return lay_out(judged, replace(options, naive_order="row", truncated=words))


def judge_chunk(
    frame: pl.DataFrame, last: Last | None, whole: KnownOfWhole, options: Options
) -> Judged:
    """Return the judged rows of a chunk, together with what is known of their lists."""
    frame, names = _numbered(frame)
    rows, others = _apart(frame, whole, options)
    known = _known(
        frame.filter(pl.col("role") == KNOWN) if whole.judged or whole.pooled else others, whole
    )
    items = _checked(rows, options)
    _check_names(names, last)
    start = arrays.starts(rows["list"].to_numpy(), names.height)
    _check_order(items.hstack(rows.select("list", *_naive_columns(rows, options))), options)
    relevances = known["relevance"].cast(pl.Float64).to_numpy() + 0.0
    grades, grade = arrays.grade_indices(
        items["relevance"], np.concatenate([whole.grades, np.unique(relevances)])
    )
    lists = _lists(frame, names)
    _check_lists(frame, lists, known, whole, options)
    models = tuple(names["model"].unique(maintain_order=True))
    rows_of = Rows(start[:-1], start[1:], np.empty(0, np.uint32))
    return Judged(items, known, lists, rows_of, None, grades, grade, replace(whole, models=models))


def _numbered(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the frame with its list's number in every row, and the model and query of each
    list.
    """
    changes = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in KEYS)
    first = frame.select(changes).to_series().to_numpy().copy()
    first[:1] = True
    return frame.with_columns(list=pl.Series(np.cumsum(first) - 1)), frame.filter(first).select(
        KEYS
    )


def _apart(
    frame: pl.DataFrame, whole: KnownOfWhole, options: Options
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split the rows into those that the options leave in their lists, with relevance, and those in
    no list.
    """
    order, rows = pl.col(order_column(frame)), frame.filter(pl.col("role") == RETRIEVED)
    rule = options.unjudged or ("non_relevant" if whole.judged else "error")
    rows, others = settle_nulls(rows, rule), frame.filter(pl.col("role") == NOT_RETRIEVED)
    if options.null_distance == "not_retrieved":
        rows, others = (
            rows.filter(order.is_not_null()),
            pl.concat([others, rows.filter(order.is_null())]),
        )
    return rows, others


def _checked(rows: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Return items checked against the contract of counts and rounded as requested."""
    naive = "naive" in options.policies
    if naive and (rows["count"] > 1).any():
        raise ParameterError(
            "policies: 'naive' needs the order of the items, and counts above 1 have none"
        )
    rows = check_counts(rows, "rankings")
    order = order_column(rows)
    options.check_order(order)
    given, rows = rows, rounded(rows, options)
    if naive and (given[order] != rows[order]).any():  # ties made by rounding have no naive order
        raise DataError(
            f"stream: column {order!r}: for naive scores, round to {options.decimals} before "
            "sorting"
        )
    return rows.drop("count") if naive else rows


def _check_names(names: pl.DataFrame, last: Last | None) -> None:
    """Refuse lists that are out of order, which includes any list that recurs."""
    if last is not None:
        names = pl.concat([pl.DataFrame([last], schema=names.schema, orient="row"), names])
    at = names.select(_behind(KEYS, falling=False).arg_true()).to_series()
    if len(at):
        old, new = names.row(int(at[0]) - 1), names.row(int(at[0]))
        raise DataError(
            f"stream: query {new[1]!r} of model {new[0]!r} comes after query {old[1]!r} of model "
            f"{old[0]!r}; rows "
            "have to be sorted by model, query and distance, and no list may recur"
        )


def _naive_columns(rows: pl.DataFrame, options: Options) -> list[str]:
    """Return the columns that determine the order inside ties; none if it is the order received."""
    if "naive" not in options.policies:
        return []
    if options.naive_order == "row":
        return [name for name in ("file", "row") if name in rows.columns]
    if "item" not in rows.columns:
        raise ColumnError(
            f"stream: no column 'item', which naive_order={options.naive_order!r} needs"
        )
    return ["item"]


def _check_order(items: pl.DataFrame, options: Options) -> None:
    """Refuse lists whose items are not in order."""
    order = order_column(items)
    new, old = pl.col(order), pl.col(order).shift()
    inside = pl.col("list") == pl.col("list").shift()
    _refuse_step(
        items, inside & (new > old if order == "score" else new < old), [order], "near first"
    )
    columns = [name for name in items.columns if name in ("file", "row", "item")]
    if columns:
        behind = _behind(columns, falling=options.naive_order == "item_descending")
        _refuse_step(items, inside & (new == old) & behind, columns, "naive order inside ties")


def _behind(columns: list[str], *, falling: bool) -> pl.Expr:
    """Select rows that do not come after the row before them in the order of the columns."""
    wrong = pl.lit(True)
    for name in reversed(columns):
        new, old = pl.col(name), pl.col(name).shift()
        wrong = (new > old if falling else new < old) | ((new == old) & wrong)
    return wrong.fill_null(False)


def _refuse_step(items: pl.DataFrame, wrong: pl.Expr, columns: list[str], rule: str) -> None:
    at = items.select(wrong.arg_true()).to_series()
    if len(at):
        old, new = (items.select(columns).row(row) for row in (at[0] - 1, at[0]))
        model, query = items.select(KEYS).row(at[0])
        raise DataError(
            f"stream: column {columns[-1]!r}: {new[-1]!r} comes after {old[-1]!r} in query "
            f"{query!r} of model "
            f"{model!r}; rows have to be sorted by model, query and distance, {rule}"
        )


def _known(rows: pl.DataFrame, whole: KnownOfWhole) -> pl.DataFrame:
    """Return items that count in R and in the ideal although they are not in the list."""
    rows = rows.filter(pl.col("count") > 0).select(*KEYS, "relevance", "count")
    null = pl.col("relevance").is_null()
    if whole.judged:
        refuse(rows, null, "relevance", "null or NaN", what="judgements")
    return check_relevance(
        rows.filter(~null), allow_null=False, what="judgements" if whole.judged else "rankings"
    )


def _lists(frame: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Return the lists, whether each is missing, and the number of relevant items of its query, if
    known.
    """
    lists = names.with_columns(missing=_without(frame, pl.col("role") != KNOWN, names))
    if "n_relevant" not in frame.columns:
        return lists
    numbers = frame.group_by("list").agg(pl.col("n_relevant").max().cast(pl.Int64)).sort("list")
    return lists.with_columns(numbers["n_relevant"])


def _without(frame: pl.DataFrame, rows: pl.Expr, names: pl.DataFrame) -> pl.Series:
    """Return the lists to which none of these rows belongs."""
    return pl.Series(
        np.bincount(frame.filter(rows)["list"].to_numpy(), minlength=names.height) == 0
    )


def _check_lists(
    frame: pl.DataFrame,
    lists: pl.DataFrame,
    known: pl.DataFrame,
    whole: KnownOfWhole,
    options: Options,
) -> None:
    """Refuse lists that do not match the judgements, the queries frame or the options."""
    if whole.complete:
        refuse_unnamed(
            lists.filter(_without(frame, pl.col("role") == KNOWN, lists))["query"].unique()
        )
    if whole.judged:
        received = lists.filter(~pl.col("missing")).select("query").unique()
        unjudged = received.join(known, on="query", how="anti")["query"]
        refuse_unjudged(unjudged, received.height, known.clear(), options)  # other chunks may match
    refuse_missing(lists.filter("missing"), options)

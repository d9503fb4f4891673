"""Check frames against the column contract of their kind.

A check returns the frame with the contract's columns only, in the contract's types, or raises an
error that names the column, the rule, the number of bad rows and the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from retrieval_report.contracts.checks import check_unique, refuse, warn_merging
from retrieval_report.contracts.columns import Column
from retrieval_report.contracts.errors import ColumnError, DataError
from retrieval_report.contracts.registry import FRAMES, schema
from retrieval_report.contracts.truncated import ENDS
from retrieval_report.contracts.warning import warn

MOST_ITEMS = 2**62  # running totals of items stay well within 64 bits
SAMPLED, LISTS = (
    5_000,
    10,
)  # first rows, and the fewest lists among them, that show how rows are sorted

RANKINGS = FRAMES["rankings"].columns
COUNTS = FRAMES["counts"].columns
JUDGEMENTS = FRAMES["judgements"].columns
QUERIES = FRAMES["query_facts"].columns
SCORES = schema("scores")
SUMMARY = schema("summary")


def order_column(frame: pl.DataFrame) -> str:
    """Return the name of the column that orders a list: ``distance`` or ``score``.

    >>> order_column(pl.DataFrame({"query": ["a"], "score": [1.0]}))
    'score'
    """
    return "distance" if "distance" in frame.columns else "score"


def check_rankings(
    frame: pl.DataFrame, *, relevance: bool = True, null_distance: bool = False
) -> pl.DataFrame:
    """Check a rankings frame against its contract.

    ``relevance`` requires the column; ``null_distance`` accepts rows without distance (known items
    that were not retrieved). Null relevances and repeated items are left to the caller: the former
    may come from judgements, the latter are found faster once the lists are known.
    """
    given = frame.columns
    frame = _contract(frame, RANKINGS, "rankings")
    order = _one_order(frame, given, "rankings")
    if relevance and "relevance" not in frame.columns:
        raise ColumnError(
            f"rankings: no column 'relevance', and no judgements were given; found {_names(given)}"
            f"{_close(given, ('relevance',)) or '; pass judgements=, a table of query, item and relevance'}"
        )
    frame = _check_ids(frame, ("model", "query", "item"))
    warn_merging(frame, "item", "rankings")
    _check_order(frame, order, null_distance)
    if "relevance" in frame.columns:
        frame = check_relevance(frame, allow_null=True)
    _check_flags(frame)
    return frame


def check_counts(frame: pl.DataFrame, what: str = "counts") -> pl.DataFrame:
    """Check a counts frame against its contract; ``what`` is its name in messages."""
    given = frame.columns
    frame = _contract(frame, COUNTS, what)
    order = _one_order(frame, given, what)
    frame = _check_ids(frame, ("model", "query"), what)
    if "retrieved" in frame.columns:
        _check_retrieved(frame, order, what)
        _check_order(frame.filter("retrieved"), order, False)
    else:
        _check_order(frame, order, False)
    frame = check_relevance(frame, allow_null=False, what=what)
    count = pl.col("count")
    refuse(frame, count.is_null() | (count < 1), "count", "not a whole number above 0", what=what)
    total = int(frame["count"].cast(pl.Int128).sum() or 0)
    if total >= MOST_ITEMS:
        raise DataError(
            f"{what}: column 'count': {total} items in all, above {MOST_ITEMS - 1}, the largest "
            "number accepted"
        )
    if "truncated" in frame.columns:
        unknown = ~pl.col("truncated").is_in(ENDS)
        refuse(frame, unknown, "truncated", f"not one of {', '.join(map(repr, ENDS))}", what=what)
    return frame.with_columns(count.cast(pl.Int64))


def _check_retrieved(frame: pl.DataFrame, order: str, what: str) -> None:
    """Refuse rows that do not say whether their items are in the list, or have a distance although
    they are not.
    """
    hint = "; count the rankings of all models together by count_ties"
    refuse(frame, pl.col("retrieved").is_null(), "retrieved", "null", hint, what=what)
    placed = ~pl.col("retrieved") & pl.col(order).is_not_null()
    refuse(frame, placed, order, "a value for items that are not retrieved", what=what)


def check_judgements(frame: pl.DataFrame) -> pl.DataFrame:
    """Check a judgements frame (qrels) against its contract."""
    frame = _contract(frame, JUDGEMENTS, "judgements")
    frame = _check_ids(frame, ("query", "item"), "judgements")
    warn_merging(frame, "item", "judgements")
    frame = check_relevance(frame, allow_null=False, what="judgements")
    check_unique(frame, ("query", "item"), "judgements")
    return frame


def check_queries(frame: pl.DataFrame) -> pl.DataFrame:
    """Check a queries frame against its contract."""
    frame = _contract(frame, QUERIES, "queries")
    frame = _check_ids(frame, ("query",), "queries")
    check_unique(frame, ("query",), "queries")
    if "label" in frame.columns:
        refuse(frame, pl.col("label").is_null(), "label", "null", what="queries")
    if "weight" in frame.columns:
        _check_weight(frame, "queries")
    if "n_relevant" in frame.columns:
        number = pl.col("n_relevant")
        refuse(
            frame, number.is_null() | (number < 0), "n_relevant", "null or negative", what="queries"
        )
        refuse(
            frame, number.cast(pl.Int128) > 2**63 - 1, "n_relevant", "above 64 bits", what="queries"
        )
    return frame


def _contract(frame: pl.DataFrame, columns: Iterable[Column], what: str) -> pl.DataFrame:
    """Return the contract's columns in its order, after checking their types; missing ones are
    named.
    """
    columns = list(columns)
    missing = [c.name for c in columns if not c.optional and c.name not in frame.columns]
    if missing:
        raise ColumnError(
            f"{what}: no column {_names(missing)}; found {_names(frame.columns)}; "
            f"expected {', '.join(c.name for c in columns)}{_close(frame.columns, missing)}"
        )
    frame = frame.select([c.name for c in columns if c.name in frame.columns])
    for column in columns:
        if column.name in frame.columns:
            _check_type(frame[column.name], column, what)
    return frame


def _check_type(series: pl.Series, column: Column, what: str) -> None:
    dtype, kind = series.dtype, column.kind
    text = dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum)
    truth, whole, number = dtype == pl.Boolean, dtype.is_integer(), dtype.is_numeric()
    fits, rule = {
        "id": (text or whole, "an id must be text or a whole number"),
        "label": (text or whole or truth, "a label must be text or a whole number"),
        "number": (number, "a distance or score must be a number"),
        "grade": (number or truth, "a relevance must be a number"),
        "weight": (number, "a weight must be a number"),
        "integer": (whole, "must be whole numbers"),
        "boolean": (truth, "must be true or false"),
        "word": (text, "must be text"),
    }[kind]
    if fits or (dtype == pl.Null and len(series) == 0):
        return
    hint = " (are two columns swapped?)" if truth and kind == "number" else ""
    hint = " (convert it when reading: it is never cast silently)" if dtype == pl.String else hint
    raise ColumnError(f"{what}: column {column.name!r} is {dtype}; {rule}{hint}")


def _one_order(frame: pl.DataFrame, given: Sequence[str], what: str) -> str:
    orders = ("distance", "score")
    both = [name for name in orders if name in frame.columns]
    if len(both) == 2:
        raise ColumnError(f"{what}: has both 'distance' and 'score'; keep one")
    if not both:
        raise ColumnError(
            f"{what}: neither 'distance' nor 'score'; found {_names(given)}{_close(given, orders)}"
        )
    return both[0]


def _names(columns: Iterable[str]) -> str:
    return ", ".join(map(repr, columns))


def _close(given: Iterable[str], wanted: Sequence[str]) -> str:
    """Return a hint at a column whose name differs only by case or blanks."""
    near = [name for name in given if name.strip().lower() in wanted and name not in wanted]
    return f"; {near[0]!r} is close: rename it" if near else ""


def _check_ids(frame: pl.DataFrame, names: Sequence[str], what: str = "rankings") -> pl.DataFrame:
    names = [name for name in names if name in frame.columns]
    texts = [name for name in names if name == "model" or not frame.schema[name].is_integer()]
    frame = frame.with_columns(
        pl.col(name).cast(pl.String) for name in texts if frame.schema[name] != pl.String
    )
    for name in names:
        if frame[name].null_count():
            refuse(frame, pl.col(name).is_null(), name, "null ids", what=what)
    if "model" in names:
        refuse(frame, pl.col("model") == "", "model", "empty model names")
    return frame


def with_model(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with a column ``model``, filled with 'model' if it had none."""
    return (
        frame
        if "model" in frame.columns
        else frame.select(pl.lit("model").alias("model"), pl.all())
    )


def _check_order(frame: pl.DataFrame, order: str, null_allowed: bool) -> None:
    column, dtype = pl.col(order), frame.schema[order]
    if not null_allowed:
        hint = "; null_distance='not_retrieved' counts such items as known but not retrieved"
        refuse(frame, column.is_null(), order, "null", hint)
    if dtype.is_float():
        refuse(
            frame,
            column.is_nan(),
            order,
            "NaN",
            "; leave such rows out, or make them null (see null_distance=)",
        )
        refuse(
            frame,
            column.is_infinite(),
            order,
            "infinite",
            "; drop such padding rows (FAISS fills with inf)",
        )
    if dtype == pl.Float16 and frame.height:
        keys = [name for name in ("model", "query", order) if name in frame.columns]
        tied = frame.select(pl.struct(keys).is_duplicated().mean()).item()
        warn(
            f"column {order!r} is {dtype}: {tied:.0%} of its rows are tied; half precision makes "
            "ties"
        )
    if order == "distance":
        _warn_of_direction(frame)


def _warn_of_direction(frame: pl.DataFrame) -> None:
    """Warn if distances fall, as scores do, in all of the first lists."""
    keys = [name for name in ("model", "query") if name in frame.columns]
    distance = pl.col("distance").cast(pl.Float64)
    first = frame.head(SAMPLED).select(*keys, step=distance - distance.shift())
    steps = first.filter(
        pl.col("step") != 0, *(pl.col(name) == pl.col(name).shift() for name in keys)
    )
    lists = steps.select(keys).n_unique()
    if lists >= LISTS and bool((steps["step"] < 0).all()):
        warn(
            "column 'distance': the values fall from the first row to the last in all of the "
            f"first {lists} lists, as "
            "scores do; if they are scores or similarities, name the column 'score'"
        )


def check_relevance(
    frame: pl.DataFrame, *, allow_null: bool, what: str = "rankings"
) -> pl.DataFrame:
    """Check the column ``relevance``; truth values and decimals become Float64, NaN becomes
    null.
    """
    if frame.schema["relevance"] == pl.Boolean or frame.schema["relevance"].is_decimal():
        frame = frame.with_columns(pl.col("relevance").cast(pl.Float64))
    column = pl.col("relevance")
    if frame.schema["relevance"].is_float():
        if allow_null:
            frame = frame.with_columns(column.fill_nan(None))
        else:
            refuse(frame, column.is_nan(), "relevance", "NaN", what=what)
        refuse(frame, column.is_infinite(), "relevance", "infinite", what=what)
    if not allow_null:
        refuse(frame, column.is_null(), "relevance", "null", what=what)
    hint = "; read_judgements(negative='unjudged') drops such judgements"
    refuse(frame, column < 0, "relevance", "negative", hint, what=what)
    return frame


def _check_weight(frame: pl.DataFrame, what: str = "rankings") -> None:
    column = pl.col("weight").cast(pl.Float64)
    bad = column.is_null() | ~column.is_finite() | (column < 0)
    refuse(frame, bad, "weight", "not a finite number of at least 0", what=what)


def _check_flags(frame: pl.DataFrame) -> None:
    for name in ("row", "mask"):
        if name in frame.columns:
            refuse(frame, pl.col(name).is_null(), name, "null")
    if "weight" in frame.columns:
        _check_weight(frame)

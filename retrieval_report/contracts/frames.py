"""Check frames against the column contract of their kind.

A check returns the frame with the contract's columns only, in the contract's types, or raises an
error that names the column, the rule, the number of bad rows and the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from retrieval_report.contracts.arguments import quoted
from retrieval_report.contracts.checks import check_unique, refuse, warn_merging
from retrieval_report.contracts.columns import Column
from retrieval_report.contracts.errors import ColumnError, DataError
from retrieval_report.contracts.options import ENDS
from retrieval_report.contracts.registry import FRAMES, schema
from retrieval_report.contracts.warning import warn

MOST_ITEMS = 2**62  # running totals of items stay well within 64 bits
SAMPLED = 5_000
LISTS = 10  # first rows, and the fewest lists among them, that show how rows are sorted

RANKINGS = FRAMES["rankings"].columns
COUNTS = FRAMES["counts"].columns
JUDGEMENTS = FRAMES["judgements"].columns
QUERIES = FRAMES["query_facts"].columns
LABELS = FRAMES["labels"].columns
Rule = tuple[str, pl.Expr, str]
"""A column, what must hold for no row, and the rule in words."""
_KINDS = {
    "id": ("text whole", "an id must be text or a whole number"),
    "label": ("text whole truth", "a label must be text or a whole number"),
    "number": ("number", "a distance or score must be a number"),
    "grade": ("number truth", "a relevance must be a number"),
    "weight": ("number", "a weight must be a number"),
    "integer": ("whole", "must be whole numbers"),
    "boolean": ("truth", "must be true or false"),
    "word": ("text", "must be text"),
}
"""The types that each kind of column accepts."""
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
            f"rankings: no column 'relevance', and no judgements were given; found {quoted(given)}"
            "; pass judgements=, a table of query, item and relevance"
        )
    warn_merging(frame, "item", "rankings")
    _check_order(frame, order, null_distance)
    if "relevance" in frame.columns:
        frame = check_relevance(frame, allow_null=True)
    _refuse_all(frame, [("row", _null("row"), "null"), ("mask", _null("mask"), "null"), WEIGHT])
    return frame


def check_counts(frame: pl.DataFrame) -> pl.DataFrame:
    """Check a counts frame against its contract."""
    given = frame.columns
    frame = _contract(frame, COUNTS, "counts")
    order = _one_order(frame, given, "counts")
    listed = frame
    if "retrieved" in given:
        hint = "; count the rankings of all models together by count_ties"
        absent = ~pl.col("retrieved") & pl.col(order).is_not_null()
        refuse(frame, _null("retrieved"), "retrieved", "null", hint, what="counts")
        refuse(frame, absent, order, "a value for items that are not retrieved", what="counts")
        listed = frame.filter("retrieved")
    _check_order(listed, order, null_allowed=False)
    frame = check_relevance(frame, allow_null=False, what="counts")
    count, unknown = pl.col("count"), ~pl.col("truncated").is_in(ENDS)
    rules = [
        ("count", count.is_null() | (count < 1), "not a whole number above 0"),
        ("truncated", unknown, f"not one of {quoted(ENDS)}"),
    ]
    _refuse_all(frame, rules, "counts")
    total = int(frame["count"].cast(pl.Int128).sum())
    if total >= MOST_ITEMS:
        raise DataError(
            f"counts: column 'count': {total} items in all, above {MOST_ITEMS - 1}, the largest "
            "number accepted"
        )
    return frame.with_columns(count.cast(pl.Int64))


def check_judgements(frame: pl.DataFrame) -> pl.DataFrame:
    """Check a judgements frame (qrels) against its contract."""
    frame = _contract(frame, JUDGEMENTS, "judgements")
    warn_merging(frame, "item", "judgements")
    frame = check_relevance(frame, allow_null=False, what="judgements")
    check_unique(frame, ("query", "item"), "judgements")
    return frame


def check_queries(frame: pl.DataFrame) -> pl.DataFrame:
    """Check a queries frame against its contract."""
    frame = _contract(frame, QUERIES, "queries")
    check_unique(frame, ("query",), "queries")
    number = pl.col("n_relevant")
    rules = [
        ("label", _null("label"), "null"),
        WEIGHT,
        ("n_relevant", number.is_null() | (number < 0), "null or negative"),
        ("n_relevant", number.cast(pl.Int128) > 2**63 - 1, "above 64 bits"),
    ]
    _refuse_all(frame, rules, "queries")
    return frame


def check_labels(frame: pl.DataFrame, what: str = "labels") -> pl.DataFrame:
    """Check the labels of items against their contract; ``what`` is their name in messages."""
    frame = _contract(frame, LABELS, what)
    check_unique(frame, ("item",), what)
    refuse(frame, _null("label"), "label", "null", what=what)
    return frame


def _null(name: str) -> pl.Expr:
    return pl.col(name).is_null()


_WEIGHT = pl.col("weight").cast(pl.Float64)
WEIGHT: Rule = (
    "weight",
    _WEIGHT.is_null() | ~_WEIGHT.is_finite() | (_WEIGHT < 0),
    "not a finite number of at least 0",
)


def _refuse_all(frame: pl.DataFrame, rules: Iterable[Rule], what: str = "rankings") -> None:
    """Apply the rules of the columns that are there."""
    for name, bad, rule in rules:
        if name in frame.columns:
            refuse(frame, bad, name, rule, what=what)


def _contract(frame: pl.DataFrame, columns: Sequence[Column], what: str) -> pl.DataFrame:
    """Return the contract's columns in its order, with checked types and ids as text or whole
    numbers; missing ones are named.
    """
    missing = [c.name for c in columns if not c.optional and c.name not in frame.columns]
    if missing:
        raise ColumnError(
            f"{what}: no column {quoted(missing)}; found {quoted(frame.columns)}; "
            f"expected {', '.join(c.name for c in columns)}"
        )
    columns = [c for c in columns if c.name in frame.columns]
    frame = frame.select([c.name for c in columns])
    for column in columns:
        _check_type(frame[column.name], column, what)
    ids = [c.name for c in columns if c.kind == "id"]
    texts = [name for name in ids if name == "model" or not frame.schema[name].is_integer()]
    frame = frame.with_columns(pl.col(texts).cast(pl.String))
    _refuse_all(frame, [(name, _null(name), "null ids") for name in ids], what)
    _refuse_all(frame, [("model", pl.col("model") == "", "empty model names")])
    return frame


def _check_type(series: pl.Series, column: Column, what: str) -> None:
    dtype = series.dtype
    types = {
        "text": dtype in (pl.String, pl.Categorical, pl.Enum),
        "whole": dtype.is_integer(),
        "number": dtype.is_numeric(),
        "truth": dtype == pl.Boolean,
    }
    accepted, rule = _KINDS[column.kind]
    fits = any(types[name] for name in accepted.split())
    if fits or (dtype == pl.Null and len(series) == 0):
        return
    hint = " (are two columns swapped?)" if types["truth"] and column.kind == "number" else ""
    hint = " (convert it when reading: it is never cast silently)" if dtype == pl.String else hint
    raise ColumnError(f"{what}: column {column.name!r} is {dtype}; {rule}{hint}")


def _one_order(frame: pl.DataFrame, given: Sequence[str], what: str) -> str:
    orders = ("distance", "score")
    both = [name for name in orders if name in frame.columns]
    if len(both) == 2:
        raise ColumnError(f"{what}: has both 'distance' and 'score'; keep one")
    if not both:
        raise ColumnError(f"{what}: neither 'distance' nor 'score'; found {quoted(given)}")
    return both[0]


def with_model(frame: pl.DataFrame, name: str = "model") -> pl.DataFrame:
    """Return the frame with a column ``model``, filled with the name if it had none."""
    if "model" in frame.columns:
        return frame
    return frame.select(pl.lit(name).alias("model"), pl.all())


def with_row(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with a column ``row``, the position of each row if it had none."""
    return frame if "row" in frame.columns else frame.with_columns(row=pl.int_range(pl.len()))


def unmasked(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame without the rows that its column ``mask`` removes, and without that
    column.
    """
    if "mask" not in frame.columns:
        return frame
    return frame.filter(pl.col("mask").cast(pl.Boolean)).drop("mask")  # no rows may have no type


def _check_order(frame: pl.DataFrame, order: str, null_allowed: bool) -> None:
    column = pl.col(order)
    dtype = frame.schema[order]
    if not null_allowed:
        hint = "; null_distance='not_retrieved' counts such items as known but not retrieved"
        refuse(frame, column.is_null(), order, "null", hint)
    if dtype.is_float():
        hint = "; leave such rows out, or make them null (see null_distance=)"
        refuse(frame, column.is_nan(), order, "NaN", hint)
        hint = "; drop such padding rows (FAISS fills with inf)"
        refuse(frame, column.is_infinite(), order, "infinite", hint)
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
    if allow_null:
        frame = frame.with_columns(column.fill_nan(None))
    rules = [("relevance", column.is_nan(), "NaN"), ("relevance", column.is_infinite(), "infinite")]
    _refuse_all(
        frame, rules if allow_null else [*rules, ("relevance", column.is_null(), "null")], what
    )
    hint = "; read_judgements(negative='unjudged') drops such judgements"
    refuse(frame, column < 0, "relevance", "negative", hint, what=what)
    return frame

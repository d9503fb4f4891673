"""Check frames against the column contract of their kind.

A check returns the frame with the contract's columns only, in the contract's types, or raises an
error that names the column, the rule, the number of bad rows and the first of them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import quoted
from retrieval_report.contracts.checks import (
    check_grades,
    check_unique,
    no_repeats,
    refuse,
    warn_merging,
)
from retrieval_report.contracts.columns import Column
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.contracts.options import ENDS
from retrieval_report.contracts.registry import FRAMES, schema
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import advice, in_python, setting, unseen, whole_percent

MOST_ITEMS = 2**62  # running totals of items stay well within 64 bits
SAMPLED = 5_000
LISTS = 10  # first rows, and the fewest lists among them, that show how rows are sorted

RANKINGS = FRAMES["rankings"].columns
COUNTS = FRAMES["counts"].columns
JUDGEMENTS = FRAMES["judgements"].columns
QUERIES = FRAMES["query_facts"].columns
LABELS = FRAMES["labels"].columns
# What tells the rows of a table beside the rankings apart.
UNIQUE = {"judgements": ("query", "item"), "queries": ("query",), "labels": ("item",)}
# A column, what must hold for no value, the rule in words, and a hint for readers of a frame.
Rule = tuple[str, pl.Expr, str, Callable[[str], str]]


def _whole(name: str, least: int) -> Rule:
    fits = pl.col(name).cast(pl.Int128).is_between(least, MOST_ITEMS - 1)
    return name, ~fits, f"not a whole number from {least} to 2**62 - 1", _no_hint


def _no_hint(_: str) -> str:
    return ""


def _null_hint(_: str) -> str:
    text = "; {} counts such items as known but not retrieved"
    return advice(text, setting("null_distance", "not_retrieved"))


def _nan_hint(_: str) -> str:
    nulls = advice(", or make them null (see {})", setting("null_distance"))
    return f"; leave such rows out{nulls}{in_python(', or out of a matrix by mask=')}"


def _negative_hint(what: str) -> str:
    """Say how padding is left out, such as −100 where lists differ in length, and judgements."""
    unjudged = setting("negative", "unjudged", function="read_judgements")
    drops = advice("; {} drops such judgements", unjudged)
    if what == "judgements":
        return drops
    return f"; if these are padding, {_leaves_out()}{drops}"


def _leaves_out() -> str:
    masks = in_python(" (mask= of from_search, masks= of a Meter)")
    return f"a column 'mask' leaves them out{masks}"


def _infinite_hint(what: str) -> str:
    """Say how to get rid of padding, and of items that recommenders must not show."""
    cure = "; drop such padding rows (FAISS fills with inf)"
    return cure if what == "judgements" else f"{cure}; {_leaves_out()}, too"


def _score_hint(what: str) -> str:
    """Ask whether judgements are scores: grades below 0 mean something, but have no fraction."""
    asks = "; they look like scores: are rankings and judgements swapped?"
    return asks if what == "judgements" else _negative_hint(what)


_GRADE = pl.col("relevance")
_BROKEN = (_GRADE < 0) & (_GRADE.floor() != _GRADE)  # below 0 and not whole
VALUES = ("distance", "score", "relevance", "weight")
# Rules of floats; whole numbers need not be converted to be asked.
FLOATS: list[Rule] = [
    *(
        (name, bad(pl.col(name)), rule, hint if name in ("distance", "score") else _no_hint)
        for name in VALUES
        for bad, rule, hint in (
            (pl.Expr.is_nan, "NaN", _nan_hint),
            (pl.Expr.is_infinite, "infinite", _infinite_hint),
        )
    ),
    ("relevance", (_GRADE < 0) & _BROKEN.any(), "negative", _score_hint),
]
RULES: tuple[Rule, ...] = (
    ("model", pl.col("model") == "", "empty model names", _no_hint),
    ("relevance", pl.col("relevance") < 0, "negative", _negative_hint),
    ("weight", pl.col("weight") < 0, "negative", _no_hint),
    _whole("count", 1),
    _whole("n_relevant", 0),
    _whole("n_relevant_from", 1),
    ("truncated", ~pl.col("truncated").is_in(ENDS), f"not one of {quoted(ENDS)}", _no_hint),
)
# The sorts of values that each kind of column accepts.
_KINDS = {
    "id": ("text integer", "an id must be text or a whole number"),
    "label": ("text integer boolean", "a label must be text or a whole number"),
    "number": ("number integer", "a distance or score must be a number"),
    "grade": ("number integer boolean", "a relevance must be a number"),
    "weight": ("number integer", "a weight must be a number"),
    "integer": ("integer", "must be whole numbers"),
    "boolean": ("boolean", "must be true or false"),
    "word": ("text", "must be text"),
}
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
    nullable = ("relevance", "distance", "score") if null_distance else ("relevance",)
    column_names = frame.columns
    frame = _contract(frame, RANKINGS, "rankings", nullable)
    order = _one_order(frame, column_names, "rankings")
    if relevance and "relevance" not in frame.columns:
        raise ColumnError(
            "rankings: no column 'relevance', and no judgements were given"
            + unseen(f"; found {quoted(name for name in column_names if name != 'row')}")
            + advice("; pass {}, a table of query, item and relevance", setting("judgements"))
        )
    warn_merging(frame, "item", "rankings")
    _warn_of_order(frame, order)
    return frame


def check_counts(frame: pl.DataFrame) -> pl.DataFrame:
    """Check a counts frame against its contract."""
    nullable = ("truncated", *(("distance", "score") if "retrieved" in frame.columns else ()))
    column_names = frame.columns
    frame = _contract(frame, COUNTS, "counts", nullable)
    order = _one_order(frame, column_names, "counts")
    if "retrieved" in frame.columns:
        retrieved = pl.col("retrieved")
        has_order = pl.col(order).is_not_null()
        refuse(frame, retrieved & ~has_order, order, "null", what="counts")
        absent = "a value for items that are not retrieved"
        refuse(frame, has_order & ~retrieved, order, absent, what="counts")
    _warn_of_order(frame, order)
    return frame.with_columns(pl.col("count").cast(pl.Int64))


def check_table(
    frame: pl.DataFrame, kind: str, what: str = "", *, repeated: str = "error"
) -> pl.DataFrame:
    """Check judgements (qrels), queries or labels of items against their contract; ``what`` is
    their name in messages if it is another, ``repeated`` the option ``repeated_judgements``.
    """
    columns = {"judgements": JUDGEMENTS, "queries": QUERIES, "labels": LABELS}[kind]
    frame = _contract(frame, columns, what or kind)
    if kind == "judgements":
        warn_merging(frame, "item", kind)
        if no_repeats(frame.select(UNIQUE[kind])):
            return frame
        frame = merge_repeats(frame, repeated)
        check_grades(frame)
    check_unique(frame, UNIQUE[kind], what or kind)
    return frame


def merge_repeats(judgements: pl.DataFrame, repeated: str) -> pl.DataFrame:
    """Return judgements of which the same ones are one, and different ones of an item the highest
    or the mean, if that is the rule ``repeated``.

    >>> twice = pl.DataFrame({"query": "q", "item": list("aabb"), "relevance": [1, 1, 0, 1]})
    >>> merge_repeats(twice, "error").rows()
    [('q', 'a', 1), ('q', 'b', 0), ('q', 'b', 1)]
    >>> merge_repeats(twice, "mean").rows()
    [('q', 'a', 1.0), ('q', 'b', 0.5)]
    """
    keys = UNIQUE["judgements"]
    if no_repeats(judgements.select(keys)):
        return judgements
    once = judgements.unique([*keys, "relevance"], keep="first", maintain_order=True)
    grade = {"highest": pl.max("relevance"), "mean": pl.mean("relevance")}
    if repeated not in grade:
        return once
    return once.group_by(keys, maintain_order=True).agg(grade[repeated])


def _contract(
    frame: pl.DataFrame, columns: Sequence[Column], what: str, nullable: Sequence[str] = ()
) -> pl.DataFrame:
    """Return the contract's columns in its order, with checked types and values, ids as text or
    whole numbers and relevances as numbers; missing ones are named.
    """
    missing = [c.name for c in columns if not c.optional and c.name not in frame.columns]
    if missing:
        raise ColumnError(
            f"{what}: no column {quoted(missing)}; found {quoted(frame.columns)}; "
            f"expected {', '.join(c.name for c in columns)}"
        )
    columns = [c for c in columns if c.name in frame.columns]
    names = [c.name for c in columns]
    frame = frame if frame.columns == names else frame.select(names)
    for column in columns:
        _check_type(frame.schema, column, what, column.name, empty=frame.is_empty())
    ids = [c.name for c in columns if c.kind == "id"]
    texts = [name for name in ids if name == "model" or not frame.schema[name].is_integer()]
    changed = [pl.col(name).cast(pl.String) for name in texts if frame.schema[name] != pl.String]
    grade = frame.schema.get("relevance", pl.Null())
    if grade == pl.Boolean or grade.is_decimal():
        changed.append(pl.col("relevance").cast(pl.Float64))
    elif grade.is_float() and "relevance" in nullable:
        changed.append(pl.col("relevance").fill_nan(None))
    frame = frame.with_columns(changed) if changed else frame
    null_counts = frame.null_count().row(0, named=True)
    nulls = [
        (
            name,
            pl.col(name).is_null(),
            "null",
            _null_hint if name in ("distance", "score") else _no_hint,
        )
        for name in names
        if name not in nullable and null_counts[name]
    ]
    floats = [rule for rule in FLOATS if frame.schema.get(rule[0], pl.Null()).is_float()]
    rules = [rule for rule in (*nulls, *floats, *RULES) if rule[0] in names]
    if "mask" in names:  # what is left out may be anything, such as minus infinity or -100
        counts = pl.col("mask").cast(pl.Boolean)
        rules = [
            (name, bad & counts if name in VALUES else bad, rule, hint)
            for name, bad, rule, hint in rules
        ]
    broken = frame.select(bad.any().alias(str(i)) for i, (_, bad, *_) in enumerate(rules))
    for is_broken, (name, bad, rule, hint) in zip(broken, rules, strict=True):
        if is_broken.any():
            refuse(frame, bad, name, rule, partial(hint, what), what=what)
    return frame


def check_types(
    types: Mapping[str, pl.DataType], theirs: Mapping[str, str], what: str, *, empty: bool = True
) -> None:
    """Refuse columns of a type that their contract does not accept, by the names that the caller
    gave them: our name → his. Columns without a type are accepted if they may be ``empty``.
    """
    for column in {"rankings": RANKINGS, "judgements": JUDGEMENTS}.get(what, ()):
        name = theirs.get(column.name, column.name)
        if name != column.name:
            _check_type(types, column, what, name, empty=empty)


def _check_type(
    types: Mapping[str, pl.DataType], column: Column, what: str, name: str, *, empty: bool
) -> None:
    dtype = types[name]
    accepted, rule = _KINDS[column.kind]
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        word = "text"
    elif dtype.is_integer():
        word = "integer"
    else:
        word = "number" if dtype.is_numeric() else str(dtype).lower()
    if word in accepted.split() or (dtype == pl.Null and empty):
        return
    hints = {
        pl.Boolean(): " (are two columns swapped?)",
        pl.String(): " (convert it when reading: it is never cast silently)",
    }
    raise ColumnError(f"{what}: column {name!r} is {dtype}; {rule}{hints.get(dtype, '')}")


def _one_order(frame: pl.DataFrame, column_names: Sequence[str], what: str) -> str:
    orders = [name for name in ("distance", "score") if name in frame.columns]
    if len(orders) != 1:
        problem = "both 'distance' and 'score'" if orders else "neither 'distance' nor 'score'"
        raise ColumnError(f"{what}: {problem}; one is needed; found {quoted(column_names)}")
    return orders[0]


def with_model(frame: pl.DataFrame, name: str = "model") -> pl.DataFrame:
    """Return the frame with a column ``model``, filled with the name if it had none."""
    if "model" in frame.columns:
        return frame
    return frame.select(pl.lit(name).alias("model"), pl.all())


def with_row(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with a column ``row``, the position of each row if it had none."""
    return frame if "row" in frame.columns else frame.with_columns(row=pl.int_range(pl.len()))


def unmasked(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame without the rows that its column ``mask`` removes, and without that column."""
    if "mask" not in frame.columns:
        return frame
    return frame.filter(pl.col("mask").cast(pl.Boolean)).drop("mask")  # no rows may have no type


def is_own(frame: pl.DataFrame) -> pl.Expr:
    """Return whether the item of a row is its query; 7 and '7' may be the same.

    >>> frame = pl.DataFrame({"query": ["7", "8"], "item": [7, 7]})
    >>> frame.select(is_own(frame))["item"].to_list()
    [True, False]
    """
    names = ("item", "query")
    texts = pl.String in {frame.schema[name] for name in names}
    item, query = (pl.col(name).cast(pl.String) if texts else pl.col(name) for name in names)
    return item == query


def _warn_of_order(frame: pl.DataFrame, order: str) -> None:
    dtype = frame.schema[order]
    if dtype == pl.Float16 and frame.height:
        keys = [name for name in ("model", "query", order) if name in frame.columns]
        tied = frame.select(pl.struct(keys).is_duplicated().mean()).item()
        warn(
            f"column {order!r} is {dtype}: {whole_percent(tied)} of its rows are tied; "
            "half precision makes ties"
        )
    if order == "distance":
        _warn_of_direction(frame)


def _warn_of_direction(frame: pl.DataFrame) -> None:
    """Warn if distances fall, as scores do, in all of the first lists."""
    first = frame.head(SAMPLED)
    keys = [name for name in ("model", "query") if name in frame.columns]
    distance = first["distance"].cast(pl.Float64).to_numpy()
    within = np.ones(max(first.height - 1, 0), np.bool_)  # whether a step leads to the same list
    for name in keys:
        within &= (first[name][1:] == first[name][:-1]).to_numpy()
    if (within & (distance[1:] > distance[:-1])).any():  # as nearly always
        return
    falls = np.flatnonzero(within & (distance[1:] < distance[:-1]))
    lists = first.select(keys)[falls].n_unique()
    if lists >= LISTS:
        warn(
            "column 'distance': the values fall from the first row to the last in all of "
            f"the first {lists} lists, as scores do; if they are scores or similarities, "
            "name the column 'score'"
        )

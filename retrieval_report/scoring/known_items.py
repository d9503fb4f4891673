"""Determine which lists there are, and look up the relevance of every row in the judgements if
there are any, else in the rankings.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import KeyMismatchError
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.wording import advice, have, setting, with_number
from retrieval_report.kernels.lists import Codes, Keys, Rows
from retrieval_report.reading.convert import in_kind_of
from retrieval_report.scoring import arrays

KEYS = ["model", "query"]
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # of numbers over all 64 bits
PLACES = 22  # bits of a key that are its place in a small table
SHIFT = np.uint64(64 - PLACES)
SWAPPED = ": the judgements have them as items: are the columns of queries and items swapped?"
SLOTS = 18  # bits of a key that are its place in a table of some lists


def unjudged_hint() -> str:
    """Say which option decides what happens to items without judgement."""
    return advice("; {} decides what to do with them", setting("unjudged", "non_relevant", "drop"))


def repeats(rows: Rows, items: Keys, workers: int) -> bool:
    """Return whether some list has an item twice, or looks so."""
    start = np.append(np.sort(rows.begin), items.size)

    def repeated(first: int, last: int) -> bool:
        part = start[first : last + 1]
        ids = items[part[0] : part[-1]]
        rises = ids[1:] > ids[:-1]
        rises[part[1:-1] - part[0] - 1] = True  # where a list ends
        if rises.all():
            return False
        lists = np.repeat(np.arange(last - first, dtype=np.uint64), np.diff(part))
        return _repeat(_pairs(lists, ids))

    # Some lists at a time, whose keys stay in the processor's cache.
    return any(arrays.over_ranges(repeated, start, workers, arrays.SERIAL_BELOW))


def _repeat(keys: Keys) -> bool:
    """Return whether a key occurs twice. Each is written to its slot of a table, and only those
    that another has overwritten are compared, with that one and with each other.
    """
    slot = (keys >> np.uint64(64 - SLOTS)).astype(np.int64)
    index = np.arange(keys.size, dtype=np.uint32)
    table = np.empty(1 << SLOTS, np.uint32)
    table[slot] = index
    last = table[slot]
    lost = np.flatnonzero(last != index)
    overwritten = keys[lost]
    again = (overwritten == keys[last[lost]]).any()
    return bool(again) or _distinct(overwritten) < overwritten.size


def disagree(groups: Keys, items: Keys, grade: Codes) -> bool:
    """Return whether some item has two grades in the lists of a group, or looks so."""
    keys = _pairs(groups, items)
    # Of two grades one is above 0: what shares no place with such items needs no sorting.
    occupied = np.zeros(1 << PLACES, np.bool_)
    occupied[keys[grade > 0] >> SHIFT] = True
    occupied_slots = np.flatnonzero(occupied[keys >> SHIFT])
    keys = keys[occupied_slots]
    return _distinct(keys) < _distinct(keys + grade[occupied_slots].astype(np.uint64))


def _pairs(groups: Keys, items: Keys) -> Keys:
    """Return a key for every pair of a group and an item."""
    return (groups * SPREAD ^ items) * SPREAD


def _distinct(keys: Keys) -> int:
    """Return how many keys differ."""
    keys = np.sort(keys)
    return int(np.count_nonzero(keys[1:] != keys[:-1])) + min(keys.size, 1)


def judged_rows(
    rows: pl.DataFrame,
    judgements: pl.DataFrame,
    *,
    unjudged: int | None = None,
) -> pl.DataFrame:
    """Return the rows with their judged relevance, or ``unjudged`` where there is no judgement, and
    whether there is one in ``judged``.

    Ids have the same types in both frames. If the rows already have a relevance, it must agree.
    """
    row, judgement = _matches(rows, judgements, ["query", "item"])
    grades = judgements["relevance"].gather(judgement)
    judged = grades.clear(rows.height).scatter(row, grades).alias("judged")
    if "relevance" in rows.columns:
        narrow = (
            pl.Float32 if pl.Float32 in (rows.schema["relevance"], judged.dtype) else pl.Float64
        )
        refuse(
            rows.with_columns(judged),
            pl.col("relevance").cast(narrow) != pl.col("judged").cast(narrow),
            "relevance",
            "differ from the judgements",
            "; drop the column to use the judgements",
        )
    relevance = judged if unjudged is None else judged.fill_null(unjudged)
    rows = rows.drop("relevance", strict=False)
    return rows.with_columns(relevance=relevance, judged=judged.is_not_null())


def _matches(
    one: pl.DataFrame, two: pl.DataFrame, keys: Sequence[str]
) -> tuple[pl.Series, pl.Series]:
    """Return the rows of both frames whose keys are equal, in pairs.

    Their hashes are joined, which takes half the time of texts; then the keys are compared.
    """
    pairs = _hashed(one, keys, "one").join(_hashed(two, keys, "two"), on="key")
    for key in keys:
        same = one[key].gather(pairs["one"]) == two[key].gather(pairs["two"])
        pairs = pairs if same.all() else pairs.filter(same)
    return pairs["one"], pairs["two"]


def _hashed(frame: pl.DataFrame, keys: Sequence[str], row: str) -> pl.DataFrame:
    """Return the hash of the keys of every row, and the row's index."""
    return frame.select(keys).hash_rows().alias("key").to_frame().with_row_index(row)


def settle_nulls(rows: pl.DataFrame, rule: str) -> pl.DataFrame:
    """Refuse rows without relevance, count them as not relevant, or drop them."""
    if rows["relevance"].null_count() == 0:
        return rows
    if rule == "error":
        null = pl.col("relevance").is_null()
        refuse(rows, null, "relevance", "without judgement", unjudged_hint)
    if rule == "drop":
        return rows.filter(pl.col("relevance").is_not_null())
    return rows.with_columns(pl.col("relevance").fill_null(0))


def of_one_width(
    frame: pl.DataFrame, right: pl.DataFrame, key: str, other_name: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return both frames with ids of one type; whole
    numbers of different widths get a type that holds both.
    """
    right = right.with_columns(in_kind_of(frame[key], right[key], "rankings", other_name))
    if frame.schema[key] == right.schema[key]:
        return frame, right
    ids = pl.concat([frame[key].cast(pl.Int128), right[key].cast(pl.Int128)])
    dtype = pl.Int64 if ids.is_between(-(2**63), 2**63 - 1).all() else pl.Int128
    wide = pl.col(key).cast(dtype)
    return frame.with_columns(wide), right.with_columns(wide)


def all_lists(
    present: pl.DataFrame,
    judgements: pl.DataFrame | None,
    queries: pl.DataFrame | None,
    models: Sequence[str],
    options: Options,
) -> pl.DataFrame:
    """Return every (model, query), including queries of
    other models, of judgements and of the queries frame.

    Lists in ``present`` have rows. ``models`` may name further models. Returns ``model``,
    ``query``, ``missing`` and, if the queries frame has them, ``n_relevant`` and
    ``n_relevant_from``.
    """
    names = present.select("model")
    if models:
        names = pl.concat([names, pl.DataFrame({"model": models}, {"model": pl.String})])
    names = names.unique()
    universe = present.select("query")
    universe = universe if names.height == 1 else universe.unique()  # one model has each once
    if judgements is not None:
        judged = judgements.select("query").unique()
        unjudged = universe.join(judged, on="query", how="anti")["query"]
        if len(unjudged) and options.unjudged_query == "error":
            matched = universe.height - len(unjudged)
            swapped = queries_as_items(unjudged, judgements)
            if len(swapped) and 2 * matched < judged.height:  # unlike where queries are items
                raise KeyMismatchError(
                    "judgements: their items are queries of the rankings, such as "
                    f"{swapped.min()!r}; are the columns of queries and items swapped?"
                )
            if len(unjudged) == universe.height and judged.height:
                raise KeyMismatchError(
                    f"none of the {universe.height} queries has judgements: the rankings have "
                    f"queries like {unjudged.min()!r}, the judgements like "
                    f"{judged['query'].min()!r}; make their ids agree"
                )
            raise KeyMismatchError(
                f"{len(unjudged)} of {universe.height} queries {have(len(unjudged))} no "
                "judgements, first "
                f"{unjudged.min()!r}{_why_unjudged(present, judgements, len(swapped) == len(unjudged))}"
            )
        universe = pl.concat([universe, judged]).unique()
    if queries is not None:
        query_ids = queries.select("query")
        missing_queries = universe.join(query_ids, on="query", how="anti")["query"]
        if len(missing_queries):
            raise KeyMismatchError(
                f"queries: {len(missing_queries)} queries of the rankings are not in the "
                f"queries frame, first {missing_queries.min()!r}"
            )
        universe = query_ids
    lists = every_list(names, universe, present)
    if options.missing_query == "error" and lists["missing"].any():
        missing = lists.filter("missing")
        model, query = missing.select(KEYS).row(0)
        unanswered = missing["query"].n_unique()
        number = with_number(missing.height, "(model, query) pair")
        pairs = f"{number} {have(missing.height)} no rows, first query {query!r} of model {model!r}"
        if missing.height == unanswered * lists["model"].n_unique():
            pairs = f"{unanswered} of {lists['query'].n_unique()} queries have no rows of any model, first {query!r}"
        raise KeyMismatchError(
            pairs
            + advice("; {} counts them as 0", setting("missing_query", "zero"))
            + advice(", {} leaves them out", setting("missing_query", "skip"))
        )
    if queries is None or "n_relevant" not in queries.columns:
        return lists
    numbers = queries.select("query", pl.col("^n_relevant(_from)?$").cast(pl.Int64))
    return lists.join(numbers, on="query", how="left", maintain_order="left")


def stated_relevant(frame: pl.DataFrame, level: float | None) -> pl.Expr:
    """Return ``n_relevant``, null where it counts relevant items from another level on."""
    number = pl.col("n_relevant")
    if "n_relevant_from" not in frame.columns:
        return number
    # grades of such frames are whole numbers
    return (
        pl.when(pl.col("n_relevant_from") != np.ceil(max(level or 1, 1)))
        .then(None)
        .otherwise(number)
    )


def queries_as_items(queries: pl.Series, rows: pl.DataFrame) -> pl.Series:
    """Return the queries that rows of others have as items, if a tenth of them are: of documents in
    the place of queries not all are judged. Of counts, which have no items, nothing is known.
    """
    items = rows.get_column("item", default=queries.clear()).cast(pl.String).unique()
    found = queries.filter(queries.cast(pl.String).is_in(items.implode()))
    return found if 10 * len(found) > len(queries) else found.clear()


def _why_unjudged(present: pl.DataFrame, judgements: pl.DataFrame, swapped: bool) -> str:
    """Say why queries have no judgements, as far as ids show it, and what to do. Where a model has
    no judged query, its ids are of another form; where columns look swapped, leaving queries out
    is right only if they are not.
    """
    leave = advice("; {} leaves them out", setting("unjudged_query", "skip"))
    if judgements.is_empty():
        return f": the judgements have no rows{leave}"
    answered = present.join(judgements, on="query", how="semi")
    models = present.join(answered, on="model", how="anti").sort("model", "query")
    if models.is_empty():
        return SWAPPED + leave.replace(";", " If not,") if swapped else leave
    model, query = models.select("model", "query").row(0)
    names = models.filter(model=model)["query"].cast(pl.String)
    items = names.filter(names.is_in(judgements["item"].cast(pl.String).unique().implode()))
    if len(items):
        return (
            f": model {model!r} has queries like {items[0]!r}, which the judgements have as an "
            "item: are its columns of queries and items swapped?"
        )
    return (
        f": no query of model {model!r} is judged; it has queries like {query!r}, the judgements "
        f"like {judgements['query'].min()!r}, so make their ids agree{leave}"
    )


def every_list(models: pl.DataFrame, queries: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    """Return a list for every model and query, sorted,
    and whether it is missing among those present.
    """
    received = present.select(*KEYS, missing=False)
    if present.height == models.height * queries.height:
        return received.sort(KEYS)
    names = models.join(queries, how="cross").sort(KEYS)
    lists = names.join(received, on=KEYS, how="left", maintain_order="left")
    return lists.with_columns(pl.col("missing").fill_null(True))

"""Rankings, judgements and queries → one checked record: who is judged, who is missing, what is relevant.

This is the only place where they are joined on one machine; whoever holds a `Judged` joins and checks nothing again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.checks import check_agreement, check_unique, refuse, warn_merging
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import (
    check_counts,
    check_judgements,
    check_queries,
    check_rankings,
    order_column,
    with_model,
)
from retrieval_report.contracts.options import Options
from retrieval_report.kernels import grouping
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring import arrays
from retrieval_report.scoring.arrays import Codes, Floats, Keys, Rows
from retrieval_report.scoring.lists import all_lists
from retrieval_report.scoring.lookup import KEYS, UNJUDGED_HINT, Located, judged_rows, of_one_width, settle_nulls

__all__ = [
    "KNOWN",
    "NOT_RETRIEVED",
    "RETRIEVED",
    "Judged",
    "KnownOfWhole",
    "judge",
]


# The roles of rows that come as one stream.
KNOWN = 0
"""Role of a row that judgements or a queries frame make: the list is asked for, with ``count`` judged items."""
NOT_RETRIEVED = 1
"""Role of a row that is not in its list: masked, or known but not retrieved."""
RETRIEVED = 2
"""Role of an item, or of ``count`` of them, of the list: that of rows that do not say."""


@dataclass(frozen=True)
class KnownOfWhole:
    """What is known of all rows together, which the rows of a part cannot tell."""

    part: bool = False  # there are other rows; judgements and queries have been checked, not the rows
    models: tuple[str, ...] = ()  # each of them has a list for every query
    grades: tuple[float, ...] = ()  # relevances of other rows
    graded: bool = True  # something says what is relevant
    judged: bool = False  # judgements were given: what they do not name is not relevant
    complete: bool = False  # a queries frame was given: it names every query
    pooled: bool = False  # the items known beside the rows are the relevant ones that any model shows
    relevant: bool = False  # some query has a relevant item


KNOWS_ALL = KnownOfWhole()  # of rows that are no part


@dataclass(frozen=True)
class Judged:
    """Rankings joined with judgements and queries, and checked: all that scores and analyses start from.

    Everything in it holds for all options that do not decide which rows there are: distances are as received, and
    rows in the order received.
    """

    retrieved: pl.DataFrame  # (model), query, (item), distance or score, relevance, (count)
    known: pl.DataFrame  # (model), query, (item), relevance, (count): items judged, or known but not retrieved
    lists: pl.DataFrame  # model, query, missing (no row was received), (n_relevant), sorted by the first two
    rows: Rows  # which of those retrieved are in which list
    keys: Keys | None  # of the items retrieved; None of counts
    grades: Floats  # the distinct relevances, ascending
    grade_index: Codes  # which of them each item retrieved has
    whole: KnownOfWhole

    @property
    def order(self) -> str:
        """Name of the column that orders a list."""
        return order_column(self.retrieved)

    @property
    def scored_rows(self) -> pl.DataFrame:
        """The items retrieved for queries that have judgements, where there are any; else all of them."""
        rows = with_model(self.retrieved)
        if not self.whole.judged:
            return rows
        return rows.join(self.known.select("query").unique(), on="query", how="semi", maintain_order="left")

    def with_values(self, retrieved: pl.DataFrame, known: pl.DataFrame | None = None) -> Judged:
        """The same items with other distances or relevances."""
        known = self.known if known is None else known
        others = np.concatenate([_relevances(known), self.whole.grades])
        grades, grade_index = arrays.grade_indices(retrieved["relevance"], others)
        return replace(self, retrieved=retrieved, known=known, grades=grades, grade_index=grade_index)

    def with_rows(self, retrieved: pl.DataFrame, known: pl.DataFrame, lists: pl.DataFrame) -> Judged:
        """Other items, in lists that may be others too."""
        found, rows, keys = Located.of(retrieved)
        whole = replace(self.whole, models=tuple(lists["model"].unique().sort()) or self.whole.models)
        own = replace(self, lists=lists, rows=_spread(rows, with_model(found), lists), keys=keys, whole=whole)
        return own.with_values(retrieved, known)

    def of_queries(self, queries: Collection[object]) -> Judged:
        """The lists of some queries, of the models that have any of them, with all that is known of them."""
        wanted = pl.col("query").is_in(list(queries))
        received = self.lists.filter(wanted, ~pl.col("missing"))["model"].unique()
        lists = self.lists.filter(wanted, pl.col("model").is_in(received.implode()))
        return self.with_rows(self.retrieved.filter(wanted), self.known.filter(wanted), lists)

    def as_lists(self, rows: pl.DataFrame) -> Judged:
        """Some of the rows as if nothing else were known: every model, and every query of any of them."""
        there = rows.select(KEYS).unique()
        names = there.select("model").unique().join(there.select("query").unique(), how="cross").sort(KEYS)
        lists = names.join(there.with_columns(missing=pl.lit(False)), on=KEYS, how="left", maintain_order="left")
        nothing = replace(self, whole=KNOWS_ALL)
        return nothing.with_rows(rows, rows.clear(), lists.with_columns(pl.col("missing").fill_null(True)))


@dataclass(frozen=True)
class _Parts:
    rows: pl.DataFrame  # the items of the lists
    present: pl.DataFrame | None  # model, query of all rows received, where some of them then leave their list
    unretrieved: pl.DataFrame  # items known but not retrieved: model, query, relevance
    judgements: pl.DataFrame | None
    queries: pl.DataFrame | None

    def of_types(self, rows: pl.DataFrame) -> _Parts:
        """Other rows, and the ids of what they were joined with in their types."""
        kinds = {key: rows.schema[key] for key in ("query", "item") if key in rows.columns}
        frames: dict[str, Any] = {
            name: None if frame is None else frame.cast({key: kinds[key] for key in kinds if key in frame.columns})
            for name in ("present", "unretrieved", "queries")
            for frame in [getattr(self, name)]
        }
        return replace(self, rows=rows, **frames)


def judge(
    rankings: object, judgements: object, queries: object, options: Options, whole: KnownOfWhole = KNOWS_ALL
) -> Judged:
    """Check the frames and join them; what is judged already comes back as it is."""
    if isinstance(rankings, Judged):
        return rankings
    if options.relevant_items == "error":
        _refuse_unknown_relevant(judgements, queries)
    received = _with_judged_ids(_read(rankings, judgements, queries, options, whole))
    located = Located.of(received.rows)
    parts = _judge(received, located, options, part=whole.part)
    if parts.rows.height < received.rows.height:
        located = Located.of(parts.rows)
    found, rows, keys = with_model(located.names), located.rows, located.items
    for column in KEYS:
        warn_merging(found, column, "rankings")
    judged = parts.judgements is not None
    others = [_relevances(parts.unretrieved), np.array(whole.grades)]
    others += [] if parts.judgements is None else [_relevances(parts.judgements)]
    grades, grade = arrays.grade_indices(parts.rows["relevance"], np.concatenate(others))
    if keys is not None:
        check_items(parts.rows, parts.unretrieved, found, rows, keys, grade, judged=judged, workers=options.workers)
    lists = all_lists(found, parts.present, parts.judgements, parts.queries, whole.models, options)
    known = parts.unretrieved if parts.judgements is None else parts.judgements
    models = tuple(lists["model"].unique().sort()) or whole.models
    whole = replace(whole, models=models, judged=judged, complete=parts.queries is not None)
    return Judged(parts.rows, known, lists, _spread(rows, found, lists), keys, grades, grade, whole)


def _read(rankings: object, judgements: object, queries: object, options: Options, whole: KnownOfWhole) -> _Parts:
    """Checked frames, with masked rows gone and unretrieved rows apart."""
    frame = to_polars(rankings, "rankings")
    if "count" in frame.columns:
        rows = _check_counted(frame, judgements, options)
    else:
        allowed = options.null_distance == "not_retrieved"
        rows = check_rankings(frame, relevance=judgements is None, null_distance=allowed)
        if judgements is None and options.unjudged in (None, "error") and rows["relevance"].null_count():
            kept = pl.col("mask").cast(pl.Boolean) if "mask" in rows.columns else pl.lit(True)
            refuse(rows, pl.col("relevance").is_null() & kept, "relevance", "null or NaN", UNJUDGED_HINT)
        rows = _in_order_received(rows)
    order, everything = order_column(rows), rows
    options.check_order(order)
    if "mask" in rows.columns:
        rows = rows.filter(pl.col("mask").cast(pl.Boolean)).drop("mask")  # a column without rows may have no type
    unretrieved = rows.clear()
    if rows[order].null_count():
        unretrieved, rows = rows.filter(pl.col(order).is_null()), rows.filter(pl.col(order).is_not_null())
    present = None if rows.height == everything.height else with_model(everything).select(KEYS).unique()
    frames = {"judgements": judgements, "queries": queries}
    beside = {name: None if part is None else to_polars(part, name) for name, part in frames.items()}
    if not whole.part:
        checks = {"judgements": check_judgements, "queries": check_queries}
        beside = {name: None if part is None else checks[name](part) for name, part in beside.items()}
    parts = _Parts(rows, present, with_model(unretrieved), **beside)
    if parts.queries is None:
        return parts
    wide, named = of_one_width(rows, parts.queries, "query", "queries")
    return replace(parts, queries=named).of_types(wide)


def _in_order_received(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows in file order, which naive scores may see."""
    if "row" in rows.columns and not rows["row"].is_sorted():
        rows = rows.sort("row", maintain_order=True)
    return rows


def _check_counted(frame: pl.DataFrame, judgements: object, options: Options) -> pl.DataFrame:
    options.check_counted()
    if judgements is not None:
        raise ParameterError("judgements: a counts frame has no items to join them on; join them before counting")
    return check_counts(frame)


def _with_judged_ids(parts: _Parts) -> _Parts:
    """All ids of one type, as those of the rows and of the judgements meet."""
    if parts.judgements is None:
        return parts
    rows, judgements = parts.rows, parts.judgements
    for key in ("query", "item"):
        rows, judgements = of_one_width(rows, judgements, key, "judgements")
    parts = replace(parts, judgements=judgements).of_types(rows)
    # the judgements know better than rows without distance
    return replace(parts, unretrieved=parts.unretrieved.with_columns(relevance=pl.lit(0.0)))


def _judge(parts: _Parts, located: Located, options: Options, *, part: bool) -> _Parts:
    """Relevance of every row: from the judgements when there are any, else the rankings' own."""
    rows = parts.rows
    if parts.judgements is not None:
        rows = judged_rows(rows, located, parts.judgements, options.workers, part=part)
    rule = options.unjudged or "non_relevant"  # without judgements, nulls were refused when reading
    rows, unretrieved = settle_nulls(rows, rule), settle_nulls(parts.unretrieved, rule)
    present = parts.present
    if present is None and rows.height < parts.rows.height:
        present = with_model(parts.rows).select(KEYS).unique()
    return replace(parts, rows=rows, present=present, unretrieved=unretrieved)


def _relevances(frame: pl.DataFrame) -> Floats:
    """The different relevances of items that are in no list."""
    return np.unique(frame["relevance"].cast(pl.Float64).to_numpy() + 0.0)


def check_items(
    frame: pl.DataFrame,
    unretrieved: pl.DataFrame,
    found: pl.DataFrame,
    rows: Rows,
    keys: Keys,
    grade: Codes,
    *,
    judged: bool,
    workers: int,
) -> None:
    """Refuse an item twice in a list, and an item with different relevance in two models' lists of a query.

    ``rows`` says which of ``frame`` are whose of the lists ``found``; ``judged``: relevance is not the models' own.
    """
    work = np.concatenate([[0], np.cumsum(rows.end - rows.begin)])
    suspects = arrays.over_ranges(lambda first, last: grouping.repeating_list(first, last, rows, keys), work, workers)
    if max(suspects) >= 0 or unretrieved.height:
        columns = [*KEYS, "item", "relevance"]
        one = [part.select(columns).cast({"relevance": pl.Float64}) for part in (with_model(frame), unretrieved)]
        check_unique(pl.concat(one), columns[:-1], "rankings")
        if not judged:
            check_agreement(pl.concat(one))
    if judged or found["model"].n_unique() < 2:
        return
    by_query = found.with_row_index("list").sort("query", maintain_order=True)
    first = by_query.select((pl.col("query") != pl.col("query").shift()).fill_null(True)).to_series().to_numpy()
    group_start = np.append(np.flatnonzero(first), found.height)
    row = grouping.disagreeing_row(
        group_start, arrays.frozen(by_query["list"].cast(pl.Int64).to_numpy()), rows, keys, arrays.frozen(grade)
    )
    if row >= 0:
        check_agreement(with_model(frame))


def _spread(rows: Rows, found: pl.DataFrame, names: pl.DataFrame) -> Rows:
    """Rows of all lists; those that were not found have none."""
    if names.height == found.height:
        return rows
    names = names.select(KEYS).with_row_index("list")
    index = found.join(names, on=KEYS, how="left", maintain_order="left")["list"].to_numpy()
    begin, end = np.zeros(names.height, np.int64), np.zeros(names.height, np.int64)
    begin[index], end[index] = rows.begin, rows.end
    return Rows(begin, end, rows.row_of)


def _refuse_unknown_relevant(judgements: object, queries: object) -> None:
    if judgements is None and (queries is None or "n_relevant" not in to_polars(queries, "queries").columns):
        raise ParameterError(
            "relevant_items='error': neither judgements nor a column 'n_relevant' of the queries say how many relevant "
            "items a query has; give one of them, or 'pooled' (those that some model retrieved) or 'own'"
        )

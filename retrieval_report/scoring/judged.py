"""Join rankings, judgements and queries into one
checked record of what is judged, missing and relevant.

On one machine they are joined only here; code that holds a `Judged` never joins or checks again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import known_of
from retrieval_report.contracts.checks import (
    check_agreement,
    check_unique,
    refuse,
    warn_merging,
    warn_unmatched,
)
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import (
    UNIQUE,
    check_counts,
    check_rankings,
    check_table,
    is_own,
    order_column,
    unmasked,
    with_model,
)
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.warning import warn
from retrieval_report.kernels.lists import Codes, Floats, Rows
from retrieval_report.reading.frames import has_distinct_rows, to_polars
from retrieval_report.reading.names import RANKINGS
from retrieval_report.reading.printed_ranks import RANK
from retrieval_report.scoring import arrays
from retrieval_report.scoring.known_items import (
    KEYS,
    all_lists,
    disagree,
    every_list,
    judged_rows,
    of_one_width,
    repeats,
    settle_nulls,
    unjudged_hint,
)
from retrieval_report.scoring.pool import pool_of


@dataclass(frozen=True)
class KnownOfWhole:
    """Facts about all rows together, which a part of the rows cannot show."""

    # Whether there are other rows; judgements and queries are already checked, the rows are not
    part: bool = False
    models: tuple[str, ...] = ()  # all models; each has a list for every query
    grades: tuple[float, ...] = ()  # relevances of other rows
    graded: bool = True  # whether anything says what is relevant
    judged: bool = False  # whether judgements were given, so that all other items are not relevant
    pooled: bool = False  # whether the known items are the relevant ones that any model retrieved
    relevant: bool = False  # whether some query has a relevant item


KNOWS_ALL = KnownOfWhole()  # for rows that are the whole


@dataclass(frozen=True)
class Judged:
    """Rankings joined with judgements and queries,
    and checked; scores and analyses start from this.

    Its content is valid for all options that do not select rows: distances are as received, and
    rows are in the order received.
    """

    retrieved: pl.DataFrame  # (model), query, (item), distance or score, relevance, (count)
    known: (
        pl.DataFrame
    )  # (model), query, (item), relevance, (count): items judged, or known but not retrieved
    lists: pl.DataFrame  # model, query, missing (no row was received), (n_relevant), (judged), sorted by the first two
    rows: Rows  # which of those retrieved are in which list
    grades: Floats  # the distinct relevances, ascending
    grade_index: Codes  # which of them each item retrieved has
    whole: KnownOfWhole
    part_of: Judged | None = (
        None  # all the lists, which tell whether these were truncated; None: these are all
    )
    # (model), query, distance or score, and the rank beside it, where a source prints ranks
    printed_ranks: pl.DataFrame | None = field(default=None, repr=False, compare=False)
    # how many judgements were of an item that had one already, and how many there were
    repeated_judgements: tuple[int, int] = (0, 0)
    # the rows with the unjudged ones, if these were left out: they tell where the lists end
    with_unjudged: pl.DataFrame | None = field(default=None, repr=False, compare=False)
    warned: set[str] = field(default_factory=set, repr=False, compare=False)
    # by the rules of ties their lists, and by all rules what was laid out of these
    laid_out: dict[object, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    def warn(self, message: str) -> None:
        """Warn, unless these rows caused the same warning before, under another policy for example."""
        if message not in self.warned:
            self.warned.add(message)
            warn(message)

    @property
    def named(self) -> bool:
        """Return whether the items have ids, as those of counts have not."""
        return "item" in self.retrieved.columns

    @property
    def order(self) -> str:
        """Return the name of the column that orders a list."""
        return order_column(self.retrieved)

    def unpooled(self, options: Options) -> bool:
        """Return whether R of a model is its own number because these are counts, which have no
        items to pool.
        """
        judged_apart = len(self.whole.models) < 2 or options.relevant_items != "pooled"
        return not self.named and not (judged_apart or self.whole.pooled)

    @property
    def scored_rows(self) -> pl.DataFrame:
        """Return the items retrieved for judged queries, or all items if there are no judgements."""
        rows = with_model(self.retrieved)
        if not self.whole.judged:
            return rows
        return rows.join(
            self.known.select("query").unique(), on="query", how="semi", maintain_order="left"
        )

    def with_values(self, retrieved: pl.DataFrame, known: pl.DataFrame | None = None) -> Judged:
        """Return the same items with other distances or relevances."""
        known = self.known if known is None else known
        grades, grade_index = graded(retrieved, known, self.whole)
        return replace(
            self, retrieved=retrieved, known=known, grades=grades, grade_index=grade_index
        )

    def with_rows(
        self, retrieved: pl.DataFrame, known: pl.DataFrame, lists: pl.DataFrame
    ) -> Judged:
        """Return a record of other items, possibly in other lists."""
        retrieved, names, rows = arrays.locate(retrieved)
        whole = replace(
            self.whole, models=tuple(lists["model"].unique().sort()) or self.whole.models
        )
        return replace(
            self, lists=lists, rows=spread_rows(rows, with_model(names), lists), whole=whole
        ).with_values(retrieved, known)

    def of_queries(self, queries: Collection[object]) -> Judged:
        """Return the lists of some queries, with everything known about them."""
        is_wanted = pl.col("query").is_in(queries)
        received = self.lists.filter(is_wanted, ~pl.col("missing"))["model"].unique()
        lists = self.lists.filter(is_wanted, pl.col("model").is_in(received.implode()))
        part = self.with_rows(self.retrieved.filter(is_wanted), self.known.filter(is_wanted), lists)
        return replace(part, part_of=self.part_of or self)

    def condensed(self, options: Options) -> Judged:
        """Return the lists without the items that have no judgement, as bpref sees them; the same
        if there are none.
        """
        if not self.whole.judged or options.unjudged in ("drop", "error"):
            return self
        judged_pairs = self.known.select("query", "item")
        rows = self.retrieved.join(
            judged_pairs, on=["query", "item"], how="semi", maintain_order="left"
        )
        return replace(self, with_unjudged=self.retrieved).with_rows(rows, self.known, self.lists)

    def as_lists(self, rows: pl.DataFrame) -> Judged:
        """Return some of the rows as if they were everything that is known."""
        present = rows.select(KEYS).unique()
        lists = every_list(
            present.select("model").unique(), present.select("query").unique(), present
        )
        alone = replace(self, whole=KNOWS_ALL, part_of=None, with_unjudged=None)
        return alone.with_rows(rows, rows.clear(), lists)


@dataclass(frozen=True)
class _Parts:
    rows: pl.DataFrame  # the items of the lists
    received: pl.DataFrame  # every row received; some leave their list
    unretrieved: pl.DataFrame  # items known but not retrieved: (model), query, relevance, (count)
    judgements: pl.DataFrame | None
    queries: pl.DataFrame | None
    # Whether the unretrieved are the relevant items of each query that any model retrieved
    pooled: bool = False
    printed_ranks: pl.DataFrame | None = None
    repeated_judgements: tuple[int, int] = (0, 0)
    distinct: bool = False  # whether no list can have an item twice
    with_unjudged: pl.DataFrame | None = (
        None  # these rows and the unjudged ones, if they were left out
    )


def judge(
    rankings: object,
    judgements: object,
    queries: object,
    options: Options,
    whole: KnownOfWhole = KNOWS_ALL,
) -> Judged:
    """Check the frames and join them; a `Judged` is returned unchanged."""
    if isinstance(rankings, Judged):
        return rankings
    unknown = options.relevant_items == "error" and judgements is None
    if unknown and (queries is None or "n_relevant" not in to_polars(queries, "queries").columns):
        raise ParameterError(
            "relevant_items: neither judgements nor a column 'n_relevant' of the queries say how "
            "many relevant items a query has; give one of them, or choose 'pooled' (those that "
            "some model retrieved) or 'own' instead of 'error'"
        )
    parts = _read(rankings, judgements, queries, options, whole)
    frame, keys, row_lists = arrays.locate(parts.rows)
    for column in keys.columns:
        warn_merging(keys, column, "rankings")
    names = with_model(keys)
    judged_items = parts.unretrieved if parts.judgements is None else parts.judgements
    grades, grade = graded(frame, judged_items, whole)
    _check_items(parts, frame, names, row_lists, grade, options.workers)
    present = (
        names
        if parts.rows.height == parts.received.height
        else with_model(parts.received).select(KEYS).unique()
    )
    lists = all_lists(present, parts.judgements, parts.queries, whole.models, options)
    models = tuple(lists["model"].unique(maintain_order=True)) or whole.models
    whole = replace(whole, models=models, judged=parts.judgements is not None, pooled=parts.pooled)
    rows = spread_rows(row_lists, names, lists)
    if parts.judgements is not None:
        lists = lists.with_columns(judged=rows.sums(frame["judged"].cast(pl.Int64).to_numpy()))
        frame = frame.drop("judged")
        if not whole.part and not lists["judged"].sum():  # other parts may have judged items
            warn_unmatched(parts.received.height, parts.received, parts.judgements)
    names_of_settings = "printed_ranks", "repeated_judgements", "with_unjudged"
    settings = {name: getattr(parts, name) for name in names_of_settings}
    return Judged(frame, judged_items, lists, rows, grades, grade, whole, **settings)


def counting(rows: pl.DataFrame, options: Options) -> pl.Expr | None:
    """Return which rows count by their own values, as the frame and the options say; None if all
    do. Of other parts of the data, engines ask the same.
    """
    masks = [pl.col("mask").cast(pl.Boolean)] if "mask" in rows.columns else []
    if options.exclude_self and "item" in rows.columns:
        masks.append(~is_own(rows))
    return pl.all_horizontal(masks) if masks else None


def _read(
    rankings: object, judgements: object, queries: object, options: Options, whole: KnownOfWhole
) -> _Parts:
    """Return checked frames, without masked rows and with unretrieved rows separated; the relevance
    of every row is that of the judgements, if there are any.
    """
    frame = to_polars(rankings, "rankings")
    if "count" in frame.columns:
        if "naive" in options.policies:
            raise ParameterError(
                "policies: 'naive' needs the order of the items, and a counts frame has none; "
                "evaluate the rankings, or leave 'naive' out"
            )
        if judgements is not None:
            raise ParameterError(
                "judgements: a counts frame has no items to join them on; join them before counting"
            )
        if options.exclude_self:
            raise ParameterError(
                "exclude_self: a counts frame has no items; leave queries out of their own lists "
                "before counting"
            )
        rows = check_counts(frame)
    else:
        allowed = options.null_distance == "not_retrieved"
        rows = check_rankings(frame, relevance=judgements is None, null_distance=allowed)
        counts = counting(rows, options)
        if counts is not None:
            rows = rows.with_columns(mask=counts)
        if judgements is None and options.unjudged in (None, "error"):
            nothing = pl.col("relevance").is_null() & (True if counts is None else pl.col("mask"))
            refuse(rows, nothing, "relevance", "null or NaN", unjudged_hint)
        # naive scores may use the order of the file
        if "row" in rows.columns and not rows["row"].is_sorted():
            rows = rows.sort("row", maintain_order=True)
    received = None if judgements is None else to_polars(judgements, "judgements")
    frames: tuple[Any, Any] = received, queries
    judged, labelled = frames if whole.part else frames_beside(*frames, options.repeated_judgements)
    number, once = (0 if table is None else table.height for table in (received, judged))
    if options.exclude_self and judged is not None:
        judged = judged.remove(is_own(judged))
    rows, query_rows = _of_one_type(rows, judged, labelled)
    pool = None
    if "count" in rows.columns and "retrieved" in rows.columns:
        pool = pool_of(rows)
        rows = rows.filter("retrieved").drop("retrieved")
    order, everything = order_column(rows), rows
    options.check_order(order)
    rows = unmasked(rows)
    unretrieved = rows.clear()
    if rows[order].null_count():
        unretrieved, rows = (rows.filter(pl.col(order).is_null() == null) for null in (True, False))
    unretrieved = with_model(unretrieved)
    if options.relevant_items == "own" or options.distance_threshold is not None:
        pool = None
    unretrieved = unretrieved if pool is None else pool
    rule = options.unjudged or "non_relevant"  # without judgements, nulls are refused above
    judged = query_rows["judgements"]
    if judged is not None:
        rows = judged_rows(rows, judged, unjudged=0 if rule == "non_relevant" else None)
        # judgements take precedence over rows without distance
        unretrieved = unretrieved.with_columns(relevance=0.0)
    ranked = [name for name in (*KEYS, order, RANK) if name in frame.columns]
    kept = settle_nulls(rows, rule)
    return _Parts(
        kept,
        everything,
        settle_nulls(unretrieved, rule),
        **query_rows,
        pooled=pool is not None,
        printed_ranks=frame.select(ranked) if RANK in ranked else None,
        repeated_judgements=(number - once, number),
        distinct=has_distinct_rows(rankings, RANKINGS),
        with_unjudged=None if kept.height == rows.height else rows,
    )


def _of_one_type(
    rows: pl.DataFrame, judgements: pl.DataFrame | None, queries: pl.DataFrame | None
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame | None]]:
    """Return rows, judgements and queries with ids of the same types."""
    given_frames = {"judgements": judgements, "queries": queries}
    frames = known_of(given_frames)
    for name in frames:
        for key in UNIQUE[name]:
            rows, frames[name] = of_one_width(rows, frames[name], key, name)
    typed = {
        name: frame.cast({key: rows.schema[key] for key in UNIQUE[name]})
        for name, frame in frames.items()
    }
    return rows, {**given_frames, **typed}


def frames_beside(
    judgements: object, queries: object, repeated: str = "error"
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Return the checked frames ``judgements`` and ``queries``, None for what is not given;
    ``repeated`` is the option ``repeated_judgements``.
    """
    judged = (
        None
        if judgements is None
        else check_table(to_polars(judgements, "judgements"), "judgements", repeated=repeated)
    )
    query_rows = None if queries is None else check_table(to_polars(queries, "queries"), "queries")
    return judged, query_rows


def graded(
    retrieved: pl.DataFrame, judged_items: pl.DataFrame, whole: KnownOfWhole
) -> tuple[Floats, Codes]:
    """Return the distinct relevances of all items, and which of them each item retrieved has."""
    beside = judged_items["relevance"].cast(pl.Float64).to_numpy()
    return arrays.grade_indices(retrieved["relevance"], np.concatenate([beside, whole.grades]))


def _check_items(
    parts: _Parts,
    frame: pl.DataFrame,
    names: pl.DataFrame,
    item_rows: Rows,
    grade: Codes,
    workers: int,
) -> None:
    """Refuse an item twice in a list, and an item with
    different relevance in two models' lists of a query.
    """
    if "item" not in frame.columns or parts.distinct:
        return
    items = arrays.id_keys(frame["item"])
    unjudged = parts.judgements is None
    doubtful = repeats(item_rows, items, workers) or parts.unretrieved.height > 0
    if doubtful:
        rows = with_model(parts.rows)
        columns = [*KEYS, "item", "relevance"]
        values = {"distance", "score"}.intersection(rows.columns)
        rows = pl.concat(
            [
                part.select(*columns, *values.intersection(part.columns)).cast(
                    {"relevance": pl.Float64}
                )
                for part in (rows, parts.unretrieved)
            ],
            how="diagonal",
        )
        check_unique(rows, columns[:-1], "rankings")
    elif unjudged and names["model"].n_unique() > 1:
        rows = parts.rows
        doubtful = disagree(item_rows.spread(arrays.id_keys(names["query"])), items, grade)
    if doubtful and unjudged:
        check_agreement(rows)


def spread_rows(rows: Rows, lists: pl.DataFrame, names: pl.DataFrame) -> Rows:
    """Return the rows of all lists; lists that were not found have none."""
    if names.height == lists.height:
        return rows
    places = lists.with_columns(begin=rows.begin, end=rows.end)
    spread = (
        names.select(KEYS).join(places, on=KEYS, how="left", maintain_order="left").fill_null(0)
    )
    return Rows(spread["begin"].to_numpy(), spread["end"].to_numpy())

"""Rankings, judgements and queries → lists ready for the kernels: who is judged, who is missing, what is relevant."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.checks import check_agreement, check_unique, refuse, warn_merging
from retrieval_report.contracts.errors import KeyMismatchError, ParameterError, RetrievalReportWarning
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
from retrieval_report.scoring.arrays import Cells, Codes, Integers, Keys, Rows
from retrieval_report.scoring.beyond import decide_lists
from retrieval_report.scoring.layout import Known, Prepared, lay_out, with_decisions
from retrieval_report.scoring.lookup import (
    KEYS,
    UNJUDGED_HINT,
    Located,
    judged_rows,
    of_one_width,
    settle_nulls,
)

__all__ = ["UNJUDGED_HINT", "Cells", "Known", "Prepared", "check_items", "lay_out", "prepare"]

NO_CELLS = (np.empty(0, np.int32), np.empty(0, np.int64))


@dataclass(frozen=True)
class _Parts:
    rows: pl.DataFrame  # the items of the lists
    present: pl.DataFrame | None  # model, query of all rows received, where some of them then leave their list
    unretrieved: pl.DataFrame  # items known but not retrieved: model, query, relevance
    judgements: pl.DataFrame | None
    queries: pl.DataFrame | None


def prepare(rankings: object, judgements: object, queries: object, options: Options) -> Prepared:
    """Check the frames, join them and lay them out as lists."""
    if options.relevant_items == "error":
        _refuse_unknown_relevant(judgements, queries)
    received = _with_judged_ids(_read(rankings, judgements, queries, options))
    located = Located.of(received.rows)
    parts = _judge(received, located, options)
    if parts.rows.height < received.rows.height:
        located = Located.of(parts.rows)
    found, rows, keys = with_model(located.names), located.rows, located.items
    for column in KEYS:
        warn_merging(found, column, "rankings")
    grades, grade = arrays.grade_codes(parts.rows["relevance"], _relevances(parts))
    if keys is not None:
        judged = parts.judgements is not None
        check_items(parts.rows, parts.unretrieved, found, rows, keys, grade, judged=judged, workers=options.workers)
    names, missing = _all_lists(parts, found, options)
    rows = _spread(rows, found, names)
    pool = _pool(parts, options) if found["model"].n_unique() > 1 else None
    cells = Cells(*_extra_cells(parts, names, grades, pool))
    if parts.judgements is None:
        known = Known(cells, n_relevant=_told_numbers(parts, names), pooled=pool is not None)
    else:
        told = parts.judgements.select("query").unique().with_columns(told=pl.lit(True))
        is_told = names.join(told, on="query", how="left", maintain_order="left")["told"].fill_null(False)
        known = Known(cells, judged=is_told.to_numpy())
    prepared = lay_out(names, missing, rows, parts.rows, grades, grade, known, options)
    if keys is None and parts.judgements is None and options.relevant_items != "own":
        _warn_unequal(prepared)
    shown = prepared.listed.total(prepared.relevant_grade)
    # A list that shows fewer because some are too far lacks nothing.
    sure = ~prepared.beyond.pooled | (np.diff(cells.start) > 0 if pool is None else False)
    said = np.where(sure & ~prepared.beyond.far, prepared.relevant, -1)
    return with_decisions(prepared, decide_lists(names, prepared.ties, rows, keys, shown, said, options), options)


def _read(rankings: object, judgements: object, queries: object, options: Options) -> _Parts:
    """Checked frames, with masked rows gone, distances rounded and unretrieved rows apart."""
    frame = to_polars(rankings, "rankings")
    if "count" in frame.columns:
        rows = _check_counted(frame, judgements, options)
    else:
        allowed = options.null_distance == "not_retrieved"
        rows = check_rankings(frame, relevance=judgements is None, null_distance=allowed)
        if judgements is None and options.unjudged in (None, "error") and rows["relevance"].null_count():
            kept = pl.col("mask").cast(pl.Boolean) if "mask" in rows.columns else pl.lit(True)
            refuse(rows, pl.col("relevance").is_null() & kept, "relevance", "null or NaN", UNJUDGED_HINT)
        rows = _naive_order(rows, options)
    if options.distance_threshold is not None and "score" in rows.columns:
        raise ParameterError("distance_threshold: the rankings have a 'score'; a threshold needs a 'distance'")
    order, everything = order_column(rows), rows
    if "mask" in rows.columns:
        rows = rows.filter(pl.col("mask").cast(pl.Boolean))  # a column without rows may have no type
    if options.decimals is not None and not rows.schema[order].is_integer():
        rows = rows.with_columns(pl.col(order).round(options.decimals))
    unretrieved = rows.clear()
    if rows[order].null_count():
        unretrieved, rows = rows.filter(pl.col(order).is_null()), rows.filter(pl.col(order).is_not_null())
    parts = _Parts(
        rows,
        None if rows.height == everything.height else with_model(everything).select(KEYS).unique(),
        with_model(unretrieved),
        None if judgements is None else check_judgements(to_polars(judgements, "judgements")),
        None if queries is None else check_queries(to_polars(queries, "queries")),
    )
    if parts.queries is None:
        return parts
    wide, told = of_one_width(rows, parts.queries, "query", "queries")
    wider = pl.col("query").cast(wide.schema["query"])
    present = None if parts.present is None else parts.present.with_columns(wider)
    return replace(parts, rows=wide, queries=told, present=present, unretrieved=parts.unretrieved.with_columns(wider))


def _naive_order(rows: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Rows in the order that naive scores see: file order, or by item id."""
    if "naive" in options.policies:
        if options.naive_order != "row":
            rows = _by_item(rows, options.naive_order == "item_descending")
        elif "row" in rows.columns and not rows["row"].is_sorted():
            rows = rows.sort("row", maintain_order=True)
    return rows.drop("row", strict=False)


def _by_item(rows: pl.DataFrame, descending: bool) -> pl.DataFrame:
    """Rows whose lists are in the order of their items; lists that are sorted already stay together."""
    own = [key for key in KEYS if key in rows.columns]
    other = pl.any_horizontal(pl.col(key) != pl.col(key).shift() for key in own) | (pl.int_range(pl.len()) == 0)
    if rows.select((other | (pl.col("item") > pl.col("item").shift())).all()).item():
        heads = rows.filter(other).select(own)
        if heads.height == heads.unique().height:  # no list begins anew further down
            return rows.reverse() if descending else rows
    return rows.sort("item", descending=descending, maintain_order=True)


def _check_counted(frame: pl.DataFrame, judgements: object, options: Options) -> pl.DataFrame:
    if "naive" in options.policies:
        raise ParameterError(
            "policies: 'naive' needs the order of the items, and a counts frame has none; evaluate the rankings, "
            "or leave 'naive' out"
        )
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
    wider = pl.col("query").cast(rows.schema["query"])
    # the judgements know better than rows without distance
    unretrieved = parts.unretrieved.with_columns(wider, relevance=pl.lit(0.0))
    present = None if parts.present is None else parts.present.with_columns(wider)
    told = None if parts.queries is None else parts.queries.with_columns(wider)
    return _Parts(rows, present, unretrieved, judgements, told)


def _judge(parts: _Parts, located: Located, options: Options) -> _Parts:
    """Relevance of every row: from the judgements when there are any, else the rankings' own."""
    rows = parts.rows
    if parts.judgements is not None:
        rows = judged_rows(rows, located, parts.judgements, options.workers)
    rule = options.unjudged or "non_relevant"  # without judgements, nulls were refused when reading
    rows, unretrieved = settle_nulls(rows, rule), settle_nulls(parts.unretrieved, rule)
    present = parts.present
    if present is None and rows.height < parts.rows.height:
        present = with_model(parts.rows).select(KEYS).unique()
    return replace(parts, rows=rows, present=present, unretrieved=unretrieved)


def _relevances(parts: _Parts) -> NDArray[np.float64]:
    """Relevances of items that are in no list."""
    frames = [parts.unretrieved] if parts.judgements is None else [parts.unretrieved, parts.judgements]
    return np.concatenate([np.unique(frame["relevance"].cast(pl.Float64).to_numpy() + 0.0) for frame in frames])


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
    suspects = arrays.over_ranges(lambda first, last: grouping.repeating_list(first, last, *rows, keys), work, workers)
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
        group_start, arrays.frozen(by_query["list"].cast(pl.Int64).to_numpy()), *rows, keys, arrays.frozen(grade)
    )
    if row >= 0:
        check_agreement(with_model(frame))


def _all_lists(parts: _Parts, found: pl.DataFrame, options: Options) -> tuple[pl.DataFrame, NDArray[np.bool_]]:
    """Every (model, query): those present, and the queries of others, of the judgements, of the queries frame.

    Also which of them are missing, that is have no rows at all.
    """
    present = found if parts.present is None else pl.concat([found, parts.present]).unique()
    universe = present.select("query").unique()
    if parts.judgements is not None:
        judged = parts.judgements.select("query").unique()
        _check_unjudged(universe, judged, options)
        universe = pl.concat([universe, judged]).unique()
    if parts.queries is not None:
        told = parts.queries.select("query")
        absent = universe.join(told, on="query", how="anti").sort("query")
        if absent.height:
            raise KeyMismatchError(
                f"queries: {absent.height} queries of the rankings are not in the queries frame, "
                f"first {absent.item(0, 0)!r}"
            )
        universe = told
    models = present.select("model").unique()
    if found.height == models.height * universe.height:
        return found, np.zeros(found.height, np.bool_)
    everything = models.join(universe, how="cross").sort(KEYS)
    there = present.select(*KEYS, there=pl.lit(True))
    is_missing = everything.join(there, on=KEYS, how="left", maintain_order="left")["there"].is_null()
    missing = everything.filter(is_missing)
    if missing.height and options.missing_query == "error":
        model, query = missing.row(0)
        raise KeyMismatchError(
            f"{missing.height} (model, query) pairs have no rows, first query {query!r} of model {model!r}; "
            "missing_query='zero' counts them as 0, 'skip' leaves them out"
        )
    return everything, is_missing.to_numpy()


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
    index = found.join(names.with_row_index("list"), on=KEYS, how="left", maintain_order="left")["list"].to_numpy()
    begin, end = np.zeros(names.height, np.int64), np.zeros(names.height, np.int64)
    begin[index], end[index] = rows.begin, rows.end
    return Rows(begin, end, rows.row_of)


def _pool(parts: _Parts, options: Options) -> pl.DataFrame | None:
    """The relevant items that any model shows or knows of, each once; None where R is not to be pooled."""
    if parts.judgements is not None or options.relevant_items == "own" or "item" not in parts.rows.columns:
        return None
    columns, rows = ["query", "item", "relevance"], parts.rows
    if options.distance_threshold is not None:
        rows = rows.filter(pl.col(order_column(rows)) <= options.distance_threshold)
    shown = [part.filter(pl.col("relevance") > 0).select(columns) for part in (rows, parts.unretrieved)]
    pooled = pl.concat([part.cast({"relevance": pl.Float64}) for part in shown])
    return pooled.unique(["query", "item"])


def _extra_cells(
    parts: _Parts, names: pl.DataFrame, grades: NDArray[np.float64], pool: pl.DataFrame | None
) -> tuple[Integers, Codes, Integers]:
    """Items known of every list beside its rows: all judgements, what any model shows, or the rows without distance."""
    lists = names.with_row_index("list")
    if parts.judgements is not None:
        keys, items = ["query"], parts.judgements
    elif pool is not None:
        keys, items = ["query"], pool
    else:
        keys, items = KEYS, parts.unretrieved
    cells = items.group_by(*keys, "relevance").agg(pl.len().alias("count"))
    cells = lists.join(cells, on=keys).select("list", "relevance", "count").sort("list", "relevance")
    grade = np.searchsorted(grades, cells["relevance"].cast(pl.Float64).to_numpy()).astype(np.int32)
    return arrays.starts(cells["list"].to_numpy(), names.height), grade, cells["count"].cast(pl.Int64).to_numpy()


def _refuse_unknown_relevant(judgements: object, queries: object) -> None:
    if judgements is None and (queries is None or "n_relevant" not in to_polars(queries, "queries").columns):
        raise ParameterError(
            "relevant_items='error': neither judgements nor a column 'n_relevant' of the queries say how many relevant "
            "items a query has; give one of them, or 'pooled' (those that some model retrieved) or 'own'"
        )


def _warn_unequal(prepared: Prepared) -> None:
    """Tell of models whose counts hold different numbers of relevant items for a query: items are not there to pool."""
    found = prepared.names.with_columns(relevant=pl.Series(prepared.relevant)).filter(~pl.Series(prepared.missing))
    differ = found.group_by("query").agg(pl.col("relevant").min(), most=pl.col("relevant").max())
    differ = differ.filter(pl.col("relevant") < pl.col("most")).sort("query")
    if differ.height:
        query, least, most = differ.row(0)
        warnings.warn(
            f"counts: of {differ.height} queries some models show more relevant items than others, first query "
            f"{query!r}: {least} to {most}. Counts have no items to pool, so recall, ap and ndcg of a model are "
            "divided by its own number; n_relevant in the queries frame would tell the true one",
            RetrievalReportWarning,
            stacklevel=6,
        )


def _told_numbers(parts: _Parts, names: pl.DataFrame) -> Integers | None:
    """R of every list from the queries frame, where it says so."""
    if parts.queries is None or "n_relevant" not in parts.queries.columns:
        return None
    told = parts.queries.select(pl.col("query").cast(names.schema["query"]), pl.col("n_relevant").cast(pl.Int64))
    return names.join(told, on="query", how="left", maintain_order="left")["n_relevant"].to_numpy()

"""Judge a run by judgements where both are ``{query: {item: number}}``, as in pytrec_eval and BEIR.

Keys do not repeat, and judgements are looked up in their own dictionary. So scores need neither a
frame of ids nor a join nor a search for repeats, which take longer than the scores.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.options import AUTO, OPTIONS, Options
from retrieval_report.kernels.lists import Integers, Rows, running
from retrieval_report.metrics.parsing import Requests
from retrieval_report.reading.convert import EXACT, include, types_of
from retrieval_report.reading.dictionaries import Nested
from retrieval_report.reading.frames import has_distinct_rows
from retrieval_report.reading.names import JUDGEMENTS, RANKINGS
from retrieval_report.scoring.judged import KNOWS_ALL, Judged, graded, spread_rows
from retrieval_report.scoring.known_items import all_lists

ROWS = 16_000  # looked at together, so that their objects stay in the processor's cache
# Type of the first grade → the type of their column.
GRADES = {int: pl.Int64(), float: pl.Float64()}
# What Polars raises for values that are not numbers of a type.
NO_NUMBERS = (TypeError, OverflowError, pl.exceptions.PanicException)
NOTHING: Nested = {}
# The options that are obeyed here, or by whatever scores the result. All others are left to
# `judge`, so that a new option cannot be overlooked.
OBEYED_OPTIONS = {
    *("policies", "shuffles", "seed", "no_relevant", "relevant_from", "distance_threshold"),
    *("decimals", "missing_query", "unjudged", "unjudged_query", "repeated_judgements"),
    *("null_distance", "truncated", "relevant_items", "threads", "progress"),
}


def judge_dictionaries(
    rankings: Any, judgements: Any, queries: object, requests: Requests, options: Options
) -> Judged | None:
    """Return what `judge` does, but items without names, as in counts. None where names may be
    needed, and where an id or a number is so unusual that `judge` might refuse it or warn of it.
    """
    if queries is not None or _needs_names(requests, options):
        return None
    if not (has_distinct_rows(rankings, RANKINGS) and has_distinct_rows(judgements, JUDGEMENTS)):
        return None
    refuse_fork()
    options.check_order("score")
    run, qrels = map(_not_empty, (rankings, judgements))
    if not (run and qrels and _is_plain([*run, *qrels])) or _may_hold_the_same(run, options):
        return None
    grade_by_item = _grades(qrels)
    rows = None if grade_by_item is None else _rows(run, qrels, grade_by_item["relevance"].dtype)
    if grade_by_item is None or rows is None or rows["relevance"].null_count() == rows.height:
        return None
    return _judged(run, qrels, rows, grade_by_item, options)


def _not_empty(nested: Nested) -> Nested:
    """Return the queries that have items."""
    if all(nested.values()):
        return nested
    return {query: items for query, items in nested.items() if items}


def _needs_names(requests: Requests, options: Options) -> bool:
    """Return whether a metric or an option may need the ids of items."""
    return (
        any(metric.condensed for metric, _ in requests)
        or options.unjudged not in (None, "non_relevant")
        or any(
            getattr(options, name) != OPTIONS[name].default
            for name in OPTIONS.keys() - OBEYED_OPTIONS
        )
    )


def _may_hold_the_same(run: Nested, options: Options) -> bool:
    """Return whether all lists may hold the same items, each perhaps without its own query, as far
    as the first two show; only then does it depend on ids whether lists were truncated.
    """
    first = [items.keys() for items in run.values()][:2]
    return options.truncated == AUTO and len(first) == 2 and len(first[0] ^ first[1]) <= 2


def _judged(
    run: Nested, qrels: Nested, rows: pl.DataFrame, grades: pl.DataFrame, options: Options
) -> Judged:
    """Return the record of a run whose rows have their grades."""
    queries = pl.Series("query", list(run))
    order = queries.arg_sort().to_numpy()
    names = pl.DataFrame([pl.repeat("model", len(run), eager=True).alias("model"), queries[order]])
    judged = None if run.keys() == qrels.keys() else grades
    lists = all_lists(names, judged, None, (), options)
    ends = running(_sizes(run))
    spread = spread_rows(Rows(ends[:-1][order], ends[1:][order]), names, lists)
    is_judged = rows["relevance"].is_not_null().to_numpy().astype(np.int64)
    frame = rows.with_columns(pl.col("relevance").fill_null(0))
    whole = replace(KNOWS_ALL, models=("model",), judged=True)
    return Judged(
        frame,
        grades,
        lists.hstack([pl.Series("judged", spread.sums(is_judged))]),
        spread,
        *graded(frame, grades, whole),
        whole,
        repeated_judgements=(0, int(grades["count"].sum())),
    )


def _grades(qrels: Nested) -> pl.DataFrame | None:
    """Return how many items of every query have each grade, or None if a grade or an id is unusual."""
    parts = []
    for items, values, _ in _blocks(qrels, NOTHING):
        dtype = GRADES.get(type(values[0]))
        if dtype is None or not _is_plain(items):
            return None
        try:
            parts.append(pl.Series("relevance", values, dtype=dtype))
        except NO_NUMBERS:
            return None
    if len({part.dtype for part in parts}) > 1:
        return None
    relevance = pl.concat(parts)
    if relevance.null_count() or not relevance.is_between(0, EXACT - 1).all():
        return None
    number = np.repeat(np.arange(len(qrels), dtype=np.uint32), _sizes(qrels))
    cells = pl.DataFrame([pl.Series("query", number), relevance])
    cells = cells.group_by("query", "relevance").agg(count=pl.len().cast(pl.Int64))
    return cells.with_columns(query=pl.Series(list(qrels)).gather(cells["query"]))


def _rows(run: Nested, qrels: Nested, dtype: pl.DataType) -> pl.DataFrame | None:
    """Return the scores and grades of the rows of a run, null where there is no judgement; None if
    a score or an id is unusual.
    """
    parts = []
    for items, values, grades in _blocks(run, qrels):
        if not _is_plain(items) or not isinstance(values[0], float):
            return None
        if include({*types_of(values)} - {np.float64}, np.floating):  # of another precision
            return None
        try:
            score = pl.Series("score", values, dtype=pl.Float64)
        except NO_NUMBERS:
            return None
        parts.append(pl.DataFrame([score, pl.Series("relevance", grades, dtype=dtype)]))
    rows = pl.concat(parts)
    if rows["score"].null_count() or not np.abs(rows["score"].to_numpy()).max() < EXACT:
        return None
    return rows


def _blocks(
    nested: Nested, qrels: Nested
) -> Iterator[tuple[list[object], list[object], list[object]]]:
    """Yield the items of some queries at a time, their numbers, and their grades if there are
    judgements, None where an item has none.
    """
    items, values, grades = _no_rows()
    for query, of_query in nested.items():
        items.extend(of_query)
        values.extend(of_query.values())
        if qrels:
            grades.extend(map(qrels.get(query, NOTHING).get, of_query))
        if len(items) >= ROWS:
            yield items, values, grades
            items, values, grades = _no_rows()
    if items:
        yield items, values, grades


def _no_rows() -> tuple[list[object], list[object], list[object]]:
    return [], [], []


def _sizes(nested: Nested) -> Integers:
    return np.fromiter(map(len, nested.values()), np.int64, len(nested))


def _is_plain(ids: Iterable[Any]) -> bool:
    """Return whether all ids are texts of ASCII without blanks, which nothing can merge."""
    try:
        text = "".join(ids)
    except TypeError:
        return False
    return text.isascii() and " " not in text and "\t" not in text

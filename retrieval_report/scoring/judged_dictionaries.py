"""Judge a run by judgements where both are ``{query: {item: number}}``, as in pytrec_eval and BEIR.

Keys do not repeat, and judgements are looked up in their own dictionary. So scores need neither a
frame of ids nor a join nor a search for repeats, which take longer than the scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.options import AUTO, Options
from retrieval_report.kernels.lists import Integers, Rows, running
from retrieval_report.metrics.parsing import Requests
from retrieval_report.reading.convert import EXACT
from retrieval_report.reading.frames import has_distinct_rows
from retrieval_report.reading.names import JUDGEMENTS, RANKINGS
from retrieval_report.scoring.expected_lists import all_lists
from retrieval_report.scoring.judged import KNOWS_ALL, Judged, graded, spread_rows
from retrieval_report.scoring.known_items import KEYS

ROWS = 16_000  # looked at together, so that their objects stay in the processor's cache
GRADES = {int: pl.Int64(), float: pl.Float64()}
"""Type of the first grade → the type of their column."""
NO_NUMBERS = (TypeError, OverflowError, pl.exceptions.PanicException)
"""What Polars raises for values that are not numbers of a type."""
Nested = Mapping[Any, Mapping[Any, Any]]


class _Run(NamedTuple):
    """The rows of a run: their scores, and their grades, null where there is no judgement."""

    score: pl.Series
    relevance: pl.Series


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
    run, qrels = (
        {query: items for query, items in dictionary.items() if items}
        for dictionary in (rankings, judgements)
    )
    if not (run and qrels and _is_plain([*run, *qrels])) or _may_hold_the_same(run, options):
        return None
    grade_by_item = _grades(qrels)
    rows = None if grade_by_item is None else _rows(run, qrels, grade_by_item["relevance"].dtype)
    if grade_by_item is None or rows is None or rows.relevance.null_count() == rows.relevance.len():
        return None
    return _judged(run, rows, grade_by_item, options)


def _needs_names(requests: Requests, options: Options) -> bool:
    """Return whether something that is asked for may need the ids of items."""
    return (
        any(metric.condensed for metric, _ in requests)
        or options.naive_order != "row"
        or options.exclude_self
        or options.unjudged not in (None, "non_relevant")
    )


def _may_hold_the_same(run: Nested, options: Options) -> bool:
    """Return whether all lists may hold the same items, each perhaps without its own query, as far
    as the first two show; only then does it depend on ids whether lists were truncated.
    """
    first = [items.keys() for items in run.values()][:2]
    return options.truncated == AUTO and len(first) == 2 and len(first[0] ^ first[1]) <= 2


def _judged(run: Nested, rows: _Run, graded_rows: pl.DataFrame, options: Options) -> Judged:
    """Return the record of a run whose rows have their grades."""
    ends = running(_sizes(run))
    list_names = pl.DataFrame({"model": "model", "query": list(run)})
    list_names = list_names.with_columns(begin=ends[:-1], end=ends[1:]).sort("query")
    names = list_names[KEYS]
    lists = all_lists(names, graded_rows, None, (), options)
    spread = spread_rows(
        Rows(list_names["begin"].to_numpy(), list_names["end"].to_numpy()), names, lists
    )
    is_judged = rows.relevance.is_not_null().cast(pl.Int64)
    frame = pl.DataFrame([rows.score, rows.relevance.fill_null(0)])
    whole = replace(KNOWS_ALL, models=("model",), judged=True)
    return Judged(
        frame,
        graded_rows,
        lists.with_columns(judged=spread.sums(is_judged.to_numpy())),
        spread,
        *graded(frame, graded_rows, whole),
        whole,
        repeated_judgements=(0, int(graded_rows["count"].sum())),
    )


def _grades(qrels: Nested) -> pl.DataFrame | None:
    """Return how many items of every query have each grade, or None if a grade or an id is unusual."""
    parts = []
    for block in _blocks(qrels):
        items, values = _together(block)
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


def _rows(run: Nested, qrels: Nested, dtype: pl.DataType) -> _Run | None:
    """Return the rows of a run, or None if a score or an id is unusual."""
    parts = []
    for block in _blocks(run):
        items, values = _together(block)
        if not _is_plain(items) or not isinstance(values[0], float):
            return None
        grades = chain.from_iterable(map(qrels.get(query, {}).get, of) for query, of in block)
        try:
            score = pl.Series("score", values, dtype=pl.Float64)
        except NO_NUMBERS:
            return None
        parts.append(_Run(score, pl.Series("relevance", list(grades), dtype=dtype)))
    rows = _Run(*map(pl.concat, zip(*parts, strict=True)))
    usual = rows.score.is_between(-EXACT, EXACT, "none") & rows.score.is_not_null()
    return rows if usual.all() else None


def _blocks(nested: Nested) -> Iterator[list[tuple[Any, Mapping[Any, Any]]]]:
    """Yield some queries at a time, with their items."""
    block, rows = [], 0
    for pair in nested.items():
        block.append(pair)
        rows += len(pair[1])
        if rows >= ROWS:
            yield block
            block, rows = [], 0
    if block:
        yield block


def _together(block: Iterable[tuple[Any, Mapping[Any, Any]]]) -> tuple[list[Any], list[Any]]:
    """Return the items and the numbers of some queries."""
    items: list[Any] = []
    values: list[Any] = []
    for _, of_query in block:
        items.extend(of_query)
        values.extend(of_query.values())
    return items, values


def _sizes(nested: Nested) -> Integers:
    return np.fromiter(map(len, nested.values()), np.int64, len(nested))


def _is_plain(ids: Iterable[Any]) -> bool:
    """Return whether all ids are texts of ASCII without blanks, which nothing can merge."""
    try:
        text = "".join(ids)
    except TypeError:
        return False
    return text.isascii() and " " not in text and "\t" not in text

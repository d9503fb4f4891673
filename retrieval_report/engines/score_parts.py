"""Run a table part by part; a part gives the same results as the whole would for its queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import polars as pl
from tqdm import tqdm

from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.frames import check_counts, check_rankings
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.truncated import NO
from retrieval_report.contracts.warning import warn
from retrieval_report.engines.disk_evidence import decide_table
from retrieval_report.engines.disk_parts import Parts, find_parts
from retrieval_report.engines.disk_tables import Table
from retrieval_report.engines.disk_whole import find_known
from retrieval_report.metrics.parsing import Requests
from retrieval_report.metrics.terms import check_judged_only
from retrieval_report.reading.ids import SPELT_AS_NUMBER, in_kind_of
from retrieval_report.scoring.judged import KnownOfWhole, frames_beside, judge
from retrieval_report.scoring.run import run_of, score_lists, score_run, start
from retrieval_report.scoring.scores import ListScores
from retrieval_report.scoring.ties import count_rows
from retrieval_report.scoring.unknown_relevant import (
    unpooled_queries,
    unseen_lists,
    warn_unpooled,
    warn_unseen,
)
from retrieval_report.writing.temporary import Scratch

Frames = Mapping[str, pl.DataFrame | None]  # judgements and queries
Result = TypeVar("Result")
Work = Callable[[int], ListScores]  # scores one part, given by its number
Keep = Callable[[Work, Sequence[int]], Work]  # given the rows of all parts too


def afresh(work: Work, _: Sequence[int]) -> Work:
    """Keep nothing."""
    return work


def scored_parts(
    table: Table,
    judgements: object,
    queries: object,
    requests: Requests,
    options: Options,
    scratch: Scratch,
    rows_per_part: int,
    keep: Keep = afresh,
) -> Iterator[ListScores]:
    """Yield the scores of every part; a table of one part is scored directly. ``keep`` may change
    how one is scored.
    """
    _check_columns(table, relevance=judgements is None)
    if table.rows <= rows_per_part:

        def whole_table(_: int) -> ListScores:
            return score_lists(
                judge(table.read(0, table.rows), judgements, queries, options), requests, options
            )

        yield from _run(keep(whole_table, (table.rows,)), (table.rows,), "", False)
        return
    own = replace(options, progress=False)
    given = _checked(table, judgements, queries)
    whole = find_known(table, given["judgements"], given["queries"], options)
    decisions = decide_table(table, given, options, whole.models)
    if decisions:
        own = replace(
            own, truncated={model: decision.truncated for model, decision in decisions.items()}
        )
    nothing = {name: None if frame is None else frame.clear() for name, frame in given.items()}
    _check_request(table, nothing, requests, own, whole)
    numbered = "naive" in options.policies and "count" not in table.empty.columns
    results = (
        sum(len(cutoffs) for _, cutoffs in requests)
        * len(options.policies)
        * max(len(whole.models), 1)
    )
    parts = find_parts(
        table, scratch, rows_per_part, results=results, numbered=numbered, progress=options.progress
    )
    beside = {
        name: {} if frame is None else _by_part(frame, parts) for name, frame in given.items()
    }

    def work(number: int) -> ListScores:
        own_judgements, own_queries = (
            beside[name].get(number, none) for name, none in nothing.items()
        )
        judged = judge(parts.read(number), own_judgements, own_queries, own, whole)
        run = start(judged, requests, own)
        scores = score_run(run)
        # Columns, so that they are kept with the scores when the parts are.
        unseen, unpooled = unseen_lists(run.prepared, judged, requests), judged.unpooled(own)
        return replace(scores, lists=scores.lists.with_columns(unseen=unseen, unpooled=unpooled))

    without_pool, guessed = [], []
    for scores in _run(keep(work, parts.rows), parts.rows, "scoring", options.progress):
        without_pool.append(unpooled_queries(scores.lists.filter("unpooled")))
        guessed.append(scores.lists.filter("unseen").select("model", "query"))
        yield scores
    warn_unpooled(pl.concat(without_pool).sort("query"), requests)
    warn_unseen(pl.concat(guessed).sort("model", "query"))


def counted_parts(
    table: Table, scratch: Scratch, rows_per_part: int, progress: bool
) -> Iterator[pl.DataFrame]:
    """Yield the counts of every part."""
    _check_columns(table, relevance=True)
    if table.rows <= rows_per_part:
        yield from _run(lambda _: count_rows(table.read(0, table.rows)), (table.rows,), "", False)
        return
    parts = find_parts(table, scratch, rows_per_part, results=1, numbered=False, progress=progress)
    models = table.collect(lambda rows: rows.select("model").unique())["model"].n_unique()
    yield from _run(
        lambda number: count_rows(parts.read(number), models), parts.rows, "counting", progress
    )


def _check_columns(table: Table, *, relevance: bool) -> None:
    """Refuse columns that are missing or of the wrong type before any row is read."""
    if "count" in table.given.columns:
        check_counts(table.given)
    else:
        check_rankings(table.given, relevance=relevance)


def _checked(table: Table, judgements: object, queries: object) -> dict[str, pl.DataFrame | None]:
    """Return checked judgements and queries, with query ids of the rankings' type."""
    frames, dtype = frames_beside(judgements, queries), table.empty.schema["query"]
    for name, frame in frames.items():
        if frame is None:
            continue
        for key in {"query", "item"} & set(frame.columns) & set(table.empty.columns):
            frame = frame.with_columns(
                in_kind_of(_ids_like(table, key, frame), frame[key], "rankings", name)
            )
        wanted = [
            column
            for column in ("query", "item", "relevance", "n_relevant")
            if column in frame.columns
        ]
        frames[name] = frame.select(wanted).with_columns(pl.col("query").cast(dtype))
    return frames


def _ids_like(table: Table, key: str, frame: pl.DataFrame) -> pl.Series:
    """Return ids of the kind of all rows; of text beside numbers, the first that is not written as
    a number.
    """
    ids = table.empty[key]
    if ids.dtype != pl.String or frame.schema[key] == pl.String:
        return ids
    odd = table.scan().select(key).filter(~pl.col(key).str.contains(SPELT_AS_NUMBER)).head(1)
    return odd.collect(engine="streaming")[key]


def _check_request(
    table: Table, nothing: Frames, requests: Requests, options: Options, whole: KnownOfWhole
) -> None:
    """Score zero rows, so that wrong arguments are reported before hours of work."""
    check_judged_only(
        [metric for metric, _ in requests], nothing["judgements"] is not None, options.unjudged
    )
    judged = judge(table.empty, nothing["judgements"], nothing["queries"], options, whole)
    run_of(judged, requests, replace(options, truncated=NO))


def _by_part(frame: pl.DataFrame, parts: Parts) -> dict[int, pl.DataFrame]:
    located = parts.locate(frame.lazy()).collect()
    groups = located.partition_by("part", as_dict=True, include_key=False)
    return {key[0]: group for key, group in groups.items()}


def _run(
    work: Callable[[int], Result], parts: tuple[int, ...], title: str, progress: bool
) -> Iterator[Result]:
    """Yield the results of all parts; a warning that several parts raise is shown once."""
    given: set[str] = set()
    with tqdm(
        total=sum(parts), desc=title, unit="row", unit_scale=True, disable=not progress
    ) as bar:
        for number, rows in enumerate(parts):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    result = work(number)
                except RetrievalReportError as error:
                    if len(parts) > 1:
                        error.add_note(f"Counted within part {number + 1} of {len(parts)}.")
                    raise
            for warning in caught:
                if str(warning.message) not in given:
                    given.add(str(warning.message))
                    warn(warning.message)
            yield result
            bar.update(rows)

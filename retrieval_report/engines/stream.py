"""Turn sorted Arrow batches into batches of scores, for Spark's ``mapInArrow`` and other
streams.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pyarrow as pa

from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.frames import SCORES
from retrieval_report.contracts.options import Options, options_with
from retrieval_report.engines.stream_batches import Last, prepare_chunk, ready
from retrieval_report.metrics.parsing import Cutoffs, Metrics, Requests, parse_metrics
from retrieval_report.metrics.terms import check_judged_only
from retrieval_report.scoring.judged import KnownOfWhole
from retrieval_report.scoring.known_items import KEYS
from retrieval_report.scoring.run import Run, refuse_without, score_run
from retrieval_report.scoring.scores import ListScores

CHUNK_ROWS = 1 << 17  # rows scored together, so that no Python code runs for every query
BATCH_ROWS = 1 << 16  # scores per output batch
ARROW = {
    pl.String: pa.string(),
    pl.Int64: pa.int64(),
    pl.Float64: pa.float64(),
    pl.Boolean: pa.bool_(),
}


def score_stream(
    batches: Iterable[pa.RecordBatch],
    *,
    metrics: Metrics = None,
    cutoffs: Cutoffs = None,
    grades: Sequence[float] = (),
    judged: bool = False,
    complete: bool = False,
    pooled: bool = False,
    **options: Any,
) -> Iterator[pa.RecordBatch]:
    """Score lists from a sorted stream; ``functools.partial`` makes this a function for
    ``mapInArrow``.

    A list that a batch leaves unfinished is carried over to the next, and rows of equal distance
    are merged, so neither batch boundaries nor partial counts change a bit of the scores. Memory
    holds the rows of the largest list, of one batch, and about 130 000 more.

    Parameters
    ----------
    batches
        ``model`` (optional), ``query``, ``distance`` or ``score``, ``relevance`` and ``count`` (1
        when absent), sorted by model, query (text by its bytes) and distance (score: descending).
        Inside ties, naive scores follow the order received, in which ``file`` and ``row`` must
        ascend, or ``item``, if there are such columns.
        Optional: ``role``, 2 (or null) for items of the list; 1 for rows that are not in it (masked
        items, or known items that were not retrieved, with their relevance); 0 for what judgements
        and queries frames say: that the list is requested, its judged items (``relevance``,
        ``count``) or their number ``n_relevant``. These come first, with null distances.
    metrics, cutoffs
        As for :func:`evaluate`.
    grades
        The relevances above 0 in the whole data, which a stream cannot see: at least the lowest,
        the highest, and the lowest that is at least ``relevant_from``.
    judged
        Whether there are judgements; rows of role 0 then hold all judged items.
    complete
        Whether there is a queries frame; every list then has a row of role 0.
    pooled
        Whether relevant items are pooled for lack of judgements; rows of role 0 then hold the
        relevant items of the query that any model retrieved.
    **options
        All other options of :func:`evaluate`; ``threads`` is 1 unless given. Lists cannot be
        compared in a stream, so with ``truncated="auto"`` only a column ``truncated`` of counts
        shows that they are whole.

    Returns
    -------
    Iterator[pyarrow.RecordBatch]
        Scores as :func:`evaluate` returns them, list by list in the order of the stream.

    Raises
    ------
    RetrievalReportError
        As for :func:`evaluate`, and a DataError if rows are not in order or a list recurs. Counts
        in the messages refer only to the lists scored together.

    Examples
    --------
    >>> rows = pa.RecordBatch.from_pydict(
    ...     {"query": ["q"] * 3, "distance": [0, 2, 5], "relevance": [0, 1, 1], "count": [1, 1, 2]}
    ... )
    >>> ties = score_stream(
    ...     iter([rows[:1], rows[1:]]), metrics="ap", cutoffs=None, policies="expected"
    ... )
    >>> [round(value, 4) for batch in ties for value in batch["value"].to_pylist()]
    [0.6389]
    """
    checked, requests = options_with({"threads": 1, **options}), parse_metrics(metrics, cutoffs)
    check_judged_only([metric for metric, _ in requests], judged, checked.unjudged)
    whole = KnownOfWhole(grades=tuple(grades), judged=judged, complete=complete, pooled=pooled)
    return _score(batches, requests, whole, checked)


def scores_schema(query: pa.DataType) -> pa.Schema:
    """Return the schema of scores for a type of query ids."""
    return pa.schema(
        [(name, query if dtype is None else ARROW[dtype]) for name, dtype in SCORES.items()]
    )


def _score(
    batches: Iterable[pa.RecordBatch], requests: Requests, whole: KnownOfWhole, options: Options
) -> Iterator[pa.RecordBatch]:
    last: Last | None = None
    for chunk in _chunks(batches):
        try:
            scores = score_run(_run_of(chunk, last, requests, whole, options))
        except RetrievalReportError as error:
            error.args = (
                re.sub(r" \(row \d+\)", "", str(error)),
            )  # rows of a stream have no numbers
            error.add_note(f"Counted in {chunk.height} rows scored together, not in the whole.")
            raise
        last = _list_of(chunk, -1)
        yield from _batches(scores)


def _run_of(
    chunk: pl.DataFrame,
    last: Last | None,
    requests: Requests,
    whole: KnownOfWhole,
    options: Options,
) -> Run:
    """Lay out a chunk, and for metrics of judged items alone also without the others."""
    prepared = prepare_chunk(chunk, last, whole, options)
    refuse_without(prepared, options)
    alone = [metric for metric, _ in requests if metric.term.judged_only]
    if not alone or not whole.judged or options.unjudged in ("drop", "error"):
        return Run(prepared, requests, options)
    condensed = prepare_chunk(chunk, last, whole, replace(options, unjudged="drop"))
    if len(alone) == len(requests):
        return Run(condensed, requests, options)
    return Run(prepared, requests, options, condensed)


def _chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
    """Yield whole lists, in frames of little more than CHUNK_ROWS rows unless a single list has
    more.
    """
    done: list[pl.DataFrame] = []
    carried: list[pl.DataFrame] = []  # rows of one list, which may continue
    for batch in batches:
        frame = ready(pl.DataFrame(pl.from_arrow(batch)))
        if frame.is_empty():
            continue
        begin = _begin_of_last(frame)
        if begin > 0 or (carried and _list_of(frame, 0) != _list_of(carried[-1], -1)):
            done, carried = [*done, *carried, frame[:begin]], []
        carried.append(frame[begin:])
        if sum(part.height for part in done) >= CHUNK_ROWS:
            yield pl.concat(done)
            done = []
    if done or carried:
        yield pl.concat([*done, *carried])


def _begin_of_last(frame: pl.DataFrame) -> int:
    """Return the first row of the last list."""
    other = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).last()) for key in KEYS)
    rows = frame.select(other.arg_true()).to_series()
    return int(rows[-1]) + 1 if len(rows) else 0


def _list_of(frame: pl.DataFrame, row: int) -> Last:
    model, query = frame.select(KEYS).row(row)
    return model, query


def _batches(scores: ListScores) -> Iterator[pa.RecordBatch]:
    """Yield the long frame of scores, a few lists at a time."""
    for frame in scores.frames(BATCH_ROWS):
        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        query = table.schema.field("query").type
        schema = scores_schema(pa.string() if pa.types.is_large_string(query) else query)
        yield from table.cast(schema).combine_chunks().to_batches()

"""Parts put together: in memory, or in one Parquet file, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Unpack

import polars as pl

from retrieval_report.contracts.arguments import check_whole
from retrieval_report.contracts.errors import OutputError
from retrieval_report.contracts.frames import order_column
from retrieval_report.contracts.options import EvaluateOptions, Options
from retrieval_report.disk.sources import Table, open_table
from retrieval_report.disk.work import counted_parts, scored_parts
from retrieval_report.metrics.catalogue import Metric
from retrieval_report.metrics.parsing import DEFAULT_CUTOFFS, DEFAULT_METRICS, Requests, parse_metrics
from retrieval_report.scoring.scores import ListScores
from retrieval_report.writing.temporary import Scratch, scratch

__all__ = ["ROWS_PER_PART", "collect_counts", "collect_scores", "count_ties_to", "evaluate_to"]

ROWS_PER_PART = 2_000_000
"""Rows scored together, unless the caller says otherwise."""


def collect_scores(
    rankings: object, judgements: object, queries: object, requests: Requests, options: Options
) -> ListScores:
    """Scores of all lists, sorted as in memory; the rows come part by part."""
    with scratch() as folder:
        table = open_table(rankings, folder, ROWS_PER_PART)
        parts = list(scored_parts(table, judgements, queries, requests, options, folder, ROWS_PER_PART))
    return ListScores.of(parts)


def collect_counts(rankings: object) -> pl.DataFrame:
    """Counts of all ties, sorted as in memory; the rows come part by part."""
    with scratch() as folder:
        table = open_table(rankings, folder, ROWS_PER_PART)
        counts = pl.concat(list(counted_parts(table, folder, ROWS_PER_PART, False)))
    return counts.sort("model", "query", order_column(counts), "relevance")


def evaluate_to(
    out: str | Path,
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    metrics: str | Metric | Sequence[str | Metric] = DEFAULT_METRICS,
    cutoffs: int | str | Sequence[int | str | None] | None = DEFAULT_CUTOFFS,
    columns: Mapping[str, str] | None = None,
    model: str | None = None,
    rows_per_part: int | None = None,
    **options: Unpack[EvaluateOptions],
) -> Path:
    """Score rankings larger than memory: what :func:`evaluate` returns, written to a Parquet file part by part.

    Memory grows with ``rows_per_part``, the rows of the largest query (of all models together), the judgements and
    queries frames, and slowly with the number of queries; not with the number of rows. Rows whose queries stand
    together (in the whole, or within each of a few files) are read in place; others are copied once, to a temporary
    folder beside ``out``, which needs about the room of the input as Parquet.

    Parameters
    ----------
    out
        The Parquet file to write. It appears when everything has been scored; an older one is replaced then.
    rankings
        Parquet or Arrow files of rankings or counts (a path, a glob, a folder, or a list of them, seen as by
        :func:`read_rankings`, types equal in all), or a frame. A LazyFrame is computed once; what is more than
        ``rows_per_part`` of it goes to disk.
    judgements, queries, metrics, cutoffs
        As for :func:`evaluate`; the frames are held in memory.
    columns, model
        For files, as for :func:`read_rankings`.
    rows_per_part
        Rows scored together, by default two million. The scores do not depend on it.
    **options
        All other arguments of :func:`evaluate`.

    Returns
    -------
    pathlib.Path
        ``out``. Its rows are those of :func:`evaluate`, equal to the last bit: part after part, sorted within a part
        by model and query.

    Raises
    ------
    RetrievalReportError
        As :func:`evaluate`. Errors in the data are found part by part, and then count what one part holds.

    Warns
    -----
    RetrievalReportWarning
        As :func:`evaluate`, but ids are compared (for blanks around them, or Unicode forms) within a part only.

    Examples
    --------
    >>> import tempfile
    >>> rankings = pl.LazyFrame({
    ...     "query": ["q"] * 4, "item": list("abcd"), "distance": [0, 2, 2, 5], "relevance": [0, 1, 0, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scores = evaluate_to(
    ...         f"{folder}/scores.parquet", rankings, metrics="rr", cutoffs=None, policies=("naive", "best"))
    ...     pl.read_parquet(scores).select("query", "metric", "policy", "value").rows()
    [('q', 'rr', 'naive', 0.5), ('q', 'rr', 'best', 0.5)]
    """
    requests, size = parse_metrics(metrics, cutoffs), _size(rows_per_part)
    settings = Options(**options)
    with _beside(out) as folder:
        table = _open(rankings, Path(out), folder, size, columns, model)
        scores = scored_parts(table, judgements, queries, requests, settings, folder, size)
        return _write(chain.from_iterable(map(ListScores.frames, scores)), folder(), Path(out))


def count_ties_to(
    out: str | Path,
    rankings: object,
    *,
    columns: Mapping[str, str] | None = None,
    model: str | None = None,
    rows_per_part: int | None = None,
    progress: bool = False,
) -> Path:
    """Count the ties of rankings larger than memory: what :func:`count_ties` returns, written to a Parquet file.

    Parameters and memory as for :func:`evaluate_to`.

    Examples
    --------
    >>> import tempfile
    >>> rankings = pl.LazyFrame({
    ...     "query": ["q"] * 4, "item": list("abcd"), "distance": [0, 2, 2, 2], "relevance": [0, 1, 0, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.read_parquet(count_ties_to(f"{folder}/counts.parquet", rankings)).rows()
    [('model', 'q', 0, 0, 1), ('model', 'q', 2, 0, 1), ('model', 'q', 2, 1, 2)]
    """
    size = _size(rows_per_part)
    with _beside(out) as folder:
        table = _open(rankings, Path(out), folder, size, columns, model)
        return _write(counted_parts(table, folder, size, progress), folder(), Path(out))


def _size(rows_per_part: int | None) -> int:
    return ROWS_PER_PART if rows_per_part is None else check_whole("rows_per_part", rows_per_part, 1)


def _open(
    rankings: object, out: Path, folder: Scratch, size: int, columns: Mapping[str, str] | None, model: str | None
) -> Table:
    """The rankings as a table, none of whose files is the one to be written."""
    table = open_table(rankings, folder, size, columns, model)
    if out.exists() and any(file.path is not None and file.path.samefile(out) for file in table.files):
        raise OutputError(f"cannot write to '{out}': it is one of the files to be read")
    return table


@contextmanager
def _beside(out: str | Path) -> Iterator[Scratch]:
    """A folder beside the file to be written: it can be moved there in one step, and there is room."""
    path = Path(out)
    if path.is_dir():
        raise OutputError(f"cannot write to '{path}': is a folder")
    with scratch(path.parent) as folder:
        try:
            folder()
        except OutputError as error:
            raise OutputError(f"cannot write to '{path}': {error}") from error
        yield folder


def _write(results: Iterator[pl.DataFrame], folder: Path, out: Path) -> Path:
    """Write every result as it comes, put them together, and only then take the name asked for."""
    written: list[Path] = []
    for frame in results:
        written.append(folder / f"result-{len(written):06}.parquet")
        with _writing(out):
            frame.write_parquet(written[-1], compression="lz4")
    whole = folder / "whole.parquet"
    with _writing(out):
        pl.scan_parquet(written, glob=False, hive_partitioning=False).sink_parquet(
            whole, maintain_order=True, sync_on_close="all"
        )
        whole.replace(out)
    return out


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _output_error(out, error) from error


def _output_error(path: Path, error: Exception) -> OutputError:
    reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
    return OutputError(f"cannot write to '{path}': {reason}")

"""Combine the results of all parts, in memory or in
one Parquet file that is written whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

import polars as pl

from retrieval_report.contracts.arguments import ColumnNames, check_path, check_whole
from retrieval_report.contracts.errors import OutputError, ParameterError, one_line
from retrieval_report.contracts.options import EvaluateOptions, Options, options_with
from retrieval_report.engines.disk_tables import open_table
from retrieval_report.engines.resume import keeping
from retrieval_report.engines.score_parts import afresh, counted_parts, scored_parts
from retrieval_report.metrics.parsing import Cutoffs, Metrics, Requests, parse_metrics
from retrieval_report.reading.finding import is_path
from retrieval_report.scoring.scorer import ListScores
from retrieval_report.scoring.ties import sorted_counts
from retrieval_report.writing.files import refuse_inputs, regular_file
from retrieval_report.writing.temporary import scratch

# Default number of rows scored together.
ROWS_PER_PART = 2_000_000


def collect_scores(
    rankings: object, judgements: object, queries: object, requests: Requests, options: Options
) -> ListScores:
    """Return the scores of all lists, sorted as if scored in memory; rows are read part by part."""
    with scratch() as folder:
        table = open_table(rankings, folder)
        parts = dict(
            scored_parts(table, judgements, queries, requests, options, folder, ROWS_PER_PART)
        )
    return ListScores.of([*parts.values()])


def collect_counts(rankings: object) -> pl.DataFrame:
    """Return the counts of all ties, sorted as if counted in memory; rows are read part by part."""
    with scratch() as folder:
        counts = pl.concat(list(counted_parts(open_table(rankings, folder), folder, ROWS_PER_PART)))
    return sorted_counts(counts)


def evaluate_to(
    out: str | Path,
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    measures: Metrics = None,
    cutoffs: Cutoffs = None,
    columns: ColumnNames = None,
    rows_per_part: int | None = None,
    resume: str | Path | None = None,
    metrics: Metrics = None,
    **options: Unpack[EvaluateOptions],
) -> Path:
    """Score rankings larger than memory and write what :func:`evaluate` returns to a Parquet file,
    part by part.

    Memory grows with ``rows_per_part``, the rows of the largest query (of all models together), the
    judgements and queries frames, and slowly with the number of queries, but not with the number of
    rows. If there are more rows than ``rows_per_part``, and those of the same query do not stand
    together (in the whole, or in each of a few long stretches, such as one per model), they are
    copied once to a temporary folder beside ``out``, which needs about as much space as the input
    as Parquet.

    Parameters
    ----------
    out
        The Parquet file to write. It appears, or replaces an older one, once everything has been
        scored.
    rankings
        Parquet or Arrow files of rankings or counts (a path, a glob, a folder, or a list of them,
        as for :func:`read_rankings`, with equal types in all), or a frame. A LazyFrame is computed
        once; if it has more than ``rows_per_part`` rows, it goes to disk.
    judgements, queries, measures, cutoffs, metrics
        As for :func:`evaluate`; the frames are held in memory.
    columns
        For files, as for :func:`read_rankings`.
    rows_per_part
        Number of rows scored together, by default two million. The scores do not depend on it.
    resume
        A folder in which the scores of finished parts are kept. If a run is interrupted, the same
        call continues after the last of them and writes the same bytes. Rankings must be files; all
        of them are read once more to check that they are unchanged. The folder is not removed:
        delete it when you have the scores.
    **options
        All other arguments of :func:`evaluate`.

    Returns
    -------
    pathlib.Path
        ``out``. Its rows are those of :func:`evaluate`, equal to the last bit, part after part and
        sorted within a part by model and query.

    Raises
    ------
    RetrievalReportError
        As for :func:`evaluate`. Errors in the data are found part by part, so their counts refer to
        one part.
    OutputError
        ``out`` cannot be written, or ``resume`` holds parts of a run with other rankings, frames or
        arguments.

    Warns
    -----
    RetrievalReportWarning
        As for :func:`evaluate`, but ids are compared (for surrounding blanks or Unicode forms)
        within a part only.

    Examples
    --------
    >>> import tempfile
    >>> rankings = pl.LazyFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scores = evaluate_to(
    ...         f"{folder}/scores.parquet",
    ...         rankings,
    ...         measures="rr",
    ...         cutoffs=None,
    ...         policies=("naive", "best"),
    ...     )
    ...     pl.read_parquet(scores).select("query", "metric", "policy", "value").rows()
    [('q', 'rr', 'naive', 0.5), ('q', 'rr', 'best', 0.5)]
    """
    requests = parse_metrics(measures, cutoffs, metrics)
    settings = options_with(options)
    size = (
        ROWS_PER_PART if rows_per_part is None else check_whole("rows_per_part", rows_per_part, 1)
    )
    if resume is not None and not is_path(rankings):
        raise ParameterError("resume: works only for rankings in files")
    target = regular_file(check_path("out", out))
    # Results are moved to the file in one step, from a folder beside it.
    with scratch(target.parent) as folder:
        folder()  # before any work, if it cannot be made
        table = open_table(rankings, folder, columns)
        refuse_inputs([target], [file.path for file in table.files])
        arguments = (table, judgements, queries, requests, settings)
        keep = afresh if resume is None else keeping(check_path("resume", resume), *arguments)
        _write(scored_parts(*arguments, folder, size, keep), folder(), target)
    return check_path("out", out)


def _write(results: Iterator[tuple[int, ListScores]], folder: Path, out: Path) -> None:
    """Write the scores of every part as they come, in place of older ones; combine them, and only
    then rename the file to ``out``.
    """
    paths: dict[Path, None] = {}  # in order of the parts
    whole = folder / "whole.parquet"
    try:
        for number, scores in results:
            for piece, frame in enumerate(scores.frames()):
                path = folder / f"result-{number}-{piece}.parquet"
                frame.write_parquet(path, compression="lz4")
                paths[path] = None
        pl.scan_parquet([*paths], glob=False, hive_partitioning=False).sink_parquet(
            whole, maintain_order=True, sync_on_close="all"
        )
        whole.replace(out)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise OutputError(
            f"cannot write to '{out}': {getattr(error, 'strerror', None) or one_line(error)}"
        ) from error

"""Parts in, one Parquet file out, whole or not at all: ``evaluate_to`` and ``count_ties_to``."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from tqdm import tqdm

from retrieval_report.arguments import check_whole
from retrieval_report.errors import KeyMismatchError, OutputError, RetrievalReportError
from retrieval_report.evaluation import DEFAULT_CUTOFFS, DEFAULT_METRICS, evaluate
from retrieval_report.metrics import Metric
from retrieval_report.options import Options
from retrieval_report.reading.frames import to_polars
from retrieval_report.schema import check_counts, check_judgements, check_queries, check_rankings
from retrieval_report.stream.facts import Facts, find_facts, marker_judgements, marker_queries, marker_rows
from retrieval_report.stream.parts import Parts, find_parts
from retrieval_report.stream.sources import Paths, Table, open_table
from retrieval_report.ties import count_rows

__all__ = ["ROWS_PER_PART", "count_ties_to", "evaluate_to"]

ROWS_PER_PART = 2_000_000
"""Rows scored together, unless the caller says otherwise."""

Work = Callable[[int], pl.DataFrame]


def evaluate_to(
    out: str | Path,
    rankings: pl.LazyFrame | pl.DataFrame | Paths,
    *,
    judgements: object = None,
    queries: object = None,
    metrics: str | Metric | Sequence[str | Metric] = DEFAULT_METRICS,
    cutoffs: int | str | Sequence[int | str | None] | None = DEFAULT_CUTOFFS,
    columns: Mapping[str, str] | None = None,
    model: str | None = None,
    rows_per_part: int | None = None,
    progress: bool = False,
    **options: Any,
) -> Path:
    """Score rankings larger than memory: what :func:`evaluate` returns, written to a Parquet file part by part.

    Memory grows with ``rows_per_part``, the rows of the largest query (of all models together), the judgements and
    queries frames, and slowly with the number of queries; not with the number of rows. Rows whose queries stand
    together (in the whole, or within each of a few files) are read in place; others are copied once, to a temporary
    folder beside ``out``, which needs about the room of the input.

    Parameters
    ----------
    out
        The Parquet file to write. It appears when everything has been scored; an older one is replaced then.
    rankings
        Parquet or Arrow files of rankings or counts (a path, a glob, a folder, or a list of them, seen as by
        :func:`read_rankings`, types equal in all), or a lazy frame, which is computed once, to disk.
    judgements, queries, metrics, cutoffs
        As for :func:`evaluate`; the frames are held in memory.
    columns, model
        For files, as for :func:`read_rankings`.
    rows_per_part
        Rows scored together, by default two million. The scores do not depend on it.
    progress
        Show progress bars.
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
    options = {"metrics": metrics, "cutoffs": cutoffs, **options}
    with _place_for(out) as folder:
        table = open_table(rankings, folder, columns, model)
        told = _told(table, judgements, queries)
        _refuse_own_input(Path(out), table)
        if table.starts[-1] == 0:
            nothing = evaluate(table.empty, judgements=told["judgements"], queries=told["queries"], **options)
            return _write(iter([nothing]), folder, Path(out))
        facts = find_facts(table, told["judgements"], told["queries"], options)
        _try(table, facts, told, options)
        numbered = "naive" in options.get("policies", Options.policies) and "count" not in table.empty.columns
        parts = find_parts(table, folder, _size(rows_per_part), numbered=numbered, progress=progress)
        beside = {name: _by_part(frame, parts) for name, frame in told.items() if frame is not None}

        def work(number: int) -> pl.DataFrame:
            frames = {name: frame.get(number) for name, frame in beside.items()}
            return _score(parts.read(number), facts, frames, told, options)

        return _write(_run(work, parts, "scoring", progress), folder, Path(out))


def count_ties_to(
    out: str | Path,
    rankings: pl.LazyFrame | pl.DataFrame | Paths,
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
    with _place_for(out) as folder:
        table = open_table(rankings, folder, columns, model)
        _refuse_own_input(Path(out), table)
        count_rows(table.empty)
        parts = find_parts(table, folder, _size(rows_per_part), numbered=False, progress=progress)
        counts = _run(lambda number: count_rows(parts.read(number)), parts, "counting", progress)
        return _write(counts, folder, Path(out))


def _size(rows_per_part: int | None) -> int:
    return ROWS_PER_PART if rows_per_part is None else check_whole("rows_per_part", rows_per_part, 1)


def _refuse_own_input(out: Path, table: Table) -> None:
    if out.exists() and any(file.path.samefile(out) for file in table.files):
        raise OutputError(f"cannot write to '{out}': it is one of the files to be read")


def _told(table: Table, judgements: object, queries: object) -> dict[str, pl.DataFrame | None]:
    """Checked judgements and queries, with query ids of the rankings' type."""
    if "count" in table.empty.columns:
        check_counts(table.empty)
    else:
        check_rankings(table.empty, relevance=judgements is None)
    frames = {
        "judgements": None if judgements is None else check_judgements(to_polars(judgements, "judgements")),
        "queries": None if queries is None else check_queries(to_polars(queries, "queries")),
    }
    dtype = table.empty.schema["query"]
    for name, frame in frames.items():
        if frame is None:
            continue
        if frame.schema["query"].is_integer() != dtype.is_integer():
            raise KeyMismatchError(
                f"column 'query' is {dtype} in the rankings and {frame.schema['query']} in the {name}; ids are never "
                "cast (7 and '007' would merge): make both text or both whole numbers"
            )
        wanted = [column for column in ("query", "item", "relevance", "n_relevant") if column in frame.columns]
        frames[name] = frame.select(wanted).with_columns(pl.col("query").cast(dtype))
    return frames


def _try(table: Table, facts: Facts, told: Mapping[str, pl.DataFrame | None], options: Mapping[str, Any]) -> None:
    """Score the marker alone: what is wrong with the arguments comes out before hours of work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _score(
            table.empty, facts, dict.fromkeys(name for name, frame in told.items() if frame is not None), told, options
        )


def _by_part(frame: pl.DataFrame, parts: Parts) -> dict[int, pl.DataFrame]:
    located = parts.locate(frame.lazy()).collect()
    groups = located.partition_by("part", as_dict=True, include_key=False)
    return {key[0]: group for key, group in groups.items()}


def _score(
    rows: pl.DataFrame,
    facts: Facts,
    frames: Mapping[str, pl.DataFrame | None],
    told: Mapping[str, pl.DataFrame | None],
    options: Mapping[str, Any],
) -> pl.DataFrame:
    """The scores of a part; the marker goes in and comes out."""
    beside: dict[str, Any] = {}
    for name, make in (("judgements", marker_judgements), ("queries", marker_queries)):
        whole, own = told[name], frames.get(name)
        if whole is not None:
            marker = make(facts, whole.schema)
            beside[name] = marker if own is None else pl.concat([own, marker])
    marked = pl.concat([rows, marker_rows(facts, rows.schema, judged="judgements" in beside)])
    scores = evaluate(marked, **beside, **options)
    return scores.filter(pl.col("query") != facts.marker)


def _run(work: Work, parts: Parts, title: str, progress: bool) -> Iterator[pl.DataFrame]:
    """Results of all parts; a warning that several parts give is given once."""
    given: set[str] = set()
    with tqdm(total=sum(parts.rows), desc=title, unit="row", unit_scale=True, disable=not progress) as bar:
        for number, rows in enumerate(parts.rows):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    result = work(number)
                except RetrievalReportError as error:
                    error.add_note(f"Counted within part {number + 1} of {len(parts.rows)}.")
                    raise
            for warning in caught:
                if str(warning.message) not in given:
                    given.add(str(warning.message))
                    warnings.warn(warning.message, stacklevel=4)
            yield result
            bar.update(rows)


@contextmanager
def _place_for(out: str | Path) -> Iterator[Path]:
    """A folder beside the file to be written, gone afterwards."""
    path = Path(out)
    try:
        if path.is_dir():
            raise IsADirectoryError(None, "is a folder", str(path))
        place = tempfile.TemporaryDirectory(prefix=".retrieval-report-", suffix=".tmp", dir=path.parent)
    except (OSError, ValueError) as error:
        raise _output_error(path, error) from error
    with place as folder:
        yield Path(folder)


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

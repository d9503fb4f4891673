"""Read Parquet and Arrow IPC files, whose columns keep their types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from retrieval_report.contracts.errors import FileError
from retrieval_report.reading.scan import scan_binary
from retrieval_report.reading.sources import Source
from retrieval_report.reading.trial import try_first

MAX_ROWS = 2**32 - 1
"""Default limit of the rows of one file, which is what standard Polars can count."""


def read_binary(
    source: Source, form: str, choose: Callable[[Sequence[str]], dict[str, str]], max_rows: int | None = None
) -> pl.DataFrame:
    """Read columns of a Parquet or Arrow file under our names; types are kept.

    Inside `tried_first`, another process reads them before. The number of rows is first read from the metadata, because
    200 kB of Parquet can hold 10⁸ equal rows.

    Raises
    ------
    FileError
        The file is damaged or truncated, or has more than `max_rows` rows (default `MAX_ROWS`).
    """
    limit = MAX_ROWS if max_rows is None else max_rows
    try_first(source, form, choose, limit)
    with naming(source.path):
        frame = scan_binary(source.content, form, limit)
        chosen = choose(frame.collect_schema().names())
        rows = frame.select(pl.len()).collect().item()
        if rows > limit:
            message = f"{rows} rows are more than max_rows={limit}; raise max_rows= if that is right"
            raise FileError(f"{source.path}: {message}")
        return frame.select(pl.col(theirs).alias(ours) for ours, theirs in chosen.items()).collect()


@contextmanager
def naming(path: Path | None) -> Iterator[None]:
    """Turn an error of the parser into a FileError that names the path."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise FileError(f"{path}: damaged or truncated file: {reason[:200]}") from error

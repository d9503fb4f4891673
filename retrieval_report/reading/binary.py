"""Read Parquet and Arrow IPC files, whose columns keep their types."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from retrieval_report.contracts.errors import FileError, one_line
from retrieval_report.contracts.frames import check_types
from retrieval_report.contracts.wording import advice, setting
from retrieval_report.reading.crash_guard_process import scan_binary
from retrieval_report.reading.names import Choose, Kind, under_our_names
from retrieval_report.reading.parquet_pages import check_pages
from retrieval_report.reading.sources import Source

# Default limit of the rows of one file, which is what standard Polars can count.
MAX_ROWS = 2**32 - 1


def read_binary(
    source: Source, form: str, choose: Choose, kind: Kind, max_rows: int | None
) -> pl.DataFrame:
    """Read columns of a Parquet or Arrow file under our names; types are kept.

    The number of rows is first read from the metadata, because 200 kB of Parquet can hold 10⁸
    equal rows.

    Raises
    ------
    ColumnError
        A column that has another name than ours is of a type that its contract does not accept.
    FileError
        The file is damaged or truncated, or has more than `max_rows` rows (default `MAX_ROWS`).
    """
    limit = MAX_ROWS if max_rows is None else max_rows
    if form == "parquet":
        with source.open() as file:
            check_pages(source.path, file)
    with naming(source.path):
        frame = scan_binary(source.content, form, limit)
        schema = frame.collect_schema()
        column_names = choose(schema.names())
        check_types(schema, column_names, kind.name)
        rows = frame.select(pl.len()).collect().item()
        if rows > limit:
            raise FileError(
                f"{source.path}: {rows} rows are more than {setting('max_rows', limit) or limit}"
                + advice("; if that is right, raise {}", setting("max_rows"))
            )
        return frame.select(under_our_names(column_names)).collect()


@contextmanager
def naming(path: Path | None) -> Iterator[None]:
    """Turn an error of the reader into a FileError that names the path."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if "precision must be between" in str(error):
            raise FileError(f"{path}: decimals of more than 38 digits are not read") from error
        raise FileError(f"{path}: damaged or truncated file: {one_line(error)}") from error

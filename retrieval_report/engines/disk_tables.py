"""Parquet and Arrow files, or a frame, as one long table."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from retrieval_report.contracts.arguments import ColumnNames
from retrieval_report.contracts.errors import (
    ColumnError,
    DataError,
    FileError,
    ParameterError,
    one_line,
)
from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.frames import check_types
from retrieval_report.contracts.wording import in_python
from retrieval_report.reading.binary import naming
from retrieval_report.reading.combine import Part, by_folder, refuse_shared_names
from retrieval_report.reading.convert import as_text
from retrieval_report.reading.finding import find_files, is_path
from retrieval_report.reading.formats import detect_format
from retrieval_report.reading.frames import matched_columns, renamed, to_polars
from retrieval_report.reading.merged_lists import SAMPLED_ROWS, check_merged, first_queries
from retrieval_report.reading.names import (
    ID_COLUMNS,
    RANKINGS,
    match_columns,
    under_our_names,
    unknown,
)
from retrieval_report.reading.parquet_pages import check_pages
from retrieval_report.reading.printed_ranks import RANK
from retrieval_report.reading.sources import base_name, folder_model, open_source
from retrieval_report.writing.temporary import Scratch


def check_rows(rows_read: int, expected: int) -> None:
    """Refuse rows that are not as many as there were: Polars
    can end early, without an error, in a shortened file.
    """
    if rows_read != expected:
        raise DataError(
            f"the rankings: {rows_read} rows where {expected} were counted before; was "
            "a file changed meanwhile?"
        )


@dataclass(frozen=True)
class File:
    """One file: its rows under our names, and their number."""

    path: Path
    frame: pl.LazyFrame
    rows: int
    name: str | None = None  # the model of all rows, if it is the file's name


@dataclass(frozen=True)
class Table:
    """The rows of all files, in the order of the files."""

    files: tuple[File, ...]
    empty: pl.DataFrame  # no rows, but all columns, also those that are not read

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return sum(file.rows for file in self.files)

    def read(self) -> pl.DataFrame:
        """Read all rows, in order."""
        rows = self.collect(lambda rows: rows)
        check_rows(rows.height, self.rows)
        return rows

    def collect(self, query: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
        """Return the results of a query on the rows of every file, each row with its model."""
        model = {} if "model" in self.empty.columns else {"model": pl.lit("model")}
        results = []
        for file in self.files:
            with naming(file.path):
                results.append(query(file.frame.with_columns(**model)).collect())
        return pl.concat(results)


def open_table(
    rankings: object,
    scratch: Scratch,
    columns: ColumnNames = None,
) -> Table:
    """Open rankings or counts as one table; a frame is computed once, into a file in ``scratch``.

    Columns and model names are found as in ``read_rankings``. Several files must have equal types,
    because widening them would require reading all values first.
    """
    refuse_fork()
    if not is_path(rankings):
        if columns is not None:
            raise ParameterError(
                "columns: works only for files; rename the columns of the frame itself"
            )
        if not isinstance(rankings, pl.LazyFrame):
            rankings = to_polars(rankings, "rankings").lazy()
        return _computed(rankings, scratch)
    files = [_open(path, columns) for path in find_files(rankings, skip=("run", "qrels"))]
    first, *later_files = files
    schema = first.frame.collect_schema()
    for file in later_files:
        odd = {name for name, _ in schema.items() ^ file.frame.collect_schema().items()}
        if odd:
            raise ColumnError(
                f"columns {sorted(odd)} differ between {first.path} and {file.path}; to be scored "
                "part by part, all files need the same columns and types"
                + in_python(" (read_rankings widens whole numbers)")
            )
    with naming(first.path):  # decimals of more than 38 digits are a type, but of no column
        empty = pl.DataFrame(schema=schema)
    parts = by_folder([Part(file.path, empty, file.name) for file in files])
    refuse_shared_names(parts)
    ordered = [
        replace(
            file,
            name=part.name,
            frame=(
                file.frame
                if part.name == file.name
                else file.frame.with_columns(model=pl.lit(part.name))
            ).select(empty.columns),
        )
        for file, part in zip(files, parts, strict=True)
    ]
    return Table(tuple(ordered), empty)


def _computed(frame: pl.LazyFrame, scratch: Scratch) -> Table:
    """Compute a lazy frame once, in order."""
    path = scratch() / "rankings.parquet"
    try:
        no_rows = pl.DataFrame(schema=frame.collect_schema())
        matched = matched_columns(no_rows, RANKINGS, "rankings")
        matched.pop(RANK, None)
        our_frame = as_text(frame.select(under_our_names(matched)), ID_COLUMNS)
        our_frame.sink_parquet(path, maintain_order=True, compression="lz4", statistics=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"rankings: the frame cannot be computed: {one_line(error)}") from error
    rows = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    file = File(path, rows, rows.select(pl.len()).collect().item())
    return Table((file,), renamed(no_rows, matched, RANKINGS))


def _check_merged(path: Path, frame: pl.LazyFrame, matched: dict[str, str]) -> None:
    """Refuse or warn of the lists of several systems in a file, by all rows of some queries."""
    unused = unknown(frame.collect_schema().names(), matched, RANKINGS)
    if not unused:
        return
    query = pl.col(matched["query"])
    first = first_queries(frame.head(SAMPLED_ROWS).select(query).collect().to_series())
    rows = frame.filter(query.is_in(first)).collect()
    check_merged(rows.select(under_our_names(matched)), lambda: rows.select(unused), str(path))


OTHERS = {"run": "a TREC run", "qrels": "TREC qrels"}  # and what text files are


def _open(path: Path, columns: ColumnNames) -> File:
    source = open_source(path)
    form = detect_format(source)
    if form not in ("parquet", "arrow") or isinstance(source.content, bytes):
        raise FileError(
            f"{path}: is {OTHERS.get(form, form)}; only Parquet and Arrow files are read part by part: convert it, or "
            + in_python("read it with read_rankings", "leave out --engine disk")
        )
    if form == "parquet":
        with source.open() as file:
            check_pages(path, file)
    scan = pl.scan_parquet if form == "parquet" else pl.scan_ipc
    with naming(path):
        frame = scan(source.content, glob=False, hive_partitioning=False)
        schema = frame.collect_schema()
        rows = frame.select(pl.len()).collect().item()
    matched = match_columns(schema.names(), RANKINGS, columns, str(path))
    check_types(schema, matched, RANKINGS.name)
    folder = folder_model(path)
    if folder is None and not {"model", "count"} & matched.keys():
        _check_merged(path, frame, matched)
    matched.pop(RANK, None)
    our_frame = as_text(frame.select(under_our_names(matched)), ID_COLUMNS)
    if "model" in matched:
        return File(path, our_frame, rows)
    name = folder or base_name(path)
    return File(path, our_frame.with_columns(model=pl.lit(name)), rows, None if folder else name)

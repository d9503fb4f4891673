"""Read CSV and TSV, checking the structure so that a damaged file is refused instead of misread."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress

import polars as pl

from retrieval_report.contracts.errors import FileError, one_line
from retrieval_report.reading.names import Choose
from retrieval_report.reading.numbers import TextTable, parse_values
from retrieval_report.reading.sources import Source

_SEPARATORS = {",": "comma", "\t": "tab", ";": "';'", "|": "'|'"}


def read_delimited(source: Source, choose: Choose, *, separator: str) -> pl.DataFrame:
    """Read a table with a header.

    Parameters
    ----------
    source : Source
        The file.
    choose : Callable
        The names in the header → our name per name of the file (see `match_columns`).
    separator : str
        ``,`` or a tab.

    Returns
    -------
    pl.DataFrame
        The chosen columns under our names; ids are text. An empty field is null, an empty quoted
        field is an empty text; blank lines are skipped.

    Raises
    ------
    FileError
        Another separator, rows that are too short or too long, a header that comes again (files put
        together with ``cat``), an open quote, bytes that are not UTF-8.
    """
    header = _read_header(source, separator)
    chosen = choose(header)
    frame = _parse(source, separator, header)
    frame = _without_blank_lines(frame, source, separator)

    def line(row: int) -> int:
        lines = (number for number, fields in _records(source, separator) if fields)
        try:
            return next(itertools.islice(lines, row + 1, None))
        except (StopIteration, csv.Error, FileError, UnicodeDecodeError):
            return row + 2

    again = (frame.to_series(0) == header[0].removeprefix("\ufeff")).arg_true()
    for row in again.head(100):
        if list(frame.row(row)) == list(header):
            raise FileError(
                f"{source.path}, line {line(row)}: the header again; were files put together with "
                "cat?"
            )
    index = {name: number for number, name in enumerate(header)}
    columns = [pl.nth(index[theirs]).alias(ours) for ours, theirs in chosen.items()]
    return parse_values(TextTable(str(source.path), frame.select(columns), line))


def _read_header(source: Source, separator: str) -> list[str]:
    try:
        header = next(_records(source, separator), (1, []))[1]
    except UnicodeDecodeError:
        raise FileError(undecodable(source) or f"{source.path}: the header is not UTF-8") from None
    except csv.Error as error:
        raise FileError(f"{source.path}: the header cannot be read: {error}") from error
    if any("\n" in name for name in header):
        raise FileError(f'{source.path}: a quote (") in the header is not closed')
    if not any(name.strip() for name in header):
        raise FileError(f"{source.path}: the first line is blank, so there is no header")
    if len(header) == 1:
        other = next(
            (mark for mark in _SEPARATORS if mark != separator and mark in header[0]), None
        )
        if other:
            fix = f"pl.read_csv(path, separator={other!r}, infer_schema=False).write_csv(new_path)"
            if {separator, other} == {",", "\t"}:
                fix = f"name it {'.csv' if other == ',' else '.tsv'}, or convert it: {fix}"
            raise FileError(
                f"{source.path}: the header is separated by {_SEPARATORS[other]}, not by "
                f"{_SEPARATORS[separator]}; to fix it: {fix}"
            )
    return header


def _parse(source: Source, separator: str, header: Sequence[str]) -> pl.DataFrame:
    """Parse the whole file as text, unwanted columns too: only then are long rows noticed."""
    try:
        frame = pl.read_csv(source.content, separator=separator, infer_schema=False, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(_explain(source, separator, len(header), error)) from error
    if frame.width != len(header):
        raise FileError(
            f"{source.path}: the header has {len(header)} names, the rows have {frame.width} fields"
        )
    return frame


def _explain(source: Source, separator: str, width: int, error: Exception) -> str:
    """Return the reason why the parser failed, in terms of the file."""
    broken = undecodable(source)
    if broken:
        return broken
    with suppress(csv.Error):  # an unclosed quote, which is reported below
        _blank_rows(source, separator, width, least=0)
    if b'"' in source.read():
        return f'{source.path}: a quote (") is not closed, or is inside a field that is not quoted'
    return f"{source.path}: {one_line(error)}"


def _without_blank_lines(frame: pl.DataFrame, source: Source, separator: str) -> pl.DataFrame:
    """Drop blank lines and refuse short rows.

    The parser fills short rows with null, so a null in the last column is either an empty field or
    a field that is not there. Where no quotes are around, counting separators tells; else the rows
    are walked through.
    """
    last = frame.to_series(-1)
    if not last.null_count():
        return frame
    if frame.width == 1:
        return frame.filter(last.is_not_null())
    content = source.read()
    if b'"' not in content and content.count(separator.encode()) == (frame.width - 1) * (
        frame.height + 1
    ):
        return frame
    try:
        rows = _blank_rows(source, separator, frame.width, least=frame.width)
    except csv.Error as error:
        raise FileError(f"{source.path}: a row cannot be read: {error}") from error
    blank = pl.Series(rows, dtype=pl.Boolean)
    all_null = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if len(blank) != frame.height or not all_null.filter(blank).all():
        raise FileError(
            f"{source.path}: blank lines cannot be distinguished from rows; remove blank lines and "
            "stray quotes"
        )
    return frame.filter(~blank)


def _blank_rows(source: Source, separator: str, width: int, least: int) -> list[bool]:
    """Say of each row after the header whether it is a blank line; refuse other widths."""
    blank = []
    for number, fields in itertools.islice(_records(source, separator), 1, None):
        if fields and not least <= len(fields) <= width:
            hint = "; a decimal comma?" if separator == "," and len(fields) > width else ""
            raise FileError(
                f"{source.path}, line {number}: {len(fields)} fields, the header has {width}{hint}"
            )
        blank.append(not fields)
    return blank


def _records(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Walk through the records with the number of the line each begins on: slow, for headers and
    messages.
    """
    with io.TextIOWrapper(source.open(), encoding="utf-8-sig", newline="\n") as lines:
        reader = csv.reader(lines, delimiter=separator)
        before = 0
        try:
            for fields in reader:
                yield before + 1, fields
                before = reader.line_num
        except csv.Error as error:
            if "new-line character" in str(error):
                raise FileError(
                    f"{source.path}, line {before + 1}: a carriage return (CR) is inside the row; "
                    "lines must end in LF or CRLF"
                ) from None
            raise


def undecodable(source: Source) -> str | None:
    """Describe the first byte that is not UTF-8, or return None when all of them are."""
    try:
        source.read().decode("utf-8")
    except UnicodeDecodeError as error:
        return (
            f"{source.path}: byte {error.start} (0x{error.object[error.start]:02x}) is not UTF-8; "
            "is it Latin-1 or Windows-1252? save the file as UTF-8"
        )
    return None

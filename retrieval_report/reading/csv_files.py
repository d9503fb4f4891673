"""Read CSV and TSV, checking the structure so that a damaged file is refused instead of misread."""

import csv
import io
import itertools
from collections.abc import Iterator

import polars as pl

from retrieval_report.contracts.errors import FileError, one_line
from retrieval_report.contracts.wording import in_python
from retrieval_report.reading.headerless import chosen_columns
from retrieval_report.reading.names import Choose, under_our_names
from retrieval_report.reading.numbers import TextTable, parse_values
from retrieval_report.reading.sources import Source

_SEPARATORS = {",": "comma", "\t": "tab", ";": "';'", "|": "'|'"}
_QUOTE = 'a quote (") is not closed, or is inside a field that is not quoted'


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
        field is an empty text; lines without a value are skipped.

    Raises
    ------
    FileError
        Another separator, rows that are too short or too long, a header that comes again (files put
        together with ``cat``), an open quote, bytes that are not UTF-8.
    """
    header = _read_header(source, separator)
    column_names, has_header = chosen_columns(choose, header, str(source.path), separator)
    if not has_header:
        header = [str(number + 1) for number in range(len(header))]
    # All columns are read as text, unwanted ones too: only then are long rows noticed.
    schema = dict.fromkeys(header, pl.String)
    try:
        frame = pl.read_csv(
            source.content, separator=separator, schema=schema, has_header=has_header, glob=False
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        _check_rows(source, separator, header)
        raise FileError(f"{source.path}: {_QUOTE} ({one_line(error)})") from error
    again = (frame.to_series(0) == header[0]).any()
    if again or not _is_even(source, separator, frame):
        _check_rows(source, separator, header)
    frame = frame.remove(pl.all_horizontal(pl.all().is_null()))

    def line(row: int) -> int:
        lines = (number for number, fields in _records(source, separator) if any(fields))
        return next(itertools.islice(lines, row + has_header, None), row + 2)

    return parse_values(
        TextTable(
            str(source.path),
            frame.select(under_our_names(column_names)),
            line,
            column_names if has_header else {},
        )
    )


def _read_header(source: Source, separator: str) -> list[str]:
    _, header = next(_records(source, separator), (1, [""]))
    if not any(name.strip() for name in header):
        raise FileError(f"{source.path}: the first line is blank, so there is no header")
    other_marks = [mark for mark in _SEPARATORS if mark != separator and mark in header[0]]
    if len(header) == 1 and other_marks:
        remedy = in_python(
            f"to fix it: pl.read_csv(path, separator={other_marks[0]!r}, infer_schema=False)"
            ".write_csv('new.csv')",
            "save it with commas or tabs",
        )
        raise FileError(
            f"{source.path}: the header is separated by {_SEPARATORS[other_marks[0]]}, not by "
            f"{_SEPARATORS[separator]}; {remedy}"
        )
    return header


def _is_even(source: Source, separator: str, frame: pl.DataFrame) -> bool:
    """Return whether no row can be short: the parser leaves fields that are not there null.

    Where no quotes are around, counting separators tells; else the rows have to be walked through.
    """
    if not frame.to_series(-1).null_count():
        return True
    content = source.read()
    marks = (frame.width - 1) * (frame.height + 1)
    return b'"' not in content and content.count(separator.encode()) == marks


def _check_rows(source: Source, separator: str, header: list[str]) -> None:
    """Refuse the header where it comes again, and rows of another width, apart from blank lines."""
    for number, fields in itertools.islice(_records(source, separator), 1, None):
        location = f"{source.path}, line {number}"
        if fields == header:
            raise FileError(f"{location}: the header again; were files put together with cat?")
        if fields and len(fields) != len(header):
            hint = "; a decimal comma?" if separator == "," and len(fields) > len(header) else ""
            raise FileError(f"{location}: {len(fields)} fields, the header has {len(header)}{hint}")


def _records(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Walk through the records with the number of the
    line each begins on: slow, for headers and messages.
    """
    with io.TextIOWrapper(source.open(), encoding="utf-8-sig", newline="\n") as lines:
        reader = csv.reader(lines, delimiter=separator, strict=True)
        before = 0
        try:
            for fields in reader:
                yield before + 1, fields
                before = reader.line_num
        except UnicodeDecodeError:
            raise FileError(undecodable(source)) from None
        except csv.Error as error:
            problem = f"{_QUOTE} ({error})"
            if "new-line character" in str(error):
                problem = "a carriage return (CR) is inside the row; lines must end in LF or CRLF"
            raise FileError(f"{source.path}, line {before + 1}: {problem}") from None


def undecodable(source: Source) -> str:
    """Describe the first byte that is not UTF-8; empty if all of them are."""
    try:
        source.read().decode("utf-8")
    except UnicodeDecodeError as error:
        return (
            f"{source.path}: byte {error.start} (0x{error.object[error.start]:02x}) is not UTF-8; "
            "is it Latin-1 or Windows-1252? save the file as UTF-8"
        )
    return ""

"""Read NDJSON: one JSON object per line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import polars as pl

from retrieval_report.contracts.arguments import repeated
from retrieval_report.contracts.errors import ColumnError, DataError, FileError, first_line
from retrieval_report.reading.csv_files import undecodable
from retrieval_report.reading.formats import BOM
from retrieval_report.reading.names import ID_COLUMNS, Choose, under_our_names
from retrieval_report.reading.numbers import warn_of_lost_digits
from retrieval_report.reading.sources import Source

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
_OPENING = re.compile(rb"[\[{]")
_DEEPEST = 128  # deeper, the parsers fail in ways that depend on versions, or hang
_LONGEST_INTEGER = 38  # digits; the parser knows integers of 128 bits


def read_ndjson(source: Source, choose: Choose) -> pl.DataFrame:
    """Read columns under our names.

    Ids written as integers become text, as everywhere in text files; numbers keep the type JSON
    gives them, and a number in quotes stays text, which the evaluation then refuses. Every line is
    examined before a type is chosen.

    Raises
    ------
    FileError
        A line is not a JSON object, or names a column twice; or the bytes are not UTF-8.
    ColumnError
        Ids are fractions, truth values, lists or objects.
    DataError
        A text holds half of a surrogate pair, which is not a character; or a number is too large.
    """
    content = source.read().removeprefix(BOM)
    _refuse_deep(content, source)
    _refuse_surrogates(content, source)
    try:
        frame = pl.read_ndjson(content, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _explain(content, source, error) from error
    chosen = choose(frame.columns)
    frame = frame.select(under_our_names(chosen))
    _look_twice(content, frame, chosen, source)
    for name in frame.columns:
        dtype = frame.schema[name]
        if name in ID_COLUMNS and not (dtype.is_integer() or dtype in (pl.String, pl.Null)):
            raise ColumnError(
                f"{source.path}: column {chosen[name]!r}: ids are texts or integers, not {dtype}"
            )
    return frame.with_columns(
        pl.col(name).cast(pl.String) for name in frame.columns if name in ID_COLUMNS
    )


class _Object(list[tuple[str, Any]]):
    """The pairs of a JSON object, including repeated names."""


class _Token(str):
    """A number as it is written."""

    __slots__ = ()


def _pairs(line: bytes | str) -> Any:
    """Return a line as pairs of names and values; numbers stay as they are written."""
    return json.loads(
        line,
        object_pairs_hook=_Object,
        parse_int=_Token,
        parse_float=_Token,
        parse_constant=_refuse_constant,
    )


def _look_twice(
    content: bytes, frame: pl.DataFrame, chosen: Mapping[str, str], source: Source
) -> None:
    """Check the lines in which the parser may have changed a value silently.

    It takes the first of two values of one name, turns a whole column into text if it has a text,
    and integers into floats if the column has a fraction. A pattern finds the few lines in which
    that is possible.
    """
    lines = pl.scan_lines(
        content, name="text", row_index_name="line", row_index_offset=1, glob=False
    )
    patterns = [r'"[^"]*\\[^"]*"\s*:']  # a name that is written with escapes
    for ours, theirs in chosen.items():
        name = rf'"{pl.escape_regex(theirs)}"\s*:'
        patterns += [f"{name}.*{name}"]
        if ours in ID_COLUMNS:
            patterns += [rf"{name}\s*(?:[tf\[{{]|-0|-?\d+[.eE])"]
        elif frame.schema[ours] == pl.Float64:
            patterns += [rf"{name}\s*-?\d{{16,}}\s*[,}}]"]
    warned: set[str] = set()
    suspects = lines.filter(pl.col("text").str.contains("|".join(patterns)))
    for line, text in suspects.collect().iter_rows():
        _check_line(f"{source.path}, line {line}", _pairs(text), frame.schema, chosen, warned)


def _check_line(
    location: str,
    pairs: _Object,
    schema: Mapping[str, pl.DataType],
    chosen: Mapping[str, str],
    warned: set[str],
) -> None:
    """Refuse names that occur twice and ids that are neither texts nor integers; warn of lost
    digits, once.
    """
    values = dict(pairs)
    twice = set(repeated(name for name, _ in pairs))
    for ours, theirs in chosen.items():
        if theirs in twice:
            raise FileError(f"{location}: the name {theirs!r} occurs twice")
        value = values.get(theirs)
        if ours in ID_COLUMNS:
            if (
                value is not None
                and type(value) is not str
                and not re.fullmatch(r"0|-?[1-9]\d*", str(value))
            ):
                raise ColumnError(
                    f"{location}: column {theirs!r}: ids are texts or integers, not {_shown(value)}"
                )
        elif (
            schema[ours] == pl.Float64
            and ours not in warned
            and isinstance(value, _Token)
            and warn_of_lost_digits(location, ours, value)
        ):
            warned.add(ours)


def _shown(value: object) -> str:
    """Return a JSON value as text for a message."""
    kinds = {_Object: "an object", list: "a list", bool: str(value).lower()}
    return kinds.get(type(value), str(value)[:80])


def _refuse_deep(content: bytes, source: Source) -> None:
    """Refuse lists or objects that are nested too deep for parsers, before any of these sees
    them.
    """
    if content.count(b"[") + content.count(b"{") - content.count(b"\n{") < _DEEPEST:
        return  # nearly all files hold one flat object in each line
    for number, line in enumerate(content.split(b"\n"), start=1):
        if len(_OPENING.findall(line)) > _DEEPEST and _depth(line) > _DEEPEST:
            raise FileError(f"{source.path}, line {number}: lists or objects are nested too deep")


def _depth(line: bytes) -> int:
    """Return how deep lists and objects are nested.

    >>> _depth(b'{"a[": [[]], "b": {}}')
    3
    """
    steps = ((sign in b"[{") - (sign in b"]}") for sign in _TEXT.sub(b"", line))
    return max(accumulate(steps), default=0)


def _refuse_surrogates(content: bytes, source: Source) -> None:
    """Refuse half surrogate pairs, which the parser would silently turn into NUL."""
    if not _SURROGATE.search(content):
        return
    for number, line in enumerate(content.split(b"\n"), start=1):
        if _SURROGATE.search(line):
            try:
                json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8")
            except UnicodeEncodeError as error:
                half = error.object[error.start]
                raise DataError(
                    f"{source.path}, line {number}: {half!r} is half of a surrogate pair"
                ) from None
            except ValueError:
                return  # not JSON, which the parser will report


def _explain(content: bytes, source: Source, error: Exception) -> FileError | DataError:
    """Return an error that names the first faulty line."""
    broken = undecodable(source)
    if broken:
        return FileError(broken)
    for number, line in enumerate(content.split(b"\n"), start=1):
        location = f"{source.path}, line {number}"
        try:
            value = _pairs(line) if line.strip() else _Object()
        except ValueError as reason:
            return FileError(f"{location}: no JSON: {reason}")
        if not isinstance(value, _Object):
            return FileError(f"{location}: expected a JSON object, got {_kind(value)}")
        large = next(
            (held for _, held in value if isinstance(held, _Token) and _too_large(held)), None
        )
        if large is not None:
            return DataError(f"{location}: {large[:80]!r} is too large for a number of 64 bits")
    return FileError(f"{source.path}: {first_line(error)}")


def _kind(value: object) -> str:
    return "a number" if isinstance(value, _Token) else type(value).__name__


def _too_large(number: str) -> bool:
    whole = number.lstrip("-").isdecimal()
    return (
        len(number.lstrip("-")) > _LONGEST_INTEGER if whole else abs(float(number)) == float("inf")
    )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")

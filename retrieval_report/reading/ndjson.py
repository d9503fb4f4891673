"""Read NDJSON: one JSON object per line."""

from __future__ import annotations

import json
import math
import re

import polars as pl

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import ColumnError, DataError, FileError, one_line
from retrieval_report.reading.csv_files import undecodable
from retrieval_report.reading.names import ID_COLUMNS, Choose, under_our_names
from retrieval_report.reading.sources import BOM, Source

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ANYTHING = re.compile(rb"\S")


def read_ndjson(source: Source, choose: Choose) -> pl.DataFrame:
    """Read columns under our names.

    Ids written as integers become text, as everywhere in text files; numbers keep the type JSON
    gives them, and a number in quotes stays text, which the evaluation then refuses. Every line is
    examined before a type is chosen; of two values of one name in an object, the first counts.
    The InformationRetrievalEvaluator of sentence-transformers writes the ``results`` of a query per
    line.

    Raises
    ------
    FileError
        A line is not a JSON object, or holds a number that is too large; or the bytes are not
        UTF-8.
    ColumnError
        Ids are fractions, truth values, lists or objects.
    DataError
        A text holds half of a surrogate pair, which is not a character.
    """
    content = source.read().removeprefix(BOM)
    # The parser would silently turn half a surrogate pair into NUL.
    fault = _first_fault(content, source, _SURROGATE) if _SURROGATE.search(content) else None
    if fault:
        raise fault
    try:
        frame = pl.read_ndjson(content, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        broken = undecodable(source) or f"{source.path}: {one_line(error)}"
        raise _first_fault(content, source, _ANYTHING) or FileError(broken) from error
    if {"query_id", "results"} <= {*frame.columns}:  # a query per line, of sentence-transformers
        frame = frame.select("query_id", "results").explode("results").drop_nulls("results")
        frame = frame.unnest("results")
    chosen = choose(frame.columns)
    frame = frame.select(under_our_names(chosen))
    ids = [name for name in frame.columns if name in ID_COLUMNS]
    for name in ids:
        dtype = frame.schema[name]
        if not (dtype.is_integer() or dtype in (pl.String, pl.Null)):
            raise ColumnError(
                f"{source.path}: column {chosen[name]!r}: ids are texts or integers, not {dtype}"
            )
    return frame.with_columns(pl.col(ids).cast(pl.String))


def _first_fault(
    content: bytes, source: Source, suspect: re.Pattern[bytes]
) -> FileError | DataError | None:
    """Return an error that names the first faulty line among those that hold a pattern."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        location = f"{source.path}, line {number}"
        try:
            held = json.loads(line, **STRICT) if suspect.search(line) else {}
            json.dumps(held, ensure_ascii=False).encode("utf-8")
        except UnicodeDecodeError:
            return FileError(undecodable(source) or f"{location}: is not UTF-8")
        except UnicodeEncodeError as error:
            return DataError(
                f"{location}: {error.object[error.start]!r} is half of a surrogate pair"
            )
        except (ValueError, RecursionError) as error:
            return FileError(f"{location}: no JSON: {error}")
        if not isinstance(held, dict):
            return FileError(f"{location}: expected a JSON object, got {type(held).__name__}")
    return None


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number) or (abs(number) > 2**127 and text.lstrip("-").isdecimal()):
        raise ValueError(f"{text[:80]!r} is too large for a number of 64 bits")
    return number


STRICT: Named = {"parse_constant": _refused, "parse_int": _number, "parse_float": _number}

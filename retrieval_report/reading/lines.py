"""NDJSON: one JSON object per line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

import polars as pl

from retrieval_report.errors import ColumnError, DataError, FileError
from retrieval_report.reading.formats import BOM
from retrieval_report.reading.names import ID_COLUMNS
from retrieval_report.reading.sources import Source
from retrieval_report.reading.text import undecodable

__all__ = ["read_ndjson"]

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read_ndjson(source: Source, choose: Callable[[Sequence[str]], dict[str, str]]) -> pl.DataFrame:
    """Read the wanted columns under our names.

    Ids written as integers become text, as everywhere in text files; numbers keep the type JSON gives them,
    and a number in quotes stays text, which the evaluation then refuses. Every line is looked at before a
    type is chosen.

    Raises
    ------
    FileError
        A line is no JSON object, or the bytes are not UTF-8.
    ColumnError
        Ids are fractions, lists or objects.
    DataError
        A text holds half of a surrogate pair, which is no character.
    """
    content = source.read().removeprefix(BOM)
    _refuse_surrogates(content, source)
    try:
        frame = pl.read_ndjson(content, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(_explain(content, source, error)) from error
    chosen = choose(frame.columns)
    frame = frame.select(pl.col(theirs).alias(ours) for ours, theirs in chosen.items())
    for name in frame.columns:
        dtype = frame.schema[name]
        if name in ID_COLUMNS and not (dtype.is_integer() or dtype in (pl.String, pl.Null)):
            raise ColumnError(f"{source.path}: column {chosen[name]!r}: ids are texts or integers, not {dtype}")
    return frame.with_columns(pl.col(name).cast(pl.String) for name in frame.columns if name in ID_COLUMNS)


def _refuse_surrogates(content: bytes, source: Source) -> None:
    """Refuse half surrogate pairs, which the parser would turn into NUL without a word."""
    if not _SURROGATE.search(content):
        return
    for number, line in enumerate(content.split(b"\n"), start=1):
        if _SURROGATE.search(line):
            try:
                json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8")
            except UnicodeEncodeError as error:
                half = error.object[error.start]
                raise DataError(f"{source.path}, line {number}: {half!r} is half of a surrogate pair") from None
            except ValueError:
                return  # no JSON: the parser will say so


def _explain(content: bytes, source: Source, error: Exception) -> str:
    """Name the first line that is at fault."""
    broken = undecodable(source)
    if broken:
        return broken
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            value = json.loads(line, parse_constant=_refuse_constant) if line.strip() else {}
        except ValueError as reason:
            return f"{source.path}, line {number}: no JSON: {reason}"
        if not isinstance(value, dict):
            return f"{source.path}, line {number}: expected a JSON object, got {type(value).__name__}"
    return f"{source.path}: {str(error).strip().splitlines()[0][:200]}"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")

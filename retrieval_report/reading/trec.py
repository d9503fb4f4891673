"""Read TREC run and qrels files: fields separated by blanks and tabs, in a fixed order, without a
header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.errors import FileError, first_line
from retrieval_report.contracts.warning import warn
from retrieval_report.reading.csv_files import undecodable
from retrieval_report.reading.formats import BOM
from retrieval_report.reading.names import Choose, under_our_names
from retrieval_report.reading.numbers import MOST_EXACT, TextTable, fits_integers
from retrieval_report.reading.sources import Source

RUN_FIELDS = ("query", "iteration", "item", "rank", "score", "tag")
QRELS_FIELDS = ("query", "iteration", "item", "relevance")

# The blanks of C's isspace: Unicode blanks belong to ids. Written so that each character can only
# match one way, which keeps the regular expression engine on its fast path.
_BLANK = r"[ \t\r\x0b\x0c]"
_FIELD = r"[^ \t\r\x0b\x0c]"
_BLANKS = (b" ", b"\t", b"\r", b"\x0b", b"\x0c")
_BLANK_BYTE = 32  # and all bytes below: those of blanks, and of what no id should hold
SAMPLE_LINES = 100
_EMPTY_OR_COMMENT = re.compile(rf"^{_BLANK}*(#|$)")


def read_trec(source: Source, fields: Sequence[str], choose: Choose) -> TextTable:
    """Read a run (`RUN_FIELDS`) or qrels (`QRELS_FIELDS`); every value stays text.

    As in trec_eval, blank lines and lines that begin with ``#`` are skipped, a ``#`` inside an id
    belongs to the id, and text after the tag of a run is ignored, with a warning since it may come
    from an id with a blank.

    Raises
    ------
    FileError
        A line has too few fields (or too many, in qrels); bytes are not UTF-8; there is no line at
        all.
    """
    chosen = choose(fields)
    return _read_plain(source, fields, chosen) or _read_any(source, fields, chosen)


def _read_any(source: Source, fields: Sequence[str], chosen: Mapping[str, str]) -> TextTable:
    """Read whatever trec_eval would read, and say what is wrong with the rest."""
    lines = _split(source, fields)
    comment = pl.col("query").str.starts_with("#") | pl.col("unmatched").str.contains(
        _EMPTY_OR_COMMENT.pattern
    )
    lines = lines.filter(~comment.fill_null(value=False))
    if lines.is_empty():
        raise FileError(f"{source.path}: no lines but blank ones and comments")
    _refuse_malformed(lines, source, fields)
    _warn_of_extra(lines, source, fields)
    numbers = lines["line"]
    return TextTable(
        str(source.path), lines.select(under_our_names(chosen)), lambda row: int(numbers[row])
    )


def _read_plain(
    source: Source, fields: Sequence[str], chosen: Mapping[str, str]
) -> TextTable | None:
    """Read a file of lines that all have these fields with one mark between them, as most have;
    None of any other.

    The parser of CSV takes a fifth of the time that a regular expression takes.
    """
    separator, separators = _one_separator(source)
    if separator is None:
        return None
    wanted = list(dict.fromkeys([*chosen.values(), fields[0], fields[-1]]))
    types: dict[str, Any] = dict.fromkeys(fields, pl.String)
    if chosen.get("score") == "score" and _has_fraction(source, fields.index("score")):
        types["score"] = pl.Float64
    try:
        table = (
            pl.scan_csv(
                source.content,
                separator=separator,
                has_header=False,
                quote_char=None,
                schema=types,
                glob=False,
            )
            .select(wanted)
            .collect()
        )
    except (pl.exceptions.PolarsError, OSError):
        return None
    short = any(
        table[name].null_count() for name in wanted
    )  # a line that is too short lacks its last field
    longer = separators != table.height * (len(fields) - 1)
    if short or longer or table.is_empty() or table[fields[0]].str.starts_with("#").any():
        return None
    if types.get("score") == pl.Float64 and (table["score"].abs() >= MOST_EXACT).any():
        return None  # of text it can be said which numbers lost digits
    return TextTable(str(source.path), table.select(under_our_names(chosen)), lambda row: row + 1)


def _has_fraction(source: Source, field: int) -> bool:
    """Whether one of the first lines has a number there that is not whole: then the parser may read
    floats at once.
    """
    rows = [line.split() for line in source.head().split(b"\n")[:-1][:SAMPLE_LINES]]
    texts = [fields[field].decode("utf-8", "replace") for fields in rows if len(fields) > field]
    return not fits_integers(pl.Series(texts, dtype=pl.String))


def _one_separator(source: Source) -> tuple[str | None, int]:
    """The blank or tab that alone stands between fields, with no other blank around, and how many
    there are.
    """
    mark = re.search(rb"[ \t]", source.head())
    if mark is None:
        return None, 0
    others = [other for other in _BLANKS if other != mark[0]]
    before, ascii_only, count = b"\n", True, 0
    for chunk in source.chunks():
        if any(other in chunk for other in others):
            return None, 0
        given = np.frombuffer(before + chunk, np.uint8)
        low = given <= _BLANK_BYTE
        if (low[1:] & low[:-1]).any():  # two marks, a blank line, or a mark around a line
            return None, 0
        count += int(np.count_nonzero(given[1:] == mark[0][0]))
        ascii_only = ascii_only and chunk.isascii()
        before = chunk[-1:]
    if not ascii_only and (source.head(len(BOM)) == BOM or undecodable(source)):
        return None, 0
    return mark[0].decode(), count


def _split(source: Source, fields: Sequence[str]) -> pl.DataFrame:
    """Split every line into named fields; a line that does not match stands in `unmatched`
    instead.
    """
    content = source.content
    if source.head(len(BOM)) == BOM:
        content = source.read().removeprefix(BOM)
    groups = rf"{_BLANK}+".join(rf"(?<{name}>{_FIELD}+)" for name in fields)
    pattern = rf"^{_BLANK}*{groups}(?:{_BLANK}+(?<extra>{_FIELD}.*)?)?$"
    try:
        return (
            pl.scan_lines(
                content, name="text", row_index_name="line", row_index_offset=1, glob=False
            )
            .select("line", "text", pl.col("text").str.extract_groups(pattern).alias("fields"))
            .unnest("fields")
            .with_columns(pl.when(pl.col("query").is_null()).then("text").alias("unmatched"))
            .drop("text")
            .collect()
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(undecodable(source) or f"{source.path}: {first_line(error)}") from error


def _refuse_malformed(lines: pl.DataFrame, source: Source, fields: Sequence[str]) -> None:
    broken = lines["unmatched"].is_not_null()
    if fields == QRELS_FIELDS:
        broken |= lines["extra"].is_not_null()
    bad = lines.filter(broken)
    if bad.is_empty():
        return
    line, text, extra = bad.select("line", "unmatched", "extra").row(0)
    count = len(fields) + len(extra.split()) if extra else len(text.split())
    raise FileError(
        f"{source.path}, line {line}: {count} fields, expected {len(fields)} ({' '.join(fields)})"
        f" ({bad.height} such lines){'' if extra else f': {text[:80]!r}'}"
    )


def _warn_of_extra(lines: pl.DataFrame, source: Source, fields: Sequence[str]) -> None:
    extra = lines.filter(pl.col("extra").is_not_null())
    if extra.height:
        line, text = extra.select("line", "extra").row(0)
        warn(
            f"{source.path}, line {line}: more than {len(fields)} fields ({extra.height} such "
            "lines); "
            f"{text[:40]!r} is ignored, as trec_eval does; but does an id hold a blank?"
        )

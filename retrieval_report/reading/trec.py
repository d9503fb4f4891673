"""Read TREC run and qrels files: fields separated by blanks and tabs, in a fixed order, without a
header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

from retrieval_report.contracts.errors import FileError, one_line
from retrieval_report.contracts.warning import warn
from retrieval_report.reading.csv_files import undecodable
from retrieval_report.reading.names import Choose, under_our_names
from retrieval_report.reading.numbers import TextTable, parse_values
from retrieval_report.reading.sources import BOM, Source

RUN_FIELDS = ("query", "iteration", "item", "rank", "score", "tag")
QRELS_FIELDS = ("query", "iteration", "item", "relevance")

# The blanks of C's isspace: Unicode blanks belong to ids. Written so that each character can only
# match one way, which keeps the regular expression engine on its fast path.
_BLANK = r"[ \t\r\x0b\x0c]"
_FIELD = r"[^ \t\r\x0b\x0c]"
_BLANKS = (b" ", b"\t", b"\r", b"\x0b", b"\x0c")
_EMPTY_OR_COMMENT = re.compile(rf"^{_BLANK}*(#|$)")


def read_trec(source: Source, choose: Choose, *, fields: Sequence[str]) -> pl.DataFrame:
    """Read a run (`RUN_FIELDS`) or qrels (`QRELS_FIELDS`).

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
    return parse_values(_read_plain(source, fields, chosen) or _read_any(source, fields, chosen))


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
    mark = re.search(rb"[ \t]", source.head())
    if mark is None or source.head(len(BOM)) == BOM:
        return None
    others = [blank for blank in _BLANKS if blank != mark[0]]
    if any(blank in chunk for chunk in source.chunks() for blank in others):
        return None
    try:
        table = pl.read_csv(
            source.content,
            separator=mark[0].decode(),
            has_header=False,
            quote_char=None,
            schema=dict.fromkeys(fields, pl.String),
            glob=False,
        )
    except (pl.exceptions.PolarsError, OSError):
        return None  # a line that is too long, or bytes that are not UTF-8
    # Two marks, or a line that is too short, leave a field empty.
    empty = any(column.null_count() for column in table)
    if empty or table.is_empty() or table[fields[0]].str.starts_with("#").any():
        return None
    return TextTable(str(source.path), table.select(under_our_names(chosen)), lambda row: row + 1)


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
        raise FileError(undecodable(source) or f"{source.path}: {one_line(error)}") from error


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

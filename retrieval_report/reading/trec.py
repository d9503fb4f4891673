"""TREC run and qrels files: fields between blanks and tabs, in a fixed order, without a header."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence

import polars as pl

from retrieval_report.contracts.errors import FileError, RetrievalReportWarning
from retrieval_report.reading.formats import BOM
from retrieval_report.reading.sources import Source
from retrieval_report.reading.text import undecodable
from retrieval_report.reading.values import TextTable

__all__ = ["QRELS_FIELDS", "RUN_FIELDS", "read_trec"]

RUN_FIELDS = ("query", "iteration", "item", "rank", "score", "tag")
QRELS_FIELDS = ("query", "iteration", "item", "relevance")

# The blanks of C's isspace: Unicode blanks belong to ids. Written so that each character can only match one
# way, which keeps the regular expression engine on its fast path.
_BLANK = r"[ \t\r\x0b\x0c]"
_FIELD = r"[^ \t\r\x0b\x0c]"
_EMPTY_OR_COMMENT = re.compile(rf"^{_BLANK}*(#|$)")


def read_trec(source: Source, fields: Sequence[str], choose: Callable[[Sequence[str]], dict[str, str]]) -> TextTable:
    """Read a run (`RUN_FIELDS`) or qrels (`QRELS_FIELDS`); every value stays text.

    As in trec_eval, blank lines and lines that begin with ``#`` are skipped, a ``#`` inside an id belongs
    to the id, and what follows the tag of a run is ignored, here with a warning since it may be an id with
    a blank.

    Raises
    ------
    FileError
        A line has too few fields (or too many, in qrels); bytes are not UTF-8; there is no line at all.
    """
    lines = _split(source, fields)
    comment = pl.col("query").str.starts_with("#") | pl.col("unmatched").str.contains(_EMPTY_OR_COMMENT.pattern)
    lines = lines.filter(~comment.fill_null(value=False))
    if lines.is_empty():
        raise FileError(f"{source.path}: no lines but blank ones and comments")
    _refuse_malformed(lines, source, fields)
    _warn_of_extra(lines, source, fields)
    numbers = lines["line"]
    columns = [pl.col(theirs).alias(ours) for ours, theirs in choose(fields).items()]
    return TextTable(str(source.path), lines.select(columns), lambda row: int(numbers[row]))


def _split(source: Source, fields: Sequence[str]) -> pl.DataFrame:
    """Split every line into named fields; a line that does not match stands in `unmatched` instead."""
    content = source.content
    if source.head(len(BOM)) == BOM:
        content = source.read().removeprefix(BOM)
    groups = rf"{_BLANK}+".join(rf"(?<{name}>{_FIELD}+)" for name in fields)
    pattern = rf"^{_BLANK}*{groups}(?:{_BLANK}+(?<extra>{_FIELD}.*)?)?$"
    try:
        return (
            pl.scan_lines(content, name="text", row_index_name="line", row_index_offset=1, glob=False)
            .select("line", "text", pl.col("text").str.extract_groups(pattern).alias("fields"))
            .unnest("fields")
            .with_columns(pl.when(pl.col("query").is_null()).then("text").alias("unmatched"))
            .drop("text")
            .collect()
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        message = undecodable(source) or f"{source.path}: {str(error).strip().splitlines()[0][:200]}"
        raise FileError(message) from error


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
        warnings.warn(
            f"{source.path}, line {line}: more than {len(fields)} fields ({extra.height} such lines); "
            f"{text[:40]!r} is ignored, as trec_eval does; but does an id hold a blank?",
            RetrievalReportWarning,
            stacklevel=2,
        )

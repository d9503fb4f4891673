"""Read NDJSON: one JSON object per line."""

import json

import polars as pl
import polars.selectors as cs

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import FileError, one_line
from retrieval_report.contracts.frames import check_types
from retrieval_report.reading.csv_files import undecodable
from retrieval_report.reading.dictionaries import is_listing, is_pairs
from retrieval_report.reading.json_forms import as_records
from retrieval_report.reading.mteb import read_json
from retrieval_report.reading.names import ID_COLUMNS, Choose, Kind, under_our_names
from retrieval_report.reading.numbers import TextTable, exact, is_large
from retrieval_report.reading.records import holds_records
from retrieval_report.reading.sources import BOM, Source

# Leaves numbers as they are spelt; of a repeated name the first counts.
SPELT: Named = {
    **dict.fromkeys(("parse_int", "parse_float", "parse_constant"), str),
    "object_pairs_hook": lambda pairs: dict(reversed(pairs)),
}


def read_ndjson(source: Source, choose: Choose, kind: Kind) -> pl.DataFrame:
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
    DataError
        A whole number is not among those of Float64, which other values of its column need.
    """
    content = source.read().removeprefix(BOM)
    if _is_record(content, kind):
        return read_json(source, choose, kind)
    try:
        frame = pl.read_ndjson(content, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        fault = _first_fault(content) or f": {one_line(error)}"
        raise FileError(undecodable(source) or f"{source.path}{fault}") from error
    nested = {"query_id", "results"} <= {*frame.columns}
    if nested:  # a query per line, of sentence-transformers
        frame = frame.select("query_id", "results").explode("results").drop_nulls("results")
        frame = frame.unnest("results")
    matched = choose(frame.columns)
    check_types(frame.schema, matched, kind.name)
    frame = frame.select(under_our_names(matched))
    ids = cs.by_name(ID_COLUMNS, require_all=False) & (cs.integer() | cs.by_dtype(pl.Null))
    large = [name for name in frame.select(cs.float()).columns if is_large(frame[name]).any()]
    spelt = [_spelt(frame[name], matched[name], content, nested, source) for name in large]
    return frame.with_columns(ids.cast(pl.String), *spelt)


def _spelt(parsed: pl.Series, name: str, content: bytes, nested: bool, source: Source) -> pl.Series:
    """Return numbers as the file spells them under ``name``, or refuse them."""
    texts = []
    lines: list[int] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        record = json.loads(line, **SPELT) if line.strip() else {}
        hits = filter(None, record.get("results") or ()) if nested else filter(None, [record])
        texts += [row.get(name) for row in hits]
        lines += [number] * (len(texts) - len(lines))
    text = pl.Series(parsed.name, texts, dtype=pl.String)
    theirs = {text.name: name}
    table = TextTable(str(source.path), text.to_frame(), lines.__getitem__, theirs)
    return exact(parsed, text, table)


def _is_record(content: bytes, kind: Kind) -> bool:
    """Return whether the first line is the record of a query, with a list of what it found, or
    ``{query: [ids]}``; records of sentence-transformers are read faster as columns.
    """
    try:
        first = json.loads(content.lstrip().split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    if is_listing(first, kind.knows) or as_records(first, kind.knows) is not first:
        return True
    if kind.name == "judgements" and is_pairs(first, kind.knows):
        return True
    return holds_records(first) and not {"query_id", "results"} <= {*first}


def _first_fault(content: bytes) -> str:
    """Describe the first line that is not a JSON object; empty if all of them are."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            # int refuses NaN and Infinity, which are no JSON.
            record = json.loads(line, parse_constant=int) if line.strip() else {}
        except (ValueError, RecursionError) as error:
            return f", line {number}: not JSON: {error}"
        if not isinstance(record, dict):
            return f", line {number}: expected a JSON object, got {type(record).__name__}"
    return ""

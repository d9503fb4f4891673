"""Read NDJSON: one JSON object per line."""

from __future__ import annotations

import json

import polars as pl
import polars.selectors as cs

from retrieval_report.contracts.errors import FileError, one_line
from retrieval_report.reading.csv_files import undecodable
from retrieval_report.reading.names import ID_COLUMNS, Choose, under_our_names
from retrieval_report.reading.sources import BOM, Source


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
    """
    content = source.read().removeprefix(BOM)
    try:
        frame = pl.read_ndjson(content, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        fault = _first_fault(content) or f": {one_line(error)}"
        raise FileError(undecodable(source) or f"{source.path}{fault}") from error
    if {"query_id", "results"} <= {*frame.columns}:  # a query per line, of sentence-transformers
        frame = frame.select("query_id", "results").explode("results").drop_nulls("results")
        frame = frame.unnest("results")
    frame = frame.select(under_our_names(choose(frame.columns)))
    ids = cs.by_name(ID_COLUMNS, require_all=False) & (cs.integer() | cs.by_dtype(pl.Null))
    return frame.with_columns(ids.cast(pl.String))


def _first_fault(content: bytes) -> str:
    """Describe the first line that is not a JSON object; empty if all of them are."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            # int refuses NaN and Infinity, which are no JSON.
            held = json.loads(line, parse_constant=int) if line.strip() else {}
        except (ValueError, RecursionError) as error:
            return f", line {number}: no JSON: {error}"
        if not isinstance(held, dict):
            return f", line {number}: expected a JSON object, got {type(held).__name__}"
    return ""

"""Write frames as CSV, Parquet and JSON with every digit, and a description of every column."""

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

import polars as pl

from retrieval_report.contracts.registry import describe
from retrieval_report.study.contents import Report
from retrieval_report.writing.files import FORMULA_START, csv_bytes, parquet_bytes

ABOUT = "about.json"
# What a report holds besides frames.
WORDS = ["title", "metric", "cutoff", "status", "verdict", "parameters", "versions", "command"]
FRAME_FORMATS = ("parquet", "csv", "json")  # in the order of preference for reading


def frame_files(report: Report, kind: str, *, raw: bool) -> dict[str, bytes]:
    """Return every frame as ``<name>.<kind>``; with CSV also ``columns.csv``, which describes them.

    JSON is an array of rows; NaN and infinities, which it lacks, are null. Frames without columns,
    such as the audit of counts, are left out.
    """
    frames = {name: frame for name, frame in report.frames.items() if frame.width}
    bytes_of: Mapping[str, Callable[[pl.DataFrame], bytes]] = {
        "csv": lambda frame: csv_bytes(frame, raw=raw),
        "parquet": parquet_bytes,
        "json": lambda frame: frame.write_json().encode(),
    }
    files = {name: bytes_of[kind](frame) for name, frame in frames.items()}
    if kind == "csv":
        files["columns"] = csv_bytes(describe(frames))
    return {f"{name}.{kind}": data for name, data in files.items()}


def about_bytes(
    report: Report,
    *,
    files: Mapping[str, bytes],
    formats: Sequence[str],
    raw: bool,
    timestamp: str | None,
) -> bytes:
    """Return what is not a frame: verdict, parameters, versions, command, types of all columns,
    hashes of all files.
    """
    about = {
        **{name: getattr(report, name) for name in WORDS},
        "timestamp": timestamp,
        "formats": [name for name in FRAME_FORMATS if name in formats],
        "files": [*files, ABOUT],
        "sha256": {name: sha256(data).hexdigest() for name, data in files.items()},
        "raw": raw,
        "columns": {
            name: {column: str(dtype) for column, dtype in frame.schema.items()}
            for name, frame in report.frames.items()
        },
    }
    return (json.dumps(about, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def read_csv(data: bytes, schema: Mapping[str, pl.DataType], *, raw: bool) -> pl.DataFrame:
    """Read one CSV file of a report back; the inverse of `frame_files`."""
    frame = pl.read_csv(data, schema=dict(schema))
    if raw:
        return frame
    text = pl.col(pl.String)
    whole = (
        pl.when(text.str.contains(FORMULA_START) & text.str.starts_with("'"))
        .then(text.str.slice(1))
        .otherwise(text)
    )
    return frame.with_columns(whole.name.keep())

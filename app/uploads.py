"""Read uploaded bytes in memory, up to a limit; a
file's name is a label, never a path that is opened.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import streamlit as st

import retrieval_report as rr
from records import NAMED, OpenedData, Upload
from retrieval_report.contracts.arguments import ColumnNames, repeated
from retrieval_report.contracts.errors import DataError, FileError
from retrieval_report.contracts.warning import noticed
from retrieval_report.contracts.wording import advice, setting, speaking_to
from retrieval_report.reading.crash_guard import try_first
from retrieval_report.reading.files import column_names, frame_from
from retrieval_report.reading.formats import detect_format
from retrieval_report.reading.names import JUDGEMENTS, QUERIES, RANKINGS, Kind, match_columns
from retrieval_report.reading.sources import BINARY, Source, source_of
from retrieval_report.reading.trec import RUN_FIELDS
from retrieval_report.writing.names import first_names
from wording import DashboardReader

# Largest size of one file, unpacked; the same as .streamlit/config.toml allows for a file.
MOST_BYTES = 2**28
# Largest size of the columns of one Parquet or Arrow file, in bytes.
MOST_MEMORY = 2**30
# Most rows of one Parquet or Arrow file, which can hold many equal rows in few bytes.
MOST_ROWS = 50_000_000


def offered(label: str, key: str, place: Any = st) -> Upload | None:
    """Offer to upload one file."""
    file = place.file_uploader(label, key=key)
    return None if file is None else Upload(file.name, file.getvalue())


def opened(upload: Upload) -> Source:
    """Return an upload as a source for the readers; no file is opened.

    Raises
    ------
    RetrievalReportError
        The file exceeds a limit.
    """
    source = source_of(upload.label, upload.content, MOST_BYTES)
    form = detect_format(source)
    if form in BINARY.values():
        try_first(source, form, MOST_ROWS, MOST_MEMORY)
    return source


def read_tables(
    rankings: Sequence[Upload],
    judgements: Upload | None = None,
    queries: Upload | None = None,
    columns: ColumnNames = None,
    items: Upload | None = None,
    *,
    negative: str = "keep",
) -> OpenedData:
    """Read tables in the same way as `read_rankings`,
    `read_judgements` and `read_queries` read files.

    Raises
    ------
    RetrievalReportError
        The errors of those functions; the message holds the upload's name.
    """
    for label in sorted(repeated([upload.label for upload in rankings])):
        raise FileError(
            f"{label}: uploaded more than once; two files with the same name would be one model"
        )
    sources = [opened(upload) for upload in rankings]
    with noticed() as notes:
        read = _read(sources, RANKINGS, columns)
        name = first_names([upload.label for upload in rankings], NAMED)
        if read.is_empty():
            raise DataError(f"{name}: no rows")
        study = rr.Study(
            read,
            judgements=judgements and _read([opened(judgements)], JUDGEMENTS, negative=negative),
            queries=queries and _read([opened(queries)], QUERIES),
        )
        data = OpenedData(name, study, items and read_texts(items))
        if "weight" in study.frames.get("queries", read).columns:
            chosen = setting("average", "weighted")
            notes.append(advice("weights of queries count only if you pass {}", chosen))
        notes += [note for source in sources for note in _left_out(source, columns)]
    return replace(data, notes=tuple(notes))


def _read(
    sources: Sequence[Source], kind: Kind, columns: ColumnNames = None, negative: str = "keep"
) -> pl.DataFrame:
    with speaking_to(DashboardReader(columns=kind is RANKINGS)):
        return frame_from(sources, kind, columns=columns, max_rows=MOST_ROWS, negative=negative)


def read_texts(upload: Upload) -> pl.DataFrame:
    """Return items with their texts or pictures, read by the reader of queries with another name
    for the ids.

    Raises
    ------
    RetrievalReportError
        Neither is there, or a picture is no ``data:`` address: others would be fetched from the
        network.
    """
    items = _read([opened(upload)], QUERIES, {"query": "item"})
    content_columns = [name for name in ("text", "image") if name in items.columns]
    if not content_columns:
        raise FileError(f"{upload.label}: no column 'text' or 'image' beside 'item'")
    texts = items.rename({"query": "item"}).select("item", *content_columns).cast(pl.String)
    if (
        "image" in content_columns
        and not texts["image"].drop_nulls().str.starts_with("data:image/").all()
    ):
        raise FileError(
            f"{upload.label}: column 'image': pictures are addresses that begin with data:image/"
        )
    return texts


def _left_out(source: Source, columns: ColumnNames) -> list[str]:
    """Return a note on columns of a table that were not read."""
    names = column_names(source)
    used = match_columns(names, RANKINGS, columns, str(source.path)).values()
    unknown = [name for name in names if name not in used]
    # Every TREC run has an iteration and a rank, which nobody reads.
    if not unknown or tuple(names) == RUN_FIELDS:
        return []
    return [f"{source.path}: columns not read: {', '.join(unknown)}"]

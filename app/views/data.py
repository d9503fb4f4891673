"""The page that describes the data, opens other data, and offers the numbers as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from cached import asked, check, column_names, of_metric, remarks, report, shown, study_of
from data_source import adopt
from records import Choice, Data, Upload
from retrieval_report.contracts.errors import ColumnError, RetrievalReportError
from retrieval_report.reading.names import RANKINGS, match_columns
from retrieval_report.writing.files import csv_bytes, parquet_bytes
from tables import facts_table, frame_table
from text import plain, short
from uploads import MOST_BYTES, read_codes, read_tables

FIRST_ROWS = 100
MAPPED = ("query", "item", "distance", "score", "relevance", "model")


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    st.title("Data & export")
    _what_is_there(data)
    st.subheader("Open your data")
    st.caption(
        "Files stay in the memory of this computer for this session; nothing is stored. Formats: "
        "CSV, TSV, NDJSON, "
        f"TREC runs and qrels (also as .gz), Parquet and Arrow; at most {MOST_BYTES // 2**20} MiB "
        "per file, unpacked."
    )
    tables, codes = st.tabs(["Rankings", "Codes"])
    with tables:
        _upload_tables()
    with codes:
        _upload_codes()
    st.subheader("Export")
    _downloads(data, choice)


def _what_is_there(data: Data) -> None:
    st.markdown(f"**{plain(data.name)}**")
    facts_table(data)
    for note in data.notes:
        st.info(plain(note))
    with st.expander(f"The first {FIRST_ROWS} rows"):
        for name, frame in data.frames.items():
            if frame is not None:
                st.caption(name)
                frame_table(frame.head(FIRST_ROWS), key=f"first {name}")


def _uploads(files: Sequence[Any] | None) -> list[Upload]:
    return [Upload(file.name, file.getvalue()) for file in files or ()]


def _upload_tables() -> None:
    rankings = st.file_uploader(
        "Rankings or counts: one file, or one for each model",
        accept_multiple_files=True,
        key="rankings upload",
    )
    left, right = st.columns(2)
    judgements = left.file_uploader(
        "Judgements (qrels), if relevance is not in the rankings", key="judgements upload"
    )
    queries = right.file_uploader(
        "Queries with label, weight or n_relevant, if there are any", key="queries upload"
    )
    items = left.file_uploader(
        "Items with a column text or image, to see what a list holds", key="items upload"
    )
    if not rankings:
        return
    try:
        columns = _mapping(rankings[0])
        if st.button("Open these files", type="primary", disabled=not _says_enough(columns)):
            with st.spinner("Reading and scoring …", show_time=True):
                single = (judgements, queries, items)
                one, other, texts = (
                    [*_uploads([file] if file else None), None][0] for file in single
                )
                _open(read_tables(_uploads(rankings), one, other, columns, texts))
    except RetrievalReportError as error:
        _refused(error)


def _mapping(file: Any) -> dict[str, str] | None:
    """Let the user say which column is which, immediately if the names do not show it."""
    found = column_names(Upload(file.name, file.getvalue()))
    try:
        matched = match_columns(found, RANKINGS, None, Upload(file.name, b"").label)
    except ColumnError as error:
        st.warning(f"{plain(error)}\n\nOr choose them here:")
        matched = {}
    if matched and not st.toggle("Say which column is which", key="columns by hand"):
        return None
    chosen = {}
    for measure, ours in zip(st.columns(3) * 2, MAPPED, strict=True):
        theirs = measure.selectbox(
            f"Column of *{ours}*",
            [None, *found],
            index=[None, *found].index(matched.get(ours)),
            format_func=lambda name: "–" if name is None else short(name),
            key=f"column {ours}",
        )
        if theirs is not None:
            chosen[ours] = theirs
    return chosen


def _says_enough(columns: Mapping[str, str] | None) -> bool:
    """Return whether these columns suffice for lists; None means the columns found by name."""
    return columns is None or (
        "query" in columns and not columns.keys().isdisjoint(("distance", "score"))
    )


def _upload_codes() -> None:
    st.caption("An .npz file holds *codes* and *labels*, and optionally *ids* and *bits*.")
    left, right = st.columns(2)
    queries = left.file_uploader(
        "Queries: .npz, one for each model", accept_multiple_files=True, key="query codes"
    )
    items = right.file_uploader(
        "Items: .npz, in the same order", accept_multiple_files=True, key="item codes"
    )
    distance = left.selectbox("Distance", ("hamming", "l1", "dot"), key="code distance")
    relevance = right.selectbox(
        "Relevant are items that share",
        ("any", "shared"),
        key="code relevance",
        help="*any* class; or as relevant as the number of *shared* classes.",
    )
    if queries and items and st.button("Open these codes", type="primary"):
        try:
            with st.spinner("Counting and scoring …", show_time=True):
                _open(
                    read_codes(
                        _uploads(queries), _uploads(items), distance=distance, relevance=relevance
                    )
                )
        except RetrievalReportError as error:
            _refused(error)


def _open(data: Data) -> None:
    check(data)
    adopt(data)
    st.rerun()


def _refused(error: RetrievalReportError) -> None:
    st.error(f"{plain(error)}\n\nNothing was opened; the data above is unchanged.")


def _downloads(data: Data, choice: Choice) -> None:
    try:
        remarks(data, choice)
    except RetrievalReportError:
        st.info("Nothing can be exported until these data are scored; the error is shown above.")
        return
    st.caption(
        f"For {plain(choice.measure)} and the models, scores and rules of the sidebar, at all "
        "cutoffs."
    )
    study = of_metric(study_of(data, choice), choice)
    known = asked(data)
    left, middle, right = st.columns(3)
    left.download_button(
        "Scores, CSV", lambda: csv_bytes(shown(study.scores, choice)), "scores.csv", "text/csv"
    )
    left.caption("One row per query.")
    middle.download_button(
        "Summary, CSV", lambda: csv_bytes(shown(study.summary, choice)), "summary.csv", "text/csv"
    )
    middle.caption("One row per mean.")
    right.download_button(
        "Scores, Parquet", lambda: parquet_bytes(shown(study.scores, choice)), "scores.parquet"
    )
    right.caption("With every digit and type.")
    also = {
        "the costs that you entered": known.costs,
        f"the baseline {known.baseline} and its margin": known.margin,
    }
    there = [name for name, value in also.items() if value is not None]
    if there:
        st.caption(f"The report also holds {plain(' and '.join(there))}.")
    if st.button("Prepare the HTML report"):
        with st.spinner("Computing the report …", show_time=True):
            page = report(data, choice)
        st.download_button(
            "Download the report",
            page,
            "report.html",
            "text/html",
            type="primary",
            on_click="ignore",
        )

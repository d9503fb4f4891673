"""The page that describes the data, opens other data, and offers the numbers as files."""

import polars as pl
import streamlit as st

from cached import check, columns_of, report, scored
from data_source import adopt
from page import Page
from records import OpenedData, Upload
from retrieval_report.contracts.errors import ColumnError, RetrievalReportError
from retrieval_report.contracts.wording import speaking_to
from retrieval_report.reading.names import RANKINGS, match_columns
from retrieval_report.writing.files import csv_bytes, parquet_bytes
from retrieval_report.writing.names import listed
from tables import frame_table
from text import plain, sentence, short
from uploads import MOST_BYTES, offered, read_tables
from wording import NEGATIVE, DashboardReader

FIRST_ROWS = 100
OPENED_BEFORE = "files that were opened, or refused"
PREPARED = "report, and what it was prepared for"
MAPPED = ("query", "item", "distance", "score", "relevance", "model")
PARTS = {"model": "models", "query": "queries", "item": "items"}
OTHERS = {
    "judgements": "Judgements (qrels), if rankings lack relevance",
    "queries": "Queries with label, weight or n_relevant",
    "items": "Items with a column text or image",
}
OWN_BOX = (
    "Judgements belong in the box “Judgements (qrels)”. To rank items by their labels, start the "
    "dashboard with `--labels-as-rankings`."
)
NEGATIVE_HELP = "As trec_eval does: these items count as not judged. Otherwise they are refused."
FACTS = "frame rows models queries items columns"


def show(page: Page) -> None:
    """Draw the page."""
    _what_is_there(page.data)
    st.subheader("Open your data")
    st.caption(
        "Files stay in the memory of this computer for this session; nothing is stored. Formats: "
        "CSV, TSV, JSON, NDJSON, TREC runs and qrels (also as .gz), Parquet, Arrow and .npz; at most "
        f"{MOST_BYTES // 2**20} MB per file, unpacked."
    )
    try:
        with speaking_to(DashboardReader(place="above")):
            _upload_tables()
    except RetrievalReportError as error:
        st.error(f"{sentence(error)}\n\nNothing was opened; the data above is unchanged.")
    st.subheader("Export")
    _downloads(page)
    _first_rows(page.data)


def _what_is_there(data: OpenedData) -> None:
    facts = [
        {
            "frame": "counts" if name == "rankings" and data.source.counted else name,
            "rows": frame.height,
            **{PARTS[part]: frame[part].n_unique() for part in PARTS if part in frame.columns},
            "columns": ", ".join(frame.columns),
        }
        for name, frame in data.frames.items()
    ]
    table = pl.DataFrame(facts, infer_schema_length=None)
    frame_table(table, of="facts", show=FACTS, alt="The data.")
    for note in data.notes:
        st.info(sentence(note))


def _first_rows(data: OpenedData) -> None:
    with st.expander(f"The first {FIRST_ROWS} rows of each frame"):
        for name, frame in data.frames.items():
            st.caption(name)
            frame_table(frame.head(FIRST_ROWS), key=f"first {name}")


def _upload_tables() -> None:
    files = st.file_uploader(
        "Rankings or counts: one file, or one for each model",
        accept_multiple_files=True,
        key="rankings upload",
    )
    rankings = [Upload(file.name, file.getvalue()) for file in files]
    # Side by side, so that a laptop shows the button that opens them.
    places = zip(st.columns(3), OTHERS.items(), strict=True)
    tables = {name: offered(label, f"{name} upload", place) for place, (name, label) in places}
    if not rankings:
        if any(tables.values()):
            st.info("Choose a file of rankings, too: it is opened together with these.")
        return
    columns, is_complete = _mapping(rankings[0])
    # Rankings and judgements say all; without the latter, somebody may be about to add them.
    drops = tables["judgements"] is not None and st.toggle(NEGATIVE, help=NEGATIVE_HELP)
    chosen = [file.file_id for file in files], tables, drops
    is_new = bool(tables["judgements"]) and st.session_state.get(OPENED_BEFORE) != chosen
    opened = st.button("Open these files", type="primary", disabled=not is_complete)
    st.caption(
        "Files are read when you open them, or as soon as there are rankings and judgements; "
        "another page forgets files that are not open."
    )
    if opened or (is_new and is_complete and columns is None):
        st.session_state[OPENED_BEFORE] = chosen
        with st.spinner("Reading and scoring …", show_time=True):
            data = read_tables(
                rankings, columns=columns, **tables, negative="unjudged" if drops else "keep"
            )
            check(data)
        adopt(data)
        st.rerun()


def _mapping(upload: Upload) -> tuple[dict[str, str] | None, bool]:
    """Let the user say which column is which, immediately if the names do not show it; return the
    choice, and whether no column is lacking any more.
    """
    names = columns_of(upload)
    try:
        matched = match_columns(names, RANKINGS, None, upload.label)
    except ColumnError:
        matched = {}
    if matched and not st.toggle("Say which column is which", key="columns by hand"):
        return None, True
    if {"iteration", "relevance"} <= {*names}:  # as in TREC's judgements
        st.info(f"{short(upload.label)} is among the rankings, but holds judgements. {OWN_BOX}")
        return None, False
    lacking = st.container()
    options = [None, *names]
    columns_chosen = {
        ours: place.selectbox(
            f"Column of *{ours}*",
            options,
            index=options.index(matched.get(ours)),
            format_func=lambda name: "–" if name is None else short(name),
            key=f"column {ours}",
        )
        for place, ours in zip(st.columns(3) * 2, MAPPED, strict=True)
    }
    # What a name suggests gives way to what was chosen: a score may be called a distance.
    by_hand = {theirs for ours, theirs in columns_chosen.items() if matched.get(ours) != theirs}
    columns = {
        ours: theirs
        for ours, theirs in columns_chosen.items()
        if theirs is not None and not (theirs in by_hand and matched.get(ours) == theirs)
    }
    try:
        with speaking_to(DashboardReader(columns=True)):
            match_columns(names, RANKINGS, columns, upload.label)
    except ColumnError as error:
        lacking.warning(sentence(error))
        if "relevance" in names:
            lacking.info(f"Is {short(upload.label)} a file of judgements? {OWN_BOX}")
        return columns, False
    return columns, True


def _downloads(page: Page) -> None:
    data, choice = page.data, page.choice
    try:
        scored(data, choice)
    except RetrievalReportError:
        st.info("Nothing can be exported until these data are scored; the error is shown above.")
        return
    st.caption(
        f"These tables are for {plain(page.choice.metric)} at all cutoffs, by the models and "
        "rules of the sidebar."
    )
    study = page.curve
    files = (
        (
            "Scores, CSV",
            lambda: csv_bytes(study.scores),
            "One row per model, query, measure and policy.",
        ),
        (
            "Summary, CSV",
            lambda: csv_bytes(study.summary),
            "One row per model, measure and policy.",
        ),
        ("Scores, Parquet", lambda: parquet_bytes(study.scores), "With every digit and type."),
    )
    for place, (label, made, about) in zip(st.columns(3), files, strict=True):
        place.download_button(label, made, label.lower().replace(", ", "."))
        place.caption(about)
    questions = page.questions
    also = {
        "the costs that you entered": questions.get("costs"),
        f"the baseline {questions.get('baseline')} with its margin": questions.get("margin"),
    }
    names = ["the usual measures", *(name for name, value in also.items() if value is not None)]
    st.caption(
        f"The report leads with {plain(page.choice.measure)}; it also holds {plain(listed(names))}."
    )
    costs = also["the costs that you entered"]
    rows = None if costs is None else costs.to_dicts()  # frames are not compared by ==
    prepared_for = data.digest, choice, {**questions, "costs": rows}
    if st.button("Prepare the HTML report"):
        with st.spinner("Computing the report …", show_time=True):
            st.session_state[PREPARED] = prepared_for, report(data, choice, questions)
    if PREPARED in st.session_state and st.session_state[PREPARED][0] == prepared_for:
        st.download_button(
            "Download the report",
            st.session_state[PREPARED][1],
            "report.html",
            "text/html",
            type="primary",
            on_click="ignore",
        )

"""Choose the data of the dashboard: a sample, the files it was started with, or uploads of this
session.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from cached import read_files
from records import NAMED, Data, Draws, Files
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.options import Options
from retrieval_report.study.samples import SAMPLES, sample_folder
from retrieval_report.study.server import START
from retrieval_report.writing.names import first_names
from text import plain, short
from url_controls import choose_one, given, refuse

UPLOADED = "uploaded data"
NEXT = "data to open next"
OWN = (
    "files",
    "upload",
)  # the user's data, called by their names; samples have a short name and a title


def choose_data() -> Data:
    """Offer the available data, and return the chosen one."""
    choices = {sample.name: sample.title for sample in SAMPLES[::-1]}
    started = _started_with()
    if started is not None:
        choices = {"files": started.name, **choices}
    first = next(iter(choices))
    uploaded: Data | None = st.session_state.get(UPLOADED)
    if uploaded is not None:
        choices["upload"] = uploaded.name
    shown = {key: short(choices[key] if key in OWN else key) for key in choices}
    for value in given("open"):
        if value not in shown.values():
            refuse(
                "open",
                value,
                "there is no such data here; uploads are only available in their own session",
            )
    if NEXT in st.session_state:
        st.session_state["open"] = st.session_state.pop(NEXT)
    with st.sidebar:
        chosen = choose_one(
            "Data", list(choices), name="open", default=first, show=shown.__getitem__
        )
        st.caption(plain(choices[chosen]))
    if chosen == "upload" and uploaded is not None:
        return uploaded
    with st.spinner("Reading …", show_time=True):
        return (
            _read(started)
            if chosen == "files" and started is not None
            else read_files(_sample(chosen))
        )


def first_files() -> Files:
    """Return the data that a visitor sees first if the address names none."""
    return _started_with() or _sample(SAMPLES[-1].name)


def _read(files: Files) -> Data:
    """Read the files given at the start, or show an error above the sample if they cannot be
    read.
    """
    try:
        return read_files(files)
    except RetrievalReportError as error:
        st.error(f"{plain(error)}\n\nA sample is shown instead.")
        return read_files(_sample(SAMPLES[-1].name))


def adopt(data: Data) -> None:
    """Switch this session to uploaded data, from the next run of the page on."""
    st.session_state[UPLOADED] = data
    st.session_state[NEXT] = "upload"


def _started_with() -> Files | None:
    """Return the files named on the command line."""
    given = os.environ.get(START)
    if not given:
        return None
    known: dict[str, Any] = {name: value for name, value in json.loads(given).items() if value}
    known |= {"rules": Options(**known.get("rules", {})), "draws": Draws(**known.get("draws", {}))}
    return Files(
        **{"name": first_names([Path(path).name for path in known["rankings"]], NAMED), **known}
    )


@cache
def _sample(name: str) -> Files:
    sample = next(sample for sample in SAMPLES if sample.name == name)
    folder = sample_folder()
    judgements, queries = (
        part and str(folder / part) for part in (sample.judgements, sample.queries)
    )
    rankings, rules = [str(folder / sample.rankings)], Options(truncated=sample.truncated)
    return Files(sample.title, rankings, judgements, queries, rules=rules)

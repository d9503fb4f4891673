"""Choose the data of the dashboard: a sample, the
files it was started with, or uploads of this session.
"""

import json
import os
from pathlib import Path

import streamlit as st

from cached import read_files
from records import NAMED, USUAL, Choice, Files, OpenedData
from retrieval_report.contracts.arguments import Named, known_of
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.study.samples import SAMPLES, Sample, sample_folder
from retrieval_report.study.server import START
from retrieval_report.writing.names import first_names
from text import plain, sentence, short
from url_controls import choose_one

UPLOADED = "uploaded data"
GONE = (
    "such data are not here. If you uploaded them, upload the files again on the page Data & "
    "export: a link or a reload keeps metric, cutoff and rules, not the data"
)
NEXT = "data to open next"  # a value can be set only before its widget is made


def choose_data() -> OpenedData:
    """Offer the available data, and return the chosen one."""
    samples = {sample.name: _sample(sample) for sample in SAMPLES[::-1]}
    offered = {
        "files": _started_with(),
        **samples,
        "upload": st.session_state.get(UPLOADED),
    }
    sources = known_of(offered)
    # The user's data are called by their names; samples have a short name and a title.
    texts = {
        name: name if name in samples else short(source.name) for name, source in sources.items()
    }
    if NEXT in st.session_state:
        st.session_state["open"] = st.session_state.pop(NEXT)
    with st.sidebar:
        how: Named = {"show": texts.__getitem__, "missing": GONE}
        open_source = sources[choose_one("Data", list(sources), name="open", **how)]
        if open_source.name not in texts.values():  # the title of a sample
            st.caption(plain(open_source.name))
    if isinstance(open_source, OpenedData):
        return open_source
    with st.spinner("Reading …", show_time=True):
        try:
            return read_files(open_source)
        except RetrievalReportError as error:
            cure = "Mend it and reload this page, or choose other data in the sidebar."
            st.error(f"{sentence(error)}\n\n{cure}")
            st.stop()


def first_files() -> Files:
    """Return the data that a visitor sees first if the address names none."""
    return _started_with() or _sample(SAMPLES[-1])


def adopt(data: OpenedData) -> None:
    """Switch this session to uploaded data, from the next run of the page on."""
    st.session_state[UPLOADED], st.session_state[NEXT] = data, "upload"


def _started_with() -> Files | None:
    """Return the files named on the command line, or those of a study with its settings."""
    settings = json.loads(os.environ.get(START) or "{}")
    if not settings:
        return None
    metric, cutoff = settings.pop("measure", (Choice.metric, Choice.cutoff))
    name = first_names([Path(path.removesuffix("/*")).name for path in settings["rankings"]], NAMED)
    about = {part: settings.pop(part) for part in Files._fields if part in settings}
    about["start"] = Choice(metric, cutoff, options={**USUAL, **settings.pop("options", {})})
    return Files(**{"name": name, **about, "study": settings})


def _sample(sample: Sample) -> Files:
    options = {**USUAL, "truncated": sample.truncated}
    costs = sample.costs and str(sample_folder() / sample.costs)
    study = {**sample.files, **sample.decision}
    return Files(sample.title, study, start=Choice(options=options), costs=costs)

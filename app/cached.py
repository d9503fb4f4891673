"""Cached data and studies for the pages; only their
results are kept from one run of the page to the next.

Data are identified by their digest, and other frames by all their rows; Streamlit's hash of a frame
considers only a few. Cached values are shared by all sessions, bounded in number, and never
changed; a study remembers its own answers.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import TypeVar

import polars as pl
import streamlit as st

import retrieval_report as rr
from records import (
    CUTOFFS,
    FRAMES,
    MEASURES,
    METRICS,
    SCORING,
    SETTINGS,
    Choice,
    Files,
    OpenedData,
    Upload,
)
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.options import OPTIONS, JudgedOptions
from retrieval_report.contracts.warning import noticed
from retrieval_report.contracts.wording import PYTHON, speaking_to
from retrieval_report.reading.files import column_names
from retrieval_report.reading.finding import find_files
from retrieval_report.reading.readers import read_costs
from retrieval_report.study.html import render_html
from retrieval_report.study.pictures import pictures
from uploads import opened, read_texts

DIGESTS: dict[str | type, Callable[..., object]] = {
    OpenedData: lambda data: data.digest,
    pl.DataFrame: lambda frame: frame.hash_rows().to_numpy().tobytes(),
    FunctionType: lambda chart: chart.__name__,
}
LENIENT = {
    name: next(choice for choice in OPTIONS[name].choices if choice != "error")
    for name in JudgedOptions.__annotations__
    if "error" in OPTIONS[name].choices
}

Function = TypeVar("Function", bound=Callable[..., object])


Noted = tuple[rr.Study, tuple[str, ...]]  # a study, and the warnings about its data


def remember(entries: int) -> Callable[[Function], Function]:
    """Cache the last results of a function by its arguments."""
    return st.cache_resource(  # type: ignore[return-value]
        max_entries=entries, show_spinner=False, hash_funcs=DIGESTS
    )


@remember(64)
def columns_of(upload: Upload) -> list[str]:
    """Return the columns of an uploaded table."""
    return column_names(opened(upload))


def read_files(files: Files) -> OpenedData:
    """Read files, or return the cached data if none has changed."""
    values = [files.items, files.costs, *(files.study.get(kind) for kind in (*FRAMES, "labels"))]
    file_lists = (
        list(value.values()) if isinstance(value, dict) else value for value in values if value
    )
    paths = [path for value in file_lists for path in find_files(value)]
    return _read(files, [(path.stat().st_mtime_ns, path.stat().st_size) for path in paths])


@remember(4)
def _read(files: Files, states: object) -> OpenedData:
    arguments = dict(files.study)
    with noticed() as notes:
        if files.labels_as_rankings:
            arguments["rankings"] = rr.from_labels(arguments["rankings"], negative=files.negative)
        if judged := files.negative != "keep" and arguments.get("judgements"):
            several = judged if isinstance(judged, dict) else {"": judged}
            read = {
                name: rr.read_judgements(path, negative=files.negative)
                for name, path in several.items()
            }
            arguments["judgements"] = read if several is judged else read[""]
        study, path = rr.Study(**arguments), files.items
        items = None if path is None else read_texts(Upload(path, Path(path).read_bytes()))
        about: Named = {"start": files.start, "history": files.history}
        costs = None if files.costs is None else read_costs(files.costs)
        data = OpenedData(files.name, study, items, costs=costs, **about)
    return replace(data, notes=tuple(notes))


def scored(data: OpenedData, choice: Choice) -> Noted:
    """Return the study of all models whose exact scores are computed, by the chosen metric at every
    cutoff of its curve, and the warnings raised meanwhile.
    """
    rules = choice.only(SCORING)
    if choice.metric in METRICS and {*choice.cutoffs} <= {*CUTOFFS}:
        # All usual measures together, so that switching between them costs nothing.
        return _scored(data, METRICS, CUTOFFS, rules)
    return _scored(data, (choice.metric,), choice.cutoffs, rules)


@remember(8)
def _scored(
    data: OpenedData, metrics: tuple[str, ...], cutoffs: tuple[int | None, ...], rules: Named
) -> Noted:
    whole, of_rows = _judged(data, rules)
    with noticed() as notes:
        study = whole._by_measures(metrics, cutoffs)
        # Computed now, so that its warnings are caught here; all pages need all but random orders.
        study._undrawn.scores  # noqa: B018
    return study, (*of_rows, *notes)


@remember(8)
def _judged(data: OpenedData, rules: Named) -> Noted:
    """Return the study whose judged rows all measures share, and the warnings about them."""
    with noticed() as notes:
        study = data.source.alone(**rules)
        study.judged  # noqa: B018  # computed now, so that its warnings are caught here
    return study, tuple(notes)


def study_of(data: OpenedData, choice: Choice) -> rr.Study:
    """Return the study of the data with the chosen measure as headline."""
    study = _chosen(data, choice, scored(data, choice)[0])
    return study.at(*choice.leading(study.measures))


def usual_study(data: OpenedData, choice: Choice) -> rr.Study:
    """Return the study of the usual measures, whatever the chosen one."""
    return _chosen(data, choice, _scored(data, METRICS, CUTOFFS, choice.only(SCORING))[0])


def _chosen(data: OpenedData, choice: Choice, study: rr.Study) -> rr.Study:
    """Return the study of the chosen models, with the chosen settings."""
    study = study.using(costs=data.costs, **choice.only(SETTINGS))
    return study if choice.models == data.models else study.models(*choice.models)


@remember(96)
def answered(data: OpenedData, ask: Callable[..., pl.DataFrame], how: Named) -> pl.DataFrame:
    """Return the result of a function of the rankings that no study answers, such as
    `ranking_ties` for a single list.
    """
    return ask(**data.frames, **how)


def check(data: OpenedData) -> None:
    """Raise the library's error for data that cannot be scored under any rule of the sidebar."""
    try:
        scored(data, data.start)
    except RetrievalReportError:
        # what the user can allow
        scored(data, replace(data.start, options={**data.start.options, **LENIENT}))


def ask(data: OpenedData, *, as_opened: bool = False, **questions: object) -> None:
    """Keep what a page was asked about the data beside the sidebar, for the report; not if that is
    what the page opened with, which nobody chose.
    """
    kept = {**remembered_questions(data), **questions}
    for name in questions if as_opened else ():
        del kept[name]
    st.session_state[f"asked of {data.digest}"] = kept


def remembered_questions(data: OpenedData) -> Named:
    """Return what was entered in this session: costs, baseline and margin, how many items vote."""
    return {**st.session_state.get(f"asked of {data.digest}", {})}


def report(data: OpenedData, choice: Choice, answers: Named) -> bytes:
    """Return the HTML report on the chosen models, with
    the chosen measure as headline, and the usual ones.

    ``answers`` is the result of `remembered_questions`.
    """
    metrics = tuple(dict.fromkeys((*METRICS, choice.metric)))  # which pages have in two studies
    cutoffs = CUTOFFS if {*choice.cutoffs} <= {*CUTOFFS} else choice.cutoffs
    study, _ = _scored(data, metrics, cutoffs, choice.only(SCORING))
    study = _chosen(data, choice, study).at(*choice.leading(MEASURES)).using(**answers)
    with speaking_to(PYTHON):  # whoever opens the report sees no controls
        contents = study.contents(title=f"{data.name}, {study.size}")
        return render_html(contents, pictures(contents)).encode()

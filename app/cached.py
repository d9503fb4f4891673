"""Cached data and studies for the pages; only their results are kept from one run of the page to
the next.

Data are identified by their digest, never by Streamlit's hash of a frame, which considers only a
few rows. Cached values are shared by all sessions, bounded in number, and never changed; a study
remembers its own answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
import streamlit as st

import retrieval_report as rr
from records import CUTOFFS, MEASURES, METRICS, SCORING, SETTINGS, Choice, Data, Files, Upload
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import DataError, RetrievalReportError
from retrieval_report.contracts.options import OPTIONS, JudgedOptions
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.reading.finding import find_files
from retrieval_report.reading.readers import read_labels
from retrieval_report.study.html import render_html
from retrieval_report.study.pictures import pictures
from retrieval_report.study.study_data import headline_judge, read_frames, read_judges
from retrieval_report.ties.orders import ranking_ties
from uploads import columns_of, read_texts
from warning_log import noticed

DIGESTS: dict[str | type, Callable[[Any], Any]] = {Data: lambda data: data.digest}
LENIENT = {
    name: next(choice for choice in OPTIONS[name].choices if choice != "error")
    for name in JudgedOptions.__annotations__
    if "error" in OPTIONS[name].choices
}

Function = TypeVar("Function", bound=Callable[..., Any])


def remember(entries: int) -> Callable[[Function], Function]:
    """Cache the last results of a function by its arguments."""
    return st.cache_resource(  # type: ignore[return-value]
        max_entries=entries, show_spinner=False, hash_funcs=DIGESTS
    )


column_names = remember(64)(columns_of)  # of an uploaded file


def read_files(files: Files) -> Data:
    """Read files, or return the cached data if none has changed."""
    named = files.judgements
    judgements = list(named.values()) if isinstance(named, Mapping) else named
    kinds = (files.rankings, judgements, files.queries, files.items, files.labels)
    paths = [path for given in kinds if given is not None for path in find_files(given)]
    return _read(files, [(path.stat().st_mtime_ns, path.stat().st_size) for path in paths])


@remember(4)
def _read(files: Files, states: object) -> Data:
    study = dict(files.study or {})
    with noticed() as notes:
        judges = read_judges(files.judgements)
        rankings, path = list(files.rankings), files.items
        frames, of_run = read_frames(
            rr.from_labels(rankings) if files.labels_as_rankings else rankings,
            judges[headline_judge(judges, study.get("judge"))] if judges else files.judgements,
            files.queries,
            study.get("replicate"),
            study.get("dataset"),
            columns=files.columns,
            name_by=files.name_by,
        )
        study |= {"replicate": of_run} if of_run else {}
        study |= {"judgements": judges} if judges else {}
        study |= {"labels": read_labels(files.labels)} if files.labels else {}
        data = Data(
            files.name,
            **frames,
            items=read_texts(Upload(path, Path(path).read_bytes())) if path else None,
            start=files.start,
            history=files.history,
            study=study,
        )
    return replace(data, notes=tuple(notes))


def scored(data: Data, choice: Choice) -> tuple[rr.Study, tuple[str, ...]]:
    """Return the study of all models whose exact scores are computed, and the warnings raised
    meanwhile.
    """
    # The usual measures too, so that switching between them costs nothing.
    metrics = dict.fromkeys((*METRICS, choice.metric))
    cutoffs = CUTOFFS if set(choice.cutoffs) <= set(CUTOFFS) else choice.cutoffs
    measures = [measure_text(metric, cutoff) for metric in metrics for cutoff in cutoffs]
    return _scored(data, tuple(dict.fromkeys(measures)), choice.only(SCORING))


@remember(8)
def _scored(
    data: Data, measures: tuple[str, ...], rules: Named
) -> tuple[rr.Study, tuple[str, ...]]:
    # `evaluate` returns an empty frame for it, which is of no use to any page.
    if data.rankings.is_empty():
        raise DataError(f"{data.name}: no rows")
    with noticed() as notes:
        study = rr.Study(measures=measures, **{**data.frames, **data.study}, **rules)
        study.under("expected").scores  # noqa: B018  # computed now, so that its warnings are caught here
    return study, tuple(notes)


def study_of(data: Data, choice: Choice) -> rr.Study:
    """Return the study of the data with the chosen measure as headline."""
    study, _ = scored(data, choice)
    study = study.using(**choice.only(SETTINGS))
    if choice.models != data.models:
        study = study.models(*choice.models)
    return study.at(*choice.leading(study.measures))


@remember(64)
def ranked(data: Data, choice: Choice, model: str, query: str | int) -> pl.DataFrame:
    """Return one list as from `ranking_ties`, in the order received."""
    return ranking_ties(**data.frames, model=model, query=query, **choice.only(SCORING))


def check(data: Data) -> None:
    """Raise the library's error for data that cannot be scored under any rule of the sidebar."""
    try:
        scored(data, data.start)
    except RetrievalReportError:
        # what the user can allow
        scored(data, replace(data.start, options={**data.start.options, **LENIENT}))


def ask(data: Data, **questions: Any) -> None:
    """Keep what a page was asked about the data beside the sidebar, for the report."""
    st.session_state[f"asked of {data.digest}"] = {**asked(data), **questions}


def asked(data: Data) -> Named:
    """Return what was entered in this session: costs, baseline and margin, how many items vote."""
    known: Named = st.session_state.get(f"asked of {data.digest}", {})
    return known


def report(data: Data, choice: Choice, known: Named) -> bytes:
    """Return the HTML report on the chosen models, with the chosen measure as headline, and the
    usual ones.

    ``known`` is the result of `asked`.
    """
    costs = known.get("costs")
    if costs is not None:
        costs = costs.filter(pl.col("model").is_in(choice.models))
        known = {**known, "costs": None if costs.is_empty() else costs}
    study = study_of(data, choice).at(*choice.leading(MEASURES)).using(**known)
    contents = study.contents()
    return render_html(contents, pictures(contents)).encode()

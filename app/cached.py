"""Cached data and studies for the pages; only their results are kept from one run of the page to
the next.

Everything is cached by the digest of the data and by the settings that decide it, never by
Streamlit's hash of a frame, which considers only a few rows. Cached values are shared by all
sessions, bounded in number, and never changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import polars as pl
import streamlit as st

import retrieval_report as rr
from records import (
    CUTOFFS,
    MEASURES,
    METRICS,
    SIDEBAR,
    Choice,
    Data,
    Files,
    Questions,
    Upload,
    Winners,
)
from retrieval_report.comparison import verdicts
from retrieval_report.contracts.errors import DataError, RetrievalReportError
from retrieval_report.contracts.options import Options
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.reading.finding import find_files
from retrieval_report.study.html import render_html
from retrieval_report.study.pictures import pictures
from uploads import columns_of, read_texts
from warning_log import noticed

ASKED = "questions asked"  # in the session state

DIGESTS: dict[str | type, Callable[[Any], Any]] = {
    Data: lambda data: data.digest,
    Upload: lambda upload: (upload.name, hashlib.sha256(upload.content).hexdigest()),
}

Function = TypeVar("Function", bound=Callable[..., Any])


class Scored(NamedTuple):
    """A study whose exact scores are computed, and the warnings raised meanwhile."""

    study: rr.Study
    notes: tuple[str, ...]


def remember(entries: int) -> Callable[[Function], Function]:
    """Cache the last results of a function by its arguments, with data and uploads identified by
    their digests.

    Many functions raise the same warnings; `remarks` has those that a page shows.
    """

    def remembered(function: Function) -> Function:
        @wraps(function)
        def quiet(*given: Any, **named: Any) -> Any:
            with noticed():
                return function(*given, **named)

        keep = st.cache_resource(max_entries=entries, show_spinner=False, hash_funcs=DIGESTS)
        return keep(quiet)  # type: ignore[return-value]

    return remembered


def read_files(files: Files) -> Data:
    """Read files, or return the cached data if none has changed."""
    kinds = (files.rankings, files.judgements, files.queries, files.items)
    found = [path for given in kinds if given is not None for path in find_files(given)]
    states = [(str(path.resolve()), path.stat().st_mtime_ns, path.stat().st_size) for path in found]
    return _read(files, hashlib.sha256(repr((files, states)).encode()).hexdigest())


@remember(4)
def _read(files: Files, digest: str) -> Data:
    with noticed() as notes:
        rankings = rr.read_rankings(
            list(files.rankings), columns=files.columns, name_by=files.name_by
        )
        judgements = None if files.judgements is None else rr.read_judgements(files.judgements)
        queries = None if files.queries is None else rr.read_queries(files.queries)
        items = (
            None
            if files.items is None
            else read_texts(Upload(files.items, Path(files.items).read_bytes()))
        )
    metric, cutoff = files.measure
    start = (metric, cutoff, files.rules, files.draws, files.average)
    return Data(
        files.name,
        digest,
        rankings,
        judgements,
        queries,
        tuple(notes),
        *start,
        items,
        files.correction,
    )


column_names = remember(64)(columns_of)  # of an uploaded file


@remember(8)
def _scored(data: Data, measures: tuple[str, ...], rules: Options) -> Scored:
    # `evaluate` returns an empty frame for it, which is of no use to any page.
    if data.rankings.is_empty():
        raise DataError(f"{data.name}: no rows")
    with noticed() as notes:
        study = rr.Study(data.rankings, measures, cutoffs=None, **data.others, **rules.of(SIDEBAR))
        study.under("expected").scores  # noqa: B018  # computed now, so that its warnings are caught here
    return Scored(study, tuple(notes))


def _measures(choice: Choice | None = None) -> tuple[str, ...]:
    """Return the usual measures, so that switching between them costs nothing, and the chosen
    metric.
    """
    metrics = METRICS if choice is None else dict.fromkeys((*METRICS, choice.metric))
    cutoffs = CUTOFFS if choice is None or set(choice.cutoffs) <= set(CUTOFFS) else choice.cutoffs
    return tuple(
        dict.fromkeys(measure_text(metric, cutoff) for metric in metrics for cutoff in cutoffs)
    )


def _scored_for(data: Data, choice: Choice) -> Scored:
    return _scored(data, _measures(choice), choice.rules)


def study_of(data: Data, choice: Choice) -> rr.Study:
    """Return the study of the data with the chosen measure as headline, and random orders if
    chosen.
    """
    asked = {"average": choice.average, "correction": choice.correction, **choice.draws._asdict()}
    whole = _scored_for(data, choice).study.using(**asked)
    study = whole if choice.models == data.models else whole.models(*choice.models)
    study = study.at(
        *dict.fromkeys((choice.measure, *(measure_text(*measure) for measure in whole.measures)))
    )
    if "shuffled" in choice.policies:
        return study
    return study.under(*(policy for policy in study.policies if policy != "shuffled"))


def remarks(data: Data, choice: Choice) -> tuple[str, ...]:
    """Return the warnings raised while this data, which must have rows, was scored."""
    return _scored_for(data, choice).notes


def draw_orders(data: Data, choice: Choice) -> None:
    """Draw the random orders of the chosen metric, which takes long, before a page needs them."""
    study_of(data, choice).at(choice.measure).scores  # noqa: B018


def check(data: Data) -> None:
    """Raise the library's error for data that cannot be scored under any rule of the sidebar."""
    try:
        _scored(data, _measures(), data.rules)
    except RetrievalReportError:
        # The user can allow what these options allow.
        lenient = replace(
            data.rules,
            unjudged="non_relevant",
            unjudged_query="skip",
            null_distance="not_retrieved",
        )
        _scored(data, _measures(), lenient)


def of_metric(study: rr.Study, choice: Choice) -> rr.Study:
    """Return the study narrowed to the chosen metric, at the cutoffs of its curve."""
    return study.at(*(measure_text(choice.metric, cutoff) for cutoff in choice.cutoffs))


def at_cutoff(frame: pl.DataFrame, choice: Choice) -> pl.DataFrame:
    """Return the rows at the chosen cutoff."""
    return frame.filter(pl.col("cutoff").eq_missing(pl.lit(choice.cutoff, dtype=pl.Int64)))


def shown(frame: pl.DataFrame, choice: Choice) -> pl.DataFrame:
    """Return the rows of the chosen policies; a study has all, because verdicts need them."""
    return frame.filter(pl.col("policy").is_in(choice.policies))


def winners(study: rr.Study) -> Winners:
    """Return the models that come first by the headline measure, and those that only seem to."""
    here = study.at(study.measure).summary
    best, printed = verdicts.winners(here, "expected"), verdicts.winners(here, "naive")
    return Winners(best, verdicts.accidental_winners(printed, best))


def ranked_models(study: rr.Study) -> list[str]:
    """Return the models, the best by the headline measure first."""
    means = study.at(study.measure).under("expected").summary
    return means.sort("value", "model", descending=[True, False], nulls_last=True)[
        "model"
    ].to_list()


def ask(data: Data, **questions: Any) -> None:
    """Store in this session what a page was asked about the data."""
    st.session_state[ASKED] = asked(data)._replace(digest=data.digest, **questions)


def asked(data: Data) -> Questions:
    """Return what pages were asked about the data in this session."""
    known: Questions = st.session_state.get(ASKED, Questions())
    return known if known.digest == data.digest else Questions()


def report(data: Data, choice: Choice) -> bytes:
    """Return the HTML report on the chosen models, with the chosen measure as headline, and the
    usual ones.

    It includes the costs, and the baseline and margin, that were entered on other pages.
    """
    return _report(data, replace(choice, policies=()), asked(data))


def _questions(choice: Choice, known: Questions) -> dict[str, Any]:
    """Return the settings of a study for these questions, restricted to the chosen models."""
    found: dict[str, Any] = {}
    if known.baseline in choice.models and known.margin is not None:
        found |= {"baseline": known.baseline, "margin": known.margin}
    if known.costs is not None:
        costs = pl.read_json(known.costs.encode()).filter(pl.col("model").is_in(choice.models))
        found |= {} if costs.is_empty() else {"costs": costs}
    return found


@remember(4)
def _report(data: Data, choice: Choice, known: Questions) -> bytes:
    measures = dict.fromkeys((choice.measure, *(measure_text(*measure) for measure in MEASURES)))
    study = study_of(data, choice).at(*measures).alone().using(**_questions(choice, known))
    contents = study.contents(headline=choice.measure)
    return render_html(contents, pictures(contents)).encode()

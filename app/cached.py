"""Data and numbers for the pages: the only code that is remembered from one run of the page to the next.

Everything is remembered by the digest of the data and by the settings that decide it, never by Streamlit's hash of a
frame, which looks at a few rows only. What is remembered is shared by all sessions, bounded, and never changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl
import streamlit as st

import retrieval_report as rr
from records import Data, Draws, Files, Rules, Verdict
from retrieval_report.contracts.errors import DataError, RetrievalReportError
from retrieval_report.reading.files import column_names as columns_in
from retrieval_report.reading.sources import find_files
from retrieval_report.reading.trial import tried_first
from retrieval_report.report.html import render_html
from retrieval_report.report.notices import notices as say_first
from retrieval_report.report.pictures import pictures
from retrieval_report.report.verdict import verdict as say
from warning_log import noticed

if TYPE_CHECKING:
    from controls import Choice
    from uploads import Upload

__all__ = [
    "CUTOFFS",
    "METRICS",
    "Data",
    "Files",
    "Rules",
    "Verdict",
    "agreement",
    "at_cutoff",
    "audit",
    "check",
    "column_names",
    "comparison",
    "flips",
    "hints",
    "notices",
    "profile",
    "query_table",
    "read_files",
    "remarks",
    "report",
    "rows_of",
    "scored_by",
    "scores",
    "shuffled",
    "summary",
    "verdict",
]

REPORTED: tuple[int | None, ...] = (1, 5, 10, None)
# Computed at once, so that passing from one to the other costs nothing.
METRICS = ("precision", "recall", "ap", "rr", "ndcg")
CUTOFFS: tuple[int | None, ...] = (1, 3, 5, 10, 20, 50, 100, None)

# What they allow, a reader of the page can allow.
LENIENT = Rules(unjudged="non_relevant", unjudged_query="skip", null_distance="not_retrieved")

Function = TypeVar("Function", bound=Callable[..., Any])


def remember(entries: int) -> Callable[[Function], Function]:
    """Keep the last results of a function; arguments that begin with an underscore do not tell them apart.

    The same warnings come from many functions; `remarks` has those that a page tells.
    """

    def remembered(function: Function) -> Function:
        @wraps(function)
        def quiet(*given: Any, **named: Any) -> Any:
            with noticed():
                return function(*given, **named)

        return st.cache_resource(max_entries=entries, show_spinner=False)(quiet)  # type: ignore[return-value]

    return remembered


def read_files(files: Files) -> Data:
    """Read files, or remember them where none has changed since."""
    kinds = (files.rankings, files.judgements, files.queries)
    found = [path for given in kinds if given is not None for path in find_files(_listed(given))]
    states = [(str(path.resolve()), path.stat().st_mtime_ns, path.stat().st_size) for path in found]
    digest = hashlib.sha256(repr((files, states)).encode()).hexdigest()
    return _read(digest, files)


def _listed(given: str | tuple[str, ...]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


@remember(64)
def column_names(file: str, _upload: Upload) -> list[str]:
    """The columns of an uploaded file, which Streamlit knows by ``file``."""
    with tried_first():
        return columns_in(_upload.source())


@remember(4)
def _read(digest: str, _files: Files) -> Data:
    with noticed() as notes, tried_first():
        rankings = rr.read_rankings(list(_files.rankings), columns=dict(_files.columns) or None)
        judgements = None if _files.judgements is None else rr.read_judgements(_files.judgements)
        queries = None if _files.queries is None else rr.read_queries(_files.queries)
    metric, cutoff = _files.measure
    return Data(_files.name, digest, rankings, judgements, queries, tuple(notes), metric, cutoff, _files.truncated)


@remember(8)
def _exact(
    digest: str, metrics: tuple[str, ...], cutoffs: tuple[int | None, ...], rules: Rules, _data: Data
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Scores of all policies but the drawn one, and what was noticed meanwhile."""
    policies = ("expected", *(() if _data.counted else ("naive",)), "worst", "best")
    with noticed() as notes:
        frame = rr.evaluate(**_data.frames, metrics=metrics, cutoffs=cutoffs, policies=policies, **rules._asdict())
    return frame, tuple(notes)


@remember(24)
def _drawn(
    digest: str, metric: str, cutoffs: tuple[int | None, ...], rules: Rules, draws: Draws, _data: Data
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores under random orders, and the means over the queries under each of them."""
    settings = {**rules._asdict(), **draws._asdict()}
    return rr.stats.evaluate_with_draws(
        **_data.frames, metrics=metric, cutoffs=cutoffs, policies="shuffled", **settings
    )


def _exact_of(data: Data, choice: Choice) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The usual metrics at once if the chosen one is among them."""
    usual = choice.metric in METRICS and set(choice.cutoffs) <= set(CUTOFFS)
    metrics, cutoffs = (METRICS, CUTOFFS) if usual else ((choice.metric,), choice.cutoffs)
    return _exact(data.digest, metrics, cutoffs, choice.rules, data)


def _drawn_of(data: Data, choice: Choice) -> tuple[pl.DataFrame, pl.DataFrame]:
    return _drawn(data.digest, choice.metric, choice.cutoffs, choice.rules, choice.draws, data)


def _refuse_empty(data: Data) -> None:
    # `evaluate` makes an empty frame of it, which no page has a use for.
    if data.rankings.is_empty():
        raise DataError(f"{data.name}: no rows")


def remarks(data: Data, choice: Choice) -> tuple[str, ...]:
    """What the library warned of while it scored this data, which has to have rows."""
    _refuse_empty(data)
    return _exact_of(data, choice)[1]


def _all_scores(data: Data, choice: Choice) -> pl.DataFrame:
    """The chosen metric at all cutoffs, all models; random orders only if chosen."""
    parts = [_exact_of(data, choice)[0].filter(pl.col("metric") == choice.metric)]
    if "shuffled" in choice.policies:
        parts.append(_drawn_of(data, choice)[0])
    return pl.concat(parts)


def _of_models(frame: pl.DataFrame, choice: Choice) -> pl.DataFrame:
    return frame.filter(pl.col("model").is_in(choice.models))


def at_cutoff(frame: pl.DataFrame, choice: Choice) -> pl.DataFrame:
    """The rows at the chosen cutoff."""
    return frame.filter(pl.col("cutoff").eq_missing(pl.lit(choice.cutoff, dtype=pl.Int64)))


def check(data: Data) -> None:
    """Raise what the library says of data that no rule of the sidebar makes fit to be scored."""
    _refuse_empty(data)
    try:
        _exact(data.digest, METRICS, CUTOFFS, Rules(truncated=data.truncated), data)
    except RetrievalReportError:
        _exact(data.digest, METRICS, CUTOFFS, LENIENT._replace(truncated=data.truncated), data)


def scores(data: Data, choice: Choice) -> pl.DataFrame:
    """Per-query scores of the chosen metric at all cutoffs, for the chosen models and policies."""
    return _of_models(_all_scores(data, choice), choice).filter(pl.col("policy").is_in(choice.policies))


@remember(32)
def _summary(digest: str, key: tuple[Any, ...], average: str, _data: Data, _choice: Choice) -> pl.DataFrame:
    return rr.summarise(_all_scores(_data, _choice), queries=_data.queries, average=average)


def scored_by(choice: Choice) -> tuple[Any, ...]:
    """All that decides `_all_scores` besides the data."""
    drawn = choice.draws if "shuffled" in choice.policies else None
    return choice.metric, choice.cutoffs, choice.rules, drawn


def _whole_summary(data: Data, choice: Choice) -> pl.DataFrame:
    """All policies that were computed, whether chosen or not: verdicts need them."""
    return _of_models(_summary(data.digest, scored_by(choice), choice.average, data, choice), choice)


def summary(data: Data, choice: Choice) -> pl.DataFrame:
    """What `summarise` returns for the chosen metric at all cutoffs, models and policies."""
    return _whole_summary(data, choice).filter(pl.col("policy").is_in(choice.policies))


def shuffled(data: Data, choice: Choice) -> pl.DataFrame:
    """What `shuffled_means` returns for the chosen metric and models at the chosen cutoff."""
    return at_cutoff(_of_models(_drawn_of(data, choice)[1], choice), choice)


@remember(64)
def _comparison(
    digest: str,
    key: tuple[Any, ...],
    cutoff: int | None,
    models: tuple[str, ...],
    seed: int,
    policies: str | None,
    _data: Data,
    _choice: Choice,
) -> pl.DataFrame:
    found = at_cutoff(_of_models(_all_scores(_data, _choice), _choice), _choice)
    return rr.compare(found, policies=policies, seed=seed, **_data.frames, **_choice.rules._asdict())


def comparison(data: Data, choice: Choice, *, policies: str | None = None) -> pl.DataFrame:
    """What `compare` returns for all pairs of the chosen models, at the chosen metric and cutoff."""
    key = scored_by(choice)
    return _comparison(data.digest, key, choice.cutoff, choice.models, choice.draws.seed, policies, data, choice)


@remember(64)
def _flips(
    digest: str,
    key: tuple[Any, ...],
    cutoff: int | None,
    models: tuple[str, ...],
    average: str,
    seed: int,
    _data: Data,
    _choice: Choice,
) -> pl.DataFrame:
    # Verdicts need the tests of this policy alone, and a test costs more than all else here.
    paired = comparison(_data, _choice, policies="expected") if average == "micro" else None
    if paired is not None and paired["unpaired"].sum():  # other policies' means of all are not of the same queries
        paired = comparison(_data, _choice)
    found = at_cutoff(_whole_summary(_data, _choice), _choice)
    return rr.flips(found, comparison=paired if paired is not None and paired.height else None)


def flips(data: Data, choice: Choice) -> pl.DataFrame:
    """What `flips` returns for the chosen models, at the chosen metric and cutoff."""
    key = scored_by(choice)
    return _flips(data.digest, key, choice.cutoff, choice.models, choice.average, choice.draws.seed, data, choice)


def agreement(data: Data, choice: Choice) -> pl.DataFrame:
    """What `rank_agreement` returns for the chosen models, metric and policies, at all cutoffs."""
    return rr.stats.rank_agreement(summary(data, choice))


@remember(16)
def _profile(
    digest: str, cutoffs: tuple[int | None, ...], decimals: int | None, rules: Rules, _data: Data
) -> pl.DataFrame:
    return rr.tie_profile(**_data.frames, cutoffs=cutoffs, decimals=decimals, **rules.of_rows)


def profile(data: Data, choice: Choice, *, decimals: int | None = None) -> pl.DataFrame:
    """What `tie_profile` returns for the chosen models at all cutoffs, distances rounded if asked."""
    return _of_models(_profile(data.digest, choice.cutoffs, decimals, choice.rules, data), choice)


@remember(8)
def _hints(digest: str, rules: Rules, _data: Data) -> pl.DataFrame:
    return rr.tie_hints(**_data.frames, **rules.of_rows)


def hints(data: Data, choice: Choice) -> pl.DataFrame:
    """What `tie_hints` returns for the chosen models, and for all together."""
    found = _hints(data.digest, choice.rules, data)
    return found.filter(pl.col("model").is_in(choice.models) | pl.col("model").is_null())


@remember(16)
def _lists(digest: str, cutoffs: tuple[int | None, ...], rules: Rules, _data: Data) -> pl.DataFrame:
    return rr.truncated_lists(**_data.frames, cutoffs=cutoffs, **rules.of_rows)


def notices(data: Data, choice: Choice) -> tuple[str, ...]:
    """What has to be known before any number of the chosen measure and models: cut lists, an unknown R."""
    found = _lists(data.digest, choice.cutoffs, choice.rules, data)
    measure = (choice.metric, choice.cutoff)
    return say_first(_whole_summary(data, choice), _of_models(found, choice), measure=measure)


@remember(16)
def _audit(
    digest: str, models: tuple[str, ...], metric: str, cutoff: int | None, rules: Rules, _data: Data
) -> pl.DataFrame:
    return rr.audit(**_frames_of(_data, models), metrics=metric, cutoffs=[cutoff], **rules.of_audit)


def audit(data: Data, choice: Choice) -> pl.DataFrame:
    """What `audit` returns for the chosen models at the chosen metric and cutoff; nothing for counts, without order."""
    if data.counted:
        return pl.DataFrame()
    return _audit(data.digest, choice.models, choice.metric, choice.cutoff, choice.rules, data)


@remember(16)
def _query_table(
    digest: str, key: tuple[Any, ...], cutoff: int | None, models: tuple[str, ...], _data: Data, _choice: Choice
) -> pl.DataFrame:
    return rr.lists.query_table(at_cutoff(_of_models(_all_scores(_data, _choice), _choice), _choice))


def query_table(data: Data, choice: Choice) -> pl.DataFrame:
    """What `query_table` returns for the chosen models, at the chosen metric and cutoff."""
    return _query_table(data.digest, scored_by(choice), choice.cutoff, choice.models, data, choice)


def rows_of(data: Data, model: str, query: object) -> pl.DataFrame:
    """The rankings of one model and query, in the order received."""
    rows = data.rankings.filter(pl.col("query") == pl.lit(query))
    return rows.filter(pl.col("model") == model) if "model" in rows.columns else rows


@remember(16)
def _others(digest: str, rules: Rules, average: str, _data: Data) -> pl.DataFrame:
    """The expected means of all metrics that are computed at once."""
    exact, _ = _exact(digest, METRICS, CUTOFFS, rules, _data)
    return rr.summarise(exact.filter(pl.col("policy") == "expected"), queries=_data.queries, average=average)


def verdict(data: Data, choice: Choice) -> Verdict:
    """What the chosen metric at the chosen cutoff tells about the chosen models."""
    here = at_cutoff(_whole_summary(data, choice), choice)
    others = _of_models(_others(data.digest, choice.rules, choice.average, data), choice)
    measure = (pl.col("metric") == choice.metric) & pl.col("cutoff").eq_missing(pl.lit(choice.cutoff, dtype=pl.Int64))
    joined = pl.concat([here, others.filter(~measure)], how="vertical_relaxed")
    status, sentences = say(joined, flips(data, choice), metric=choice.metric, cutoff=choice.cutoff)
    best, printed = _first(here, "expected"), _first(here, "naive")
    # Who shares the first place in the order received is no false winner.
    return Verdict(status, sentences, () if set(printed) & set(best) else printed, best)


def _first(found: pl.DataFrame, policy: str) -> tuple[str, ...]:
    """Models that share the highest mean, to 12 digits."""
    values = found.filter(pl.col("policy") == policy).drop_nulls("value")
    if values.is_empty():
        return ()
    return tuple(values.filter(pl.col("value").round(12) == pl.col("value").round(12).max())["model"])


def _frames_of(data: Data, models: tuple[str, ...]) -> dict[str, Any]:
    """The data of some models."""
    frames = {name: frame for name, frame in data.frames.items() if frame is not None}
    if "model" in data.rankings.columns and models != data.models:
        frames["rankings"] = data.rankings.filter(pl.col("model").is_in(models))
        if len(frames) == 1:  # queries that only other models have count as missing here, as they do on the pages
            frames["queries"] = data.rankings.select("query").unique(maintain_order=True)
    return frames


@remember(4)
def _report(digest: str, choice: Choice, _data: Data) -> rr.report.Report:
    frames = _frames_of(_data, choice.models)
    metrics = list(dict.fromkeys((choice.metric, *METRICS)))
    cutoffs = [*REPORTED, *([] if choice.cutoff in REPORTED else [choice.cutoff])]
    settings = {**choice.rules._asdict(), **choice.draws._asdict()}
    return rr.report.report_contents(
        **frames, metrics=metrics, cutoffs=cutoffs, average=choice.average, headline=choice.measure, **settings
    )


def report(data: Data, choice: Choice) -> bytes:
    """The HTML report on the chosen models, with the chosen measure as its headline and the usual ones besides."""
    contents = _report(data.digest, replace(choice, policies=(), cutoffs=()), data)
    return render_html(contents, pictures(contents)).encode()

"""Compute the contents of a report, as frames and sentences that are rendered elsewhere."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from importlib import metadata
from typing import Any, TypedDict, Unpack

import polars as pl

from retrieval_report.comparison.corrections import MAX_T
from retrieval_report.comparison.queries import query_table
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import OPTIONS, PARAMETERS, RUN, LikeOptions, ScoringOptions
from retrieval_report.metrics.parsing import Cutoffs, Metrics, measure_text, parse_metrics
from retrieval_report.study.answers import Answers
from retrieval_report.study.caveats import any_cut, naive_ties, notices, uneven_lengths
from retrieval_report.study.fingerprint import fingerprint
from retrieval_report.study.study_data import Measure
from retrieval_report.study.verdict import verdict
from retrieval_report.systems.audit import is_printed

PER_MEASURE = 25  # queries that are listed for each metric and cutoff; the scores hold all
ANSWERS = {  # answers that the files call otherwise
    "profile": "ties",
    "leaderboard": "board",
    "similarity_means": "similarity",
    "recall_curve": "quick_curve",
    "shuffled": "draws",
}
LIBRARIES = ("altair", "narwhals", "numba", "numpy", "polars", "scipy")


class PageOptions(TypedDict, total=False):
    """Options for the title, headline and command of a report."""

    headline: str | None
    title: str
    command: str | None


class ReportOptions(PageOptions, ScoringOptions, total=False):
    """The options of ``report_contents``."""

    judgements: object
    queries: object
    metrics: Metrics
    cutoffs: Cutoffs
    like: str | None
    average: str
    by: str | None
    baseline: str | None
    margin: float | None
    costs: object
    correction: str
    letters: bool


@dataclass(frozen=True, repr=False)
class Report:
    """A complete report, before it is written to files.

    Attributes
    ----------
    title
        The page's heading.
    metric, cutoff
        The measure of the verdict and the charts (cutoff None: the whole list).
    verdict
        Sentences: who wins, whether that is safe, and how far off naive scores are.
    status
        The verdict in a word: one of those of :func:`flips`, "single model" or "no score".
    scores, summary, comparison, flips, agreement, profile, hints, truncation, audit
        The results of `evaluate`, `summarise`, `compare`, `flips`, `rank_agreement`, `tie_profile`,
        `tie_hints`, `truncated_lists` and `audit`. The audit has no columns if rankings are counts,
        which have no order.
    queries
        From `query_table`, the queries most affected by tie order, for each metric and cutoff.
    leaderboard
        The result of `leaderboard` for the expected scores: the ranks each model may have.
    deciding
        The result of `deciding_queries` for the first two models; no columns if there is only one
        model.
    similarity_means
        How alike the lists of the first two models are, in the mean over the queries, by
        `ranking_similarity`.
    recall_curve
        Interpolated precision along recall, in the mean; no columns for counts, or if large ties
        would make it take minutes.
    coverage
        How much of the lists is judged, in the mean, by `judgement_coverage`; no columns without
        judgements.
    segments, no_worse, costs
        The results of `segment_winners`, `no_worse` and `cost_table` if requested; otherwise
        without columns.
    shuffled
        The result of `shuffled_means`.
    distribution
        The result of `mean_distribution` for the measure of the verdict; no rows if rankings are
        counts.
    fingerprint
        One row per frame received: ``frame``, ``rows``, ``models``, ``queries``, ``items``,
        ``distances`` (distinct ones) and ``sha256``.
    parameters, versions
        Everything else that decides the numbers, as plain values that JSON can hold.
    command
        The command or call that makes the report again.
    """

    title: str
    metric: str
    cutoff: int | None
    verdict: tuple[str, ...]
    status: str
    scores: pl.DataFrame
    summary: pl.DataFrame
    comparison: pl.DataFrame
    flips: pl.DataFrame
    agreement: pl.DataFrame
    profile: pl.DataFrame
    hints: pl.DataFrame
    truncation: pl.DataFrame
    audit: pl.DataFrame
    queries: pl.DataFrame
    leaderboard: pl.DataFrame
    deciding: pl.DataFrame
    similarity_means: pl.DataFrame
    recall_curve: pl.DataFrame
    coverage: pl.DataFrame
    segments: pl.DataFrame
    no_worse: pl.DataFrame
    costs: pl.DataFrame
    shuffled: pl.DataFrame
    distribution: pl.DataFrame
    fingerprint: pl.DataFrame
    parameters: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str = ""

    def __repr__(self) -> str:
        """Return the verdict as text; the frames are in the attributes."""
        return "\n".join(
            [f"Report {self.title!r}: {self.measure}, {self.status}", *self.verdict, *self.notices]
        )

    def _repr_html_(self) -> str:
        """Return the same as HTML."""
        lines = "".join(f"<p>{escape(line)}</p>" for line in (*self.verdict, *self.notices))
        return f"<div><h4>{escape(self.title)}</h4>{lines}</div>"

    @property
    def measure(self) -> str:
        """Metric and cutoff of the verdict as text, such as ``ndcg@10``."""
        return measure_text(self.metric, self.cutoff)

    @property
    def notices(self) -> tuple[str, ...]:
        """A line to read after the verdict if its measure is an estimate: lists may be cut, or R is
        not known.
        """
        measure = (self.metric, self.cutoff)
        estimate = notices(self.summary, self.truncation, measure=measure)
        return (*estimate, *uneven_lengths(self.scores, [measure]))

    @property
    def cut(self) -> bool:
        """Return whether any score depends on what cut lists leave out."""
        return any_cut(self.summary)

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """Return all frames by name."""
        return {name: getattr(self, name) for name in FRAMES}


FRAMES = tuple(part.name for part in fields(Report) if part.type == "pl.DataFrame")


def report_contents(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    metrics: Metrics = None,
    cutoffs: Cutoffs = None,
    like: str | None = None,
    average: str = "micro",
    by: str | None = None,
    baseline: str | None = None,
    margin: float | None = None,
    costs: object = None,
    correction: str = MAX_T,
    letters: bool = False,
    headline: str | None = None,
    title: str = "Retrieval report",
    command: str | None = None,
    **options: Unpack[ScoringOptions],
) -> Report:
    """Compute everything in a report; `write_report` turns it into files.

    Parameters
    ----------
    rankings, judgements, queries, metrics, cutoffs
        The same as for :func:`evaluate`.
    like
        A system whose definitions and tie order to use, such as "trec_eval"; see
        :func:`evaluate_like`.
    average
        The same as for :func:`summarise`.
    by
        A column of the queries, to find which of its values change the winner; see
        :func:`segment_winners`.
    baseline, margin
        The model that others are compared with, and the largest loss that does not matter; see
        :func:`no_worse`.
    costs
        A cost for every model, such as bytes per vector; see :func:`cost_table`.
    correction
        How p-values allow for the number of pairs: "max-t", "holm", "tukey" or "bh"; see
        :func:`compare`.
    letters
        Whether the leaderboard shows letters too; see :func:`leaderboard`.
    headline
        The measure of the verdict and the charts, such as "ndcg@10"; by default the first.
    title
        The page's heading.
    command
        The command that makes the same report; by default a call of `write_report`.
    **options
        Options of :func:`evaluate` such as ``shuffles``, ``seed``, ``no_relevant``, except
        ``policies``, since a report has all of them.

    Returns
    -------
    Report

    Raises
    ------
    RetrievalReportError
        As for :func:`evaluate`, or if the headline is not among the metrics.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "model": ["coarse"] * 4 + ["fine"] * 4,
    ...         "query": ["q"] * 8,
    ...         "item": list("abcd") * 2,
    ...         "distance": [1, 1, 1, 1, 2, 1, 3, 4],
    ...         "relevance": [1, 0, 0, 0] * 2,
    ...     }
    ... )
    >>> report = report_contents(rankings, metrics="rr@2", truncated="no")
    >>> report.measure, report.status
    ('rr@2', 'depends on tie order')
    >>> print(report.verdict[0])
    fine has the highest expected rr@2: 0.5000, ahead of coarse (0.3750).
    """
    if "policies" in options:
        raise ParameterError("policies: a report has all of them")
    asked: dict[str, Any] = {
        "cutoffs": cutoffs,
        "like": like,
        "judgements": judgements,
        "queries": queries,
    }
    asked |= {"average": average, "by": by, "baseline": baseline, "margin": margin, "costs": costs}
    asked |= {"correction": correction, "letters": letters, **options}
    return report_of(Answers(rankings, metrics, **asked), headline, title, command)


def report_of(
    answers: Answers,
    headline: str | None = None,
    title: str = "Retrieval report",
    command: str | None = None,
) -> Report:
    """Compute a report from existing answers; see :func:`report_contents`."""
    lacking = [
        name for name in ("expected", "shuffled", "best", "worst") if name not in answers.policies
    ]
    if lacking:
        raise ParameterError(
            f"report: it shows all policies, and these answers lack {', '.join(lacking)}"
        )
    metric, cutoff = _headline(answers, headline)
    about = answers.summary, answers.flips, answers.no_worse
    ties = naive_ties(answers.like, answers.options.naive_order)
    status, sentences = verdict(
        *about, metric=metric, cutoff=cutoff, ties=ties, identical=answers.identical
    )
    parameters = _parameters(answers)
    own = {
        "audit": answers.audit if is_printed(answers.measures) else pl.DataFrame(),
        "queries": query_table(answers.scores)
        .group_by("metric", "cutoff", maintain_order=True)
        .head(PER_MEASURE),
        "deciding": answers.deciding_at(metric, cutoff),
        "distribution": answers.distribution_at(metric, cutoff),
        "fingerprint": fingerprint(answers.frames),
    }
    return Report(
        title=title,
        metric=metric,
        cutoff=cutoff,
        verdict=sentences,
        status=status,
        parameters=parameters,
        versions=_versions(),
        command=_python_call(list(answers.frames), parameters, answers.part)
        if command is None
        else command,
        **own,
        **{name: getattr(answers, ANSWERS.get(name, name)) for name in FRAMES if name not in own},
    )


def _headline(answers: Answers, headline: str | None) -> Measure:
    asked = answers.measures
    if headline is None:
        return asked[0]
    for metric, own in parse_metrics(headline, None):
        for cutoff in own:
            named = answers.known_as((str(metric), cutoff))
            if named in asked:
                return named
    names = ", ".join(measure_text(*measure) for measure in asked)
    raise ParameterError(f"headline: {headline!r} is not one of {names}")


def _parameters(answers: Answers) -> dict[str, Any]:
    """Return all parameters that decide a number, with defaults, but not threads or progress."""
    values = {
        name: getattr(answers.options, name)
        for name, option in OPTIONS.items()
        if option.role != RUN and name != "policies"
    }
    if answers.like is not None:  # the system decides the others
        values = {
            name: values[name] for name in values if name in (*LikeOptions.__annotations__, "seed")
        }
    also = {
        name: value for name, value in answers.also.items() if name != "costs" and value is not None
    }
    measures = [measure_text(*measure) for measure in answers.measures]
    like = {} if answers.like is None else {"like": answers.like}
    return {
        "metrics": measures,
        **answers.part,
        **like,
        "average": answers.average,
        **also,
        **values,
    }


def _versions() -> dict[str, str]:
    libraries = {name: metadata.version(name) for name in LIBRARIES}
    return {
        "retrieval_report": metadata.version("retrieval-report"),
        "python": platform.python_version(),
        **libraries,
    }


def _python_call(
    frames: Sequence[str], parameters: Mapping[str, Any], part: Mapping[str, Any]
) -> str:
    """Return the call that repeats a report, without arguments equal to their default.

    >>> _python_call(
    ...     ["rankings"],
    ...     {"metrics": ["ap@5"], "models": ["a"]},
    ...     {"models": ["a"], "where": {"label": 3}},
    ... )
    "retrieval_report.Study(rankings,
    measures=['ap@5']).models('a').where(label=3).report('report')"
    """
    usual: dict[str, Any] = {name: option.default for name, option in PARAMETERS.items()}
    usual["letters"] = False
    words = ["rankings", *(f"{name}={name}" for name in frames if name != "rankings")]
    given = {
        name: value
        for name, value in parameters.items()
        if name not in part and usual.get(name) != value
    }
    metrics = "measures" if part else "metrics"
    words += [
        f"{metrics if name == 'metrics' else name}={value!r}" for name, value in given.items()
    ]
    if not part:
        return f'retrieval_report.write_report("report", {", ".join(words)})'
    models = f".models({', '.join(map(repr, part['models']))})" if "models" in part else ""
    where = ", ".join(f"{name}={value!r}" for name, value in part.get("where", {}).items())
    where = f".where({where})" if where else ""
    return f"retrieval_report.Study({', '.join(words)}){models}{where}.report('report')"

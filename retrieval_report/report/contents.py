"""What a report says, as frames and sentences: computed here, rendered elsewhere."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from importlib import metadata
from typing import Any, TypedDict, Unpack

import polars as pl

from retrieval_report.analysis.answers import Answers
from retrieval_report.analysis.queries import query_table
from retrieval_report.analysis.study_data import Measure
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import Options, ScoringOptions
from retrieval_report.metrics.catalogue import Metric
from retrieval_report.metrics.parsing import DEFAULT_CUTOFFS, DEFAULT_METRICS, measure_text, parse_metrics
from retrieval_report.report.fingerprint import fingerprint
from retrieval_report.report.notices import notices
from retrieval_report.report.verdict import verdict

__all__ = ["FRAMES", "PER_MEASURE", "Report", "report_contents"]

PER_MEASURE = 25  # queries listed for each metric and cutoff; scores hold all of them
LIBRARIES = ("altair", "narwhals", "numba", "numpy", "polars", "scipy")


class PageOptions(TypedDict, total=False):
    """What a report says of itself."""

    headline: str | None
    title: str
    command: str | None


class ReportOptions(PageOptions, ScoringOptions, total=False):
    """The options of ``report_contents``."""

    judgements: object
    queries: object
    metrics: str | Metric | Sequence[str | Metric]
    cutoffs: int | str | Sequence[int | str | None] | None
    average: str
    by: str | None
    baseline: str | None
    margin: float | None
    costs: object


@dataclass(frozen=True, repr=False)
class Report:
    """A whole report before it becomes files.

    Attributes
    ----------
    title
        The page's heading.
    metric, cutoff
        The measure that the verdict and the charts speak of (cutoff None: the whole list).
    verdict
        Sentences: who wins, is it safe, how far off naive scores are.
    status
        The verdict in a word: one of those of :func:`flips`, or "single model" or "no score".
    scores, summary, comparison, flips, agreement, profile, hints, truncation, audit
        What `evaluate`, `summarise`, `compare`, `flips`, `rank_agreement`, `tie_profile`, `tie_hints`,
        `truncated_lists` and `audit` return. The audit has no columns where rankings are counts, which have no order.
    queries
        Of `query_table`, the queries that tie order moves most, for each metric and cutoff.
    leaderboard
        What `leaderboard` returns for the expected scores: tiers as letters, and the ranks that each model may have.
    deciding
        What `deciding_queries` returns for the first two models; no columns where there is one model.
    segments, no_worse, costs
        What `segment_winners`, `no_worse` and `cost_table` return, where they were asked for; else without columns.
    shuffled
        What `shuffled_means` returns.
    distribution
        What `mean_distribution` returns for the measure of the verdict; no rows where rankings are counts.
    fingerprint
        A row for every frame received: ``frame``, ``rows``, ``models``, ``queries``, ``items``, ``distances``
        (different ones) and ``sha256``.
    parameters, versions
        Everything else that decides the numbers; plain values that JSON can hold.
    command
        What to run to get the report again.
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
        """The verdict; the frames are in the attributes."""
        return "\n".join([f"Report {self.title!r}: {self.measure}, {self.status}", *self.notices, *self.verdict])

    def _repr_html_(self) -> str:
        """The same as a piece of a page."""
        lines = "".join(f"<p>{escape(line)}</p>" for line in (*self.notices, *self.verdict))
        return f"<div><h4>{escape(self.title)}</h4>{lines}</div>"

    @property
    def measure(self) -> str:
        """Metric and cutoff of the verdict as text, such as ``ndcg@10``."""
        return measure_text(self.metric, self.cutoff)

    @property
    def notices(self) -> tuple[str, ...]:
        """What has to be known before the verdict: that lists were cut, that R is not known."""
        return notices(self.summary, self.truncation, measure=(self.metric, self.cutoff))

    @property
    def cut(self) -> bool:
        """Whether any score depends on what cut lists leave out."""
        return bool((self.summary["truncated_share"] > 0).any())

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """All frames by name."""
        return {name: getattr(self, name) for name in FRAMES}


FRAMES = tuple(part.name for part in fields(Report) if part.type == "pl.DataFrame")


def report_contents(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    metrics: str | Metric | Sequence[str | Metric] = DEFAULT_METRICS,
    cutoffs: int | str | Sequence[int | str | None] | None = DEFAULT_CUTOFFS,
    average: str = "micro",
    by: str | None = None,
    baseline: str | None = None,
    margin: float | None = None,
    costs: object = None,
    headline: str | None = None,
    title: str = "Retrieval report",
    command: str | None = None,
    **options: Unpack[ScoringOptions],
) -> Report:
    """Compute everything a report holds; `write_report` turns it into files.

    Parameters
    ----------
    rankings, judgements, queries, metrics, cutoffs
        As for :func:`evaluate`.
    average
        As for :func:`summarise`.
    by
        A column of the queries: which of its values change the winner; see :func:`segment_winners`.
    baseline, margin
        The model that no other may fall behind by more than the margin; see :func:`no_worse`.
    costs
        A cost for every model, such as bytes per vector; see :func:`cost_table`.
    headline
        The measure of the verdict and the charts, such as "ndcg@10". Default: the first metric, at its largest
        cutoff but the whole list.
    title
        The page's heading.
    command
        What to run to get the same report; default: a call of `write_report`.
    **options
        Those of :func:`evaluate`: ``shuffles``, ``seed``, ``no_relevant``, … but ``policies``, which are all.

    Returns
    -------
    Report

    Raises
    ------
    RetrievalReportError
        What :func:`evaluate` raises, or a headline that is not among the metrics.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame({
    ...     "model": ["coarse"] * 4 + ["fine"] * 4, "query": ["q"] * 8, "item": list("abcd") * 2,
    ...     "distance": [1, 1, 1, 1, 2, 1, 3, 4], "relevance": [1, 0, 0, 0] * 2})
    >>> report = report_contents(rankings, metrics="rr@2")
    >>> report.measure, report.status
    ('rr@2', 'depends on tie order')
    >>> print(report.verdict[0])
    fine has the highest expected rr@2: 0.5000, ahead of coarse (0.3750).
    """
    if "policies" in options:
        raise ParameterError("policies: a report has all of them")
    asked: dict[str, Any] = {"measures": metrics, "cutoffs": cutoffs, "judgements": judgements, "queries": queries}
    also: dict[str, Any] = {"by": by, "baseline": baseline, "margin": margin, "costs": costs}
    return report_of(Answers(rankings, **asked, average=average, **also, **options), headline, title, command)


def report_of(
    answers: Answers, headline: str | None = None, title: str = "Retrieval report", command: str | None = None
) -> Report:
    """What a report says about answers that somebody holds; see :func:`report_contents`."""
    metric, cutoff = _headline(answers.measures, headline)
    status, sentences = verdict(answers.summary, answers.flips, metric=metric, cutoff=cutoff)
    parameters = _parameters(answers)
    return Report(
        title=title,
        metric=metric,
        cutoff=cutoff,
        verdict=sentences,
        status=status,
        scores=answers.scores,
        summary=answers.summary,
        comparison=answers.comparison,
        flips=answers.flips,
        agreement=answers.agreement,
        profile=answers.ties,
        hints=answers.hints,
        truncation=answers.truncation,
        audit=answers.audit,
        queries=query_table(answers.scores).group_by("metric", "cutoff", maintain_order=True).head(PER_MEASURE),
        leaderboard=answers.board,
        deciding=answers.deciding_at(metric, cutoff),
        segments=answers.segments,
        no_worse=answers.no_worse,
        costs=answers.costs,
        shuffled=answers.draws,
        distribution=answers.distribution_at(metric, cutoff),
        fingerprint=fingerprint(answers.frames),
        parameters=parameters,
        versions=_versions(),
        command=_python_call(list(answers.frames), parameters) if command is None else command,
    )


def _headline(asked: Sequence[Measure], headline: str | None) -> Measure:
    if headline is None:
        first = [cutoff for metric, cutoff in asked if metric == asked[0][0]]
        return asked[0][0], max((cutoff for cutoff in first if cutoff is not None), default=None)
    for metric, own in parse_metrics(headline, None):
        for cutoff in own:
            if (str(metric), cutoff) in asked:
                return str(metric), cutoff
    names = ", ".join(measure_text(*measure) for measure in asked)
    raise ParameterError(f"headline: {headline!r} is none of {names}")


def _parameters(answers: Answers) -> dict[str, Any]:
    """All that decides a number, with the defaults; how it is computed (threads, progress) does not."""
    left_out = ("policies", "threads", "progress")
    values = {part.name: getattr(answers.options, part.name) for part in fields(Options) if part.name not in left_out}
    also = {name: value for name, value in answers.also.items() if name != "costs" and value is not None}
    measures = [measure_text(*measure) for measure in answers.measures]
    return {"metrics": measures, "average": answers.average, **also, **values}


def _versions() -> dict[str, str]:
    libraries = {name: metadata.version(name) for name in LIBRARIES}
    return {"retrieval_report": metadata.version("retrieval-report"), "python": platform.python_version(), **libraries}


def _python_call(frames: Sequence[str], parameters: Mapping[str, Any]) -> str:
    """The call that repeats a report, without the arguments that have their default."""
    usual: dict[str, Any] = {part.name: part.default for part in fields(Options)} | {"average": "micro"}
    words = ['"report"', "rankings", *(f"{name}={name}" for name in frames if name != "rankings")]
    words += [f"{name}={value!r}" for name, value in parameters.items() if usual.get(name) != value]
    return f"retrieval_report.write_report({', '.join(words)})"

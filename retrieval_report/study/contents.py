"""The contents of a report, as frames and sentences that are rendered elsewhere."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING

import polars as pl

from retrieval_report.comparison.verdicts import AT_RANDOM, CHECK
from retrieval_report.contracts.arguments import Named, known_of, quoted
from retrieval_report.contracts.columns import Frames
from retrieval_report.contracts.options import OPTIONS, PARAMETERS, RUN, LikeOptions
from retrieval_report.engines.check_scores import at_measure
from retrieval_report.metrics.parsing import measure_text, measure_texts
from retrieval_report.scoring.health import AT_RANDOM as RANK_AT_RANDOM
from retrieval_report.study.caveats import (
    any_cut,
    health_sentences,
    notices_of,
    printed_sentences,
)
from retrieval_report.study.decision import decided
from retrieval_report.study.notebook import html_text

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

LIBRARIES = ("altair", "narwhals", "numba", "numpy", "polars", "scipy")


def versions() -> dict[str, str]:
    """Return the versions of everything that computes a number or draws a chart."""
    version_by_name = {
        "retrieval_report": metadata.version("retrieval-report"),
        "python": platform.python_version(),
    }
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):  # nothing needs Numba
            version_by_name[name] = metadata.version(name)
    return version_by_name


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
    scores, summary, comparison, flips, profile, hints, truncation, audit
        The results of `evaluate`, `summarise`, `compare`, `flips`, `tie_profile`, `tie_hints`,
        `truncated_lists` and `audit`. The audit has no columns if rankings are counts,
        which have no order.
    health
        What may be wrong with the data of each model, serious faults first; no rows where nothing
        is.
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
        would make it take too long.
    coverage
        How much of the lists is judged, in the mean, by `judgement_coverage`; no columns without
        judgements.
    reversals
        What could turn the lead of the first two models round; no columns if there is only one, or if
        their means are equal.
    judges, judge_pairs, judge_agreement
        What every judge says of the models, of every pair and of the others' labels; without
        columns unless there are several judges.
    replicates, replicate_pairs, datasets, dataset_scores
        Models as means over replicates or data sets; without columns if none are named.
    segments, no_worse, costs
        The results of `segment_winners`, `no_worse` and `cost_table` if requested; otherwise
        without columns.
    knn_accuracy, knn_classes, knn_confusion
        How the nearest items classify the queries, by `knn`; without columns unless items have
        labels.
    calibration, thresholds, threshold_areas
        The threshold of every model, and what is right and wrong at each, by `thresholds`; without
        columns unless a metric was named.
    three_scores, winners
        The three scores of every model side by side, at every measure, and who wins by each; see
        ``Study.three_scores``.
    by_cutoff
        The expected and naive scores by the metric of the verdict, at the usual cutoffs too; see
        ``Study.by_cutoff``.
    shuffled
        The result of `shuffled_means`.
    distribution
        The result of `mean_distribution` for the measure of the verdict; no rows if rankings are
        counts.
    fingerprint
        One row per frame received: ``frame``, ``rows``, ``models``, ``queries``, ``items``,
        ``distances`` (distinct ones) and ``sha256``.
    frames
        All frames by their names, which are attributes too: those above.
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
    frames: Frames
    parameters: Named
    command: str
    versions: Mapping[str, str] = field(default_factory=versions)

    @property
    def chip(self) -> str:
        """The word beside the verdict: of the decision where there is one, otherwise `status`."""
        if self.status == CHECK:
            return self.status
        at_random = self.health.filter(pl.col("finding").is_in(RANK_AT_RANDOM))["model"].to_list()
        if self.parameters.get("margin") and self.parameters.get("baseline") in at_random:
            return AT_RANDOM
        return decided(self.no_worse, self.costs, (self.metric, self.cutoff))[0] or self.status

    def __repr__(self) -> str:
        """Return the verdict as text; the frames are in the attributes."""
        return "\n".join([f"Report {self.title!r}: {self.measure}, {self.chip}", *self._sentences])

    def _repr_html_(self) -> str:
        """Return the same as HTML."""
        return f"<div>{html_text([self.title, *self._sentences])}</div>"

    @property
    def _sentences(self) -> tuple[str, ...]:
        return (*health_sentences(self.health), *self.verdict, *self.printed, *self.notices)

    @property
    def measure(self) -> str:
        """Metric and cutoff of the verdict as text, such as ``ndcg@10``."""
        return measure_text(self.metric, self.cutoff)

    @property
    def at_headline(self) -> pl.Expr:
        """Where a frame is about the measure that the report is about."""
        return at_measure(self.metric, self.cutoff)

    @property
    def audit_at_headline(self) -> pl.DataFrame:
        """The audit of the measure that the report is about; empty without an audit."""
        return self.audit.filter(self.at_headline) if self.audit.height else self.audit

    @property
    def notices(self) -> tuple[str, ...]:
        """A line to read after the verdict if its measure is an estimate: lists may be cut, or R is
        not known.
        """
        return notices_of(self)

    @property
    def printed(self) -> tuple[str, ...]:
        """A line to read beside the verdict if mteb and sentence-transformers would print different
        numbers because of ties: what each prints, and what is exact.
        """
        return printed_sentences(
            self.audit_at_headline,
            self.summary.filter(self.at_headline, policy="expected"),
            self.parameters["average"],
        )

    @property
    def cut(self) -> bool:
        """Return whether any score depends on what cut lists leave out."""
        return any_cut(self.summary)

    def __getattr__(self, name: str) -> pl.DataFrame:
        """Return one of the frames."""
        frames: Frames = vars(self).get("frames", {})
        if name not in frames:
            raise AttributeError(name)
        return frames[name]


def parameters_of(study: Study, replicate: object) -> Named:
    """Return all parameters that decide a number, with defaults, but not threads or progress."""
    names = [name for name, option in OPTIONS.items() if option.role != RUN and name != "policies"]
    if study.like is not None:  # the system decides the others
        names = [name for name in names if name in (*LikeOptions.__annotations__, "seed")]
    study_parameters = {name: getattr(study, name) for name in ("like", "judge", "average")}
    return {
        "metrics": measure_texts(study.measures),
        **study.part,
        **known_of({**study_parameters, "replicate": replicate, **study.also, "costs": None}),
        **study.options.of(names),
    }


def python_call(frames: Sequence[str], parameters: Named) -> str:
    """Return the call that repeats a report, without arguments equal to their default.

    >>> python_call(
    ...     ["rankings"],
    ...     {"metrics": ["ap@5"], "models": ["a"], "where": {"label": 3}},
    ... )
    "retrieval_report.Study(rankings,
    measures=['ap@5']).models('a').where(label=3).report('report')"
    """
    words = ["rankings", *(f"{name}={name}" for name in frames if name != "rankings")]
    arguments = {
        name: value for name, value in parameters.items() if name not in ("models", "where")
    }
    arguments = {"measures": arguments.pop("metrics"), **arguments}
    usual = {name: option.default for name, option in PARAMETERS.items()}
    words += [f"{name}={value!r}" for name, value in arguments.items() if usual.get(name) != value]
    models = f".models({quoted(parameters['models'])})" if "models" in parameters else ""
    where = ", ".join(f"{name}={value!r}" for name, value in parameters.get("where", {}).items())
    where = f".where({where})" if where else ""
    return f"retrieval_report.Study({', '.join(words)}){models}{where}.report('report')"

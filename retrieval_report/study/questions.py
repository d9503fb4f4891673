"""The questions that a report answers, each once: its name, which its files have too, and its frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from retrieval_report.study.fingerprint import fingerprint
from retrieval_report.study.study_data import Measure
from retrieval_report.systems.audit import is_printed

PER_MEASURE = 25  # queries that are listed for each metric and cutoff; the scores hold all


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes
    ----------
    name
        Of the frame, of its files and, unless ``of`` says otherwise, of the property of a study.
    of
        What a report shows of a study at the measure of its verdict.
    """

    name: str
    of: Callable[[Any, Measure], pl.DataFrame] | None = None

    def ask(self, study: Any, measure: Measure) -> pl.DataFrame:
        """Return the frame of a study, for a report with a verdict by this measure."""
        frame: pl.DataFrame = (
            getattr(study, self.name) if self.of is None else self.of(study, measure)
        )
        return frame


def _audit(study: Any, _measure: Measure) -> pl.DataFrame:
    return study.audit if is_printed(study.measures) else pl.DataFrame()


def _most_affected(study: Any, _measure: Measure) -> pl.DataFrame:
    table: pl.DataFrame = study.query_table
    return table.group_by("metric", "cutoff", maintain_order=True).head(PER_MEASURE)


QUESTIONS = (
    Question("scores"),
    Question("summary"),
    Question("comparison"),
    Question("flips"),
    Question("agreement"),
    Question("profile"),
    Question("hints"),
    Question("truncation"),
    Question("audit", _audit),
    Question("queries", _most_affected),
    Question("leaderboard"),
    Question("deciding", lambda study, measure: study.deciding_at(*measure)),
    Question("similarity_means"),
    Question("recall_curve", lambda study, _: study.quick_curve),
    Question("coverage"),
    Question("segments"),
    Question("no_worse"),
    Question("costs"),
    Question("shuffled"),
    Question("distribution", lambda study, measure: study.narrowed(measure).distribution),
    Question("fingerprint", lambda study, _: fingerprint(study.frames)),
)
FRAMES = tuple(question.name for question in QUESTIONS)

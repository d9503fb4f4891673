"""The questions that a report answers, each declared once: name, frame, table, chart, place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from retrieval_report.contracts.registry import schema
from retrieval_report.study.fingerprint import fingerprint
from retrieval_report.study.study_data import Measure
from retrieval_report.systems.audit import is_printed

PER_MEASURE = 25  # queries that are listed for each metric and cutoff; the scores hold all


class Layout(NamedTuple):
    """How a page shows a frame as a table.

    Attributes
    ----------
    caption
        It may name ``{measure}`` and parameters, such as ``{by}``.
    columns
        Their names in one text; "measure" stands for metric and cutoff.
    section
        The part of the page: "summary", "comparison", "ties", "method" or "repeat".
    folded
        The line that opens the table, if it is folded at first.
    choice
        Whether readers choose the measure, with that of the headline shown at first.
    id
        Of the table in the page; by default the name of the frame.
    """

    caption: str
    columns: str
    section: str
    folded: str = ""
    choice: bool = True
    id: str = ""


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes
    ----------
    name
        Of the frame, of its files and, unless ``of`` says otherwise, of the property of a study.
    of
        What a report shows of a study at the measure of its verdict.
    table
        How the page shows the frame, unless study/tables.py builds its tables.
    chart
        Draws a report, unless the chart is one of `charts.IN_REPORT`, which take frames by name.
    """

    name: str
    of: Callable[[Any, Measure], pl.DataFrame] | None = None
    table: Layout | None = None
    chart: Callable[[Any], Any] | None = None

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
    Question(
        "similarity_means",
        table=Layout(
            "How alike the lists of the first two models are",
            " ".join(schema("similarity_means")),
            "comparison",
            folded="How alike the lists of the first two models are",
            choice=False,
            id="similarity",
        ),
    ),
    Question("recall_curve", lambda study, _: study.quick_curve),
    Question(
        "coverage",
        table=Layout(
            "How much of the lists is judged, and what rank-biased precision leaves open",
            "model measure value tie_std queries",
            "ties",
            folded="How much of the lists is judged",
            choice=False,
        ),
    ),
    Question(
        "segments",
        table=Layout(
            "Winners by {by}",
            "segment measure queries winner value overall_winner overall_value segments_p verdict",
            "summary",
        ),
    ),
    Question(
        "no_worse",
        table=Layout(
            "No worse than {baseline} by more than {margin}?",
            "model measure value difference bound_low verdict detectable queries_needed",
            "summary",
            id="no-worse",
        ),
    ),
    Question(
        "costs",
        table=Layout(
            "Scores against costs",
            "model cost amount measure value tie_std front beaten_by",
            "summary",
        ),
    ),
    Question("shuffled"),
    Question("distribution", lambda study, measure: study.narrowed(measure).distribution),
    Question("fingerprint", lambda study, _: fingerprint(study.frames)),
)
FRAMES = tuple(question.name for question in QUESTIONS)

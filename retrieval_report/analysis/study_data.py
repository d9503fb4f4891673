"""What a study and all narrower ones share, and what one of them looks at."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import Options, ScoringOptions
from retrieval_report.metrics.parsing import DEFAULT_CUTOFFS, parse_metrics
from retrieval_report.reading import read_judgements, read_queries, read_rankings
from retrieval_report.search import Inputs

__all__ = ["Data", "Measure", "StudyOptions", "View"]

Measure = tuple[str, int | None]


@dataclass(frozen=True)
class Data:
    """What a study and all narrower ones share."""

    frames: Mapping[str, Any]  # rankings, judgements, queries
    measures: tuple[Measure, ...]
    asked: Mapping[str, Any]  # metrics and cutoffs, as evaluate takes them
    options: Mapping[str, Any]
    average: str
    like: str | None
    also: Mapping[str, Any]  # by, baseline, margin and costs: what is asked beside the scores
    found: dict[Any, Any] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def read(
        cls,
        given: Mapping[str, Any],
        measures: object,
        also: Mapping[str, Any],
        average: str,
        like: str | None,
        options: Mapping[str, Any],
    ) -> Data:
        """Read what was given, and refuse at once what could not be answered later; nothing is scored yet."""
        if "policies" in options:
            raise ParameterError("policies: a study looks at all of them; evaluate takes a choice")
        usual = None if isinstance(measures, str) and "@" in measures else DEFAULT_CUTOFFS
        scoring = {name: value for name, value in options.items() if name not in ("cutoffs", "columns", "name_by")}
        reading = {name: options[name] for name in ("columns", "name_by") if name in options}
        asked = {"metrics": measures, "cutoffs": options.get("cutoffs", usual)}
        Options(**scoring)
        check_choice("average", average, ("micro", "macro", "weighted"))
        named = tuple((str(metric), cutoff) for metric, own in parse_metrics(**asked) for cutoff in own)
        data = cls(_read(given, reading), named, asked, scoring, average, like, also)
        data._check_also()
        return data

    def _check_also(self) -> None:
        by, baseline, queries = self.also["by"], self.also["baseline"], self.frames["queries"]
        if by is not None and (queries is None or by not in queries.columns):
            raise ParameterError(f"by: no column {by!r} in the queries")
        if (self.also["margin"] is None) != (baseline is None):
            raise ParameterError("margin, baseline: one is given without the other")
        if baseline is not None:
            check_choice("baseline", baseline, sorted(self.frames["rankings"]["model"].unique()))


def _read(given: Mapping[str, Any], reading: Mapping[str, Any]) -> dict[str, Any]:
    """Rankings, judgements and queries as frames; those of a search hold all three."""
    rankings, judgements, queries = (given[name] for name in ("rankings", "judgements", "queries"))
    if isinstance(rankings, Inputs):
        judgements = rankings.judgements if judgements is None else judgements
        queries = rankings.queries if queries is None else queries
        rankings = rankings.rankings
    return {
        "rankings": read_rankings(rankings, **reading),
        "judgements": None if judgements is None else read_judgements(judgements),
        "queries": None if queries is None else read_queries(queries),
    }


@dataclass(frozen=True)
class View:
    """What a study looks at: None is everything."""

    measures: tuple[Measure, ...] | None = None
    models: tuple[str, ...] | None = None
    queries: tuple[object, ...] | None = None


class StudyOptions(ScoringOptions, total=False):
    """The options of a study: those of ``evaluate`` but the policies, cutoffs, and how rankings are read."""

    cutoffs: int | str | Sequence[int | str | None] | None
    columns: Mapping[str, str] | None
    name_by: str | None

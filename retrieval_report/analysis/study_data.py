"""The data that a study shares with all narrower ones, and the selection of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from retrieval_report.analysis.likeness import check_like, measures_like
from retrieval_report.analysis.once import Once
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import ScoringOptions, options_with
from retrieval_report.metrics.parsing import DEFAULT_CUTOFFS, parse_metrics
from retrieval_report.reading import read_judgements, read_queries, read_rankings
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.search import Inputs

Measure = tuple[str, int | None]


ALL_POLICIES = ("expected", "naive", "shuffled", "best", "worst")
COUNTED_POLICIES = ("expected", "shuffled", "best", "worst")  # a counts frame has no order of rows
MOST_KEPT = 200  # answers of one study and all narrower ones


class Draws(NamedTuple):
    """The settings that decide the random orders."""

    shuffles: int
    seed: int


@dataclass(frozen=True)
class Data:
    """The data that a study shares with all narrower ones."""

    frames: Mapping[str, Any]  # rankings, judgements, queries
    measures: Mapping[Measure, Measure]  # as asked, and as the scores name them: `like` may define them otherwise
    asked: Mapping[str, Any]  # metrics and cutoffs, as for evaluate
    options: Mapping[str, Any]
    like: str | None
    found: Once = field(default_factory=lambda: Once(MOST_KEPT))

    @classmethod
    def read(cls, given: Mapping[str, Any], measures: object, like: str | None, options: Mapping[str, Any]) -> Data:
        """Read the input and check the options; nothing is scored yet."""
        if "policies" in options:
            raise ParameterError("policies: a study uses all of them; evaluate accepts a choice")
        usual = None if isinstance(measures, str) and "@" in measures else DEFAULT_CUTOFFS
        scoring = {name: value for name, value in options.items() if name not in ("cutoffs", "columns", "name_by")}
        reading = {name: options[name] for name in ("columns", "name_by") if name in options}
        asked = {"metrics": measures, "cutoffs": options.get("cutoffs", usual)}
        options_with(scoring)
        named = {
            (str(metric), cutoff): (str(metric), cutoff) for metric, own in parse_metrics(**asked) for cutoff in own
        }
        if like is not None:
            scoring.pop("progress", None)  # it has none to show
            check_like(scoring)
            known = measures_like(like, **asked)
            named = {measure: (record.definition, cutoff) for measure, (record, cutoff) in known.items()}
        return cls(_read(given, reading), named, asked, scoring, like)

    @property
    def judged(self) -> Judged:
        """The rankings joined with judgements and queries, once."""
        options = options_with(self.options, policies=self.policies)
        return self.found.find("judged", lambda: judge(**self.frames, options=options))

    @property
    def policies(self) -> tuple[str, ...]:
        """Return all policies under which these rankings can be scored."""
        return COUNTED_POLICIES if "count" in self.frames["rankings"].columns else ALL_POLICIES


def _read(given: Mapping[str, Any], reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return rankings, judgements and queries as frames; search results hold all three."""
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
    """The selection of a study (None: everything), and the settings of further questions."""

    average: str
    draws: Draws
    by: str | None
    baseline: str | None
    margin: float | None
    costs: Any = field(compare=False)  # may be a frame, which has no hash: nothing is remembered by it
    measures: tuple[Measure, ...] | None = None
    models: tuple[str, ...] | None = None
    queries: tuple[object, ...] | None = None
    policies: tuple[str, ...] | None = None
    where: tuple[tuple[str, Any], ...] = field(default=(), compare=False)  # how the queries were chosen, in words


class StudyOptions(ScoringOptions, total=False):
    """The options of a study: those of ``evaluate`` except policies, cutoffs, and how rankings are read."""

    cutoffs: int | str | Sequence[int | str | None] | None
    columns: Mapping[str, str] | None
    name_by: str | None

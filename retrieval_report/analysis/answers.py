"""The answers to every question about the same rankings under the same rules, each found once and only when asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self, TypeVar, Unpack

import polars as pl

from retrieval_report.analysis.audit import audit
from retrieval_report.analysis.comparison import compare
from retrieval_report.analysis.costs import cost_table
from retrieval_report.analysis.deciding import deciding_queries
from retrieval_report.analysis.flips import flips, rank_agreement
from retrieval_report.analysis.hints import tie_hints
from retrieval_report.analysis.leaderboard import leaderboard
from retrieval_report.analysis.likeness import evaluate_like
from retrieval_report.analysis.noninferiority import no_worse
from retrieval_report.analysis.profile import tie_profile
from retrieval_report.analysis.queries import query_table
from retrieval_report.analysis.segments import segment_winners
from retrieval_report.analysis.study_data import Data, Measure, StudyOptions, View
from retrieval_report.analysis.summary import summarise
from retrieval_report.analysis.truncated_lists import truncated_lists
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import Options
from retrieval_report.evaluation import evaluate_with_draws
from retrieval_report.metrics.parsing import (
    DEFAULT_METRICS,
    measure_text,
    parse_measure,
)
from retrieval_report.scoring.judged import Judged, judge

__all__ = ["Answers"]

Answer = TypeVar("Answer")

MOST_PAIRS = 1_000  # more than a reader or a page can take, and each costs tests of its own
ALL_POLICIES = ("expected", "naive", "shuffled", "best", "worst")
COUNTED_POLICIES = ("expected", "shuffled", "best", "worst")  # a counts frame has no order of rows
# The options that also decide which rows count in the tie profile and the hints, and in the audit.
ROW_OPTIONS = ("decimals", "distance_threshold", "unjudged", "unjudged_query", "null_distance", "truncated")
AUDIT_OPTIONS = (
    *("relevant_from", "no_relevant", "missing_query"),
    *("unjudged", "unjudged_query", "null_distance", "threads"),
)


class Answers:
    """Everything that is asked of the same rankings: frames, each computed by whoever asks first.

    Study, report, dashboard and command line hold such an object, and so show the same numbers. See
    :class:`retrieval_report.Study` for its arguments.

    >>> answers = Answers({"query": ["q", "q"], "item": ["a", "b"], "distance": [1, 1], "relevance": [0, 1]}, "rr@2")
    >>> answers.summary.filter(policy="expected")["value"].to_list()
    [0.75]
    """

    def __init__(
        self,
        rankings: object,
        measures: object = DEFAULT_METRICS,
        *,
        judgements: object = None,
        queries: object = None,
        like: str | None = None,
        average: str = "micro",
        by: str | None = None,
        baseline: str | None = None,
        margin: float | None = None,
        costs: object = None,
        **options: Unpack[StudyOptions],
    ) -> None:
        """Read the data and check the options; nothing is scored yet."""
        given = {"rankings": rankings, "judgements": judgements, "queries": queries}
        also = {"by": by, "baseline": baseline, "margin": margin, "costs": costs}
        self._data = Data.read(given, measures, also, average, like, {**options})
        self._view = View()

    def at(self, *measures: str) -> Self:
        """The same study with some of its measures, such as ``"ndcg@10"``; the first is the headline."""
        wanted = tuple(parse_measure(measure) for measure in measures)
        missing = [text for text, measure in zip(measures, wanted, strict=True) if measure not in self.measures]
        if missing or not wanted:
            raise ParameterError(
                f"measure: {missing[0]!r} is none of {self._names()}" if missing else "measure: none given"
            )
        return self._narrower(View(wanted, self._view.models, self._view.queries))

    def models(self, *names: str) -> Self:
        """The same study with some of its models. R stays what it was: it is the query's, not these models'."""
        missing = [name for name in names if name not in self.model_names]
        if missing or not names:
            what = f"no model {missing[0]!r}" if missing else "none given"
            raise ParameterError(f"models: {what}; there are {', '.join(map(repr, self.model_names))}")
        return self._narrower(View(self._view.measures, tuple(dict.fromkeys(names)), self._view.queries))

    def where(self, **columns: object) -> Self:
        """The same study on the queries for which columns of the queries frame have these values.

        >>> labels = {"query": ["p", "q"], "label": ["cat", "dog"]}
        >>> study = Answers({"query": ["p", "q"], "item": ["a", "a"], "distance": [1, 1], "relevance": [1, 0]}, "rr@1",
        ...     queries=labels)
        >>> study.where(label="cat").scores["query"].unique().to_list()
        ['p']
        """
        frame = self._data.frames["queries"]
        unknown = [name for name in columns if frame is None or name not in frame.columns]
        if unknown or not columns:
            raise ParameterError(f"where: no column {unknown[0]!r} in the queries" if unknown else "where: none given")
        kept = frame.filter(**columns)["query"].to_list()
        if self._view.queries is not None:
            kept = [query for query in kept if query in set(self._view.queries)]
        return self._narrower(View(self._view.measures, self._view.models, tuple(kept)))

    def compare(self, first: str, second: str) -> Self:
        """The same study with two models: its verdict, comparison and queries are those of this pair."""
        return self.models(first, second)

    @property
    def measure(self) -> str:
        """The headline measure, such as ``ndcg@10``."""
        return measure_text(*self.measures[0])

    @property
    def model_names(self) -> list[str]:
        """The models looked at, by name."""
        names: list[str] = self._data.frames["rankings"]["model"].unique().sort().to_list()
        return names if self._view.models is None else [name for name in names if name in self._view.models]

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames received: ``rankings``, and ``judgements`` and ``queries`` where there are any."""
        return {name: frame for name, frame in self._data.frames.items() if frame is not None}

    @property
    def options(self) -> Options:
        """All options of :func:`evaluate`, with their defaults."""
        return Options(**self._data.options)

    @property
    def average(self) -> str:
        """How queries are averaged."""
        return self._data.average

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Metric and cutoff of every measure looked at, in the order asked; the first is the headline."""
        return self._data.measures if self._view.measures is None else self._view.measures

    @property
    def also(self) -> Mapping[str, Any]:
        """What is asked beside the scores: ``by``, ``baseline``, ``margin`` and ``costs``."""
        return self._data.also

    @property
    def whole(self) -> bool:
        """Whether all models, queries and measures are looked at."""
        return self._view == View() and self._data.like is None

    @property
    def counted(self) -> bool:
        """Whether the rankings are counts of items, which have no order of rows."""
        return "count" in self._data.frames["rankings"].columns

    @property
    def scores(self) -> pl.DataFrame:
        """What :func:`evaluate` returns, under all policies."""
        return self._once("scores", lambda: self._kept(self._everything()[0]))

    @property
    def draws(self) -> pl.DataFrame:
        """What :func:`shuffled_means` returns: the mean under every single random order, over all queries."""
        if self._view.queries is not None:
            raise ParameterError("draws: random orders are averaged over all queries of a study; ask before where")
        return self._once("draws", lambda: self._kept(self._everything()[1]))

    @property
    def summary(self) -> pl.DataFrame:
        """What :func:`summarise` returns."""
        queries = None if self._data.average == "micro" else self._data.frames["queries"]
        return self._once("summary", lambda: summarise(self.scores, queries=queries, average=self._data.average))

    @property
    def comparison(self) -> pl.DataFrame:
        """What :func:`compare` returns, with the chance of a reversal; of many, for expected means near in rank."""
        own: dict[str, Any] = {} if self._data.like else {"rankings": self.judged, "seed": 0, **self._data.options}
        models = len(self.model_names)
        if models * (models - 1) / 2 > MOST_PAIRS:
            own |= {"most_apart": max(1, MOST_PAIRS // models), "policies": "expected"}
        return self._once("comparison", lambda: compare(self.scores, **own))

    @property
    def flips(self) -> pl.DataFrame:
        """What :func:`flips` returns: the verdict of every pair."""
        # Comparisons are of micro means; the flips of another average must not borrow their p-values.
        paired = self._data.average == "micro" and len(self.model_names) > 1
        return self._once("flips", lambda: flips(self.summary, comparison=self.comparison if paired else None))

    @property
    def board(self) -> pl.DataFrame:
        """What :func:`leaderboard` returns for expected scores: tiers as letters, and the ranks each model may have."""
        return self._once("board", self._leaderboard)

    @property
    def deciding(self) -> pl.DataFrame:
        """What :func:`deciding_queries` returns for the first two models of the headline measure; none of one model."""
        metric, cutoff = self.measures[0]
        first = self.board.filter(pl.col("metric") == metric, pl.col("cutoff").eq_missing(pl.lit(cutoff, pl.Int64)))
        names = first["model"].head(2).to_list()
        if len(names) < 2:
            return pl.DataFrame()
        return self._once("deciding", lambda: deciding_queries(self.scores.filter(policy="expected"), *names))

    @property
    def segments(self) -> pl.DataFrame:
        """What :func:`segment_winners` returns for the column ``by`` of the queries; nothing where none was named."""
        by, queries = self._data.also["by"], self._data.frames["queries"]
        if by is None:
            return pl.DataFrame()
        return self._once("segments", lambda: segment_winners(self.scores.filter(policy="expected"), queries, by))

    @property
    def no_worse(self) -> pl.DataFrame:
        """What :func:`no_worse` returns for ``baseline`` and ``margin``; nothing where they were not named."""
        asked = {name: self._data.also[name] for name in ("baseline", "margin")}
        if asked["margin"] is None:
            return pl.DataFrame()
        return self._once("no_worse", lambda: no_worse(self.scores, **asked, policies="expected"))

    @property
    def costs(self) -> pl.DataFrame:
        """What :func:`cost_table` returns for ``costs``; nothing where none were given."""
        costs = self._data.also["costs"]
        return pl.DataFrame() if costs is None else self._once("costs", lambda: cost_table(self.summary, costs))

    @property
    def ties(self) -> pl.DataFrame:
        """What :func:`tie_profile` returns, at the cutoffs of the measures."""
        return self._of_rows("ties", lambda rows: tie_profile(rows, cutoffs=self._cutoffs, **self._only(ROW_OPTIONS)))

    @property
    def truncation(self) -> pl.DataFrame:
        """What :func:`truncated_lists` returns, at the cutoffs of the measures."""
        rules = self._only(ROW_OPTIONS)
        return self._of_rows("truncation", lambda rows: truncated_lists(rows, cutoffs=self._cutoffs, **rules))

    @property
    def agreement(self) -> pl.DataFrame:
        """What :func:`rank_agreement` returns."""
        return self._once("agreement", lambda: rank_agreement(self.summary))

    @property
    def hints(self) -> pl.DataFrame:
        """What :func:`tie_hints` returns."""
        return self._of_rows("hints", lambda rows: tie_hints(rows, **self._only(ROW_OPTIONS)))

    @property
    def audit(self) -> pl.DataFrame:
        """What :func:`audit` returns, what other evaluators print; nothing of counts, which have no order."""
        if self.counted:
            return pl.DataFrame()
        rules = self._only(AUDIT_OPTIONS)
        return self._of_rows("audit", lambda rows: audit(rows, **self._data.asked, **rules))

    @property
    def queries(self) -> pl.DataFrame:
        """Query by query: of two models what :func:`deciding_queries` returns, else what :func:`query_table` does."""
        names = self.model_names
        if len(names) == 2:
            return self._once("queries", lambda: deciding_queries(self.scores, *names))
        return self._once("queries", lambda: query_table(self.scores))

    @property
    def _cutoffs(self) -> list[int | None]:
        return list(dict.fromkeys(cutoff for _, cutoff in self.measures))

    def _leaderboard(self) -> pl.DataFrame:
        # Draws are means over all queries: of some of them they say nothing.
        draws = None if self._view.queries is not None or self._data.like else self.draws
        average = self._data.average == "micro"
        return leaderboard(self.scores, policies="expected", shuffled=draws if average else None)

    def _names(self) -> str:
        return ", ".join(measure_text(*measure) for measure in self.measures)

    def _narrower(self, view: View) -> Self:
        study = object.__new__(type(self))
        study._data, study._view = self._data, view
        return study

    def _once(self, name: str, make: Callable[[], Answer]) -> Answer:
        """The answer of this name for what is looked at; found by whoever asks first, while the others wait."""
        key = (name, self._view)
        with self._data.lock:
            if key not in self._data.found:
                self._data.found[key] = make()
            found: Answer = self._data.found[key]
        return found

    def _everything(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Scores and random orders of all models, queries and measures."""
        data, policies = self._data, self._policies

        def make() -> tuple[pl.DataFrame, pl.DataFrame]:
            rows = self._narrower(View()).judged
            if data.like is None:
                return evaluate_with_draws(rows, **data.asked, policies=policies, **data.options)
            return evaluate_like(rows, data.like, **data.asked, policies=policies, **data.options), pl.DataFrame()

        return self._narrower(View())._once("everything", make)

    @property
    def _policies(self) -> tuple[str, ...]:
        return COUNTED_POLICIES if self.counted else ALL_POLICIES

    @property
    def judged(self) -> Judged:
        """The rankings judged, of the queries looked at; R and judgements are those of all models."""
        queries, whole = self._view.queries, self._narrower(View())
        if queries is not None:
            return self._narrower(View(queries=queries))._once("judged", lambda: whole.judged.of_queries(queries))
        options = replace(self.options, policies=self._policies)
        return whole._once("judged", lambda: judge(**self._data.frames, options=options))

    def _of_rows(self, name: str, make: Callable[[Judged], pl.DataFrame]) -> pl.DataFrame:
        """What an analysis finds of the rankings, for the models looked at."""
        return self._once(name, lambda: self._of_models(make(self.judged)))

    def _of_models(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows of the models looked at, and those that speak of all models."""
        names = self._view.models
        return frame if names is None else frame.filter(pl.col("model").is_in(list(names)) | pl.col("model").is_null())

    def _kept(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows that this study looks at."""
        view = self._view
        if view.models is not None:
            frame = frame.filter(pl.col("model").is_in(list(view.models)))
        if view.queries is not None:
            frame = frame.filter(pl.col("query").is_in(list(view.queries)))
        if view.measures is not None:
            wanted = pl.DataFrame(list(view.measures), schema={"metric": pl.String, "cutoff": pl.Int64}, orient="row")
            frame = frame.join(wanted, on=["metric", "cutoff"], how="semi", nulls_equal=True, maintain_order="left")
        return frame

    def _only(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: value for name, value in self._data.options.items() if name in names}

"""Answers to all questions about the same rankings under the same rules, each computed once, on
first use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, Unpack

import polars as pl

from retrieval_report.comparison.costs import cost_table
from retrieval_report.comparison.flips import flips, rank_agreement
from retrieval_report.comparison.identical import Groups, identical_models
from retrieval_report.comparison.leaderboard import leaderboard
from retrieval_report.comparison.noninferiority import no_worse
from retrieval_report.comparison.pairs import PairOptions, compare, turned
from retrieval_report.comparison.queries import deciding_queries, query_table
from retrieval_report.comparison.segments import segment_winners
from retrieval_report.contracts.frames import with_model
from retrieval_report.contracts.options import OPTIONS, RowOptions, options_with
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.memo import Once
from retrieval_report.engines.summary import summarise
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.layout import rounded
from retrieval_report.study.selection import Selection
from retrieval_report.study.study_data import MOST_KEPT, Data, Measure, drawn_means, scores_under
from retrieval_report.systems.audit import audit
from retrieval_report.systems.emulation import Emulation
from retrieval_report.systems.evaluate_like import emulated, measures_like
from retrieval_report.ties.coverage import judgement_coverage
from retrieval_report.ties.distributions import MEAN_DISTRIBUTION, mean_distribution
from retrieval_report.ties.hints import tie_hints
from retrieval_report.ties.profile import tie_profile
from retrieval_report.ties.recall_curve import LEVELS, curve_of
from retrieval_report.ties.recall_curve import POLICIES as CURVE_POLICIES
from retrieval_report.ties.similarity import similarity_of
from retrieval_report.ties.truncated_lists import truncated_lists

Answer = TypeVar("Answer")

MOST_PAIRS = 1_000  # more would be too many for a reader or a page, and each pair costs tests
# The options that also decide which rows count in the tie profile and the hints, and in the audit.
ROW_OPTIONS = tuple(RowOptions.__annotations__)
COVERAGE_OPTIONS = ("decimals", "missing_query", "unjudged_query", "null_distance", "threads")
MOST_CURVE_CELLS = 2e8  # of all lists, a second or two
MOST_COMPARED = 1e9  # pairs of items of all lists, some 20 seconds
AUDIT_OPTIONS = (
    *("relevant_from", "no_relevant", "missing_query"),
    *("unjudged", "unjudged_query", "null_distance", "threads"),
)


class Answers(Selection):
    """Answers to all questions about the same rankings, as frames that are each computed on first
    use.

    Study, report, dashboard and command line hold such an object, and so show the same numbers. See
    :class:`retrieval_report.Study` for its arguments.

    >>> answers = Answers(
    ...     {"query": ["q", "q"], "item": ["a", "b"], "distance": [1, 1], "relevance": [0, 1]},
    ...     "rr@2",
    ... )
    >>> answers.summary.filter(policy="expected")["value"].to_list()
    [0.75]
    """

    @property
    def scores(self) -> pl.DataFrame:
        """The result of :func:`evaluate`, under all policies except those that `under` left out."""
        return self._kept(scores_under(self._data, self.policies, self.measures, self._view.draws))

    @property
    def draws(self) -> pl.DataFrame:
        """The result of :func:`shuffled_means`: the mean under every single random order, over the
        selected queries.
        """
        return self._at_measures(
            self._of_models(drawn_means(self._drawn, self.measures, self._view.draws))
        )

    @property
    def summary(self) -> pl.DataFrame:
        """The result of :func:`summarise`."""
        average = self._view.average
        queries = None if average == "micro" else self._data.frames["queries"]
        return self._once(
            "summary", lambda: summarise(self.scores, queries=queries, average=average)
        )

    @property
    def comparison(self) -> pl.DataFrame:
        """The result of :func:`compare`, with the chance of a reversal; of many, for expected means
        near in rank.
        """
        return self._once("comparison", self._compared)

    def compare(self, *models: str, **how: Unpack[PairOptions]) -> pl.DataFrame:
        """The result of :func:`compare` by tests of choice, or of some models; of two, it is first
        − second.

        >>> rows = {"query": ["q", "q"], "item": ["a", "b"], "relevance": [0, 1]}
        >>> answers = Answers(
        ...     {"tied": {**rows, "distance": [1, 1]}, "best": {**rows, "distance": [2, 1]}}, "rr@2"
        ... )
        >>> (
        ...     answers.compare("tied", "best")["difference"][0],
        ...     answers.compare(baseline="tied")["difference"][0],
        ... )
        (-0.25, 0.25)
        """
        found = (self.models(*models) if models else self)._compared(**how)
        if len(models) != 2 or how.get("baseline") is not None:
            return found
        return turned(found, pl.col("model_a") != models[0])

    @property
    def flips(self) -> pl.DataFrame:
        """The result of :func:`flips`: the verdict of every pair."""
        return self._once("flips", lambda: flips(self.summary, comparison=self._paired()))

    @property
    def board(self) -> pl.DataFrame:
        """The result of :func:`leaderboard` for expected scores: the ranks that tie order and
        queries leave open.
        """
        return self._once("board", self._leaderboard)

    @property
    def identical(self) -> Groups:
        """Groups of models whose lists are the same for every query."""
        return self._once("identical", self._identical)

    @property
    def deciding(self) -> pl.DataFrame:
        """The result of :func:`deciding_queries` for the first two models by the headline measure,
        if any.
        """
        return self.deciding_at(*self.measures[0])

    def deciding_at(self, metric: str, cutoff: int | None) -> pl.DataFrame:
        """Return the same for the first two models by another measure."""
        names = self._first_two((metric, cutoff))
        if len(names) < 2:
            return pl.DataFrame()
        # These policies show how tie order can change a difference.
        known = pl.col("policy").is_in(["expected", "worst", "best"])
        return self._once(
            ("deciding", *names), lambda: deciding_queries(self.scores.filter(known), *names)
        )

    def distribution_at(self, metric: str, cutoff: int | None) -> pl.DataFrame:
        """The result of `mean_distribution` at one measure; no rows for counts."""
        if self.counted:
            return pl.DataFrame(schema=MEAN_DISTRIBUTION)
        return self._once(
            ("distribution", metric, cutoff), lambda: self._distribution(metric, cutoff)
        )

    @property
    def similarity(self) -> pl.DataFrame:
        """Means of the result of :func:`ranking_similarity` for two models, of more for the first
        two: one row.

        The lists are those that are scored, with distances rounded to ``decimals``. Nothing of
        counts, and of lists so long that it would take minutes.
        """
        names = self._view.models or ()
        names = names if len(names) == 2 else self._first_two(self.measures[0])
        if len(names) < 2 or self.counted:
            return pl.DataFrame()
        return self._once("similarity", lambda: self._alike(*names))

    @property
    def recall_curve(self) -> pl.DataFrame:
        """Means of the result of :func:`recall_curve`, a row for every model and level of recall;
        nothing of counts.
        """
        quick = self.quick_curve
        if quick.width or self.counted:
            return quick
        return self._once("recall curve", lambda: self._curve(math.inf))

    @property
    def quick_curve(self) -> pl.DataFrame:
        """The same if it takes a second or two; no columns if large ties make it take minutes."""
        if self.counted:
            return pl.DataFrame()
        return self._once("quick curve", lambda: self._curve(MOST_CURVE_CELLS))

    @property
    def coverage(self) -> pl.DataFrame:
        """The result of :func:`judgement_coverage`, in the mean over the queries; nothing without
        judgements.
        """
        if self._data.frames["judgements"] is None or self.counted:
            return pl.DataFrame()
        return self._once("coverage", self._covered)

    @property
    def segments(self) -> pl.DataFrame:
        """The result of :func:`segment_winners` for the column ``by`` of the queries; nothing where
        none was named.
        """
        by, queries = self._view.by, self._data.frames["queries"]
        if by is None:
            return pl.DataFrame()
        return self._once(
            "segments", lambda: segment_winners(self.scores.filter(policy="expected"), queries, by)
        )

    @property
    def no_worse(self) -> pl.DataFrame:
        """The result of :func:`no_worse` for ``baseline`` and ``margin``; nothing where they were
        not named.
        """
        asked = {name: self.also[name] for name in ("baseline", "margin")}
        if asked["margin"] is None:
            return pl.DataFrame()
        return self._once("no_worse", lambda: no_worse(self.scores, **asked, policies="expected"))

    @property
    def costs(self) -> pl.DataFrame:
        """The result of :func:`cost_table` for ``costs``; nothing where none were given."""
        costs = self._view.costs
        return pl.DataFrame() if costs is None else cost_table(self.summary, costs)

    @property
    def ties(self) -> pl.DataFrame:
        """The result of :func:`tie_profile`, at the cutoffs of the measures."""
        return self._of_rows(
            "ties", lambda rows: tie_profile(rows, cutoffs=self._cutoffs, **self._only(ROW_OPTIONS))
        )

    @property
    def truncation(self) -> pl.DataFrame:
        """The result of :func:`truncated_lists`, at the cutoffs of the measures."""
        rules = self._only(ROW_OPTIONS)
        return self._of_rows(
            "truncation", lambda rows: truncated_lists(rows, cutoffs=self._cutoffs, **rules)
        )

    @property
    def agreement(self) -> pl.DataFrame:
        """The result of :func:`rank_agreement`."""
        return self._once("agreement", lambda: rank_agreement(self.summary))

    @property
    def hints(self) -> pl.DataFrame:
        """The result of :func:`tie_hints`."""
        return self._of_rows("hints", lambda rows: tie_hints(rows, **self._only(ROW_OPTIONS)))

    @property
    def audit(self) -> pl.DataFrame:
        """The result of :func:`audit`, what other evaluators print; nothing of counts, which have
        no order.
        """
        if self.counted:
            return pl.DataFrame()
        return self._once("audit", self._audited)

    @property
    def query_table(self) -> pl.DataFrame:
        """The result of :func:`query_table`: every query of every model."""
        return self._once("query table", lambda: query_table(self.scores))

    @property
    def queries(self) -> pl.DataFrame:
        """Query by query: the result of :func:`deciding_queries` for two models, else of
        :func:`query_table`.
        """
        names = self._view.models or tuple(self.model_names)
        if len(names) == 2:
            return self._once("queries", lambda: deciding_queries(self.scores, *names))
        return self.query_table

    @property
    def _cutoffs(self) -> list[int | None]:
        return list(dict.fromkeys(cutoff for _, cutoff in self.measures))

    def _leaderboard(self) -> pl.DataFrame:
        # Draws over some of the queries would take a run of their own, which takes long.
        drawn = self._view.queries is None and "shuffled" in self.policies
        draws = self.draws if drawn and self._view.average == "micro" else None
        asked = {name: self.also[name] for name in ("correction", "letters")}
        return leaderboard(
            self.scores, policies="expected", shuffled=draws, seed=self._view.draws.seed, **asked
        )

    def _identical(self) -> Groups:
        if "expected" not in self.policies:
            return ()
        expected = self.under("expected").scores
        return identical_models(expected, rounded(with_model(self.judged.retrieved), self.options))

    @property
    def _drawn(self) -> Data:
        """What random orders are drawn of: of some queries the means are others, so they are drawn
        again.
        """
        if self._view.queries is None:
            return self._data
        return self._once(
            "data", lambda: replace(self._data, frames=self._given(), found=Once(MOST_KEPT))
        )

    def _once(self, name: Hashable, make: Callable[[], Answer]) -> Answer:
        """Return the answer of this name for the current selection; the first thread computes it,
        others wait.
        """
        return self._data.found.find((name, self._view), make)

    def _first_two(self, measure: Measure) -> tuple[str, ...]:
        """The models that come first by a measure."""
        return tuple(_at([measure], self.board)["model"].head(2))

    def _alike(self, *names: str) -> pl.DataFrame:
        rows = rounded(with_model(self.judged.retrieved), self.options)
        a, b = (rows.filter(pl.col("model") == name) for name in names)
        if sum((a.group_by("query").len()["len"].cast(pl.Float64) ** 2).to_list()) > MOST_COMPARED:
            return pl.DataFrame()
        wanted = schema("similarity_means")
        return similarity_of(a, b).mean.select(
            pl.lit(names[0]).alias("model_a"), pl.lit(names[1]).alias("model_b"), *list(wanted)[2:]
        )

    def _curve(self, most: float) -> pl.DataFrame:
        asked = options_with(self._data.options, truncated="no", policies=CURVE_POLICIES)
        scores = curve_of(self.judged, LEVELS, asked, most)
        if not scores.width:
            return scores
        means = summarise(scores)
        keys = ["model", "metric"]
        naive = means.filter(policy="naive").select(*keys, naive="value")
        both = means.filter(policy="expected").join(
            naive, on=keys, how="left", maintain_order="left"
        )
        level = pl.col("metric").str.extract(r"recall=([\d.]+)").cast(pl.Float64)
        return self._of_models(both.with_columns(recall=level).select(list(schema("recall_curve"))))

    def _covered(self) -> pl.DataFrame:
        given = self._given()
        asked: dict[str, Any] = {
            "cutoffs": self._cutoffs,
            "policies": "expected",
            "truncated": "no",
        }
        asked |= self._only(COVERAGE_OPTIONS)
        means = summarise(judgement_coverage(given["rankings"], given["judgements"], **asked))
        return self._of_models(means.select(list(schema("coverage"))))

    @property
    def _emulated(self) -> Emulation:
        """The rankings of the selected queries as the system of ``like`` receives them."""
        assert self._data.like is not None
        measures = measures_like(self._data.like, **self._data.asked)
        queries = self._view.queries
        return self._data.found.find(
            ("emulated", queries),
            lambda: emulated(self.judged, None, None, measures, self._data.options),
        )

    def _distribution(self, metric: str, cutoff: int | None) -> pl.DataFrame:
        sources = [(self.judged, self.options)]
        if self._data.like is not None:
            every = self._emulated.sources()
            sources = [
                (judged, options)
                for judged, options, measures in every
                if (metric, cutoff) in measures
            ]
        parts = [pl.DataFrame(schema=MEAN_DISTRIBUTION)]
        for judged, options in sources:
            rules = options.of(OPTIONS)
            parts.append(
                mean_distribution(judged, self.summary, metric=metric, cutoff=cutoff, **rules)
            )
        return pl.concat(parts)

    def _compared(self, policies: str | Sequence[str] | None = None, **how: Any) -> pl.DataFrame:
        own: dict[str, Any] = (
            {"rankings": self._emulated} if self._data.like else {"rankings": self.judged}
        )
        own |= {} if self._data.like else self._options
        own |= {"correction": self._view.correction, "seed": self._view.draws.seed}
        models = len(self.model_names)
        if models * (models - 1) / 2 > MOST_PAIRS and how.get("baseline") is None:
            own["most_apart"], policies = max(1, MOST_PAIRS // models), "expected"
        return compare(self.scores, policies=policies, **{**own, **how})

    def _paired(self) -> pl.DataFrame | None:
        """Return the tests of one policy that verdicts on pairs need, since tests take long."""
        # Comparisons are of micro means; the flips of another average must not borrow their
        # p-values.
        if self._view.average != "micro" or len(self.model_names) < 2:
            return None
        if "expected" not in self.policies or self._data.found.known(("comparison", self._view)):
            return self.comparison
        exact = self._once("compared", lambda: self._compared("expected"))
        # Where queries are missing, the means that all policies have of the same queries are needed
        # too.
        return self.comparison if exact["unpaired"].sum() else exact

    def _audited(self) -> pl.DataFrame:
        """Return the audit of the selected models and measures, since other models would change the
        winners.
        """
        asked = self._data.asked
        wanted = [
            measure for measure, named in self._data.measures.items() if named in self.measures
        ]
        if self._view.measures is not None:
            metrics = {metric for metric, _ in wanted}
            records = [record for record, _ in parse_metrics(**asked) if str(record) in metrics]
            asked = {"metrics": records, "cutoffs": self._cutoffs}
        given = {"rankings": self.judged} if self._view.models is None else self._frames_alone()
        return _at(wanted, audit(**given, **asked, **self._only(AUDIT_OPTIONS)))

    @property
    def judged(self) -> Judged:
        """Return the judged rankings of the selected queries; R and judgements are those of all
        models.
        """
        queries = self._view.queries
        if queries is None:
            return self._data.judged
        return self._data.found.find(
            ("judged", queries), lambda: self._data.judged.of_queries(queries)
        )

    def _of_rows(self, name: str, make: Callable[[Judged], pl.DataFrame]) -> pl.DataFrame:
        """Return the result of an analysis of the rankings, for the selected models."""
        return self._once(name, lambda: self._of_models(make(self.judged)))

    def _of_models(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the selected models, and those about all models."""
        names = self._view.models
        return (
            frame
            if names is None
            else frame.filter(pl.col("model").is_in(list(names)) | pl.col("model").is_null())
        )

    def _kept(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows in the selection of this study."""
        view = self._view
        if view.models is not None:
            frame = frame.filter(pl.col("model").is_in(list(view.models)))
        if view.queries is not None:
            frame = frame.filter(pl.col("query").is_in(list(view.queries)))
        return self._at_measures(frame)

    def _at_measures(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame if self._view.measures is None else _at(self.measures, frame)

    def _only(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: value for name, value in self._data.options.items() if name in names}


def _at(measures: Sequence[Measure], frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of some measures."""
    wanted = pl.DataFrame(list(measures), schema=schema("scores", "metric", "cutoff"), orient="row")
    return frame.join(
        wanted, on=["metric", "cutoff"], how="semi", nulls_equal=True, maintain_order="left"
    )

"""The selection of a study: measures, models, queries and policies, and how it averages and
draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self, Unpack

import polars as pl

from retrieval_report.comparison.corrections import MAX_T, check_correction
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import Options
from retrieval_report.metrics.parsing import measure_text, parse_measure
from retrieval_report.study.study_data import Data, Draws, Measure, StudyOptions, View

AVERAGES = ("micro", "macro", "weighted")


class Selection:
    """Rankings, how they are scored, and the selected part of them; see :class:`Answers`."""

    def __init__(
        self,
        rankings: object,
        measures: object = None,
        *,
        judgements: object = None,
        queries: object = None,
        like: str | None = None,
        average: str = "micro",
        by: str | None = None,
        baseline: str | None = None,
        margin: float | None = None,
        costs: object = None,
        correction: str = MAX_T,
        letters: bool = False,
        **options: Unpack[StudyOptions],
    ) -> None:
        """Read the data and check the options; nothing is scored yet."""
        given = {"rankings": rankings, "judgements": judgements, "queries": queries}
        self._data = Data.read(given, measures, like, {**options})
        checked = Options(**self._data.options)
        draws = Draws(checked.shuffles, checked.seed)
        self._view = View(average, draws, by, baseline, margin, costs, correction, letters)
        self._check_view()

    def at(self, *measures: str) -> Self:
        """Return the study with some of its measures, such as ``"ndcg@10"``; the first is the
        headline.
        """
        wanted = tuple(self.known_as(parse_measure(measure)) for measure in measures)
        missing = [
            text
            for text, measure in zip(measures, wanted, strict=True)
            if measure not in self.measures
        ]
        if missing or not wanted:
            known = ", ".join(measure_text(*measure) for measure in self.measures)
            raise ParameterError(
                f"measure: {missing[0]!r} is not one of {known}"
                if missing
                else "measure: none given"
            )
        return self._narrower(measures=wanted)

    def models(self, *names: str) -> Self:
        """Return the study with some of its models. R does not change, because it belongs to the
        query.
        """
        missing = [name for name in names if name not in self.model_names]
        if missing or not names:
            what = f"no model {missing[0]!r}" if missing else "none given"
            raise ParameterError(
                f"models: {what}; there are {', '.join(map(repr, self.model_names))}"
            )
        return self._narrower(models=tuple(dict.fromkeys(names)))

    def where(self, **columns: object) -> Self:
        """Return the study on the queries for which columns of the queries frame have these values.

        >>> labels = {"query": ["p", "q"], "label": ["cat", "dog"]}
        >>> study = Selection(
        ...     {"query": ["p", "q"], "item": ["a", "a"], "distance": [1, 1], "relevance": [1, 0]},
        ...     "rr@1",
        ...     queries=labels,
        ... )
        >>> study.where(label="dog", query="q").part
        {'where': {'label': 'dog', 'query': 'q'}}
        """
        frame = self._data.frames["queries"]
        unknown = [name for name in columns if frame is None or name not in frame.columns]
        if unknown or not columns:
            raise ParameterError(
                f"where: no column {unknown[0]!r} in the queries"
                if unknown
                else "where: none given"
            )
        kept = frame.filter(**columns)["query"].to_list()
        if self._view.queries is not None:
            kept = [query for query in kept if query in set(self._view.queries)]
        return self._narrower(queries=tuple(kept), where=(*self._view.where, *columns.items()))

    def pair(self, first: str, second: str) -> Self:
        """Return the study with two models; its verdict, comparison and queries are those of this
        pair.
        """
        return self.models(first, second)

    def under(self, *policies: str) -> Self:
        """Return the study under some policies; without "shuffled" no random order is drawn, which
        saves time.

        >>> study = Selection(
        ...     {"query": ["q", "q"], "item": ["a", "b"], "distance": [1, 1], "relevance": [0, 1]}
        ... )
        >>> study.under("naive", "expected").policies
        ('expected', 'naive')
        """
        for policy in policies:
            check_choice("policies", policy, self.policies)
        if not policies:
            raise ParameterError("policies: none given")
        return self._narrower(
            policies=tuple(policy for policy in self.policies if policy in policies)
        )

    def using(
        self, *, shuffles: int | None = None, seed: int | None = None, **settings: Any
    ) -> Self:
        """Return the study with other settings; exact scores are shared.

        Parameters
        ----------
        shuffles, seed
            Number and seed of the random orders, as for :func:`evaluate`.
        **settings
            ``average``, ``by``, ``baseline`` with ``margin``, ``costs``, ``correction``,
            ``letters``: as for a new study.

        Examples
        --------
        >>> study = Selection({"query": ["q"], "item": ["a"], "distance": [1], "relevance": [1]})
        >>> study.using(seed=3).options.seed
        3
        """
        old = self._view.draws
        drawn = Options(
            shuffles=old.shuffles if shuffles is None else shuffles,
            seed=old.seed if seed is None else seed,
        )
        study = self._narrower(draws=Draws(drawn.shuffles, drawn.seed), **settings)
        study._check_view()
        return study

    def alone(self) -> Self:
        """Return a study of these models, queries and measures as if there were no others, as a
        report needs.

        Without judgements, the relevant items are then those that these models retrieved.
        """
        view = self._view
        asked = self._data.asked
        if view.measures is not None:
            asked = {
                "metrics": [measure_text(*measure) for measure in view.measures],
                "cutoffs": None,
            }
        given: dict[str, Any] = {
            "measures": asked["metrics"],
            "cutoffs": asked["cutoffs"],
            "like": self._data.like,
        }
        return type(self)(
            **self._frames_alone(), **given, average=view.average, **self.also, **self._options
        )

    def known_as(self, measure: Measure) -> Measure:
        """How the scores name a measure that was asked for: `like` may define it otherwise."""
        return self._data.measures.get(measure, measure)

    @property
    def measure(self) -> str:
        """The headline measure, such as ``ndcg@10``."""
        return measure_text(*self.measures[0])

    @property
    def model_names(self) -> list[str]:
        """The selected models, by name."""
        names: list[str] = self._data.frames["rankings"]["model"].unique().sort().to_list()
        return (
            names
            if self._view.models is None
            else [name for name in names if name in self._view.models]
        )

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames received: ``rankings``, and ``judgements`` and ``queries`` if there are
        any.
        """
        return {name: frame for name, frame in self._data.frames.items() if frame is not None}

    @property
    def options(self) -> Options:
        """All options of :func:`evaluate`, with their defaults."""
        return Options(**self._options)

    @property
    def like(self) -> str | None:
        """The system whose definitions are used, if any."""
        return self._data.like

    @property
    def average(self) -> str:
        """How queries are averaged."""
        return self._view.average

    @property
    def policies(self) -> tuple[str, ...]:
        """The selected policies: all under which these rankings can be scored, unless `under` chose
        some.
        """
        return self._data.policies if self._view.policies is None else self._view.policies

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Metric and cutoff of every selected measure, in the requested order; the first is the
        headline.
        """
        named = tuple(dict.fromkeys(self._data.measures.values()))
        return named if self._view.measures is None else self._view.measures

    @property
    def also(self) -> Mapping[str, Any]:
        """Settings of further questions: ``by``, ``baseline``, ``margin``, ``costs``,
        ``correction``, ``letters``.
        """
        asked = ("by", "baseline", "margin", "costs", "correction", "letters")
        return {name: getattr(self._view, name) for name in asked}

    @property
    def part(self) -> Mapping[str, Any]:
        """The selected ``models``, and the values ``where`` columns of the queries have; empty for
        the whole study.

        >>> Selection({"query": ["p"], "item": ["a"], "distance": [1], "relevance": [1]}).models(
        ...     "model"
        ... ).part
        {'models': ['model']}
        """
        view = self._view
        chosen = {"models": view.models and list(view.models), "where": dict(view.where)}
        return {name: value for name, value in chosen.items() if value}

    @property
    def counted(self) -> bool:
        """Whether the rankings are counts of items, which have no order."""
        return "count" in self._data.frames["rankings"].columns

    def _check_view(self) -> None:
        """Refuse immediately what could not be answered later."""
        check_choice("average", self.average, AVERAGES)
        check_correction(self._view.correction)
        also, queries = self.also, self._data.frames["queries"]
        if also["by"] is not None and (queries is None or also["by"] not in queries.columns):
            raise ParameterError(f"by: no column {also['by']!r} in the queries")
        if also["baseline"] is not None:
            check_choice("baseline", also["baseline"], self.model_names)
        if (also["margin"] is None) != (also["baseline"] is None):
            given, other = (
                ("baseline", "margin") if also["margin"] is None else ("margin", "baseline")
            )
            raise ParameterError(f"{given}: it is given without a {other}")

    def _narrower(self, **view: Any) -> Self:
        study = object.__new__(type(self))
        study._data, study._view = self._data, replace(self._view, **view)
        return study

    @property
    def _options(self) -> dict[str, Any]:
        return {**self._data.options, **self._view.draws._asdict()}

    def _given(self) -> dict[str, Any]:
        """Return the frames of the selected models and queries; R and judgements are those of
        all.
        """
        frames, view = dict(self._data.frames), self._view
        for name in ("rankings", "judgements", "queries"):
            if view.queries is not None and frames[name] is not None:
                frames[name] = frames[name].filter(pl.col("query").is_in(list(view.queries)))
        return frames

    def _frames_alone(self) -> dict[str, Any]:
        """Return the frames of the selected queries and models."""
        frames = self._given()
        if self._view.models is not None:
            rankings = frames["rankings"]
            if frames["judgements"] is None and frames["queries"] is None:
                # Queries that only other models have are missing here too.
                frames["queries"] = rankings.select("query").unique(maintain_order=True)
            frames["rankings"] = rankings.filter(pl.col("model").is_in(list(self._view.models)))
        return frames

"""The charts of a study, with its measure filled in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrieval_report import charts
from retrieval_report.comparison.queries import query_table


class Plots:
    """The charts of a study, with its measure filled in."""

    def __init__(self, study: Any) -> None:
        """Take the study to draw."""
        self._study = study

    def _at(self) -> dict[str, Any]:
        metric, cutoff = self._study.measures[0]
        return {"metric": metric, "cutoff": cutoff}

    def policies(self) -> Any:
        """Draw the expected, naive, shuffled, lowest and highest score of every model."""
        return charts.policies(self._study.summary, **self._at())

    def leaderboard(self, *, most: int = 60) -> Any:
        """Draw the models, best first, with score, interval, tie range and ranks."""
        return charts.leaderboard(self._study.leaderboard, **self._at(), most=most)

    def deciding_queries(self, *, most: int = 40) -> Any:
        """Draw the queries that decide between the first two models."""
        return charts.deciding_queries(self._study.deciding, **self._at(), most=most)

    def costs(self, *, cost: str | None = None, log: bool | None = None) -> Any:
        """Draw scores against costs, and mark the models that no other beats."""
        return charts.costs(self._study.costs, **self._at(), cost=cost, log=log)

    def intervals(
        self, *, policy: str = "expected", model: str | None = None, summary: object = None
    ) -> Any:
        """Draw the differences between models with their intervals."""
        return charts.intervals(
            self._study.comparison, **self._at(), policy=policy, model=model, summary=summary
        )

    def comparison_matrix(self) -> Any:
        """Every pair of models."""
        return charts.comparison_matrix(self._study.comparison, **self._at())

    def rank_flips(self) -> Any:
        """Draw the ranks of the models under every policy."""
        return charts.rank_flips(self._study.summary, **self._at())

    def scores_by_cutoff(self, *, bands: Sequence[str] = (), log: bool = True) -> Any:
        """Draw the scores of the headline metric at all its cutoffs."""
        return charts.scores_by_cutoff(
            self._study.summary, metric=self._at()["metric"], bands=bands, log=log
        )

    def policy_panels(self, *, first: Sequence[str] = (), log: bool = True) -> Any:
        """Draw the same, with one panel per model."""
        return charts.policy_panels(
            self._study.summary, metric=self._at()["metric"], first=first, log=log
        )

    def query_scatter(self, *, models: Sequence[str] | None = None, listed: bool = True) -> Any:
        """Draw naive against expected score of every query."""
        return charts.query_scatter(
            query_table(self._study.scores), **self._at(), models=models, listed=listed
        )

    def shuffled_distribution(
        self, *, models: Sequence[str] | None = None, one_axis: bool = False
    ) -> Any:
        """Draw what repeated runs would print: exact probabilities if they are known, else the
        share of the draws.
        """
        return charts.shuffled_distribution(
            self._study.shuffled,
            self._study.summary,
            **self._at(),
            exact=self._study.distribution,
            models=models,
            one_axis=one_axis,
        )

    def recall_curve(self) -> Any:
        """Interpolated precision along recall."""
        return charts.recall_curve(self._study.recall_curve)

    def profile(self) -> Any:
        """How much the distances tie."""
        return charts.profile(self._study.profile)

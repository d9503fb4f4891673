"""The charts of a study, with its frames and its measure filled in."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING

from retrieval_report import charts

if TYPE_CHECKING:
    from retrieval_report.charts.theme import ChartType
    from retrieval_report.study.study import Study

ELSEWHERE = {"thresholds": "matches.table"}  # `study.thresholds` is a method


class Plots:
    """The charts of a study: a method for each one in `retrieval_report.charts` that needs nothing
    but frames of a study, with its other arguments. Frames and measure are filled in.

    ``scores()`` comes first, as in the report: expected, shuffled and naive of every model.

    >>> from retrieval_report import Study
    >>> rankings = {"query": ["q"] * 2, "item": ["a", "b"], "distance": [1, 1], "relevance": [1, 0]}
    >>> plots = Study(rankings, "rr@2").plot
    >>> plots.scores().to_dict()["title"]["text"]
    ['rr@2: expected, shuffled and naive']
    >>> plots
    Charts: scores, along_cutoffs, comparison_matrix, costs, deciding_queries, off_by, pair_scatter,
    policies, profile, query_scatter, recall_curve, scores_by_cutoff, shuffled_distribution,
    thresholds
    """

    def __init__(self, study: Study) -> None:
        """Take the study to draw."""
        self._study = study

    def __dir__(self) -> list[str]:
        """The names of the charts, that of the three scores first."""
        return [*charts.ARGUMENTS]

    def __repr__(self) -> str:
        """Return the names of the charts."""
        return f"Charts: {', '.join(charts.ARGUMENTS)}"

    def __getattr__(self, name: str) -> Callable[..., ChartType]:
        """The chart of this name, which computes what it needs of the study when it is called."""
        if name not in charts.ARGUMENTS:
            raise AttributeError(f"there is no chart {name!r}: {', '.join(charts.ARGUMENTS)}")
        chart: Callable[..., ChartType] = getattr(charts, name)

        @wraps(chart)
        def drawn(**how: object) -> ChartType:
            for argument in charts.ARGUMENTS[name].split():
                if argument not in how:
                    how[argument] = attrgetter(ELSEWHERE.get(argument, argument))(self._study)
            return chart(**how)

        return drawn

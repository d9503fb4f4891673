"""Add a namespace ``retrieval`` to every Polars frame,
eager or lazy, by ``import retrieval_report.namespace``.

>>> import polars as pl
>>> rankings = pl.DataFrame(
...     {"query": ["q", "q"], "item": ["a", "b"], "distance": [1, 1], "relevance": [0, 1]}
... )
>>> rankings.retrieval.evaluate(metrics="rr", cutoffs=2, policies="expected")["value"].to_list()
[0.75]
>>> rankings.lazy().retrieval.study("rr@2").table().rows()
[('model', 0.75)]
"""

from typing import Any

import polars as pl

from retrieval_report.engines.evaluate import count_ties, evaluate
from retrieval_report.study.study import Study
from retrieval_report.systems.audit import audit
from retrieval_report.ties.profile import tie_profile


@pl.api.register_dataframe_namespace("retrieval")
@pl.api.register_lazyframe_namespace("retrieval")
class Retrieval:
    """Functions that take rankings, as methods of the frame that holds them."""

    def __init__(self, frame: pl.DataFrame | pl.LazyFrame) -> None:
        """Take the frame of rankings."""
        self._frame = frame

    def evaluate(self, **options: Any) -> pl.DataFrame:
        """Score the lists; see :func:`retrieval_report.evaluate`."""
        return evaluate(self._frame, **options)

    def count_ties(self) -> pl.DataFrame:
        """Count the items at every distance; see :func:`retrieval_report.count_ties`."""
        return count_ties(self._frame)

    def tie_profile(self, **options: Any) -> pl.DataFrame:
        """Show how much the distances tie; see :func:`retrieval_report.tie_profile`."""
        return tie_profile(self._frame, **options)

    def audit(self, **options: Any) -> pl.DataFrame:
        """Show what other evaluators would print; see :func:`retrieval_report.audit`."""
        return audit(self._frame, **options)

    def study(self, measures: object = None, **options: Any) -> Study:
        """Compare the models; see :class:`retrieval_report.Study`."""
        return Study(self._frame, measures, **options)

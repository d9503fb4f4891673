"""The part of a study above single runs and queries: replicates of models, segments and data
sets of queries.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from retrieval_report.comparison.datasets import dataset_scores, dataset_table
from retrieval_report.comparison.replicates import replicate_pairs, replicate_table
from retrieval_report.comparison.segments import segment_winners
from retrieval_report.contracts.arguments import Named
from retrieval_report.study.judges import JudgedStudy
from retrieval_report.study.study_data import answer


class LevelledStudy(JudgedStudy):
    """What a study answers about replicates, segments and data sets, if they are named."""

    model_names: Any
    scores: Any

    def under(self, *policies: str) -> Any:
        """Return the study under some policies."""
        raise NotImplementedError  # a study does

    @property
    def of_run(self) -> dict[str, str]:
        """The model of every selected run, if replicates are named."""
        return {run: self._data.of_run[run] for run in self.model_names if self._data.of_run}

    @property
    def _replicate(self) -> Named:
        """What was named as ``replicate``, in plain values for a report."""
        named = self._data.replicate
        return {"replicate": named if named is None or isinstance(named, str) else self.of_run}

    @answer
    def replicates(self) -> pl.DataFrame:
        """The result of :func:`replicate_table`: models as means over ``replicate``; nothing where
        none was named.
        """
        return (
            replicate_table(self.under("expected").scores, self.of_run) if self.of_run else NOTHING
        )

    @answer
    def replicate_pairs(self) -> pl.DataFrame:
        """The result of :func:`replicate_pairs`: pairs of these models, and whether the replicate
        decides; nothing where none was named.
        """
        return (
            replicate_pairs(self.under("expected").scores, self.of_run) if self.of_run else NOTHING
        )

    @answer
    def segments(self) -> pl.DataFrame:
        """The result of :func:`segment_winners` for the column ``by`` of the queries; nothing where
        none was named.
        """
        by, queries = self._view.by, self._data.frames["queries"]
        if by is None:
            return pl.DataFrame()
        return segment_winners(self.under("expected").scores, queries, by)

    @answer
    def dataset_scores(self) -> pl.DataFrame:
        """The result of :func:`dataset_scores` for the column ``dataset`` of the queries: every
        model in every data set; nothing where none was named.
        """
        queries, column = self._data.frames["queries"], self._view.dataset
        if column is None:
            return NOTHING
        return dataset_scores(self.under("expected").scores, queries, column)

    @answer
    def datasets(self) -> pl.DataFrame:
        """The result of :func:`dataset_table`: means over the data sets; nothing where none was
        named.
        """
        return dataset_table(self.dataset_scores) if self._view.dataset is not None else NOTHING


NOTHING = pl.DataFrame()

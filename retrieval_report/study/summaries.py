"""The summary of a study, in which every mean is computed once: studies of other measures, models
or policies of the same data share those that they have in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from retrieval_report.engines.check_scores import MEAN, Checked, at_measure
from retrieval_report.engines.summary import summarise, with_bounds
from retrieval_report.metrics.parsing import Measure
from retrieval_report.study.study_data import Draws

if TYPE_CHECKING:
    from retrieval_report.study.levels import LevelledStudy

DRAWN = "shuffled"
BOUNDS = ("lowest", "highest")


def summary_of(study: LevelledStudy) -> pl.DataFrame:
    """Return the result of :func:`summarise` for a study."""
    exact = tuple(policy for policy in study.policies if policy != DRAWN)
    parts = [exact, (DRAWN,)] if exact and DRAWN in study.policies else [study.policies]
    means = pl.concat([mean for part in parts for mean in _known_means(study, part)])
    # The order of the scores, which are combined with those of random orders only if asked for.
    order = study._undrawn.scores.select(MEAN).unique(maintain_order=True).with_row_index("place")
    policy = pl.col("policy").cast(pl.Enum(study._data.policies))
    rows = order.join(means.drop(BOUNDS), on=MEAN, nulls_equal=True).sort("place", policy)
    return with_bounds(rows.drop("place"))


def _known_means(study: LevelledStudy, policies: tuple[str, ...]) -> list[pl.DataFrame]:
    """Return a frame of means for every measure: of all models, if these are known, or else of
    the models of the study.
    """
    view = study._view
    # A system may draw the order that it prints.
    draws = view.draws if DRAWN in policies or study._data.like is not None else Draws()
    same = view.queries, view.runs, view.average, view.cluster, draws, policies
    mine: dict[Measure, pl.DataFrame] = study._data.memo.find(("means", None, *same), dict)
    if not mine.keys() >= {*study.measures}:
        mine = study._data.memo.find(("means", view.models, *same), dict)
    if missing := tuple(measure for measure in study.measures if measure not in mine):
        means = _summarised(study._with(measures=missing, policies=policies))
        mine |= {measure: means.filter(at_measure(*measure)) for measure in missing}
    return [mine[measure] for measure in study.measures]


def _summarised(study: LevelledStudy) -> pl.DataFrame:
    """Return the result of :func:`summarise` for all that the study has."""
    queries = None if study.average == "micro" else study._data.frames["queries"]
    rows = Checked(study.scores)
    return summarise(rows, **{"queries": queries, **study.over}, average=study.average)

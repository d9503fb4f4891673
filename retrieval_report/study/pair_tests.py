"""The tests of pairs of a study's models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import polars as pl

from retrieval_report.comparison.leaderboard import leaderboard
from retrieval_report.comparison.pairs import PairOptions, compare
from retrieval_report.comparison.queries import deciding_queries
from retrieval_report.comparison.tie_chance import CHANCES, Runs
from retrieval_report.contracts.arguments import Named
from retrieval_report.engines.check_scores import GROUP, Checked, join_left
from retrieval_report.engines.summary import with_left_out
from retrieval_report.study.levels import NO_FRAME
from retrieval_report.study.study_data import Draws, View

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

MOST_PAIRS = 1_000  # more would be too many for a reader or a page, and each pair costs tests


def compared(study: Study, **how: Unpack[PairOptions]) -> pl.DataFrame:
    """Return the result of :func:`compare` for a study, with the chance of a reversal."""
    arguments = {"rankings": study.judged, **study._options}
    if study.like is not None:
        arguments = {"rankings": study._emulated}
    if study.of_run:
        arguments["rankings"] = Runs(arguments["rankings"], study.of_run)
    return _compared(study, {**arguments, **study._tests, **how})


def compared_exactly(study: Study) -> pl.DataFrame:
    """Return the pairs by expected scores. The chances of a reversal, which take longest, are the
    same whatever the seed and the correction of the tests.
    """
    usual = replace(study._view, draws=Draws(), correction=View.correction, policies=None)
    if study._data.memo.known(("chances", usual)):
        pairs = _compared(study, {**study._tests, "policies": "expected"})
    else:
        pairs = compared(study, policies="expected")
    chances = study._data.memo.find(("chances", usual), lambda: pairs.select(list(CHANCES)))
    return pairs.with_columns(chances.get_columns())


def ranked(study: Study, over_runs: pl.DataFrame | None) -> pl.DataFrame:
    """Return the result of :func:`leaderboard` for a study, with the intervals of its means."""
    scores = study._weighed(study.scores)
    board = leaderboard(scores, policies="expected", over_runs=over_runs, **study._tests)
    if study.average == "micro":
        return board
    ends = study.summary.select(*GROUP, "ci_low", "ci_high")
    board = join_left(board.drop("ci_low", "ci_high"), ends, GROUP).select(board.columns)
    return with_left_out(board, scores)


def _compared(study: Study, arguments: Named) -> pl.DataFrame:
    models = len(study.model_names)
    if models * (models - 1) / 2 > MOST_PAIRS and arguments.get("baseline") is None:
        arguments = {
            "most_apart": max(1, MOST_PAIRS // models),
            **arguments,
            "policies": "expected",
        }
    scores = study._weighed(study.scores)
    return with_left_out(compare(scores, **arguments), scores)


def decided(study: Study, names: Sequence[str]) -> pl.DataFrame:
    """Return the result of :func:`deciding_queries` for two models, with the shares that queries
    have in the means of the study; no columns if there are not two.
    """
    if len(names) != 2:
        return NO_FRAME
    # These policies show how tie order can change a difference.
    policies = pl.col("policy").is_in(["expected", "worst", "best"])
    scores = study._weighed(study.scores.filter(policies, pl.col("model").is_in(names)))
    if study.average != "micro":
        values = (pl.col("value", "std") / pl.col("weight")).fill_nan(None)
        scores = Checked(scores.frame.with_columns(values))
    return deciding_queries(scores, *names)

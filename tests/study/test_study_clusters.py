"""A study whose queries were drawn in clusters: its answers, its narrower studies and the commands."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from retrieval_report.study.samples import sample_folder

DOCS = sample_folder() / "docs"
GIVEN: dict[str, Any] = {"judgements": DOCS / "qrels.txt", "truncated": "between_ties"}


def queries() -> pl.DataFrame:
    ids = rr.read_judgements(DOCS / "qrels.txt")["query"].unique().sort()
    return pl.DataFrame({"query": ids, "topic": [n // 3 for n in range(len(ids))]})


@pytest.fixture(scope="module")
def study() -> rr.Study:
    return rr.Study(
        sorted((DOCS / "runs").glob("*")), "ndcg@10", queries=queries(), cluster="topic", **GIVEN
    )


def test_answers_are_those_of_the_functions(study: rr.Study) -> None:
    over: dict[str, Any] = {"cluster": "topic", "queries": queries()}
    exact = study.under("expected", "best", "worst").scores
    board = rr.leaderboard(exact, policies="expected", **over)
    assert_frame_equal(study.leaderboard, board)
    assert_frame_equal(study.summary, rr.summarise(study.scores, **over))
    tests = ["model_a", "model_b", "t_p", "permutation_p", "family_p", "ci_low"]
    expected = study.under("expected").comparison
    assert_frame_equal(expected.select(tests), rr.compare(exact, **over).select(tests))
    against = study.using(baseline="bm25", margin=0.05).no_worse
    assert_frame_equal(
        against,
        rr.stats.no_worse(exact, baseline="bm25", margin=0.05, **over),
    )


def test_an_unknown_column_is_refused_at_once() -> None:
    with pytest.raises(rr.ParameterError, match="cluster: no column 'subject' in the queries"):
        rr.Study(DOCS / "runs", queries=queries(), cluster="subject", **GIVEN)
    with pytest.raises(rr.ParameterError, match="micro or weighted"):
        rr.Study(DOCS / "runs", queries=queries(), cluster="topic", average="macro", **GIVEN)

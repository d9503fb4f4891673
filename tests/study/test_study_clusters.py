"""A study whose queries were drawn in clusters gives what the functions say of them."""

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from made_reports import made_rankings

RANKINGS = made_rankings(("coarse", "fine", "middle"), queries=12)
QUERIES = (
    RANKINGS.select("query")
    .unique(maintain_order=True)
    .with_columns(topic=pl.int_range(pl.len()) // 3)
)
OVER: Any = {"cluster": "topic", "queries": QUERIES}


def test_answers_are_those_of_the_functions():
    study = rr.Study(RANKINGS, "ndcg@3", truncated="no", **OVER)
    exact = study.under("expected", "best", "worst").scores
    assert_frame_equal(study.leaderboard, rr.leaderboard(exact, policies="expected", **OVER))
    assert_frame_equal(study.summary, rr.summarise(study.scores, **OVER))
    tests = ["model_a", "model_b", "t_p", "permutation_p", "family_p", "ci_low"]
    expected = study.under("expected").comparison
    assert_frame_equal(expected.select(tests), rr.compare(exact, **OVER).select(tests))
    margin: Any = {"baseline": "fine", "margin": 0.05}
    against = rr.stats.no_worse(exact, **margin, **OVER)
    assert_frame_equal(study.using(**margin).no_worse, against)


def test_means_over_groups_have_no_clusters():
    with pytest.raises(rr.ParameterError, match="micro or weighted"):
        rr.Study(RANKINGS, average="macro", **OVER)

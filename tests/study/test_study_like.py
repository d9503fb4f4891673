"""A study like another system, and what it says of margins where scores are estimates."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from made_reports import grid, made_rankings

MODELS = ("coarse", "fine", "middle")
RANKINGS = made_rankings(MODELS)


def like_trec_eval(**more: Any) -> rr.Study:
    scored = RANKINGS.with_columns(score=-pl.col("distance").cast(pl.Float64)).drop("distance")
    return rr.Study(scored, "ndcg@3, map", queries=None, like="trec_eval", shuffles=20, **more)


def test_a_study_like_another_system_answers_everything_at_the_measures_asked(
    tmp_path: Path,
):
    made = like_trec_eval()
    assert made.measures == (("ndcg", 3), ("ap", None))
    assert made.table().columns == ["model", "ndcg@3", "ap@all"]
    here = made.at("ndcg@3")
    assert here.measure == "ndcg@3"
    assert_frame_equal(here.summary, made.summary.filter(metric="ndcg"))
    assert set(here.audit["metric"]) == {"ndcg"}
    shuffled = made.summary.filter(policy="shuffled").sort("model", "metric")
    means = made.shuffled.group_by("model", "metric").agg(pl.mean("value")).sort("model", "metric")
    assert means["value"].to_list() == pytest.approx(shuffled["value"].to_list())
    assert here.contents().measure == here.measure
    assert "like='trec_eval'" in made.contents().command
    written = rr.read_report(made.report(tmp_path, formats="csv"))
    assert_frame_equal(written.summary, made.summary)


def test_a_system_that_draws_its_order_prints_another_for_every_seed():
    scored = RANKINGS.with_columns(score=-pl.col("distance").cast(pl.Float64)).drop("distance")
    made = rr.Study(scored, "ndcg@3", like="KerasRS", shuffles=5)
    printed = [made.using(seed=seed).under("naive").scores for seed in (0, 5, 0)]
    assert printed[0].equals(printed[2])
    assert not printed[0].equals(printed[1])
    again = rr.Study(scored, "ndcg@3", like="KerasRS", shuffles=5, seed=5)
    assert_frame_equal(printed[1], again.under("naive").scores)


def coarse_scores(seed: int) -> pl.DataFrame:
    """Two models with seven different scores, some not above 0, for 12 queries of 20 items of
    grades 0, 1 and 2.
    """
    generator = np.random.default_rng(seed)
    grade = generator.integers(0, 3, (12, 20)) * (generator.random((12, 20)) < 0.4)
    parts = []
    for model in "ab":
        score = np.round(grade + generator.normal(0, 1.2, grade.shape))
        parts.append(grid(score=score, relevance=grade).with_columns(model=pl.lit(model)))
    return pl.concat(parts)


@pytest.mark.parametrize("like", ["torchmetrics"])
@pytest.mark.filterwarnings("ignore:torchmetrics takes items")
def test_the_chance_of_a_reversal_is_that_of_the_systems_own_scores(like: str):
    """Random orders of what the system receives reverse the pair as often as the chance says."""
    made = rr.Study(
        coarse_scores(1), "ndcg@5, precision@3", like=like, shuffles=500, truncated="no"
    )
    draws = made.shuffled.pivot("model", index=["metric", "cutoff", "draw"], values="value")
    for row in made.comparison.filter(policy="expected").iter_rows(named=True):
        assert row["p_tie_method"] in ("exact", "convolved")
        assert row["p_tie_high"] - row["p_tie_low"] <= 0.02
        lead = (
            draws.filter(metric=row["metric"], cutoff=row["cutoff"])
            .select(pl.col("a") - pl.col("b"))
            .to_series()
        )
        reversed_share = (lead * np.sign(row["difference"]) < -1e-12).mean()
        assert isinstance(reversed_share, float)
        assert row["p_tie_low"] - 0.05 <= reversed_share <= row["p_tie_high"] + 0.05
        assert row["p_tie"] > 0.01


def test_like_says_what_a_cut_list_leaves_open_unless_lists_are_whole():
    ends = coarse_scores(2).filter(
        pl.col("score").rank("ordinal", descending=True).over("model", "query") <= 8
    )
    asked: Any = {"measures": "precision@5", "like": "trec_eval", "shuffles": 20}
    cut, whole = (rr.Study(ends, **asked, truncated=word) for word in ("within_tie", "no"))
    assert cut.comparison.filter(policy="expected")["p_tie_method"].to_list() == ["truncated"]
    assert whole.comparison.filter(policy="expected")["p_tie_method"].to_list() == ["exact"]
    printed = [study.scores.filter(policy="naive")["value"].to_list() for study in (cut, whole)]
    assert printed[0] == printed[1]
    plain = rr.Study(ends, "precision@5", truncated="no").three_scores
    assert whole.three_scores["order_high"].equals(plain["order_high"])
    assert {*whole.three_scores["order_method"]} == {"exact"}

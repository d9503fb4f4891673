"""What could turn the lead round: the rows, their numbers, and where they are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from made_reports import made_rankings
from retrieval_report.comparison.queries import resampled_reversal
from retrieval_report.comparison.verdicts import depends
from retrieval_report.study.reversals import (
    against_sentence,
    not_varied_line,
    reversals_text,
    varied,
)
from retrieval_report.study.samples import SAMPLES
from retrieval_report.writing.numbers import chance_text

RANKINGS = made_rankings(("coarse", "fine", "middle"))


def row(study: rr.Study, source: str) -> dict[str, Any]:
    return study.reversals.row(by_predicate=pl.col("source") == source, named=True)


def test_ties_and_queries_have_the_numbers_of_the_pair() -> None:
    study = rr.Study(RANKINGS, "ndcg@3, ap")
    first, second = study.leaderboard.filter(metric="ndcg")["model"].to_list()[:2]
    pair = study.at("ndcg@3").compare(first, second).filter(policy="expected")
    ties, queries = row(study, "tie order"), row(study, "queries")
    assert (ties["model_a"], ties["model_b"]) == (first, second)
    assert ties["reversal"] == pair["p_tie"].item()
    scores = study.scores.filter(metric="ndcg", policy="expected").sort("query")
    a, b = (scores.filter(model=name)["value"].to_numpy() for name in (first, second))
    assert queries["reversal"] == resampled_reversal(a - b)
    significant = study.flips.filter(
        pl.col("model_a").is_in([first, second]) & pl.col("model_b").is_in([first, second]),
        pl.col("metric") == "ndcg",
    )["family_p"].item()
    assert queries["verdict"] == ("significant" if significant < 0.05 else "not significant")


def test_a_chance_has_the_digits_of_the_verdict() -> None:
    sample = next(sample for sample in SAMPLES if sample.name == "docs")
    study = rr.Study(**sample.files, measures="ndcg@10", truncated=sample.truncated)
    known = study.reversals.filter(source="tie order")
    chance = chance_text(*(known[f"reversal{end}"].item() for end in ("", "_low", "_high")))
    assert chance in study.verdict[1]
    assert chance in repr(study)
    assert "±" in chance


@pytest.mark.parametrize("seed", range(3))
def test_a_resampled_reversal_is_the_share_of_bootstrap_samples(seed: int) -> None:
    generator = np.random.default_rng(seed)
    difference = generator.normal(0.03, 0.2, 40)
    drawn = generator.choice(difference, (100_000, 40)).mean(axis=1)
    opposite = (np.sign(drawn) == -np.sign(difference.mean())).mean()
    assert resampled_reversal(difference) == pytest.approx(opposite, abs=0.01)


def test_a_difference_that_is_always_the_same_cannot_be_drawn_away() -> None:
    assert resampled_reversal(np.full(5, 0.25)) == 0.0
    assert resampled_reversal(np.array([0.25])) is None


def test_sources_without_data_are_one_line() -> None:
    study = rr.Study(RANKINGS, "ndcg@3")
    assert varied(study.reversals)["source"].to_list() == ["tie order", "queries"]
    assert not_varied_line(study.reversals) == "Not varied: judge, seed, data set."
    assert "Not varied: judge (judgements={'human': …}), seed (replicate=)," in repr(study)
    assert "What could turn it around\nsource" in repr(study)
    assert "What could turn it around" in study._repr_html_()


def test_equal_models_have_nothing_to_turn_round() -> None:
    fine = RANKINGS.filter(model="fine")
    study = rr.Study(pl.concat([fine, fine.with_columns(model=pl.lit("twin"))]), "ndcg@3")
    assert study.reversals["reversal"].null_count() == study.reversals.height
    assert study.status in study.reversals["verdict"].to_list()


def test_a_mean_that_is_not_tested_says_so() -> None:
    labels = pl.DataFrame({"query": RANKINGS["query"].unique(), "label": "one"})
    found = row(rr.Study(RANKINGS, "ndcg@3", queries=labels, average="macro"), "queries")
    assert (found["reversal"], found["verdict"]) == (None, "not tested")


def test_one_model_and_no_score_have_no_rows() -> None:
    study = rr.Study(RANKINGS, "ndcg@3")
    scoreless = rr.Study(RANKINGS.with_columns(relevance=0), "ndcg@3", no_relevant="skip")
    with pytest.warns(rr.RetrievalReportWarning, match="no query has a relevant item"):
        assert scoreless.reversals.width == 0
    assert study.under("best", "worst").reversals.width == 0
    for nothing in (study.models("fine"), scoreless):
        assert nothing.reversals.width == 0
        assert reversals_text(nothing.reversals) == ""
        assert "turn it around" not in repr(nothing) + nothing._repr_html_()


def judged(*against: str, ties: bool = False) -> rr.Study:
    """Two models, of which the first wins under the human judge, and the second under others."""
    lists = {"first": {"a": 2, "b": 1}, "second": {"a": 1, "b": 1 if ties else 2}}
    runs = {name: {f"q{number}": items for number in range(12)} for name, items in lists.items()}
    said = {"human": "a", "x": "a", "y": "a"} | dict.fromkeys(against, "b")
    given = {
        judge: {f"q{number}": {item: 1} for number in range(12)} for judge, item in said.items()
    }
    return rr.Study(runs, "rr@2", judgements=given, truncated="no")


def test_other_judges_count_and_the_verdict_says_so_where_they_turn_it_round() -> None:
    study = judged("y")
    found = row(study, "judge")
    assert (found["varied"], found["reversal"]) == ("2 other judges", 0.5)
    assert found["verdict"] == "depends on the judge"
    sentence = "Of 2 other judges, 50.0% order these two the other way."
    assert study.verdict[1] == sentence
    assert study.verdict[2] == judged().verdict[1]
    assert len(study.sentences) == len(judged().sentences) + 1
    assert row(judged(), "judge")["verdict"] == "safe"
    assert "judges" not in " ".join(judged().sentences)
    assert against_sentence(judged().reversals) == ""


def test_a_judge_that_has_them_level_counts_half() -> None:
    runs = {"first": {"q": {"a": 2, "b": 1}}, "second": {"q": {"a": 1, "b": 2}}}
    both = {"human": {"q": {"a": 1}}, "level": {"q": {"a": 1, "b": 1}}}
    found = row(rr.Study(runs, "rr@2", judgements=both, truncated="no"), "judge")
    assert found["reversal"] == 0.5


def test_words_follow_the_threshold_of_ties() -> None:
    assert depends("the seed", 1 / 20) == "safe"
    assert depends("the seed", 0.051) == "depends on the seed"


def test_a_report_shows_the_table_below_its_verdict(tmp_path: Path) -> None:
    study = judged("y")
    page = (study.report(tmp_path, formats=["html", "csv"]) / "report.html").read_text()
    verdict = page[page.index('id="verdict"') : page.index('id="summary"')]
    assert "<caption>What could turn it around</caption>" in verdict
    assert "2 other judges" in verdict
    assert "Not varied: seed, data set." in verdict
    assert rr.read_report(tmp_path).reversals.equals(study.reversals)

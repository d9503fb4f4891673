"""Several judges of relevance: how they are given, and what they say of models and of each other."""

from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import retrieval_report as rr
from made_reports import made_rankings
from retrieval_report.study.questions import QUESTIONS

metrics = pytest.importorskip("sklearn.metrics")

RANKINGS = made_rankings(("coarse", "fine", "middle")).drop("relevance")
QUERIES, ITEMS = RANKINGS["query"].unique().sort(), RANKINGS["item"].unique().sort()
Labels = dict[str, dict[Any, int]]


def made_labels(seed: int, queries: int = 6) -> Labels:
    generator = np.random.default_rng(seed)
    return {
        str(query): {item: int(generator.integers(0, 4)) for item in ITEMS}
        for query in QUERIES[:queries]
    }


JUDGES = {"human": made_labels(1), "gpt": made_labels(2), "llama": made_labels(3)}


def frame_of(labels: Labels) -> pl.DataFrame:
    return rr.read_judgements(labels)


def made_study(judge: str | None = None, **options: Any) -> rr.Study:
    return rr.Study(RANKINGS, "ndcg@3, ap", judgements=JUDGES, judge=judge, **options)


# How judges are given


def test_the_forms_of_judgements_are_told_apart_by_their_values(tmp_path: Path):
    file = tmp_path / "human.csv"
    frame_of(JUDGES["human"]).write_csv(file)
    forms: list[Any] = [
        {"human": JUDGES["human"], "gpt": JUDGES["gpt"]},
        {"human": frame_of(JUDGES["human"]), "gpt": frame_of(JUDGES["gpt"])},
    ]
    known = rr.Study(RANKINGS, "ndcg@3", judgements=JUDGES["human"]).summary
    for judgements in forms:
        study = rr.Study(RANKINGS, "ndcg@3", judgements=judgements)
        assert (study.judge, list(study.judgements)) == ("human", ["human", "gpt"])
        assert_frame_equal(study.summary, known, check_exact=True)
    texts = RANKINGS.with_columns(pl.col("item").cast(pl.String))
    study = rr.Study(texts, "ndcg@3", judgements={"human": file, "again": str(file)})
    assert_frame_equal(study.summary, known, check_exact=True)


def test_a_single_named_judge_has_no_others():
    study = rr.Study(RANKINGS, "ndcg@3", judgements={"human": JUDGES["human"]})
    assert study.judge == "human"
    assert (study.judges.width, study.judge_pairs.width, study.judge_agreement.width) == (0, 0, 0)
    assert study.reversals.filter(source="judge")["verdict"].item() == "not varied"


def test_without_expected_scores_judges_say_nothing():
    study = made_study().under("naive", "shuffled")
    for nothing in (study.judges, study.judge_pairs, study.judge_agreement, study.reversals):
        assert nothing.height == 0


def test_judgements_and_runs_in_exchanged_places_have_one_message(tmp_path: Path):
    paths = {name: tmp_path / name for name in ("qrels.txt", "a.run", "b.run")}
    paths["qrels.txt"].write_text("q1 0 d1 1\nq1 0 d2 0\n")
    for name in ("a.run", "b.run"):
        paths[name].write_text(f"q1 Q0 d1 1 2.5 {name}\nq1 Q0 d2 2 1.5 {name}\n")
    runs = {"a": paths["a.run"], "b": paths["b.run"]}
    messages = []
    for judgements in (runs["a"], runs):
        with pytest.raises(rr.FileError, match="is TREC qrels, not rankings") as caught:
            rr.Study(paths["qrels.txt"], "rr", judgements=judgements)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    with pytest.raises(rr.FileError, match=r"judge 'a': .* is a TREC run, not judgements"):
        rr.Study(paths["b.run"], "rr", judgements=runs)


def test_counts_take_no_judges():
    counts = rr.count_ties(made_rankings(("coarse", "fine")))
    study = rr.Study(counts, "ndcg@3", judgements=JUDGES)
    with pytest.raises(rr.ParameterError, match="a counts frame has no items"):
        _ = study.judges


# One judge of several is that judge alone


def test_the_answers_of_a_judge_are_those_of_a_study_with_these_judgements():
    judge = "gpt"
    alone = rr.Study(RANKINGS, "ndcg@3, ap", judgements=JUDGES[judge])
    of_judges = {"reversals", "judges", "judge_pairs", "judge_agreement", "fingerprint"}
    study = made_study().judged_by(judge)
    assert study.judge == made_study(judge).judge == judge
    assert study.summary.equals(made_study(judge).summary)
    for question in QUESTIONS:
        if question.name not in of_judges:
            assert_frame_equal(question.ask(study), question.ask(alone), check_exact=True)
    assert made_study().judged_by(judge).judged_by("human").summary.equals(made_study().summary)


# What they say of models


def test_ranks_and_means_are_those_of_every_judge():
    judges = made_study().judges
    assert judges["judge"].unique(maintain_order=True).to_list() == list(JUDGES)
    for judge, labels in JUDGES.items():
        study = rr.Study(RANKINGS, "ndcg@3, ap", judgements=labels)
        board = study.leaderboard.select("model", "metric", "cutoff", "rank", "value")
        own = judges.filter(judge=judge).select(board.columns)
        assert_frame_equal(own, board)
        exact = study.summary.filter(policy="expected")
        keys = ["model", "metric", "cutoff", "value", "tie_std", "lowest", "highest"]
        assert_frame_equal(
            judges.filter(judge=judge).select(keys), exact.select(keys), check_row_order=False
        )
    for row in judges.iter_rows(named=True):
        same = pl.col("metric") == row["metric"], pl.col("model") == row["model"]
        others = judges.filter(*same, pl.col("judge") != row["judge"])["rank"].to_list()
        assert row["others_rank"] == median(others)
    assert not judges["own"].any()


# Who judges himself


def test_a_model_is_marked_under_the_judge_whose_labels_are_its_scores():
    """Of four queries; of more the data are to be checked."""
    few = {name: dict([*labels.items()][:4]) for name, labels in JUDGES.items()}
    models = {"gpt": few["gpt"], "llama": few["llama"]}
    runs = rr.from_labels(models)
    given = {
        name: frame_of(labels).with_columns(pl.col("item").cast(runs.schema["item"]))
        for name, labels in few.items()
    }
    study = rr.Study(runs, "ndcg@3", judgements=given, truncated="no")
    own = study.judges.filter("own").select("judge", "model", "rank", "others_rank").rows()
    assert [row[:3] for row in own] == [("gpt", "gpt", 1), ("llama", "llama", 1)]
    assert study.judge_pairs["judges"].to_list() == [0]  # both other judges are one of the models
    said = study.judged_by("gpt")
    assert said.reversals.filter(source="judge")["verdict"].item() == "judged by its own labels"
    assert said.verdict[1].startswith("One of them is judged by its own labels.")
    assert "own labels" not in " ".join(study.verdict)


@pytest.mark.parametrize(
    ("scale", "own"),
    [
        ({0: -1.5, 1: 0, 2: 1, 3: 8}, True),
        ({0: 0, 1: 30, 2: 30, 3: 100}, False),  # one label for two scores
        ({0: 100, 1: 60, 2: 30, 3: 0}, False),  # the other way
    ],
)
def test_own_labels_are_found_by_order_on_any_scale(scale: dict[int, float], own: bool):
    runs = rr.from_labels({"gpt": JUDGES["gpt"], "llama": JUDGES["llama"]})
    shift = min(0, *scale.values())
    given = {
        "human": JUDGES["human"],
        "gpt": {
            query: {item: scale[label] - shift for item, label in items.items()}
            for query, items in JUDGES["gpt"].items()
        },
    }
    study = rr.Study(runs, "ndcg@3", judgements=given, truncated="no")
    found = study.judges.filter("own").select("judge", "model").rows()
    assert found == ([("gpt", "gpt")] if own else [])


def test_errors_name_the_judge_who_lacks_queries():
    few = {query: JUDGES["gpt"][query] for query in QUERIES[:2]}
    study = rr.Study(RANKINGS, "ap", judgements={"human": JUDGES["human"], "few": few})
    named = rf"judge 'few': {len(QUERIES) - 2} of {len(QUERIES)} queries have no judgements"
    assert study.summary.height
    for ask in (
        lambda: study.judges,
        lambda: study.judged_by("few").summary,
        lambda: study.verdict,
    ):
        with pytest.raises(rr.KeyMismatchError, match=named):
            ask()


# What they say of each other


def test_agreement_is_that_of_scikit_learn_and_scipy():
    study = made_study()
    found = study.judge_agreement
    for one, other in combinations(JUDGES, 2):
        a, b = (
            [JUDGES[name][query][item] for query in JUDGES[name] for item in JUDGES[name][query]]
            for name in (one, other)
        )
        for row in found.filter(judge_a=one, judge_b=other).iter_rows(named=True):
            grades = {"labels": [0, 1, 2, 3]}
            assert row["kappa"] == pytest.approx(metrics.cohen_kappa_score(a, b, **grades))
            weighted = metrics.cohen_kappa_score(a, b, weights="quadratic", **grades)
            assert row["weighted_kappa"] == pytest.approx(weighted)
            assert row["same"] == metrics.accuracy_score(a, b)
            assert (row["pairs"], row["models"]) == (len(a), 3)
            means = [
                study.judges.filter(judge=name, metric=row["metric"]).sort("model")["value"]
                for name in (one, other)
            ]
            assert row["tau"] == pytest.approx(stats.kendalltau(*means).statistic)
    assert found.select("metric").n_unique() * 4 == found.height

"""Several judges of relevance: how they are given, and what they say of models and of each other."""

from __future__ import annotations

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


def test_the_forms_of_judgements_are_told_apart_by_their_values(tmp_path: Path) -> None:
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


def test_a_single_named_judge_has_no_others() -> None:
    study = rr.Study(RANKINGS, "ndcg@3", judgements={"human": JUDGES["human"]})
    assert study.judge == "human"
    assert (study.judges.width, study.judge_pairs.width, study.judge_agreement.width) == (0, 0, 0)
    assert study.reversals.filter(source="judge")["verdict"].item() == "not varied"


def test_without_expected_scores_judges_say_nothing() -> None:
    study = made_study().under("naive", "shuffled")
    for nothing in (study.judges, study.judge_pairs, study.judge_agreement, study.reversals):
        assert nothing.width == 0


def test_counts_take_no_judges() -> None:
    counts = rr.count_ties(made_rankings(("coarse", "fine")))
    study = rr.Study(counts, "ndcg@3", judgements=JUDGES)
    with pytest.raises(rr.ParameterError, match="a counts frame has no items"):
        _ = study.judges


# One judge of several is that judge alone


def test_the_answers_of_a_judge_are_those_of_a_study_with_these_judgements() -> None:
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


def test_ranks_and_means_are_those_of_every_judge() -> None:
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


def test_pairs_count_the_other_judges_by_hand() -> None:
    runs = {"a": {"q": {"x": 3, "y": 2, "z": 1}}, "b": {"q": {"x": 2, "y": 3, "z": 1}}}
    given = {
        "human": {"q": {"x": 1}},
        "level": {"q": {"z": 1}},
        "same": {"q": {"x": 2, "z": 1}},
        "against": {"q": {"y": 1}},
        "too": {"q": {"y": 1, "z": 0}},
    }
    study = rr.Study(runs, "rr", judgements=given, truncated="no")
    [row] = study.judge_pairs.to_dicts()
    assert (row["model_a"], row["model_b"], row["difference"]) == ("a", "b", 0.5)
    assert (row["judges"], row["agree"], row["against"]) == (4, 1.5 / 4, "against, too")
    [row] = study.judged_by("against").judge_pairs.to_dicts()
    assert (row["agree"], row["against"]) == (1.5 / 4, "human, same")
    [row] = study.judged_by("level").judge_pairs.to_dicts()
    assert (row["agree"], row["judges"]) == (None, 4)
    assert study.judged_by("level").reversals.filter(source="judge")["reversal"].item() is None
    ranks = study.judges.filter(judge="level")["rank"].to_list()
    assert ranks == [1, 1]  # equal means share the better rank


# Who judges himself


def test_a_model_is_marked_under_the_judge_whose_labels_are_its_scores() -> None:
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
def test_own_labels_are_found_by_order_on_any_scale(scale: dict[int, float], own: bool) -> None:
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


def test_errors_name_the_judge_who_lacks_queries() -> None:
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


@pytest.mark.parametrize(("shared", "more", "own"), [(3, 0, True), (19, 1, False), (20, 9, True)])
def test_few_shared_labels_prove_nothing_unless_they_are_all(
    shared: int, more: int, own: bool
) -> None:
    grades = {f"d{number:02}": number % 4 for number in range(shared + more)}
    known = dict(list(grades.items())[:shared])
    given = {"human": {"q": {"d00": 1}}, "gpt": {"q": known}}
    study = rr.Study({"m": {"q": grades}}, "ndcg@3", judgements=given, truncated="no")
    assert study.judges.filter(judge="gpt")["own"].to_list() == [own]


# What they say of each other


def test_agreement_is_that_of_scikit_learn_and_scipy() -> None:
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


def labelled(*judges: list[int | None]) -> rr.Study:
    given = {
        f"judge {number}": {
            "q": {f"d{item:02}": grade for item, grade in enumerate(own) if grade is not None}
        }
        for number, own in enumerate(judges)
    }
    items = {f"d{item:02}": -item for item in range(len(judges[0]))}
    return rr.Study({"m": {"q": items}}, "ndcg", judgements=given, truncated="no")


def test_alpha_is_that_of_krippendorffs_example() -> None:
    """Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, section D: .815 if ordinal."""
    n = None
    study = labelled(
        [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
        [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
    )
    last = study.judge_agreement.row(-1, named=True)
    assert last["alpha"] == pytest.approx(0.815, abs=5e-4)
    assert (last["judge_a"], last["judge_b"], last["kappa"], last["pairs"]) == (
        None,
        None,
        None,
        11,
    )


def test_judges_that_share_no_label_are_not_compared() -> None:
    given = {"human": {"p": {"a": 1, "b": 0}}, "gpt": {"q": {"a": 1, "b": 0}}}
    runs = {"m": {"p": {"a": 1, "b": 2}, "q": {"a": 2, "b": 1}}}
    study = rr.Study(runs, "rr", judgements=given, truncated="no", unjudged_query="skip")
    first, last = study.judge_agreement.to_dicts()
    assert first["pairs"] == last["pairs"] == 0
    assert {first[name] for name in ("same", "kappa", "weighted_kappa", "alpha")} == {None}
    assert study.judges["value"].to_list() == [0.5, 1.0]


def test_judges_of_one_mind_on_one_grade_have_no_coefficient() -> None:
    first, last = labelled([1, 1, 1], [1, 1, 1]).judge_agreement.to_dicts()
    assert (first["same"], first["kappa"], first["alpha"], last["alpha"]) == (1.0, None, None, None)

"""Data on which no verdict can rest get none, in any answer; and a margin must let something fail."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr

QUERIES, ITEMS, KEPT = 40, 60, 15
Lists = dict[str, dict[str, float]]
JUDGED = {f"q{q}": {f"d{q}-{n}": int(n < 6) for n in range(ITEMS)} for q in range(QUERIES)}


def run(seed: int, gain: float = 1.5) -> Lists:
    """The nearest items by scores in which relevant ones are higher by ``gain`` deviations."""
    random = np.random.default_rng(seed)
    lists = {}
    for query, grades in JUDGED.items():
        scores = {item: float(gain * grade + random.normal()) for item, grade in grades.items()}
        best = sorted(scores, key=lambda item: -scores[item])[:KEPT]
        lists[query] = {item: scores[item] for item in best}
    return lists


GOOD, FAIR = run(0), run(1, 1.2)


def study(runs: Any, judgements: Any = JUDGED, **options: Any) -> rr.Study:
    return rr.Study(runs, "ndcg@10", judgements=judgements, truncated="no", **options)


def renamed(lists: Lists, rule: Callable[[int], bool] = lambda _: True) -> Lists:
    return {
        query: {
            (f"doc:{item}" if rule(place) else item): score
            for place, (item, score) in enumerate(items.items())
        }
        for query, items in lists.items()
    }


def nothing_green(made: rr.Study, *models: str):
    assert set(models) <= set(made.suspects)
    assert made.status == made.chip == "check your data"
    pairs = made.flips.filter(pl.any_horizontal(pl.col("model_a", "model_b").is_in(models)))
    assert set(pairs["verdict"]) <= {"check your data"}
    assert made.leaderboard.filter(pl.col("model").is_in(models))["rank"].is_null().all()
    assert not made.decision.startswith(("Ship", "No worse"))


@pytest.mark.filterwarnings("ignore:judgements. none of the", "ignore:no query has a relevant")
@pytest.mark.parametrize("kind", ["other ids", "nothing relevant", "no relevant judgement"])
def test_row_114_where_no_query_of_any_model_scores_nothing_is_shipped(
    kind: str,
):
    runs = {"float32": GOOD, "int8": FAIR, "copy": GOOD}
    judgements: Any = JUDGED
    if kind == "other ids":
        runs = {name: renamed(lists) for name, lists in runs.items()}
    elif kind == "nothing relevant":
        judgements = {q: {**dict.fromkeys(row, 0), "elsewhere": 1} for q, row in JUDGED.items()}
    else:
        judgements = {query: dict.fromkeys(grades, 0) for query, grades in JUDGED.items()}
    costs = {"model": list(runs), "bytes": [4, 1, 2]}
    made = study(runs, judgements, baseline="float32", margin=0.02, costs=costs)
    nothing_green(made, *runs)
    assert re.search("(for|of) copy, float32 and int8(,| is relevant)", made.verdict[0])
    assert made.decision == (
        "float32, the baseline, has no verdict, so no model is tested against it."
    )


def test_queries_of_other_ids_are_named_with_their_model():
    other = {f"topic-{query[1:]}": items for query, items in GOOD.items()}
    with pytest.raises(rr.KeyMismatchError) as error:
        study({"good": GOOD, "other": other}).verdict  # noqa: B018
    for part in ("no query of model 'other' is judged", "'topic-0'", "the judgements like 'q0'"):
        assert part in str(error.value)
    made = study({"good": GOOD, "other": other}, unjudged_query="skip")
    nothing_green(made, "other")
    assert made.verdict[0] == (
        "Check your data: none of 40 queries of other is judged: the ids of queries disagree "
        "('topic-0' beside 'q0')."
    )


@pytest.mark.parametrize("margin", [0.99, "100 %", {"ndcg@10": 0.9}])
def test_a_margin_that_lets_nothing_fail_decides_nothing(margin: Any):
    made = study({"good": GOOD, "fair": FAIR, "copy": GOOD}, baseline="good", margin=margin)
    assert set(made.no_worse["verdict"]) == {"not decided"}
    assert made.chip == "not decided"
    assert made.decision.startswith("Keep good for now: margin ")
    assert "so nothing could fail: choose a smaller margin" in made.decision
    assert not any("leave open whether" in said for said in made.sentences)
    found = rr.gate(
        GOOD, FAIR, judgements=JUDGED, measures="ndcg@10", margin=margin, truncated="no"
    )
    assert found.status == "not decided"
    assert "is no less than what baseline scores" in found.line()


def test_a_large_margin_is_set_against_the_score():
    made = study({"good": GOOD, "fair": FAIR}, baseline="good", margin="60 %")
    assert "which allows a loss of 60% of the score of good)" in made.decision
    assert "of what good" not in made.using(baseline="good", margin="10 %").decision


def test_the_chip_answers_what_was_asked():
    made = study({"good": GOOD, "fair": FAIR, "poor": run(5, 0.4)})
    assert made.chip == made.status
    asked = {
        name: made.models("good", name).using(baseline="good", margin=margin)
        for name, margin in (("fair", 0.3), ("poor", 0.01))
    }
    assert {name: one.chip for name, one in asked.items()} == {"fair": "no worse", "poor": "keep"}
    both = study({"good": GOOD, "fair": FAIR, "next": run(6, 2.0)}, baseline="good", margin=0.3)
    assert both.chip == both.contents().chip == "no worse"
    assert both.decision.endswith("next and fair. Costs would decide which of them to ship.")
    costs = pl.DataFrame({"model": ["good", "fair", "next"], "bytes": [4.0, 2.0, 1.0]})
    assert both.using(costs=costs).chip == "ship"
    of_others = both.using(costs=costs.filter(pl.col("model") != "good")).decision
    assert of_others.endswith("next and fair. next costs least; no cost is given for good.")
    level = both.using(costs=pl.DataFrame({"model": ["fair", "next"], "bytes": [1.0, 1.0]}))
    assert level.decision.endswith(". next and fair cost least; no cost is given for good.")
    tight = asked["fair"].using(baseline="good", margin=1e-5)
    assert tight.chip == ("keep" if tight.decision.startswith("Keep good:") else "not decided")


@pytest.mark.parametrize("margin", [0.005, 0.05])
def test_no_number_of_queries_is_promised_that_there_is_already(margin: float):
    made = study({"good": GOOD, "fair": FAIR}, baseline="good", margin=margin)
    numbers = [int(word) for word in made.decision.split() if word.isdigit()]
    assert all(number > QUERIES for number in numbers if "about" in made.decision)

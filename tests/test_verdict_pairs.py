"""What is said of two models."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from made_reports import ACCIDENT
from retrieval_report import compare, evaluate, flips, summarise, tie_distributions
from retrieval_report.report import report_contents
from retrieval_report.report.verdict import pair_verdict

ASKED: dict[str, Any] = {"metrics": "rr", "cutoffs": 2}
COUNTED = "counted in random orders of the lists that have too many to try all"
PLACE: dict[str, Any] = {"metric": "rr", "cutoff": 2}


def found(rankings: pl.DataFrame, *, policies: Any = ("expected", "naive", "best", "worst")) -> pl.DataFrame:
    scores = evaluate(rankings, policies=policies, **ASKED)
    return flips(
        summarise(scores), comparison=compare(scores, distributions=tie_distributions(scores, rankings, **ASKED))
    )


@pytest.mark.parametrize("names", [("coarse", "fine"), ("fine", "coarse")])
def test_an_accident_is_called_one(names: tuple[str, str]) -> None:
    status, sentences = pair_verdict(found(ACCIDENT), *names, **PLACE)
    assert status == "depends on tie order"
    assert sentences[0] == "fine is ahead of coarse by 0.1250 in expected rr@2: 0.5000 against 0.3750."
    assert sentences[1] == (
        "In the order received coarse is printed ahead, 1.0000 against 0.5000: an accident of tie order."
    )
    assert sentences[2].startswith("This lead depends on tie order (naive scores name the other one). Random tie order")


def test_scores_that_show_a_draw_do_not_name_the_other_one() -> None:
    told = {"disagree": pl.lit("naive"), "verdict": pl.lit("depends on tie order")}
    rows = found(ACCIDENT).with_columns(naive_a=0.5, naive_b=0.5, **told)
    _, sentences = pair_verdict(rows, "coarse", "fine", **PLACE)
    assert any("(naive scores show them equal)" in sentence for sentence in sentences), sentences


@pytest.mark.parametrize(
    ("p_tie", "method", "told"),
    [
        (0.31234, "shuffles", f"probability about 0.31, {COUNTED}."),
        (0.0012, "shuffles", f"probability below 0.01, {COUNTED}."),
        (0.0, "shuffles", "None of the random orders drawn reverses it."),
        (0.31234, "normal", "probability 0.3123."),
        (0.00001, "normal", "probability below 0.0001."),
        (0.0, "exact", "No order inside ties can reverse it."),
    ],
)
def test_a_chance_is_told_as_surely_as_it_is_known(p_tie: float, method: str, told: str) -> None:
    rows = found(ACCIDENT).with_columns(p_tie=pl.lit(p_tie), p_tie_method=pl.lit(method))
    _, sentences = pair_verdict(rows, "coarse", "fine", **PLACE)
    assert sentences[-1].endswith(told)


def test_a_lead_without_ties_is_undecided_or_safe() -> None:
    apart = ACCIDENT.with_columns(distance=pl.Series([1, 2, 3, 4, 2, 1, 3, 4]))
    status, sentences = pair_verdict(found(apart), "coarse", "fine", **PLACE)
    assert status == "undecided by sampling"
    assert sentences[1].endswith("(Holm p = 1.0000). No order inside ties can reverse it.")
    many = pl.concat([apart.with_columns(query=pl.lit(f"q{number}")) for number in range(12)])
    status, sentences = pair_verdict(found(many), "coarse", "fine", **PLACE)
    assert status == "safe"
    assert sentences[0] == "coarse is ahead of fine by 0.5000 in expected rr@2: 1.0000 against 0.5000."


def test_what_was_not_tested_is_not_called_safe() -> None:
    rows = [("x", "q1", "a", 1, 1), ("x", "q1", "b", 2, 0), ("y", "q2", "a", 1, 0), ("y", "q2", "b", 2, 1)]
    rankings = pl.DataFrame(rows, schema=["model", "query", "item", "distance", "relevance"], orient="row")
    report = report_contents(rankings, metrics="rr@2", missing_query="skip")  # no query that both have
    assert report.status == "safe from tie order"
    assert "Whether the choice of queries does was not tested" in report.verdict[1]
    many = pl.concat([ACCIDENT.with_columns(query=pl.lit(f"q{number}"), distance=pl.Series([1, 2, 3, 4, 2, 1, 3, 4]))
                      for number in range(12)])  # fmt: skip
    labels = many.select("query").unique().with_columns(label=pl.lit("all"), weight=1)
    for average, status in (("micro", "safe"), ("macro", "safe from tie order"), ("weighted", "safe from tie order")):
        report = report_contents(many, queries=labels, average=average, **ASKED)
        assert report.status == status
        assert ("not tested" in report.verdict[1]) == (status != "safe")
        assert not any("All 1 pairs" in sentence for sentence in report.verdict)


def test_equal_models_are_equal_and_tie_order_may_part_them() -> None:
    apart = ACCIDENT.with_columns(distance=pl.Series([1, 2, 3, 4] * 2))
    assert pair_verdict(found(apart), "coarse", "fine", **PLACE)[1] == (
        "coarse and fine have the same expected rr@2: 1.0000.",
    )
    tied = ACCIDENT.with_columns(distance=pl.lit(1))
    status, sentences = pair_verdict(found(tied, policies="expected"), "coarse", "fine", **PLACE)
    assert status == "depends on tie order"
    assert sentences[1] == "Tie order alone decides which is printed ahead."


def test_a_pair_without_scores_has_none() -> None:
    nothing = ACCIDENT.with_columns(relevance=pl.lit(0))
    with pytest.warns(match="no query has a relevant item"):
        scores = evaluate(nothing, no_relevant="skip", **ASKED)
    status, sentences = pair_verdict(flips(summarise(scores)), "coarse", "fine", **PLACE)
    assert status == "no score"
    assert sentences == ("coarse and fine do not both have a score for rr@2.",)

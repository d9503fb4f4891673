"""The verdict on two models, in sentences."""

from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from made_reports import ACCIDENT
from retrieval_report import compare, evaluate, flips, summarise
from retrieval_report.comparison.verdicts import with_chances
from retrieval_report.report import report_contents
from retrieval_report.study.verdict import verdict

ASKED: Any = {"metrics": "rr", "cutoffs": 2, "truncated": "no"}
PLACE: Any = {"metric": "rr", "cutoff": 2}


def found(
    rankings: pl.DataFrame, *, policies: Any = ("expected", "naive", "best", "worst")
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The summary, and the pair."""
    scores = evaluate(rankings, policies=policies, **ASKED)
    summary = summarise(scores)
    return summary, flips(summary, comparison=compare(scores, rankings=rankings))


def test_two_numbers_are_written_with_the_digits_that_tell_them_apart():
    summary, pairs = found(ACCIDENT)
    close = pl.when(policy="naive").then(0.50007).otherwise(0.5)
    _, sentences = verdict(summary.with_columns(value=close), pairs, **PLACE)
    naive = next(sentence for sentence in sentences if sentence.startswith("Naive scores"))
    assert naive.endswith("are off by up to 0.00007 (coarse: 0.50007 instead of 0.50000).")


def test_a_lead_is_over_the_second_alone_where_some_order_puts_a_third_ahead():
    """The third ties as a whole: tie order can put it first, though hardly in all lists at once."""
    lists = {"first": [*range(8)], "second": [1, 0, *range(2, 8)], "third": [1] * 8}
    rows = pl.concat(
        pl.DataFrame({"item": list("abcdefgh"), "distance": distances}).with_columns(
            model=pl.lit(name), query=pl.lit(f"q{number}"), relevance=pl.Series([1, *[0] * 7])
        )
        for name, distances in lists.items()
        for number in range(20)
    )
    study = rr.Study(rows, "rr@8", truncated="no")
    # The best order of the third is level with the first, so none puts it ahead.
    assert study.sentences[1].startswith("The lead cannot be reversed by any tie order")
    late = pl.when(model="first", query="q0").then(8 - pl.col("distance")).otherwise("distance")
    study = rr.Study(rows.with_columns(distance=late), "rr@8", truncated="no")
    assert study.sentences[1].startswith("Its lead over second cannot be reversed by any tie order")


def test_an_accident_that_chance_hardly_ever_repeats_is_a_sentence_and_not_the_verdict():
    """The coarse model's relevant items stand first in all of 400 ties: a random order hardly ever
    does as well.
    """
    queries = [ACCIDENT.with_columns(query=pl.lit(f"q{number:03}")) for number in range(400)]
    summary, rows = found(pl.concat(queries))
    assert rows["p_tie_high"].item() < 1e-4
    status, sentences = verdict(summary, rows, **PLACE)
    assert status == "safe"
    assert sentences[1].startswith("The lead is safe from random tie order, and is significant")
    assert sentences[-1].endswith("coarse would win, purely because of how ties are ordered.")


@pytest.mark.parametrize(
    ("p_tie", "low", "high", "method", "told"),
    [
        (
            0.31,
            0.26,
            0.37,
            "normal",
            "probability from 0.26 to 0.37.",
        ),
        (
            0.3123,
            0.3101,
            0.3144,
            "convolved",
            "probability 0.312 ± 0.003.",
        ),
        (0.0, 0.0, 0.0092, "normal", "probability below 0.010."),
        (0.25, 0.25, 0.25, "exact", "probability 0.2500 (exact)."),
    ],
)
def test_a_chance_is_told_as_surely_as_it_is_known(
    p_tie: float | None, low: float, high: float, method: str, told: str
):
    chance = {"p_tie": p_tie, "p_tie_low": low, "p_tie_high": high, "p_tie_method": method}
    summary, rows = found(ACCIDENT)
    rows = rows.with_columns(pl.lit(value).alias(name) for name, value in chance.items())
    _, sentences = verdict(summary, rows, **PLACE)
    assert sentences[1].endswith(told), sentences


def test_what_was_not_tested_is_not_called_safe():
    rows = [
        ("x", "q1", "a", 1, 1),
        ("x", "q1", "b", 2, 0),
        ("y", "q2", "a", 1, 0),
        ("y", "q2", "b", 2, 1),
    ]
    rankings = pl.DataFrame(
        rows, schema=["model", "query", "item", "distance", "relevance"], orient="row"
    )
    report = report_contents(
        rankings, metrics="rr@2", missing_query="skip"
    )  # no query that both have
    assert report.status == "nothing to compare"
    assert (
        report.verdict[1]
        == "The two have no query in common, so their means are not over the same queries."
    )
    many = pl.concat([ACCIDENT.with_columns(query=pl.lit(f"q{number}"), distance=pl.Series([1, 2, 3, 4, 2, 1, 3, 4]))
                      for number in range(12)])  # fmt: skip
    summary, pairs = found(many)
    for tests, wanted in ((pairs, "safe"), (flips(summary), "safe from tie order")):
        status, sentences = verdict(summary, tests, **PLACE)
        assert status == wanted
        assert ("not tested" in sentences[1]) == (status != "safe")


def test_equal_models_are_equal_and_tie_order_may_part_them():
    apart = ACCIDENT.with_columns(distance=pl.Series([1, 2, 3, 4] * 2))
    assert verdict(*found(apart), **PLACE)[1] == (
        "coarse and fine share the highest expected rr@2: 1.0000.",
    )
    tied = ACCIDENT.with_columns(distance=pl.lit(1))
    status, sentences = verdict(*found(tied), **PLACE)
    assert status == "depends on tie order"
    assert sentences[0].endswith("Tie order alone decides which of them is printed ahead.")
    assert with_chances(found(tied)[1])["p_tie"].to_list() == ["level"]


def test_naive_errors_are_those_of_models_with_complete_lists():
    rows = {"query": ["q"] * 3, "relevance": [1, 0, 0], "distance": [1, 1, 1]}
    first = pl.DataFrame({"model": "a", "item": list("abc"), **rows})
    frame = pl.concat([first, first.with_columns(model=pl.lit("b"))[[1, 0, 2]]])
    text = (
        "Naive scores of the models whose lists are complete up to the cutoff, with ties in the "
        "order received, are off"
    )
    for truncated, found in (("no", False), ({"a": "no", "b": "within_tie"}, True)):
        study = rr.Study(frame, "rr@2", truncated=truncated)
        assert (text in " ".join(study.verdict)) == found


def test_models_that_share_first_place_by_accident_are_named_together():
    tied = {query: {"x": 1.0, "y": 1.0} for query in "pqr"}
    runs = {"a": tied, "b": {query: {"x": 1.0, "z": 1.0} for query in "pqr"}}
    runs["c"] = {"p": {"x": 2.0, "y": 1.0}, "q": {"x": 2.0, "y": 1.0}, "r": {"x": 1.0, "y": 2.0}}
    judged = {query: {"x": 1} for query in "pqr"}
    made = rr.Study(runs, "rr", judgements=judged, truncated="no")
    assert made.sentences[0].startswith("c has the highest")
    assert "a and b would share first place, purely because of" in made.sentences[-1]


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (0.0132, "The lead is rarely reversed by tie order (probability 0.0132), and is "),
        (0.0004, "The lead does not depend on tie order, and is "),
    ],
)
def test_a_chance_of_reversal_that_tables_show_is_named_though_the_lead_is_safe(
    chance: float, said: str
):
    summary, pairs = found(ACCIDENT)
    chances = dict.fromkeys(("p_tie", "p_tie_low", "p_tie_high"), pl.lit(chance))
    settled = {"verdict": pl.lit("safe"), "disagree": pl.lit(""), "p_tie_method": pl.lit("normal")}
    pairs = pairs.with_columns(**chances, **settled, family_p=pl.lit(0.01))
    _, sentences = verdict(summary, pairs, **PLACE)
    assert sentences[1].startswith(said)

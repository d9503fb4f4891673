"""The decision that a baseline, a margin and costs ask for, as the first sentence of every face."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.study.tables import report_tables

QUERIES = 400


def rankings(shift: dict[str, int]) -> pl.DataFrame:
    """Lists of three items, whose relevant one is first in all but so many of the queries."""
    parts = []
    for model, lost in shift.items():
        first = np.where(np.arange(QUERIES) < lost, 3, 1)
        rows = {
            "query": [f"q{number:03}" for number in range(QUERIES) for _ in "abc"],
            "item": [f"{name}{number}" for number in range(QUERIES) for name in "abc"],
            "distance": np.stack([first, np.full(QUERIES, 2), np.full(QUERIES, 4)], 1).ravel(),
            "relevance": [1, 0, 0] * QUERIES,
        }
        parts.append(pl.DataFrame(rows).with_columns(model=pl.lit(model)))
    return pl.concat(parts)


LISTS = rankings({"float32": 0, "int8": 1, "lsh": 300})
COSTS = {"float32": 3072, "int8": 768, "lsh": 8}


def study(**settings: Any) -> rr.Study:
    how: dict[str, Any] = {"baseline": "float32", "margin": 0.02, "truncated": "no"}
    how |= {"shuffles": 2, **settings}
    return rr.Study(LISTS, "rr@3, precision@1", **how)


def test_a_model_that_is_no_worse_is_shipped_at_a_share_of_the_cost():
    found = study(costs=COSTS)
    said = "Ship int8: no worse than float32 (margin 0.02 in rr@3) at a quarter of the cost."
    assert found.decision == said
    assert found.sentences[0] == found.verdict[0] == said
    assert repr(found).startswith(said)
    assert said in found._repr_html_()
    assert found.contents().verdict[0] == said
    assert (
        found.using(costs=None).decision
        == "Ship int8: no worse than float32 (margin 0.02 in rr@3)."
    )


def test_a_copy_of_the_baseline_is_shipped_only_because_it_costs_less():
    copy = LISTS.filter(model="float32").with_columns(model=pl.lit("float32 again"))
    how: dict[str, Any] = {"baseline": "float32", "margin": 0.02, "truncated": "no"}
    several = rr.Study(pl.concat([LISTS, copy]), "rr@3", **how)
    assert several.decision == "Ship int8: no worse than float32 (margin 0.02 in rr@3)."
    both = several.models("float32", "float32 again")
    assert both.decision == "Keep float32: float32 again has the same lists."
    assert (both.chip, both.contents().chip) == ("keep", "keep")
    cheap = both.using(costs={"float32": 3072, "float32 again": 768})
    assert cheap.decision.startswith("Ship float32 again: no worse than float32 (margin 0.02")


def test_the_verdict_answers_the_question_of_the_margin():
    asked = rankings({"float32": 0, "int8": 1, "int4": 12, "lsh": 300, "pq": 300})
    how: dict[str, Any] = {"baseline": "float32", "margin": 0.02, "truncated": "no"}
    sentences = rr.Study(asked, "rr@3", **how).sentences
    first = next(n for n, said in enumerate(sentences) if said.startswith("If a loss of up to"))
    assert sentences[first : first + 3] == (
        "If a loss of up to 0.02 in rr@3 does not matter, int8 is no worse than float32.",
        (
            "lsh and pq lose more than 0.02 in rr@3 against float32. Each model is tested by itself here; "
            "the tests of pairs are corrected for all pairs."
        ),
        "These queries leave open whether int4 loses more than 0.02 in rr@3 against float32.",
    )
    rare = rr.Study(asked.filter(pl.col("query") < "q100"), "rr@3", **how).models("float32", "int8")
    assert rare.sentences[-1] == (
        "These queries leave open whether int8 loses more than 0.02 in rr@3 against float32: they "
        "could have missed rare large losses."
    )


def test_without_a_margin_there_is_no_decision():
    plain = rr.Study(LISTS, "rr@3", truncated="no")
    assert not any("does not matter" in said for said in plain.sentences)
    assert plain.decision == ""
    assert plain.sentences == plain.findings


def test_a_dearer_model_is_not_shipped_and_a_worse_one_never():
    dear = study(costs={"float32": 1, "int8": 2})
    assert (
        dear.decision == "Keep float32: int8 is no worse (margin 0.02 in rr@3), but costs no less."
    )
    better = {"baseline": "lsh", "costs": COSTS}
    assert study(**better).models("lsh", "float32").decision == (
        "Keep lsh: float32 is better (+0.3750), but costs 384 times as much."
    )
    assert study(**better).decision == (
        "Keep lsh: float32 is better (+0.3750), but costs 384 times as much; int8 is no worse "
        "(margin 0.02 in rr@3), but costs no less."
    )
    same = study(baseline="lsh", costs=dict.fromkeys(COSTS, 8))
    assert same.decision == "Ship float32: better than lsh (+0.3750) at the same cost."
    worse = study().models("float32", "lsh")
    assert worse.decision == "Keep float32: lsh is worse (margin 0.02 in rr@3)."


def test_a_single_model_that_scores_lower_is_not_shipped_before_its_cost_is_known():
    lower = study(margin=0.6).models("float32", "lsh")
    assert (lower.chip, lower.decision) == (
        "no worse",
        (
            "lsh is no worse than float32 (margin 0.6 in rr@3, 60% of what float32 scores), though it "
            "scores 0.3750 lower. Costs would decide whether to ship it."
        ),
    )


def test_what_is_not_decided_says_what_would_decide_it():
    close = study(margin=0.002).models("float32", "int8")
    assert close.decision.startswith("Keep float32 for now: int8 may lose too much")
    needed = close.no_worse["queries_needed"][0]
    assert f"about {needed} queries would decide it if nothing is lost" in close.decision


def test_a_report_says_how_many_queries_would_decide_only_what_is_not_decided():
    table = report_tables(study(margin=0.002).contents())["no-worse"]
    titles = [column.header for column in table.columns]
    needed = titles.index("Queries if nothing is lost")
    texts = {row[titles.index("Verdict")].text: row[needed].text for row in table.rows}
    assert texts.pop("worse") == "–"
    assert texts.pop("not decided") not in {"", "–"}
    assert not texts


def test_a_typo_of_the_baseline_is_told_of_the_nearest_model_alone():
    with pytest.raises(rr.ParameterError, match=r"did you mean 'float32'\?$"):
        study(baseline="flaot32")
    with pytest.raises(rr.ParameterError, match=r"; name_by='file' names TREC runs after"):
        study(baseline="bm25")


def test_of_several_models_it_is_said_for_which_one_most_queries_are_needed():
    lists = rankings({"float32": 3, "a": 2, "c": 5})
    found = rr.Study(lists, "rr@3", baseline="float32", margin=0.004, truncated="no")
    needed = found.no_worse.sort("queries_needed").row(-1, named=True)
    assert needed["model"] == "c"
    assert found.decision == (
        f"Keep float32 for now: 400 queries cannot rule out that a and c lose too much (margin 0.004 "
        f"in rr@3); about {needed['queries_needed']} queries would decide it for c, which needs most, if "
        "nothing is lost."
    )
    by_costs = found.using(costs={"float32": 4, "a": 1, "c": 4})  # c could not save anything
    assert by_costs.decision.endswith(" queries would decide it for a if nothing is lost.")


def test_what_would_hold_without_a_loss_is_not_said_of_models_that_surely_lose():
    found = rr.Study(
        rankings({"float32": 0, "b": 20, "a": 18}),
        "rr@3",
        baseline="float32",
        margin=0.03,
        truncated="no",
    )
    assert found.no_worse.filter(pl.col("bound_high") < 0)["model"].to_list() == ["a", "b"]
    assert found.decision == (
        "Keep float32 for now: a and b may lose too much (margin 0.03 in rr@3); about 2946 queries "
        "would decide it for b, which needs most, if b really loses 0.025."
    )


def test_no_model_needs_most_queries_where_another_seems_to_lose_more_than_the_margin():
    lists = rankings({"float32": 0, "a": 18, "b": 20, "c": 27})
    found = rr.Study(lists, "rr@3", baseline="float32", margin=0.03, truncated="no")
    needed = dict(found.no_worse.select("model", "queries_if_observed").iter_rows())
    assert needed["c"] is None
    assert found.decision.endswith(
        f"{needed['b']} queries would decide it for b if b really loses 0.025."
    )


def test_a_relative_margin_reads_the_same_wherever_it_stands():
    found = study(margin="0.51 %", baseline="int8").models("int8", "float32")
    assert 0.00509 < found.no_worse["margin"][0] < 0.0051
    said = " ".join(found.sentences)
    assert said.count("0.00509") == said.count("0.005") == 2


def test_of_what_loses_nothing_the_decision_says_that_it_does_not():
    few = LISTS.filter(pl.col("query") <= "q004")
    distance = pl.when(item=pl.concat_str(pl.lit("c"), pl.col("query").str.tail(3).cast(pl.Int64)))
    level = few.filter(model="float32").with_columns(
        model=pl.lit("level"), distance=distance.then(0.0).otherwise("distance")
    )
    models = pl.concat([few.filter(model="float32"), level.cast(few.schema)])
    how: Any = {"baseline": "float32", "margin": 0.02, "truncated": "no"}
    decision = rr.Study(models, "recall@3", **how).decision
    assert decision.startswith(
        "Keep float32 for now: level scores the same, but 5 queries cannot rule out a loss (margin "
        "0.02 in recall@3); about "
    )
    better = rr.Study(models, "rr@3", **(how | {"baseline": "level"})).decision
    assert "float32 scores no lower, but 5 queries cannot rule out a loss" in better


def test_margins_are_by_measure_or_a_share_of_the_baseline():
    by_measure = study(margin={"precision@1": "3 %"})
    assert by_measure.decision == ""  # the headline has no margin
    assert by_measure.no_worse.select("metric", "margin").rows() == [("precision", 0.03)] * 2
    assert "margin='precision@1=3 %'" in by_measure.contents().command
    assert study(margin="2 %").no_worse["margin"].to_list() == [0.02] * 4


def test_the_front_leaves_out_a_baseline_for_which_there_is_a_cheaper_model():
    front = study(costs=COSTS).costs.filter(metric="rr", policy="expected")
    assert front.filter("front")["model"].to_list() == ["lsh", "int8"]
    strict = rr.Study(LISTS, "rr@3", costs=COSTS, truncated="no").costs.filter(policy="expected")
    assert strict.filter("front")["model"].to_list() == ["lsh", "int8", "float32"]

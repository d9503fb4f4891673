"""A study gives the numbers of the functions, whatever part of it is asked first, and each once."""

import copy
import pickle
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from made_cuts import ranked, top
from made_reports import made_rankings
from retrieval_report.comparison.queries import deciding_queries
from retrieval_report.contracts import options
from retrieval_report.engines.evaluate import score_with_draws
from retrieval_report.engines.memo import Once
from retrieval_report.study import study_data

MODELS = ("coarse", "fine", "middle")
RANKINGS = made_rankings(MODELS)
QUERIES = (
    RANKINGS.select("query")
    .unique(maintain_order=True)
    .with_columns(label=pl.Series(["a", "b"] * 3), weight=pl.Series([1.0, 2, 3, 4, 5, 6]))
)
EVERYTHING = ("expected", "naive", "shuffled", "best", "worst")
ASKED: Any = {"metrics": "ndcg, ap", "cutoffs": [3, None]}


def study(**options: Any) -> rr.Study:
    return rr.Study(
        RANKINGS, "ndcg, ap", cutoffs=[3, None], queries=QUERIES, shuffles=20, **options
    )


@pytest.mark.parametrize(
    "rankings", [RANKINGS, RANKINGS.with_columns(pl.col("query").str.tail(1).cast(pl.Int64))]
)
@pytest.mark.parametrize("first", ["exact", "one metric"])
def test_scores_and_draws_are_the_same_in_parts_and_in_one_go(rankings: pl.DataFrame, first: str):
    made = rr.Study(rankings, measures=ASKED["metrics"], cutoffs=ASKED["cutoffs"], shuffles=20)
    if first == "exact":
        made.under("expected").scores  # noqa: B018
    elif first == "one metric":
        made.at("ap@3").scores  # noqa: B018
    scores = rr.evaluate(rankings, **ASKED, policies=EVERYTHING, shuffles=20)
    assert_frame_equal(made.scores, scores)
    assert_frame_equal(made.shuffled, rr.shuffled_means(rankings, **ASKED, shuffles=20))
    assert_frame_equal(made.at("ap@3").scores, scores.filter(metric="ap", cutoff=3))
    assert_frame_equal(
        made.under("naive", "best").scores, scores.filter(pl.col("policy").is_in(["naive", "best"]))
    )


def test_random_orders_are_drawn_once_for_all_measures(monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []

    def listen(rows: Any, **given: Any):
        asked.append(given["policies"])
        return score_with_draws(rows, **given)

    monkeypatch.setattr(study_data, "score_with_draws", listen)
    made = study().at("ndcg@3", "ap@3")
    assert made.verdict
    assert asked == []
    assert made.at("ndcg@3").summary.height
    assert made.at("ap@3").flips.height
    assert asked == [("shuffled",)]


@pytest.mark.parametrize(("many", "orders"), [(1, 10), (4, 2), (200, 1)])
def test_of_many_items_fewer_orders_are_drawn_unless_a_number_is_given(
    monkeypatch: pytest.MonkeyPatch, many: int, orders: int
):
    monkeypatch.setattr(options, "MANY_ITEMS", RANKINGS.height // many)
    made = rr.Study(RANKINGS, "ndcg@3")
    assert made.options.shuffles == made.shuffled["draw"].n_unique() == orders
    assert made.policies == EVERYTHING
    assert set(made.three_scores["orders"]) == {orders}
    assert made.using(shuffles=40).options.shuffles == 40


def test_every_selection_of_queries_has_its_own_lists():
    made = study()
    label = QUERIES["label"][0]
    chosen, others = (
        made.where(label=one) for one in (label, next(iter({*QUERIES["label"]} - {label})))
    )
    for part in (chosen, others, chosen):
        wanted = {*made._data.frames["queries"].filter(label=part.part["where"]["label"])["query"]}
        assert {*part.judged.retrieved["query"]} == wanted


def test_other_random_orders_and_averages_share_exact_scores(
    monkeypatch: pytest.MonkeyPatch,
):
    made = study()
    made.under("expected", "naive").scores  # noqa: B018
    monkeypatch.setattr(study_data, "evaluate", lambda *_, **__: pytest.fail("scored again"))
    other = made.using(shuffles=7, seed=3, average="macro")
    assert (other.options.shuffles, other.options.seed, other.average) == (7, 3, "macro")
    assert_frame_equal(other.shuffled, rr.shuffled_means(RANKINGS, **ASKED, shuffles=7, seed=3))
    scores = rr.evaluate(
        RANKINGS, queries=QUERIES, **ASKED, policies=EVERYTHING, shuffles=7, seed=3
    )
    assert_frame_equal(other.summary, rr.summarise(scores, queries=QUERIES, average="macro"))
    assert other.using().average == "macro"


def test_the_audit_is_of_the_models_and_measures_looked_at():
    made = study().models("fine", "coarse").at("ap@3")
    rows = RANKINGS.filter(pl.col("model") != "middle")
    assert_frame_equal(made.audit, rr.audit(rows, queries=QUERIES, metrics="ap@3", cutoffs=None))
    whole = rr.Study(RANKINGS, "ndcg@3, ap@2")
    assert_frame_equal(whole.audit, rr.audit(RANKINGS, metrics="ndcg@3, ap@2", cutoffs=None))


def test_models_alone_are_a_whole_study():
    part = (
        study(missing_query="skip").models("fine").at("ap@3").using(average="macro", seed=4).alone()
    )
    rows = RANKINGS.filter(model="fine")
    whole = rr.Study(
        rows, "ap@3", queries=QUERIES, average="macro", shuffles=20, seed=4, missing_query="skip"
    )
    assert part.part == {}
    assert_frame_equal(part.summary, whole.summary)
    assert part.contents().parameters == whole.contents().parameters
    gone = (pl.col("model") == "fine") & (pl.col("query") == "query 1")
    missing = rr.Study(RANKINGS.filter(~gone), "ap@3").models("fine").alone()
    assert missing.summary["missing"].to_list() == [1] * 5


def test_a_pair_is_read_in_the_order_it_was_asked_in():
    made = study().at("ap@3")
    pair = made.pair("middle", "coarse").deciding
    exact = made.scores.filter(pl.col("policy").is_in(["expected", "worst", "best"]))
    assert_frame_equal(pair, deciding_queries(exact, "middle", "coarse"))
    assert pair["model_a"].unique().to_list() == ["middle"]


def test_a_study_warns_once_of_what_is_odd_and_at_the_line_that_asked():
    study = rr.Study(top(ranked(1)).with_columns(relevance=0), "ndcg@10, ap@10")
    with pytest.warns(rr.RetrievalReportWarning, match="no query has a relevant item") as caught:
        str(study), study.scores, study.leaderboard, study.flips
    assert [warning.filename for warning in caught] == [__file__]


def test_of_very_many_models_those_near_in_rank_are_compared():
    names = tuple(f"model {number:02}" for number in range(50))
    compared = rr.Study(made_rankings(names), "ndcg@5").under("expected").comparison
    assert 50 <= compared.height <= 1_000  # of 1225 pairs
    assert set(compared["model_a"]) | set(compared["model_b"]) == set(names)


@pytest.mark.parametrize(
    ("wrong", "answer"),
    [
        ("judgement", "; did you mean 'judgements'"),
        ("shufles", "; did you mean 'shuffles'"),
        ("metric", "; it is called 'measures'"),
        ("qrels", "; it is called 'judgements'"),
        ("query_labels", "; pass it to from_search"),
    ],
)
def test_an_unknown_argument_is_answered_with_the_right_one_or_its_function(
    wrong: str, answer: str
):
    given: Any = {wrong: 3}
    with pytest.raises(TypeError, match=f"^unexpected keyword argument '{wrong}'{answer}"):
        rr.Study(top(ranked(1)), "ap@10", **given)


def test_arguments_in_the_order_of_other_libraries_are_answered_with_their_names():
    run = {"q": {"a": 0.9}}
    doors: Any = {
        "evaluate() takes only rankings": rr.evaluate,
        "audit() takes only rankings": rr.audit,
        "Study() takes only rankings and measures": rr.Study,
    }
    for message, door in doors.items():
        with pytest.raises(TypeError, match=re.escape(message) + r".*pass judgements=.* by name"):
            door({"q": {"a": 1}}, run, "ndcg@10")


def test_who_asks_for_the_same_waits_and_who_asks_for_another_does_not():
    once, running, go, made = Once(8), threading.Event(), threading.Event(), []

    def slow():
        made.append(1)
        running.set()
        assert go.wait(30)
        return 1

    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(once.find("slow", slow))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    assert running.wait(30)
    assert once.find("quick", lambda: 2) == 2
    assert not once.known("slow")
    go.set()
    for thread in threads:
        thread.join(30)
    assert (results, made) == ([1, 1, 1], [1])


def test_a_failure_is_not_kept_and_the_oldest_are_forgotten():
    once = Once(2)
    with pytest.raises(ZeroDivisionError):
        once.find("a", lambda: 1 // 0)
    assert once.find("a", lambda: 1) == 1
    once.find("b", lambda: 2)
    once.find("a", lambda: 3)
    once.find("c", lambda: 4)
    assert [once.known(key) for key in "abc"] == [True, False, True]


def test_a_study_compares_two_models_or_by_other_tests():
    made = study().at("ap@3")
    every = made.comparison
    pair = made.compare("middle", "coarse")
    known = every.filter(model_a="coarse", model_b="middle")
    assert pair.select("model_a", "model_b").unique().rows() == [("middle", "coarse")]
    assert pair["difference"].to_list() == [-value for value in known["difference"]]
    assert pair["p_tie"].to_list() == known["p_tie"].to_list()
    given: Any = {"rankings": RANKINGS, "queries": QUERIES, "shuffles": 20}
    for how in ({"baseline": "fine"}, {"correction": "holm", "resamples": 999}):
        assert_frame_equal(made.compare(**how), rr.compare(made.scores, **given, **how))


def test_a_part_of_a_study_has_a_report_of_its_numbers(tmp_path: Path):
    whole = study()
    part = whole.models("fine", "coarse").where(label=QUERIES["label"][0])
    contents = part.contents()
    assert_frame_equal(contents.summary, part.summary)
    assert_frame_equal(contents.leaderboard, part.leaderboard)
    means = contents.shuffled.group_by("model", "metric", "cutoff").agg(pl.mean("value"))
    shuffled = part.summary.filter(policy="shuffled").join(
        means, on=["model", "metric", "cutoff"], nulls_equal=True
    )
    assert shuffled["value_right"].to_list() == pytest.approx(shuffled["value"].to_list())
    call = contents.command.replace(".report('report')", ".contents()")
    again = eval(call, {"retrieval_report": rr, **whole.frames})  # the command that the page tells
    assert_frame_equal(again.summary, contents.summary)
    assert again.parameters == contents.parameters
    assert rr.read_report(part.report(tmp_path, formats="csv")).summary.equals(contents.summary)


def test_a_report_has_all_policies():
    made = study()
    assert made.under("naive").contents().summary.equals(made.summary)


def test_the_curve_along_recall_is_that_of_the_function():
    made = study()
    scores = rr.lists.recall_curve(RANKINGS, queries=QUERIES)
    means = rr.summarise(scores)
    here = made.recall_curve
    assert here.height == 33
    assert here["value"].to_list() == means.filter(policy="expected")["value"].to_list()
    assert here["naive"].to_list() == means.filter(policy="naive")["value"].to_list()
    assert here["recall"].head(11).to_list() == [tenth / 10 for tenth in range(11)]
    assert made.models("fine").recall_curve["model"].unique().to_list() == ["fine"]


def test_a_study_can_be_copied_and_sent_to_another_process():
    made = study()
    text = repr(made)
    for same in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert repr(same) == text


def test_a_study_keeps_what_it_was_made_of_and_takes_no_attributes():
    """A matrix is often filled again for the next model."""
    matrix = np.random.default_rng(0).random((4, 6))
    relevance = (matrix > 0.5).astype(int)
    columns = {"query": np.repeat(range(4), 6), "item": np.tile(range(6), 4)}
    columns |= {"score": matrix.ravel().copy(), "relevance": relevance.ravel().copy()}
    frame = pd.DataFrame(columns)
    sources = rr.from_search({"m": matrix}, relevance=relevance, scores=True), columns, frame
    made = [rr.Study(source, "ndcg@3") for source in sources]
    for values in (matrix, relevance, columns["score"], columns["relevance"]):
        values[:] = 0
    frame.loc[:, ["score", "relevance"]] = 0
    assert len({str(one.leaderboard["value"][0]) for one in made}) == 1
    assert made[0].leaderboard["value"][0] > 0
    with pytest.raises(AttributeError, match=r"never changes; study\.using\(margin=…\) returns"):
        made[0].margin = 0.1

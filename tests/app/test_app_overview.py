"""The page Overview says first who wins, whether that depends on tie order, and what others
print.
"""

from __future__ import annotations

import polars as pl
import pytest

import retrieval_report as rr
from made_pages import NAMES, charts, made_data, open_page, table, words
from made_reports import ACCIDENT, made_rankings
from retrieval_report.study.reversals import varied
from retrieval_report.study.verdict import verdict
from text import plain

RANKINGS = made_rankings(("coarse", "fine", "middle"))
POLICIES = ("expected", "naive", "worst", "best")


def test_an_accidental_winner_is_named_in_the_first_box() -> None:
    page = open_page("overview", made_data(ACCIDENT, metric="rr", cutoff=3))
    said = page.error[0].value.replace("\\", "")
    assert said.startswith("fine has the highest expected rr@3")
    assert "name another winner, coarse, by an accident of tie order." in said
    kinds = [page.main.children[measure].type for measure in range(3)]
    assert kinds == [
        "title",
        "caption",
        "error",
    ]  # nothing but the title and the name of the data stand above
    assert page.caption[0].value == r"made · 2 models · 1 query"


def test_queries_that_nobody_judged_are_counted_below_the_title() -> None:
    judged = pl.DataFrame({"query": ["query 1", "another"], "item": [1, 1], "relevance": [1, 1]})
    rows = RANKINGS.drop("relevance").filter(pl.col("query").is_in(["query 1", "query 2"]))
    data = made_data(rows, judgements=judged)
    assert data.size == "3 models · 2 queries, 1 without judgements"
    assert made_data(
        rows, judgements=pl.concat([judged, judged.with_columns(query=pl.lit("query 2"))])
    ).size == ("3 models · 2 queries")


def test_a_safe_winner_is_not_called_an_accident() -> None:
    rows = [(model, f"q{query}", item, item if model == "good" else -item, int(item == 0)) for model in ("good", "bad")
            for query in range(12) for item in range(4)]  # fmt: skip
    rankings = pl.DataFrame(
        rows, schema=["model", "query", "item", "distance", "relevance"], orient="row"
    )
    page = open_page("overview", made_data(rankings))
    assert "good has the highest expected" in page.success[0].value
    assert not page.error
    assert "accident" not in words(page)


def test_the_sentences_are_those_of_the_verdict_and_the_table_that_of_the_summary() -> None:
    page = open_page("overview", made_data(RANKINGS))
    scores = rr.evaluate(RANKINGS, metrics="ndcg", cutoffs=3, policies=POLICIES)
    summary = rr.summarise(scores)
    pairs = rr.flips(summary, comparison=rr.compare(scores, rankings=RANKINGS))
    _, sentences = verdict(summary, pairs, metric="ndcg", cutoff=3)
    for sentence in sentences:
        assert plain(sentence) in words(page)
    shown = table(page, 1)
    exact = summary.filter(policy="expected").sort("value", descending=True)
    assert shown["model"].to_list() == exact["model"].to_list()
    assert shown["expected"].to_list() == exact["value"].to_list()
    columns = ["rank", "model", "expected", "shuffled_range", "naive"]
    columns += ["tie_ranks", "query_ranks", "interval"]
    assert shown.columns == [*columns, "ndcg@10", "precision@10", "recall@10", "ap@all"]
    naive = summary.filter(policy="naive").select("model", "value")
    assert shown.select("model", value="naive").sort("model").equals(naive.sort("model"))
    assert len(page.dataframe) == 2  # every pair of models is a page of its own
    assert len(charts(page)) == 1


def test_an_estimate_names_the_control_that_says_that_lists_are_whole() -> None:
    ends = RANKINGS.with_columns(item=pl.format("{} of {}", "item", "query"))
    for cutoff, said in ((None, True), (1, False)):
        page = open_page("overview", made_data(ends, metric="precision", cutoff=cutoff))
        assert ("“Lists cut at their end" in words(page)) == said
        assert "truncated" not in words(page)


def test_one_model_has_scores_but_no_order() -> None:
    page = open_page("overview", made_data(RANKINGS), models="fine")
    assert table(page, 0)["model"].to_list() == ["fine"]
    assert len(page.dataframe) == 1


def test_what_could_turn_the_lead_round_stands_above_the_leaderboard() -> None:
    page = open_page("overview", made_data(RANKINGS))
    assert [heading.value for heading in page.subheader][:2] == [
        "What could turn it around",
        "Leaderboard",
    ]
    known = varied(rr.Study(RANKINGS, "ndcg@3").reversals)
    shown = table(page, 0)
    assert shown["source"].to_list() == ["tie order", "queries", "both"]
    assert shown["verdict"].to_list() == known["verdict"].to_list()
    assert shown["reversal"].to_list() == known["reversal"].to_list()
    assert plain("Not varied: judge, seed, data set.") in words(page)


def test_other_averages_are_those_of_summarise() -> None:
    queries = pl.DataFrame(
        {
            "query": [f"query {n}" for n in range(6)],
            "label": list("aabbbb"),
            "weight": [1.0, 2, 3, 4, 5, 6],
        }
    )
    page = open_page("overview", made_data(RANKINGS, queries=queries), average="weighted")
    scores = rr.evaluate(RANKINGS, queries=queries, metrics="ndcg", cutoffs=3)
    summary = rr.summarise(scores, queries=queries, average="weighted").filter(policy="expected")
    exact = dict(summary.select("model", "value").iter_rows())
    assert dict(table(page, 1).select("model", "expected").iter_rows()) == pytest.approx(
        exact, abs=1e-12
    )


def test_counts_have_no_order_received() -> None:
    page = open_page("overview", made_data(rr.count_ties(RANKINGS)))
    assert "naive" not in table(page, 1).columns


def test_names_are_text() -> None:
    page = open_page("overview", made_data(made_rankings(NAMES)))
    said = words(page)
    assert all(plain(name, 60) in said for name in NAMES[:2])
    for name in NAMES:
        assert name not in said.replace("\\", "") or plain(name) in said
        assert f" {name} " not in said
    assert table(page, 1)["model"].to_list()[0] in NAMES


def test_the_measure_without_a_score_is_said_to_have_none() -> None:
    page = open_page("overview", made_data(RANKINGS.with_columns(relevance=0)), no_relevant="skip")
    assert "No model has a score" in words(page)


def test_who_shares_the_first_place_in_the_order_received_is_no_false_winner() -> None:
    lists = {"coarse": [1, 1, 2], "fine": [1, 2, 3]}
    rows = [
        {
            "model": model,
            "query": "q",
            "item": item,
            "distance": distance,
            "relevance": int(item == 0),
        }
        for model, distances in lists.items()
        for item, distance in enumerate(distances)
    ]
    page = open_page("overview", made_data(pl.DataFrame(rows), metric="rr", cutoff=3))
    assert "fine has the highest expected rr" in words(page)
    assert "accident" not in words(page)

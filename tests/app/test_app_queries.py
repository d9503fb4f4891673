"""The page Queries shows the numbers of `query_table`, and of all orders of one list."""

from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from made_pages import agrees, charts, made_data, numbers, open_page, table, words
from made_reports import made_rankings
from retrieval_report.ties.distributions import score_distribution
from retrieval_report.ties.orders import ranking_ties
from text import plain

RANKINGS = made_rankings(("coarse", "fine", "middle"))
DATA = made_data(RANKINGS)
POLICIES = ("expected", "naive", "best", "worst")
PLACE: Any = {"metric": "ndcg", "cutoff": 3}


def query_table(rankings: pl.DataFrame = RANKINGS, **options: Any) -> pl.DataFrame:
    return rr.lists.query_table(
        rr.evaluate(rankings, metrics="ndcg", cutoffs=3, policies=POLICIES, **options)
    )


def row_of(model: str, query: object) -> dict[str, Any]:
    return query_table().filter(model=model, query=query).row(0, named=True)


def test_the_table_is_that_of_query_table_and_its_first_list_is_shown():
    page = open_page("queries", DATA)
    truth = query_table()
    shown = table(page, 0)
    agrees(shown, truth, "query model naive expected std lowest highest spread")
    assert any("Naive and expected ndcg@3" in title for title in charts(page))
    first = truth.row(0, named=True)
    assert page.selectbox(key="model").value == first["model"]
    assert page.selectbox(key="query").value == first["query"]
    page.selectbox(key="model").set_value("fine").run()
    page.selectbox(key="query").set_value("query 5").run()
    assert numbers(page)["Expected"] == f"{row_of('fine', 'query 5')['expected']:.4f}"
    page = open_page("queries", DATA, query="no such query")
    assert page.info[0].value.endswith(r"has no score for a query “no such query”.")
    assert numbers(page) == {}


def test_a_link_restores_the_list_with_its_scores():
    page = open_page("queries", DATA, model="middle", query="query 4")
    row = row_of("middle", "query 4")
    assert numbers(page) == {
        "Order received": f"{row['naive']:.4f}",
        "Expected": f"{row['expected']:.4f}",
        "± tie std": f"{row['std']:.4f}",
        "Lowest": f"{row['lowest']:.4f}",
        "Highest": f"{row['highest']:.4f}",
    }
    rows, shown = ranking_ties(RANKINGS, model="middle", query="query 4"), table(page, 1)
    agrees(shown, rows, "item tie tie_size relevance")
    truth = score_distribution(RANKINGS, model="middle", query="query 4", **PLACE)
    (spec,) = (
        spec for title, spec in charts(page).items() if "of one list under its tie orders" in title
    )
    bars = next(rows for rows in spec["datasets"].values() if "probability" in rows[0])
    assert [row["value"] for row in bars] == truth["value"].to_list()
    assert [row["probability"] for row in bars] == pytest.approx(truth["probability"].to_list())


def test_whole_number_ids_and_judgements():
    rankings = RANKINGS.with_columns(query=pl.col("query").str.slice(-1).cast(pl.UInt16))
    judgements = rankings.select("query", "item", "relevance").unique(
        ["query", "item"], maintain_order=True
    )
    told = pl.DataFrame({"query": range(6), "label": ["a", "b"] * 3})
    data = made_data(rankings.drop("relevance"), judgements=judgements, queries=told)
    page = open_page("queries", data, model="middle", query="4")
    assert numbers(page)["Expected"] == f"{row_of('middle', 'query 4')['expected']:.4f}"
    assert table(page, 1).height == rankings.filter(model="middle", query=4).height


def test_a_model_without_the_query_has_no_list():
    missing = RANKINGS.filter((pl.col("model") != "fine") | (pl.col("query") != "query 1"))
    page = open_page("queries", made_data(missing), model="fine", query="query 1")
    assert page.info[0].value.endswith("the model has no rows for it.")


@pytest.mark.filterwarnings("ignore:no query has a relevant item")
def test_rules_that_leave_nothing_say_so():
    nothing = made_data(RANKINGS.with_columns(relevance=0))
    page = open_page("queries", nothing, no_relevant="skip")
    assert page.info[0].value.startswith(r"No query has a score for ndcg\@3")
    assert charts(page) == {}


def test_counts_have_scores_but_no_list():
    page = open_page("queries", made_data(rr.count_ties(RANKINGS)), model="middle", query="query 4")
    row = row_of("middle", "query 4")
    assert numbers(page)["Expected"] == f"{row['expected']:.4f}"
    assert "Order received" not in numbers(page)
    assert page.info[0].value == "Counts have no items, so there is no ranked list to show."


def test_texts_of_query_and_items_are_shown_as_text():
    items = pl.DataFrame({"item": ["0", "1"], "text": ["# first", "**second**"]})
    queries = pl.DataFrame({"query": ["query 4"], "text": ["what is *this*?"]})
    queries = pl.concat(
        [queries, pl.DataFrame({"query": [f"query {n}" for n in (0, 1, 2, 3, 5)]})], how="diagonal"
    )
    data = made_data(RANKINGS, items=items, queries=queries)
    page = open_page("queries", data, model="middle", query="query 4")
    assert f"The query: {plain('what is *this*?')}" in words(page)
    shown = page.dataframe[len(page.dataframe) - 1].value
    texts = dict(zip(shown["item"].astype(str), shown["text"], strict=True))
    assert (texts["0"], texts["1"]) == ("# first", "**second**")

"""The page Segments says which values of a column change the winner, with the numbers of the
study.
"""

from typing import Any

import polars as pl

import retrieval_report as rr
from made_pages import agrees, charts, made_data, open_page, table, words
from made_reports import lettered, made_rankings
from text import plain

RANKINGS = made_rankings(("coarse", "fine", "middle"))
NAMES = RANKINGS["query"].unique(maintain_order=True)
QUERIES = pl.DataFrame(
    {
        "query": NAMES,
        "language": ["en", "de", None] * 2,
        "long": [True, False] * 3,
        "length": [0.5] * 6,
    }
)


def test_the_winners_are_those_of_the_study():
    page = open_page("segments", made_data(RANKINGS, queries=QUERIES), by="language")
    truth = rr.Study(RANKINGS, "ndcg@3", queries=QUERIES, by="language").segments
    shown = table(page, 0).sort("segment")
    assert shown["segment"].to_list() == ["(no value)", "de", "en"]
    agrees(shown, truth.sort("segment"), "segment winner value verdict")
    assert page.selectbox(key="by").options == ["language", "long"]  # fractions are no segments


def test_one_segment_has_the_tables_of_the_overview():
    page = open_page("segments", made_data(RANKINGS, queries=QUERIES), by="long", segment="true")
    here = rr.Study(RANKINGS, "ndcg@3", queries=QUERIES).where(long=True)
    exact = here.summary.filter(policy="expected").sort("value", descending=True)
    shown = table(page, 1)
    agrees(shown, exact, "model")
    assert shown["expected"].to_list() == exact["value"].to_list()
    assert plain(here.sentences[0]) in words(page)


def test_a_segment_has_no_decision_but_who_leads_and_how_safely():
    asked: Any = {"baseline": "fine", "margin": 0.2}
    page = open_page(
        "segments", made_data(RANKINGS, queries=QUERIES, **asked), by="long", segment="true"
    )
    here = rr.Study(RANKINGS, "ndcg@3", queries=QUERIES, **asked).where(long=True)
    assert here.decision
    for text in here.findings[:2]:
        assert plain(text) in words(page)


def test_another_winner_is_named():
    best, worst = "A b c d", "b A c d"
    english = [worst, best] * 20
    rankings = lettered({"english": english, "its copy": english, "german": [best, worst] * 20})
    queries = pl.DataFrame(
        {"query": [f"q{query}" for query in range(40)], "language": ["de", "en"] * 20}
    )
    page = open_page("segments", made_data(rankings, queries=queries), by="language")
    assert (
        "Another model than english and its copy wins if language is de; this is significant."
        in page.warning[0].value
    )


def test_without_segments_it_says_what_is_needed():
    page = open_page("segments", made_data(RANKINGS, queries=QUERIES.select("query", "length")))
    assert page.info[0].value.startswith("No column divides these queries into segments.")
    assert not page.dataframe
    assert charts(page) == {}

"""The page History shows the steps of `history`, and says what to pass where there is no pattern."""

import polars as pl

import retrieval_report as rr
from made_pages import agrees, charts, made_data, open_page, table
from made_reports import made_rankings
from retrieval_report.study.versions import history_of, steps_sentences
from text import plain

RANKINGS = made_rankings(("run-1", "run-2", "run-10"))


def test_the_table_is_that_of_history():
    page = open_page("history", made_data(RANKINGS, history=r"run-(?P<version>\d+)"))
    truth = history_of(rr.Study(RANKINGS, "ndcg@3"), r"run-(?P<version>\d+)")
    shown = table(page, 0)
    agrees(shown, truth, "version value difference marked")
    assert plain(steps_sentences(truth)[0]) in [text.value for text in page.markdown]
    assert [title for title in charts(page) if title.startswith("ndcg@3 by version")]


def test_without_a_pattern_it_says_how_to_start():
    page = open_page("history", made_data(RANKINGS))
    assert "--history" in page.info[0].value
    page = open_page("history", made_data(RANKINGS, history="(?P<version>x)"))
    assert "does not fit model" in page.error[0].value


def test_several_models_are_chosen_from():
    names = {"run-1": "a-1", "run-2": "a-2", "run-10": "b-1"}
    rankings = RANKINGS.with_columns(pl.col("model").replace_strict(names))
    page = open_page("history", made_data(rankings, history="(?P<model>.)-(?P<version>.)"))
    assert page.selectbox(key="series").options == ["a", "b"]
    assert table(page, 0)["version"].to_list() == ["1", "2"]

"""The rules of `evaluate` in the sidebar: what they refuse is said, choosing them cures it,
everything follows them.
"""

from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

import retrieval_report as rr
from cached import report
from made_pages import (
    agrees,
    charts,
    dashboard,
    drawn,
    made_data,
    numbers,
    open_page,
    table,
    words,
)
from made_reports import made_rankings
from records import MEASURES, USUAL, Choice, OpenedData
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.options import PARAMETERS
from retrieval_report.study.samples import sample_folder
from text import plain
from url_controls import REFUSED

RANKINGS = made_rankings(("coarse", "fine", "middle"))
# The same items of all models, so that their judgements agree.
NO_RELEVANCE = RANKINGS.with_columns(relevance=pl.when(pl.col("item") != 3).then("relevance"))
NO_LIST = RANKINGS.filter((pl.col("model") != "fine") | (pl.col("query") != "query 1"))
JUDGEMENTS = RANKINGS.select("query", "item", "relevance").unique(maintain_order=True)
JUDGED = {"judgements": JUDGEMENTS.filter(pl.col("query") != "query 1")}
CURED: list[Any] = [
    pytest.param(NO_RELEVANCE, {}, "unjudged", "non_relevant", id="relevance is null"),
    pytest.param(RANKINGS.drop("relevance"), JUDGED, "unjudged_query", "skip", id="no judgements"),
]
# Data that several rules change at once, and these rules.
CHANGING: list[Any] = [
    pytest.param(
        NO_LIST.with_columns(
            relevance=pl.when(pl.col("item") != 3).then("relevance"),
            distance=pl.when(pl.col("item") != 5).then("distance"),
        ),
        {},
        {
            "unjudged": "drop",
            "null_distance": "not_retrieved",
            "missing_query": "skip",
            "distance_threshold": 4.0,
        },
        id="rows",
    ),
    pytest.param(
        RANKINGS.drop("relevance"),
        {"judgements": JUDGEMENTS.filter((pl.col("query") != "query 1") & (pl.col("item") != 3))},
        {"unjudged": "drop", "unjudged_query": "skip", "no_relevant": "skip", "relevant_from": 2.0},
        id="judgements",
    ),
]
PLACE: Any = {"metric": "ndcg", "cutoff": 3}
MEASURE: Any = {"metrics": "ndcg", "cutoffs": 3}
POLICIES = ("expected", "naive", "worst", "best")
OF_ROWS = ("distance_threshold", "unjudged", "unjudged_query", "null_distance")


def changed(page: AppTest, rule: str, value: Any) -> AppTest:
    """The page after its reader has set a rule."""
    return drawn(page.selectbox(key=rule).set_value(value).run())


def answers(data: OpenedData, **options: Any) -> pl.DataFrame:
    return rr.summarise(rr.evaluate(**data.frames, **MEASURE, policies=POLICIES, **options))


@pytest.mark.parametrize(("rankings", "others", "rule", "value"), CURED)
def test_what_a_rule_allows_is_told_and_cured_by_choosing_it(
    rankings: pl.DataFrame, others: dict[str, Any], rule: str, value: Any
):
    data = made_data(rankings, **others)
    with pytest.raises(RetrievalReportError) as said:
        answers(data)
    page = open_page("compare", data)
    told, (facts, _, advice) = page.error[0].value, str(said.value).rpartition("; ")
    # Rows are counted from 0 in Python, and in each model from 1 on the page.
    assert told.startswith(plain(facts.partition(" (row")[0]))
    assert f"{rule}=" in advice  # of Python, for which the page has a control
    assert plain(f"{rule}=") not in told
    assert f"“{PARAMETERS[rule].title}" in told
    assert "under “Rules”" in told
    page = changed(page, rule, value)
    assert plain(said.value) not in words(page)
    assert charts(page)


@pytest.mark.parametrize(("rankings", "others", "rules"), CHANGING)
def test_a_link_with_rules_gives_the_numbers_of_the_library(
    rankings: pl.DataFrame, others: dict[str, Any], rules: dict[str, Any]
):
    data, address = made_data(rankings, **others), {name: str(rules[name]) for name in rules}
    truth = answers(data, **rules)
    exact = truth.filter(policy="expected").sort("value", descending=True)
    shown = table(open_page("overview", data, **address), 2)
    agrees(shown, exact, "model")
    assert shown["expected"].to_list() == exact["value"].to_list()
    of_rows = {name: value for name, value in rules.items() if name in OF_ROWS}
    ties = open_page("ties", data, **address)
    profile = rr.tie_profile(**data.frames, cutoffs=3, **of_rows)
    profile = exact.select("model").join(
        profile, on="model", maintain_order="left"
    )  # the leaderboard's order
    for column in ("tied_items", "mixed_items", "items", "queries"):
        percent = 100 if column in ("tied_items", "mixed_items") else 1
        assert table(ties, 0)[column].to_list() == (percent * profile[column]).to_list()
    page = open_page("queries", data, model="middle", query="query 4", **address)
    scores = rr.lists.query_table(rr.evaluate(**data.frames, **MEASURE, policies=POLICIES, **rules))
    row = scores.filter(model="middle", query="query 4").row(0, named=True)
    assert numbers(page)["Expected"] == f"{row['expected']:.4f}"
    audited = {name: value for name, value in rules.items() if name != "distance_threshold"}
    page = open_page("audit", data, model="fine", **address)
    assert ("evaluators have no such rule" in words(page)) == (audited != rules)


def test_menus_of_rules_have_words_and_links_may_have_the_names_of_the_library():
    page = open_page("overview", made_data(RANKINGS), truncated="between_ties")
    menu = page.selectbox(key="truncated")
    assert menu.options == ["from the data", "not cut", "between two ties", "within a tie"]
    assert menu.value == "between_ties"
    assert page.query_params["truncated"] == "between two ties"
    assert "between two ties: they end between two ties" in menu.help
    assert "is not used" not in words(page)
    assert page.selectbox(key="unjudged").options[0] == "by default"


def test_the_report_follows_the_rules():
    rankings, others, rules = CHANGING[0].values
    data = made_data(rankings, **others)
    options = {**USUAL, **rules, "shuffles": 5}
    content = report(data, Choice(**PLACE, models=data.models, options=options), {}).decode()
    assert f"{data.name}, {len(data.models)} models" in content
    for number in answers(data, **rules).filter(policy="expected")["value"]:
        assert f"{number:.4f}" in content
    assert 3 not in [cutoff for _, cutoff in MEASURES]  # so the cutoff above is the choice's own


def test_queries_without_a_list_count_or_are_refused_and_reported():
    data = made_data(NO_LIST)
    page = open_page("overview", data)
    assert table(page, 2).filter(model="fine")["expected"].to_list() == [
        answers(data).filter(model="fine", policy="expected")["value"][0]
    ]
    page = changed(page, "missing_query", "error")
    with pytest.raises(RetrievalReportError) as said:
        answers(data, missing_query="error")
    assert page.error[0].value.startswith(plain(str(said.value).partition(";")[0]))


def test_scores_have_no_distance_to_be_cut_at():
    scored = RANKINGS.with_columns(score=-pl.col("distance")).drop("distance")
    page = open_page("overview", made_data(scored), distance_threshold="2")
    assert [box.key for box in page.number_input] == ["relevant_from", "shuffles", "seed"]
    assert not page.exception
    assert charts(page)


def test_numbers_that_no_control_takes_are_refused():
    pairs = [
        ("inf", "-inf"),
        ("1" + "0" * 5000, "1e400"),
    ]
    for seed, shuffles in pairs:
        page = open_page("data", made_data(RANKINGS), seed=seed, shuffles=shuffles)
        for name, usual in (("seed", 0), ("shuffles", 10)):
            assert page.number_input(key=name).value == usual
            assert name not in page.query_params


def top(models: int = 2) -> OpenedData:
    """Lists of different items of one query, four deep, as of an index."""
    whole = made_rankings(("coarse", "fine"), 12).with_columns(pl.col("distance") // 2)
    measure = pl.int_range(pl.len()).over("model", "query")
    kept = whole.sort("model", "query", "distance", maintain_order=True).filter(measure < 4)
    return made_data(kept.filter(pl.col("model").is_in(["coarse", "fine"][:models])))


def test_the_overview_of_cut_lists_says_so_after_the_verdict():
    data = top()
    page = open_page("overview", data)
    (first,) = [box.value for box in page.warning]
    assert first == plain("Missing items and tie order together could reverse this lead.")
    assert not page.error
    best = plain("fine has the highest expected ndcg@3")
    (whole,) = [part.value for part in page.markdown if part.value.startswith(best)]
    assert first not in whole  # it stands above
    assert whole.endswith(
        plain("ndcg@3 is an estimate: lists may be cut. Pass judgements or n_relevant.")
    )
    shown = table(page, 2)
    truth = answers(data).filter(policy="expected").sort("value", descending=True)
    assert (truth["truncated_share"] > 0).all()
    assert shown["expected"].to_list() == [f"≈{value:.4f}" for value in truth["value"]]
    page = changed(page, "truncated", "no")
    assert "are cut" not in words(page)
    assert table(open_page("ties", data), 0)["ends_in_cut_tie"].sum() > 0


def test_whose_relevant_items_count_is_a_rule_and_the_one_list_follows_it():
    data = top()
    page = open_page("queries", data, model="fine", query="query 4", truncated="no")
    for rule in ("own", "pooled"):
        options: Any = {"relevant_items": rule, "truncated": "no"}
        truth = rr.lists.query_table(
            rr.evaluate(data.frames["rankings"], **MEASURE, policies=POLICIES, **options)
        )
        row = truth.filter(model="fine", query="query 4").row(0, named=True)
        page = changed(page, "relevant_items", rule)
        assert numbers(page)["Expected"] == f"{row['expected']:.4f}"
    page = changed(page, "relevant_items", "error")
    assert f"“{PARAMETERS['relevant_items'].title}”" in page.error[0].value


@pytest.mark.parametrize(
    ("spelled", "measure", "options"),
    [
        ("nDCG(dcg='exp-log2')@3", "ndcg(gain=exp2)@3", {}),
        ("AP(rel=2)@3", "ap@3", {"relevant_from": 2.0}),
    ],
)
def test_a_measure_in_the_address_may_be_spelled_as_elsewhere(
    spelled: str, measure: str, options: dict[str, Any]
):
    page = open_page("overview", made_data(RANKINGS), metric=spelled, cutoff="5")
    name, _, cutoff = measure.partition("@")
    assert page.selectbox(key="metric").value == name.partition("(")[0]
    assert not cutoff or page.selectbox(key="cutoff").value == cutoff
    for option, value in options.items():
        assert page.number_input(key=option).value == value
    if "gain" in name:
        assert page.selectbox(key="ndcg_gain").value == "exp2"
    assert REFUSED not in page.session_state


def test_a_measure_in_the_address_that_no_control_can_say_is_refused():
    for text in ("rbp(p=0.5)@3", "infAP"):
        page = open_page("overview", made_data(RANKINGS), metric=text)
        assert page.selectbox(key="metric").value == "ndcg"
        assert "metric" in page.session_state[REFUSED]


def test_a_rule_that_is_changed_reads_no_file_again(monkeypatch: pytest.MonkeyPatch):
    page = dashboard().run()
    assert not page.exception

    def read(*_: object, **_how: object):
        raise AssertionError("a file is read")

    monkeypatch.setattr("retrieval_report.reading.files._read_source", read)
    with pytest.raises(AssertionError, match="a file is read"):
        rr.read_rankings(sample_folder() / "digits" / "rankings.parquet")
    page.number_input(key="relevant_from").set_value(2).run()
    assert not page.exception
    assert "a file is read" not in words(page)

"""The rules of `evaluate` in the sidebar: what they refuse is said, choosing them cures it,
everything follows them.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

import retrieval_report as rr
from cached import report
from made_pages import APP, TIMEOUT, charts, drawn, made_data, numbers, open_page, table, words
from made_reports import made_rankings
from records import MEASURES, Choice, Data, Draws
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.options import PARAMETERS, Options
from retrieval_report.ties.distributions import score_distribution
from retrieval_report.ties.profile import ties_at_cutoff
from text import plain

RANKINGS = made_rankings(("coarse", "fine", "middle")).with_columns(
    pl.col("distance") / 2
)  # not whole, to be rounded
FOURTH = pl.int_range(pl.len()).over("model", "query") == 3
# The same items of all models, so that their judgements agree.
NO_RELEVANCE = RANKINGS.with_columns(relevance=pl.when(pl.col("item") != 3).then("relevance"))
NO_DISTANCE = RANKINGS.with_columns(distance=pl.when(~FOURTH).then("distance"))
NO_LIST = RANKINGS.filter((pl.col("model") != "fine") | (pl.col("query") != "query 1"))
JUDGEMENTS = RANKINGS.select("query", "item", "relevance").unique(maintain_order=True)
JUDGED = {"judgements": JUDGEMENTS.filter(pl.col("query") != "query 1")}
CURED: list[Any] = [
    pytest.param(NO_RELEVANCE, {}, "unjudged", "non_relevant", id="relevance is null"),
    pytest.param(NO_RELEVANCE, {}, "unjudged", "drop", id="relevance is null, rows dropped"),
    pytest.param(NO_DISTANCE, {}, "null_distance", "not_retrieved", id="distance is null"),
    pytest.param(RANKINGS.drop("relevance"), JUDGED, "unjudged_query", "skip", id="no judgements"),
]
CHANGING: list[Any] = [
    *CURED,
    pytest.param(NO_LIST, {}, "missing_query", "skip", id="no list"),
    pytest.param(RANKINGS, {}, "distance_threshold", 2.0, id="threshold"),
    pytest.param(
        RANKINGS.drop("relevance"),
        {"judgements": JUDGEMENTS},
        "distance_threshold",
        2.0,
        id="judged",
    ),
    pytest.param(
        RANKINGS.drop("relevance"),
        {"judgements": JUDGEMENTS.filter(pl.col("item") != 3)},
        "unjudged",
        "drop",
        id="items without judgement",
    ),
]
PLACE: dict[str, Any] = {"metric": "ndcg", "cutoff": 3}
MEASURE: dict[str, Any] = {"metrics": "ndcg", "cutoffs": 3}
POLICIES = ("expected", "naive", "worst", "best")
QUICK = (
    "no list",
    "judged",
)  # rules that a quick run tries in reports; the slow tests try all of them
REPORTED_RULES = [
    rule if rule.id in QUICK else pytest.param(*rule.values, id=rule.id, marks=pytest.mark.slow)
    for rule in CHANGING
]
PAGES = ("overview", "cutoffs", "compare", "ties", "queries", "audit")


def changed(page: AppTest, rule: str, value: Any) -> AppTest:
    """The page after its reader has set a rule."""
    kind = page.number_input if rule == "distance_threshold" else page.selectbox
    return drawn(kind(key=rule).set_value(value).run())


def answers(data: Data, **options: Any) -> pl.DataFrame:
    return rr.summarise(rr.evaluate(**data.frames, **MEASURE, policies=POLICIES, **options))


@pytest.mark.parametrize(
    "name",
    [
        "overview",
        "queries",
        *(pytest.param(name, marks=pytest.mark.slow) for name in PAGES[1:4] + PAGES[5:]),
    ],
)
@pytest.mark.parametrize(("rankings", "others", "rule", "value"), CURED)
def test_what_a_rule_allows_is_told_and_cured_by_choosing_it(
    name: str, rankings: pl.DataFrame, others: dict[str, Any], rule: str, value: Any
) -> None:
    data = made_data(rankings, **others)
    with pytest.raises(RetrievalReportError) as said:
        answers(data)
    page = open_page(name, data)
    told, (facts, _, argument) = page.error[0].value, str(said.value).rpartition("; ")
    assert told.startswith(plain(facts[:1].upper() + facts[1:]))
    assert rule in argument  # of Python, for which the page has a control
    assert plain(f"{rule}=") not in told
    assert f"*{PARAMETERS[rule].title}*, under *Rules*" in told
    page = changed(page, rule, value)
    assert plain(said.value) not in words(page)
    assert charts(page)


@pytest.mark.parametrize(("rankings", "others", "rule", "value"), CHANGING)
def test_a_link_with_a_rule_gives_the_numbers_of_the_library(
    rankings: pl.DataFrame, others: dict[str, Any], rule: str, value: Any
) -> None:
    data, rules = made_data(rankings, **others), {rule: value}
    address = {rule: str(value)}
    truth = answers(data, **rules)
    exact = truth.filter(policy="expected").sort("value", descending=True)
    shown = table(open_page("overview", data, **address), 0)
    assert shown["model"].to_list() == exact["model"].to_list()
    for column, policy in (
        ("expected", "expected"),
        ("naive", "naive"),
        ("lowest", "worst"),
        ("highest", "best"),
    ):
        values = dict(truth.filter(policy=policy).select("model", "value").iter_rows())
        assert shown[column].to_list() == [values[model] for model in shown["model"]]
    of_rows = {} if rule == "missing_query" else rules
    ties = open_page("ties", data, **address)
    profile = rr.tie_profile(**data.frames, cutoffs=3, **of_rows)
    profile = exact.select("model").join(
        profile, on="model", maintain_order="left"
    )  # the leaderboard's order
    for column in ("tied_items", "mixed_items", "items", "queries"):
        percent = 100 if column in ("tied_items", "mixed_items") else 1
        assert table(ties, 0)[column].to_list() == (percent * profile[column]).to_list()
    cuts = ties_at_cutoff(**data.frames, cutoff=3, **of_rows)
    assert table(ties, 1)["size"].to_list() == cuts["size"].to_list()
    if rule != "distance_threshold":
        audit = rr.audit(**data.frames, **MEASURE, **rules).filter(model="fine")
        printed = table(open_page("audit", data, model="fine", **address), 1)["prints"]
        assert sorted(printed.fill_nan(None).drop_nulls()) == sorted(audit["prints"].drop_nulls())


@pytest.mark.parametrize(("rankings", "others", "rule", "value"), CHANGING)
def test_one_list_follows_the_rules(
    rankings: pl.DataFrame, others: dict[str, Any], rule: str, value: Any
) -> None:
    data, rules = made_data(rankings, **others), {rule: value}
    page = open_page(
        "queries", data, model="middle", query="query 4", draw="2", **{rule: str(value)}
    )
    scores = rr.lists.query_table(rr.evaluate(**data.frames, **MEASURE, policies=POLICIES, **rules))
    row = scores.filter(model="middle", query="query 4").row(0, named=True)
    frames: dict[str, Any] = {
        name: None if frame is None else frame.filter(query="query 4")
        for name, frame in data.frames.items()
    }
    frames["rankings"] = data.rankings.filter(model="middle", query="query 4")
    draws = rr.shuffled_means(**frames, **MEASURE, shuffles=3, **rules)["value"]
    assert numbers(page)["Expected"] == f"{row['expected']:.4f}"
    assert numbers(page)["This draw"] == f"{draws[2]:.4f}"
    found = score_distribution(**data.frames, model="middle", query="query 4", **PLACE, **rules)
    if found.height > 1:
        spec = next(spec for title, spec in charts(page).items() if "can be anything from" in title)
        bars = next(rows for rows in spec["datasets"].values() if "probability" in rows[0])
        assert [bar["value"] for bar in bars] == found["value"].to_list()


def test_refusing_queries_without_a_list_is_a_choice() -> None:
    data = made_data(NO_LIST)
    assert table(open_page("overview", data), 0).filter(model="fine")["missing"].to_list() == [1]
    page = changed(open_page("overview", data), "missing_query", "error")
    with pytest.raises(RetrievalReportError) as said:
        answers(data, missing_query="error")
    assert page.error[0].value.startswith(plain(str(said.value).partition(";")[0]))


def test_scores_have_no_distance_to_be_cut_at() -> None:
    scored = RANKINGS.with_columns(score=-pl.col("distance")).drop("distance")
    page = open_page("overview", made_data(scored), distance_threshold="2")
    assert [box.key for box in page.number_input] == ["relevant_from", "shuffles", "seed"]
    assert "distance_threshold" not in page.query_params
    assert not page.exception
    assert charts(page)


def test_the_audit_says_that_it_knows_no_threshold() -> None:
    page = open_page("audit", made_data(RANKINGS), distance_threshold="2")
    assert "these evaluators have no such rule" in words(page)
    audit = rr.audit(RANKINGS, **MEASURE).filter(model="fine")
    page = open_page("audit", made_data(RANKINGS), distance_threshold="2", model="fine")
    assert sorted(table(page, 1)["exact"]) == pytest.approx(sorted(audit["exact"]))


@pytest.mark.parametrize(("rankings", "others", "rule", "value"), REPORTED_RULES)
def test_the_report_follows_the_rules_and_names_them(
    rankings: pl.DataFrame, others: dict[str, Any], rule: str, value: Any
) -> None:
    data = made_data(rankings, **others)
    rules, draws = Options(**{rule: value}), Draws(shuffles=5)
    choice = Choice(
        **PLACE, cutoffs=(3, None), models=data.models, policies=(), rules=rules, draws=draws
    )
    page = report(data, choice).decode()
    truth = answers(data, **{rule: value}).filter(policy="expected")
    for number in truth["value"]:
        assert f"{number:.4f}" in page
    assert re.search(rf"{rule}\W.{{0,60}}{value}", page, re.DOTALL)
    assert 3 not in [cutoff for _, cutoff in MEASURES]  # so the cutoff above is the choice's own


def test_the_report_on_one_model_misses_the_queries_that_only_the_other_has() -> None:
    data = made_data(NO_LIST)
    choice = Choice(
        **PLACE, cutoffs=(3, None), models=("fine",), policies=(), draws=Draws(shuffles=5)
    )
    summary = answers(data).filter(model="fine", policy="expected")
    assert summary["missing"].to_list() == [1]
    assert f"{summary['value'][0]:.4f}" in report(data, choice).decode()


@pytest.mark.parametrize(
    ("rankings", "rule", "value"),
    [(NO_RELEVANCE, "unjudged", "drop"), (NO_DISTANCE, "null_distance", "not_retrieved")],
    ids=["relevance", "distance"],
)
def test_an_upload_that_a_rule_allows_is_opened(
    rankings: pl.DataFrame, rule: str, value: str
) -> None:
    test = AppTest.from_file(f"{APP}/dashboard.py", default_timeout=TIMEOUT)
    drawn(test.run())
    test._page_hash = next(
        key for key, page in test._registered_pages.items() if page["url_pathname"] == "data"
    )
    drawn(test.run())
    buffer = io.BytesIO()
    rankings.write_parquet(buffer)
    uploader: Any = test.file_uploader(key="rankings upload")
    drawn(
        uploader.set_value([("lists.parquet", buffer.getvalue(), "application/octet-stream")]).run()
    )
    drawn(
        next(button for button in test.button if button.label == "Open these files").click().run()
    )
    assert test.selectbox(key="open").value == "upload"
    assert f"*{PARAMETERS[rule].title}*, under *Rules*" in test.error[0].value
    test = changed(test, rule, value)
    assert not test.error


@pytest.mark.parametrize(
    "value", ["inf", "-inf", "nan", "1" + "0" * 310, "1" + "0" * 5000, "1e400"]
)
@pytest.mark.parametrize("name", ["seed", "shuffles"])
def test_numbers_that_no_control_takes_are_refused_in_words(name: str, value: str) -> None:
    page = open_page("overview", made_data(made_rankings(("fine",), queries=2)), **{name: value})
    assert page.number_input(key=name).value == {"seed": 0, "shuffles": 100}[name]
    assert name not in page.query_params


def top(models: int = 2) -> Data:
    """Lists of different items of one query, four deep, as of an index."""
    whole = made_rankings(("coarse", "fine"), 12).with_columns(pl.col("distance") // 2)
    measure = pl.int_range(pl.len()).over("model", "query")
    kept = whole.sort("model", "query", "distance", maintain_order=True).filter(measure < 4)
    return made_data(kept.filter(pl.col("model").is_in(["coarse", "fine"][:models])))


def test_the_overview_of_cut_lists_says_so_after_the_verdict() -> None:
    data = top()
    page = open_page("overview", data)
    (first,) = [box.value for box in page.error]
    assert first.startswith(plain("fine has the highest expected ndcg@3"))
    assert plain("Items that are missing from the lists could reverse this lead.") in first
    assert not page.warning
    lines = [line.value for line in page.markdown]
    assert (
        "- " + plain("ndcg@3 is an estimate: lists are cut. Pass judgements or n_relevant.")
        in lines
    )
    shown = table(page, 0)
    assert "tie_std" not in shown.columns
    truth = answers(data).filter(policy="expected").sort("value", descending=True)
    assert (truth["truncated_share"] > 0).all()
    assert shown["truncated_share"].to_list() == (100 * truth["truncated_share"]).to_list()
    page = changed(page, "truncated", "no")
    assert "are cut" not in words(page)
    assert "truncated_share" not in table(page, 0).columns


def test_what_ends_in_a_cut_tie_stands_beside_the_ties_that_k_cuts() -> None:
    data = top()
    shown = table(open_page("ties", data), 0).sort("model")
    profile = rr.tie_profile(data.rankings, cutoffs=3).sort("model")
    assert shown["ends_in_cut_tie"].to_list() == (100 * profile["ends_in_cut_tie"]).to_list()
    assert shown["ends_in_cut_tie"].sum() > 0


def test_whose_relevant_items_count_is_a_rule_and_the_one_list_follows_it() -> None:
    data = top()
    for rule in ("pooled", "own"):
        options: dict[str, Any] = {"relevant_items": rule, "truncated": "no"}
        truth = rr.lists.query_table(
            rr.evaluate(data.rankings, **MEASURE, policies=POLICIES, **options)
        )
        row = truth.filter(model="fine", query="query 4").row(0, named=True)
        page = open_page("queries", data, model="fine", query="query 4", **options)
        assert numbers(page)["Expected"] == f"{row['expected']:.4f}"
    page = open_page("overview", data, relevant_items="error")
    assert f"*{PARAMETERS['relevant_items'].title}*, under *Rules*" in page.error[0].value


def test_what_is_known_of_a_sample_is_not_taken_for_other_data() -> None:
    sample = replace(top(), rules=Options(truncated="between_ties"))
    page = open_page("overview", sample)
    assert page.selectbox(key="given_truncated").value == "between_ties"
    page.session_state["made data"] = top()
    page = drawn(page.run())
    assert page.selectbox(key="truncated").value == "auto"

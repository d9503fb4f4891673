"""The page Overview says first who wins by each of the three scores, and whether that depends
on tie order.
"""

import importlib
from functools import cache
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

import retrieval_report as rr
from made_pages import agrees, charts, dashboard, drawn, made_data, numbers, open_page, table, words
from made_reports import ACCIDENT, lettered, made_rankings, upside_down
from retrieval_report.contracts.wording import whole_percent
from retrieval_report.study.by_cutoff import cutoffs_sentence
from retrieval_report.study.leaderboard_rows import leaderboard_of
from retrieval_report.study.reversals import varied
from retrieval_report.study.three_tables import are_drawn, without_draws
from retrieval_report.study.verdict import verdict
from text import plain

RANKINGS = made_rankings(("coarse", "fine", "middle"))
ORDERS = "Random orders that agree"
POLICIES = ("expected", "naive", "worst", "best")


@cache
def usual_page() -> AppTest:
    """The page on these rankings, for tests that only look at it."""
    return open_page("overview", made_data(RANKINGS))


def test_an_accidental_winner_is_named_in_the_first_box():
    page = open_page("overview", made_data(ACCIDENT, metric="rr", cutoff=3))
    assert numbers(page)["Wins by items retrieved"] == "fine"  # the last tie may go on
    assert page.metric[0].help.startswith("The winner by the items in the lists alone.")
    assert not page.metric[1].help
    assert not page.metric[2].delta  # a share of these orders is none of all
    assert numbers(page)["Wins by the naive order"] == "coarse"
    assert page.metric[1].delta == "an accident of tie order"
    whole = rr.Study(ACCIDENT, "rr@3").verdict
    assert page.warning[0].value == plain(whole[1])
    assert not page.error
    said = verdict_of(page).replace("\\", "")
    assert said.startswith("fine has the highest expected rr@3")
    assert "coarse would win, purely because of how ties are ordered." in said
    kinds = [page.main.children[place].type for place in range(6)]
    # Nothing but the title and the name of the data stand above the numbers; the verdict is beside.
    assert kinds == ["title", "caption", "flex_container", "caption", "html", "dataframe"]
    assert page.caption[0].value == r"made · 2 models · 1 query"
    page = page.multiselect(key="models").select("fine").run()
    assert page.caption[0].value == r"made · 1 of 2 models · 1 query"


def test_queries_without_lists_count_as_they_do_in_the_means():
    judgements = pl.DataFrame({"query": [*"pqrs"], "item": [*"abab"], "relevance": [1, 1, 1, 1]})
    rankings = pl.DataFrame(
        {"model": ["m"] * 3, "query": [*"ppt"], "item": [*"abc"], "score": [2.0, 1.0, 1.0]}
    )
    data = made_data(rankings, judgements=judgements, unjudged_query="skip")
    assert data.size == "1 model · 5 queries, 1 without judgements, 3 without lists"
    assert data.source.summary["queries"].unique().to_list() == [4]
    judged = made_data(rankings.head(2), judgements=judgements.head(1))
    assert judged.size == "1 model · 1 query"


def test_page_one_says_at_which_cutoffs_the_order_is_an_accident():
    rows = pl.concat([ACCIDENT, lettered({"longer": ["b A c d e f"]})])
    page = open_page("overview", made_data(rows, metric="rr", cutoff=2), truncated="no")
    said = cutoffs_sentence(rr.Study(rows, "rr@2", truncated="no").by_cutoff)
    said += " Fewer than half of the lists have 5 items."
    caption = next(part.value for part in page.caption if part.value.startswith(plain(said)))
    assert caption.endswith("[Along the cutoffs](#along-the-cutoffs)")
    assert "along-the-cutoffs" in [part.anchor for part in page.subheader]


def test_no_page_is_green_where_data_are_wrong_and_findings_are_folded():
    queries = pl.DataFrame({"query": [f"q{n}" for n in range(30)]}).with_row_index("kind")
    items = pl.DataFrame({"distance": range(20), "relevance": [1] * 5 + [0] * 15})
    near = queries.select("query").join(items, how="cross")
    near = near.with_columns(item=pl.format("{}-{}", "query", "distance"), model=pl.lit("near"))
    far = near.with_columns(pl.col("distance") * -1, model=pl.lit("far"))
    few = far.filter(~pl.col("query").is_in(["q1", "q2"])).with_columns(model=pl.lit("few"))
    same = near.with_columns(
        item=pl.format("x-{}", "distance"), model=pl.lit("same"), relevance=pl.col("relevance") * 0
    )
    rankings = pl.concat([near, far, few, same.select(near.columns)])
    data = made_data(rankings, queries=queries.with_columns(pl.col("kind") % 3))
    page = open_page("overview", data)
    assert r"No verdict is given on far\, few and same" in page.error[0].value
    assert "after the others in 58 of the 58 lists of far and few that" in page.error[0].value
    assert page.error[0].value.count("Check your data") == 3  # a single one more is not folded
    assert page.expander[0].label == "The verdict on the other models"
    assert words(page).count("Check your data") == 3  # all of it stands above
    assert words(page).count("near has an expected ndcg") == 1  # which is no verdict
    assert "expected ndcg" not in page.error[0].value  # so that charts begin on the first screen
    assert "expected ndcg" in page.expander[0].markdown[0].value
    pages: dict[str, dict[str, str]] = {
        "pair": {"a": "near", "b": "far"},
        "segments": {"by": "kind"},
    }
    for name in ("pair", "segments", "compare", "queries", "ties", "audit", "costs", "data"):
        page = open_page(name, data, **pages.get(name, {}))
        assert not page.success, name


def verdict_of(page: AppTest) -> str:
    """What stands below the heading "Verdict"."""
    parts = [part for _, part in sorted(page.main.children.items())]
    place = next(place for place, part in enumerate(parts) if part_value(part) == "Verdict")
    return part_value(parts[place + 1])


def part_value(part: object) -> str:
    return str(getattr(part, "value", ""))


def test_a_safe_winner_is_not_called_an_accident():
    rankings = lettered({"good": ["A b c d"] * 12, "bad": ["d c b A"] * 12})
    page = open_page("overview", made_data(rankings))
    assert page.success[0].value.startswith("The lead cannot be reversed by any tie order")
    assert "good has the highest expected" in verdict_of(page)
    assert not page.error
    assert not page.warning
    assert [metric.delta for metric in page.metric] == ["", "", "100% of all orders"]
    assert "accident" not in words(page)


def test_the_sentences_are_those_of_the_verdict_and_the_table_that_of_the_summary():
    page = usual_page()
    scores = rr.evaluate(RANKINGS, metrics="ndcg", cutoffs=3, policies=POLICIES)
    summary = rr.summarise(scores)
    pairs = rr.flips(summary, comparison=rr.compare(scores, rankings=RANKINGS))
    _, sentences = verdict(summary, pairs, metric="ndcg", cutoff=3)
    assert page.warning[0].value == plain(sentences[1].replace("Its lead", "The lead of fine"))
    assert verdict_of(page) == "\n\n".join(map(plain, [sentences[0], *sentences[2:]]))  # each once
    shown = table(page, 2)
    exact = summary.filter(policy="expected").sort("value", descending=True)
    agrees(shown, exact, "model")
    assert shown["expected"].to_list() == exact["value"].to_list()
    study = rr.Study(RANKINGS, "ndcg@3, ndcg@10, precision@10, recall@10, ap")
    assert shown.columns == leaderboard_of(study)[1].split()


def test_an_estimate_names_the_control_that_says_that_lists_are_whole():
    ends = RANKINGS.with_columns(item=pl.format("{} of {}", "item", "query"))
    for cutoff, said in ((None, True), (1, False)):
        page = open_page("overview", made_data(ends, metric="precision", cutoff=cutoff))
        assert ("choose “Lists cut at their end" in words(page)) == said
        assert "truncated" not in words(page)


def test_one_model_has_scores_but_no_order():
    page = open_page("overview", made_data(RANKINGS), models="fine")
    assert [table(page, number)["model"].to_list() for number in range(2)] == [["fine"]] * 2
    assert len(page.dataframe) == 2


def test_what_could_turn_the_lead_round_stands_above_the_leaderboard():
    page = usual_page()
    assert [heading.value for heading in page.subheader] == [
        "Verdict",
        "What could turn the lead of fine over coarse around",
        "How far naive scores are off, along the cutoffs",
        "Leaderboard",
    ]
    known = varied(rr.Study(RANKINGS, "ndcg@3").reversals)
    shown = table(page, 1)
    assert shown["source"].to_list() == ["tie order", "queries", "both"]
    agrees(shown, known, "verdict reversal")
    assert plain("Not varied: judge, seed, data set.") in words(page)


def test_other_averages_are_those_of_summarise():
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
    for number in (0, 2):
        shown = dict(table(page, number).select("model", "expected").iter_rows())
        assert shown == pytest.approx(exact, abs=1e-12)
    study = rr.Study(RANKINGS, "ndcg@3", queries=queries, average="weighted")
    moved = study.shuffled.filter(pl.n_unique("value").over("model") > 1)
    drawn = {(mark["model"], mark["value"]) for mark in marks(strip(page), "value")}
    assert drawn == {*moved.select("model", "value").rows()}


def test_where_nothing_is_relevant_no_model_has_a_number():
    page = open_page("overview", made_data(RANKINGS.with_columns(relevance=0)), no_relevant="skip")
    assert "is any judgement or label of a relevant item" in page.error[0].value
    assert {*numbers(page).values()} == {"–"}


def strip(page: AppTest) -> dict[str, Any]:
    """The chart of the three scores."""
    return next(iter(charts(page).values()))


def marks(spec: dict[str, Any], column: str) -> list[dict[str, Any]]:
    """The rows of a chart that have a column."""
    return [row for rows in spec["datasets"].values() for row in rows if column in row]


def test_the_numbers_at_the_top_are_the_winners_of_the_study():
    page = usual_page()
    row = rr.Study(RANKINGS, "ndcg@3").winners.row(0, named=True)
    assert numbers(page) == {
        "Wins exactly": row["winner"],
        "Wins by the naive order": row["naive_winner"],
        ORDERS: f"{row['agreeing']} of {row['orders']}",
    }
    assert row["orders"] == 10
    assert page.metric[2].delta == f"{whole_percent(row['agreeing_chance'])} of all orders"
    assert row["agreeing_method"] == "exact"


def test_approximate_shares_of_orders_and_lists_of_unequal_length_are_marked():
    page = drawn(dashboard(open="docs").run())
    assert plain("ap@all compares lists of unequal length: medians are from 20") in words(page)
    agreeing = page.metric[2]
    assert agreeing.delta == "≈45% of all orders"
    assert agreeing.help.endswith("; and their share of all orders, ≈ where it is approximated.")


def test_a_winner_shares_first_place_with_its_copy():
    best = rr.Study(RANKINGS, "ndcg@3").winners["winner"][0]
    copy = RANKINGS.filter(model=best).with_columns(model=pl.lit(f"{best} again"))
    page = open_page("overview", made_data(pl.concat([RANKINGS, copy])))
    assert numbers(page)["First exactly"] == plain(f"{best} = …again")
    assert page.metric[0].help == f"The same lists: {best} again"


def test_the_first_table_is_that_of_the_three_scores():
    page = usual_page()
    truth, shown = rr.Study(RANKINGS, "ndcg@3").three_scores, table(page, 0)
    names = ["model", "expected", "naive", "off_by", "expected_rank", "shuffled_rank", "naive_rank"]
    assert shown.select(names).rows() == truth.select(names).rows()
    ranges = shown["shuffled_range"].str.split(" – ")
    ends = truth.select("order_low", "order_high").rows()
    for text, (low, high) in zip(ranges, ends, strict=True):
        assert {*text} == {f"{low:.4f}", f"{high:.4f}"}


def test_a_decision_and_the_lead_have_a_box_each_in_its_own_colour():
    asked: Any = {"baseline": "fine", "margin": "90 %"}
    copies = [RANKINGS.with_columns(query=pl.format("{} {}", "query", pl.lit(n))) for n in range(5)]
    many = pl.concat(copies)
    study, page = rr.Study(many, "ndcg@3", **asked), open_page("overview", made_data(many, **asked))
    assert page.success[0].value == plain(study.decision)
    (lead,) = page.warning
    assert lead.value == plain(study.findings[1].replace("Its lead", "The lead of fine"))


def test_what_is_wrong_with_the_data_is_said_once():
    rows = upside_down("right", "also right")
    page = open_page("overview", made_data(rows, metric="ndcg", cutoff=5))
    (box,) = page.error
    assert "relevant items come after the others" in box.value
    assert "No verdict is given on turned" in box.value
    assert words(page).count("relevant items come after the others") == 1
    assert words(page).count("No verdict is given on turned") == 1
    assert "highest expected" in verdict_of(page)


def test_other_orders_are_drawn_by_the_next_seed():
    page = open_page("overview", made_data(RANKINGS))
    (button,) = [button for button in page.button if button.label == "Draw others"]
    orders = []
    for seed in range(2):
        assert page.number_input(key="seed").value == seed
        drawn_by = rr.Study(RANKINGS, "ndcg@3", seed=seed)
        varies = drawn_by.three_scores.filter(pl.col("tie_std") > 0)["model"].implode()
        truth = drawn_by.shuffled.filter(pl.col("model").is_in(varies))
        found = [(row["model"], row["value"]) for row in marks(strip(page), "value")]
        assert sorted(found) == sorted(truth.select("model", "value").rows())
        orders.append(found)
        page = drawn(button.click().run())
        (button,) = [button for button in page.button if button.label == "Draw others"]
    assert orders[0] != orders[1]


def test_no_orders_are_offered_where_nothing_ties():
    untied = RANKINGS.with_columns(distance=pl.col("item") + pl.col("model").str.len_chars() / 9)
    page = open_page("overview", made_data(untied))
    assert "Draw others" not in [button.label for button in page.button]


def test_exact_scores_come_before_random_orders_that_take_long(
    monkeypatch: pytest.MonkeyPatch,
):
    overview, seen = importlib.import_module("views.overview"), []

    def noted(study: rr.Study):
        seen.append(are_drawn(study.using(seed=0)))
        return without_draws(study)

    awaited, legends = [], []
    winners, show_chart = overview._winners, overview.show_chart

    def noted_winners(*shown: Any):
        awaited.append(shown[-1])
        return winners(*shown)

    def noted_chart(chart: Any, *frames: pl.DataFrame, **how: Any):
        if chart is rr.charts.scores:
            spec = chart(*frames, **how).to_dict()
            legends.append(spec["layer"][-1]["encoding"]["color"]["scale"]["domain"])
        show_chart(chart, *frames, **how)

    monkeypatch.setattr("page.MANY_ROWS", 0)
    monkeypatch.setattr(overview, "without_draws", noted)
    monkeypatch.setattr(overview, "_winners", noted_winners)
    monkeypatch.setattr(overview, "show_chart", noted_chart)
    others = RANKINGS.with_columns(pl.col("distance") * 2)  # that no other test has drawn
    page = open_page("overview", made_data(others))
    assert seen == [False, False]  # the scores at the cutoff, and along the cutoffs
    # What the orders fill is there before them: their number, and their place in the legend.
    assert awaited == [10, 0]
    assert "an order drawn" in legends[0] == legends[1]
    assert numbers(page)[ORDERS].endswith(" of 10")
    assert marks(strip(page), "value")

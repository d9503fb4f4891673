"""The page on two models shows the numbers of `compare`, the queries that decide, and both lists of
one query.
"""

from functools import cache

import polars as pl
from streamlit.testing.v1 import AppTest

import retrieval_report as rr
from made_pages import agrees, charts, drawn, made_data, numbers, open_page, table, words
from made_pairs import DATA, RANKINGS, comparison, row_of
from made_reports import ACCIDENT
from retrieval_report.comparison.verdicts import chance_of
from retrieval_report.ties.orders import ranking_ties, side_by_side
from retrieval_report.writing.numbers import interval, number


def test_a_pair_is_told_with_both_uncertainties():
    page = open_page("pair", DATA, a="coarse", b="fine")
    row = row_of(comparison(), "coarse", "fine")
    shown = numbers(page)
    assert {name: shown[name] for name in list(shown)[:4]} == {
        "A − B, expected": f"{row['difference']:+.4f}".replace("-", "−"),
        "95% interval over queries": interval(row["ci_low"], row["ci_high"], 4),
        "Tie order moves it by": f"± {row['tie_std']:.4f}",
        "Reversed by ties": chance_of(row),
    }
    said = words(page)
    assert (
        f"Of {row['queries']} queries A wins {row['wins']} and B {row['losses']}; equal: "
        f"{row['ties']}." in said
    )
    assert f"corrected p = {row['family_p']:.4f}, max-T over 3 pairs" in said
    page = drawn(page.selectbox(key="correction").set_value("holm").run())
    assert "Holm over 3 pairs" in words(page)


@cache
def middle_and_coarse() -> AppTest:
    """The page on these two, for tests that only look at it."""
    return open_page("pair", DATA, a="middle", b="coarse")


def test_the_table_is_that_of_compare():
    page = middle_and_coarse()
    truth = comparison()
    row = row_of(truth, "coarse", "middle")
    assert numbers(page)["A − B, expected"] == f"{-row['difference']:+.4f}".replace("-", "−")
    said = f"A is middle, B is coarse. Of {row['queries']} queries A wins {row['losses']} and B "
    assert f"{said}{row['wins']}" in words(page)
    pair = table(page, 0)
    assert pair["policy"].to_list() == ["expected", "shuffled", "naive"]
    truth = rr.Study(RANKINGS, "ndcg@3").comparison
    for row in pair.iter_rows(named=True):  # compare() has coarse before middle
        exact = row_of(truth, "coarse", "middle", row["policy"])
        assert (row["value_a"], row["value_b"]) == (exact["value_b"], exact["value_a"])
        assert (row["wins"], row["losses"]) == (exact["losses"], exact["wins"])
        assert (row["difference"], row["ci_low"]) == (-exact["difference"], -exact["ci_high"])


def test_missing_items_are_not_called_tie_order():
    short = RANKINGS.filter(pl.int_range(pl.len()).over("model", "query") < 3, model="coarse")
    cut = made_data(pl.concat([RANKINGS.filter(model="fine"), short]))
    page = open_page("pair", cut, a="coarse", b="fine", truncated="within_tie")
    assert "≈: estimates" in words(page)
    assert [str(value)[0] for value in table(page, 0)["value_a"]] == ["≈", "0", "0"]
    *_, coarse, fine = page.metric
    assert coarse.delta.endswith(" by ties or missing items")
    assert "missing" not in fine.delta
    assert "either may be ahead" in str(charts(page))


def test_the_first_pair_is_no_copy_and_copies_are_named_as_such():
    twice = pl.concat([ACCIDENT, ACCIDENT.with_columns(pl.col("model") + " again")])
    data = made_data(twice, metric="rr", cutoff=3)
    page = open_page("pair", data)
    assert (page.selectbox(key="a").value, page.selectbox(key="b").value) == ("fine", "coarse")
    page = open_page("pair", data, a="fine", b="fine again")
    assert "share their expected ranks: fine and fine again." in words(page).replace("\\", "")


def test_one_model_or_the_same_twice_is_said():
    page = open_page("pair", DATA, models="fine")
    assert page.info[0].value.startswith("Comparing takes two models.")
    assert charts(page) == {}
    page = open_page("pair", DATA, a="fine", b="fine")
    assert page.info[0].value.startswith("These are the same model twice.")
    assert len(page.dataframe) == 0


def test_the_queries_are_those_that_decide():
    page = middle_and_coarse()
    deciding = rr.Study(RANKINGS, "ndcg@3").pair("middle", "coarse").deciding
    truth, shown = deciding.filter(policy="expected"), table(page, 1)
    assert 0 < truth["order_unsure"].sum() < truth.height
    flips, others = truth.filter("order_unsure"), truth.filter(~pl.col("order_unsure"))
    truth = pl.concat([flips, others])
    agrees(shown, truth, "query difference lowest highest decides")
    assert any(
        title.startswith("Every query by ndcg@3: middle and coarse") for title in charts(page)
    )
    assert page.selectbox(key="pair_query").value == truth["query"][0]


def test_both_lists_of_a_query_are_shown_with_their_ties_and_ranges():
    page = open_page("pair", DATA, a="middle", b="coarse", pair_query="query 4")
    lists = [ranking_ties(RANKINGS, model=name, query="query 4") for name in ("middle", "coarse")]
    for at, (own, other) in enumerate((lists, lists[::-1])):
        truth, shown = side_by_side(own, other), table(page, 2 + at)
        agrees(shown, truth, "ranks item relevance other_ranks")
    scores = rr.Study(RANKINGS, "ndcg@3").queries.filter(query="query 4")
    for model in ("middle", "coarse"):
        row = scores.filter(model=model).row(0, named=True)
        assert numbers(page)[model] == number(row["expected"])
        [delta] = [metric.delta for metric in page.metric if metric.label == model]
        span = f"{number(row['lowest'])} to {number(row['highest'])} by tie order"
        assert delta == (span if row["spread"] else "the same in every tie order")


def test_next_and_previous_go_by_the_table():
    page = open_page("pair", DATA, a="middle", b="coarse")
    names = table(page, 1)["query"].to_list()
    back, on = (button for button in page.button if "query" in button.label)
    assert back.disabled
    page = drawn(on.click().run())
    assert page.selectbox(key="pair_query").value == names[1]
    back, on = (button for button in page.button if "query" in button.label)
    page = drawn(back.click().run())
    assert page.selectbox(key="pair_query").value == names[0]
    odd = open_page("pair", DATA, pair_query="no such query")
    assert "No query of this name" in odd.info[-1].value


def test_an_item_that_nobody_judged_has_no_relevance():
    judgements = RANKINGS.select("query", "item", "relevance").unique(["query", "item"])
    judged = judgements.filter(pl.col("item") != 0)
    data = made_data(RANKINGS.drop("relevance"), judgements=judged)
    page = open_page(
        "pair", data, a="middle", b="coarse", pair_query="query 4", unjudged="irrelevant"
    )
    shown = table(page, 2)
    assert shown.filter(item=0)["relevance"].null_count() == shown.filter(item=0).height > 0
    assert shown.filter(pl.col("item") != 0)["relevance"].null_count() == 0

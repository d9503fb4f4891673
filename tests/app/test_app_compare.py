"""The page Compare shows the numbers of `compare`, and says in words where there is nothing to
compare.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from made_pages import NAMES, charts, drawn, made_data, numbers, open_page, table, words
from made_reports import ACCIDENT, made_rankings
from retrieval_report.comparison.verdicts import chance_of
from retrieval_report.writing.numbers import chance_text, interval
from text import plain

RANKINGS = made_rankings(("coarse", "fine", "middle"))
DATA = made_data(RANKINGS)


def comparison(rankings: pl.DataFrame = RANKINGS, **options: Any) -> pl.DataFrame:
    asked: dict[str, Any] = {"metrics": "ndcg", "cutoffs": 3, **options}
    policies = ("expected", "worst", "best", "shuffled") + (
        ("naive",) if "count" not in rankings.columns else ()
    )
    scores = rr.evaluate(rankings, policies=policies, **asked)
    rules = {name: value for name, value in options.items() if name not in ("metrics", "cutoffs")}
    return rr.compare(scores, rankings=rankings, **rules)


def row_of(
    frame: pl.DataFrame, first: str, second: str, policy: str = "expected"
) -> dict[str, Any]:
    return frame.filter(model_a=first, model_b=second, policy=policy).row(0, named=True)


def test_a_pair_is_told_with_both_uncertainties() -> None:
    page = open_page("compare", DATA, a="coarse", b="fine")
    row = row_of(comparison(), "coarse", "fine")
    assert numbers(page) == {
        "A − B, expected": f"{row['difference']:+.4f}".replace("-", "−"),
        "95% interval over queries": interval(row["ci_low"], row["ci_high"], 4),
        "Tie order moves it by": f"± {row['tie_std']:.4f}",
        "Reversed by ties": chance_text(row["p_tie"], row["p_tie_low"], row["p_tie_high"]),
    }
    said = words(page)
    assert (
        f"Of {row['queries']} queries A wins {row['wins']}, B wins {row['losses']}, {row['ties']} "
        "are equal." in said
    )
    assert f"corrected p = {row['family_p']:.4f}, max-T over 3 pairs" in said
    page = drawn(page.selectbox(key="correction").set_value("tukey").run())
    scores = rr.evaluate(RANKINGS, metrics="ndcg", cutoffs=3)
    row = row_of(rr.compare(scores, correction="tukey"), "coarse", "fine")
    assert f"corrected p = {row['family_p']:.4f}, Tukey HSD over 3 pairs" in words(page)


def test_the_tables_are_those_of_compare() -> None:
    page = open_page("compare", DATA, a="middle", b="coarse")
    truth = comparison()
    row = row_of(truth, "coarse", "middle")
    assert numbers(page)["A − B, expected"] == f"{-row['difference']:+.4f}".replace("-", "−")
    said = f"A is middle, B is coarse. Of {row['queries']} queries A wins {row['losses']}, B wins "
    assert f"{said}{row['wins']}" in words(page)
    pair = table(page, 0)
    assert set(pair["policy"]) == {"expected", "naive"}
    for row in pair.iter_rows(named=True):  # compare() has coarse before middle
        exact = row_of(truth, "coarse", "middle", row["policy"])
        assert (row["value_a"], row["value_b"]) == (exact["value_b"], exact["value_a"])
        assert (row["wins"], row["losses"]) == (exact["losses"], exact["wins"])
        assert (row["difference"], row["ci_low"]) == (-exact["difference"], -exact["ci_high"])
    pairs = table(page, 1)
    assert (pairs["difference"] >= 0).all()  # whoever is ahead is A
    assert pairs.height == truth.filter(policy="expected").height
    for row in pairs.iter_rows(named=True):
        exact = row_of(truth, *sorted((row["model_a"], row["model_b"])))
        assert row["difference"] == abs(exact["difference"])
        assert row["p_tie"] == chance_of(exact)


def test_the_first_pair_is_the_best_two_and_an_accident_is_called_one() -> None:
    page = open_page("compare", made_data(ACCIDENT, metric="rr", cutoff=3))
    assert (page.selectbox(key="a").value, page.selectbox(key="b").value) == ("fine", "coarse")
    said = page.error[0].value.replace("\\", "")
    assert said.startswith("fine has the highest expected rr@3: 0.5000, ahead of coarse (0.4583).")
    assert "name another winner, coarse, by an accident of tie order." in said


def test_what_is_chosen_in_the_sidebar_changes_the_numbers() -> None:
    page = open_page("compare", DATA, a="coarse", b="fine", metric="precision", cutoff="1")
    row = row_of(comparison(metrics="precision", cutoffs=1), "coarse", "fine")
    assert numbers(page)["A − B, expected"] == f"{row['difference']:+.4f}"
    assert page.title[0].value == r"Compare: precision\@1"


def test_one_model_has_nothing_to_be_compared_with() -> None:
    page = open_page("compare", DATA, models="fine")
    assert page.info[0].value.startswith("It takes two models to compare.")
    assert charts(page) == {}
    assert numbers(page) == {}


def test_no_worse_than_a_baseline_is_said_and_shown() -> None:
    page = open_page("compare", DATA, a="fine", b="fine", baseline="fine", margin="0.3")
    assert page.info[0].value.startswith("These are the same model twice.")
    assert len(page.dataframe) == 2  # all pairs, and no worse than
    study = rr.Study(RANKINGS, "ndcg@3", baseline="fine", margin=0.3)
    truth = study.no_worse.sort("difference", descending=True)
    shown = table(page, 1)
    assert shown["model"].to_list() == truth["model"].to_list()
    assert shown["verdict"].to_list() == truth["verdict"].to_list()
    assert shown["bound_low"].to_list() == truth["bound_low"].to_list()
    [sentence] = [line for line in study.sentences if "does not matter" in line]
    assert plain(sentence) in words(page)
    assert page.number_input(key="margin").value == 0.3


@pytest.mark.filterwarnings("ignore:no query has a relevant item")
def test_rules_that_leave_nothing_say_so() -> None:
    nothing = made_data(RANKINGS.with_columns(relevance=pl.lit(0)))
    page = open_page("compare", nothing, no_relevant="skip")
    assert page.info[0].value.startswith("No two of these models have a score for ndcg")


def test_counts_are_compared_without_naive_scores() -> None:
    counts = rr.count_ties(RANKINGS)
    page = open_page("compare", made_data(counts), a="coarse", b="fine")
    row = row_of(comparison(counts), "coarse", "fine")
    assert numbers(page)["A − B, expected"] == f"{row['difference']:+.4f}".replace("-", "−")
    assert set(table(page, 0)["policy"]) == {"expected"}


def test_names_are_text() -> None:
    page = open_page("compare", made_data(made_rankings(NAMES)), a="**bold**", b="<b>tag</b>")
    said = words(page)
    assert not [name for name in NAMES if name in said]
    assert r"A is \*\*bold\*\*, B is \<b\>tag\<\/b\>" in said
    page.selectbox(key="b").set_value("x" * 5000).run()
    assert max(map(len, words(page).splitlines())) < 600

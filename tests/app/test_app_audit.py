"""The page Audit shows the numbers of `audit`, and who would win by them."""

import polars as pl
import pytest

import retrieval_report as rr
from made_pages import made_data, open_page, table
from made_reports import ACCIDENT, made_rankings

RANKINGS = made_rankings(("coarse", "fine", "middle"))
DATA = made_data(RANKINGS)


def test_the_table_is_that_of_audit_for_the_model_chosen():
    page = open_page("audit", DATA, model="middle")
    truth = rr.audit(RANKINGS, metrics="ndcg", cutoffs=3).filter(model="middle")
    keys = ["system", "version", "call"]
    shown = table(page, 1)
    assert shown.height == truth.height
    columns = ("prints", "prints_low", "prints_high", "exact", "off", "definition_shift")
    joined = shown.select(*keys, *columns).join(
        truth, on=keys, nulls_equal=True, suffix="_told", validate="1:1"
    )
    assert joined.height == truth.height
    for name in columns:
        assert joined[name].fill_nan(None).to_list() == joined[f"{name}_told"].to_list()


def test_winners_that_are_accidents_are_counted_and_named():
    page = open_page("audit", made_data(ACCIDENT, metric="rr", cutoff=3))
    truth = rr.audit(ACCIDENT, metrics="rr", cutoffs=3).unique(
        ["system", "version", "call"], maintain_order=True
    )
    wrong, undecided = (
        truth.filter(~pl.col("same_winner")),
        truth.filter(pl.col("same_winner").is_null()),
    )
    assert wrong.height
    assert undecided.height
    said = page.warning[0].value.replace("\\", "")
    assert said.startswith(
        f"Tie order changes who is first in {wrong.height} of {truth.height} evaluator configurations: "
    )
    assert f"Tie order could change who is first in {undecided.height} more, " in said
    shown = table(page, 0)
    assert shown.head(wrong.height)["winner"].to_list() == wrong["winner"].to_list()
    assert shown["same_winner"].to_list() == sorted(
        shown["same_winner"], key=["no", "open", "yes"].index
    )
    assert (
        shown["winner"][wrong.height : wrong.height + undecided.height].str.contains(" or ").all()
    )
    assert shown.height == truth.height


def test_counts_have_no_order_to_audit():
    page = open_page("audit", made_data(rr.count_ties(RANKINGS)))
    assert page.info[0].value.startswith("This data consists of counts.")
    assert not page.dataframe


def test_a_metric_that_nobody_prints_says_so():
    page = open_page("audit", DATA, metric="acg")
    assert page.info[0].value.startswith(r"audit\: none of the systems prints acg at these cutoffs")
    assert not page.dataframe


def test_one_model_has_no_winner():
    page = open_page("audit", made_data(RANKINGS.filter(model="fine")))
    assert page.info[0].value.startswith("There is only one model")
    assert len(page.dataframe) == 1


def test_large_data_is_audited_only_where_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("views.audit.MOST_AUDITED", 10)
    page = open_page("audit", DATA)
    assert not page.dataframe
    page.toggle(key="audit").set_value(True).run()
    assert len(page.dataframe) == 2

"""The page Cutoffs draws what `summarise` returns along the cutoffs."""

from __future__ import annotations

import polars as pl
import pytest

import retrieval_report as rr
from made_pages import NAMES, charts, made_data, open_page, words
from made_reports import made_rankings

RANKINGS = made_rankings(("coarse", "fine", "middle"))
DATA = made_data(RANKINGS)
CUTOFFS = (1, 3, 5, 10, 20, 50, 100, None)


def rows(spec: dict[str, object], column: str) -> list[dict[str, object]]:
    tables = spec["datasets"]
    assert isinstance(tables, dict)
    return [row for table in tables.values() for row in table if column in row]


def test_the_chart_shows_the_means() -> None:
    page = open_page("cutoffs", DATA)
    chart = next(iter(charts(page).values()))
    names = {"expected": "expected", "naive": "naive", "lowest": "worst", "highest": "best"}
    scores = rr.evaluate(RANKINGS, metrics="ndcg", cutoffs=CUTOFFS, policies=tuple(names.values()))
    truth = rr.summarise(scores)
    drawn = {
        (row["model"], row["k"], policy, round(float(str(row[name])), 12))
        for row in rows(chart, "k")
        for name, policy in names.items()
    }
    for model, cutoff, *found, value in truth.select("model", "cutoff", "policy", "value").rows():
        k = "all" if cutoff is None else str(cutoff)
        assert (model, k, *found, round(value, 12)) in drawn


def test_a_curve_that_would_take_minutes_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = open_page("cutoffs", DATA)
    assert "Along recall" in [part.value for part in whole.header]
    assert "lists are taken for whole" in words(whole)
    monkeypatch.setattr("retrieval_report.ties.recall_curve.MOST_CURVE_CELLS", 0)
    page = open_page("cutoffs", made_data(made_rankings(("coarse", "fine"))))
    assert "Along recall" not in [part.value for part in page.header]
    assert len(charts(page)) == 1


def test_a_metric_with_a_depth_of_its_own_has_no_cutoffs() -> None:
    page = open_page("cutoffs", DATA, metric="r_precision")
    assert "there is no cutoff to choose" in page.info[0].value
    assert charts(page) == {}


def test_any_name_and_nothing_relevant() -> None:
    rankings = made_rankings(NAMES).with_columns(relevance=pl.lit(0))
    page = open_page("cutoffs", made_data(rankings), no_relevant="skip")
    assert not page.error
    assert words(page).startswith("Cutoffs: ndcg")
    assert all("Nothing to show" in title for title in charts(page))

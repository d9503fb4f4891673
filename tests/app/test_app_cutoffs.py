"""The overview draws the three scores along the cutoffs, a panel a model, and how far naive scores
are off at each.
"""

from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

import retrieval_report as rr
from made_pages import charts, made_data, open_page, table, words
from made_reports import made_rankings

RANKINGS = made_rankings(("coarse", "fine", "middle"))
DATA = made_data(RANKINGS)
CUTOFFS = (1, 3, 5, None)  # lists have eight items
PANELS, MAP = "ndcg along the cutoffs", "ndcg: how far the naive score is off"
SCORES = ("expected", "order_low", "order_high", "lowest", "highest", "naive", "off_by")


def specs(page: AppTest, title: str) -> list[dict[str, Any]]:
    """The plots of a chart."""
    return [spec for name, spec in charts(page).items() if name.startswith(title)]


def marks(spec: dict[str, Any], column: str) -> list[dict[str, Any]]:
    return [row for rows in spec["datasets"].values() for row in rows if column in row]


def test_panels_and_map_show_the_three_scores():
    page = open_page("overview", DATA)
    three = rr.Study(RANKINGS, "ndcg", cutoffs=CUTOFFS).three_scores
    truth = {
        (model, "all" if cutoff is None else str(cutoff)): pytest.approx(values, abs=1e-12)
        for model, cutoff, *values in three.select("model", "cutoff", *SCORES).iter_rows()
    }
    panels, (tiles,) = specs(page, PANELS), specs(page, MAP)
    assert page.selectbox(key="cutoff").options == ["1", "3", "5", "all"]
    assert len(panels) == 3
    for found in (
        [row for panel in panels for row in marks(panel, "naive")],
        marks(tiles, "naive"),
    ):
        assert len(found) == len(truth)
        drawn = {(row["model"], row["k"]): [row[name] for name in SCORES] for row in found}
        assert drawn == truth
    for panel in panels:
        (model,) = {row["model"] for row in marks(panel, "model")}
        assert panel["title"]["text"] == model
        dots = {row["k"]: row["expected"] for row in marks(panel, "model")}
        assert {row["k"]: row["expected"] for row in marks(panel, "expected")} == dots != {}


def test_precision_along_recall_is_computed_when_it_is_opened(
    monkeypatch: pytest.MonkeyPatch,
):
    title = "Precision along recall"
    closed = open_page("overview", DATA)
    assert title in [part.label for part in closed.expander]
    assert not specs(closed, title)
    whole = open_page("overview", DATA, recall_curve="true")
    assert specs(whole, title)
    monkeypatch.setattr("retrieval_report.ties.recall_curve.MOST_CURVE_CELLS", 0)
    data = made_data(made_rankings(("seen by", "no other test")))
    page = open_page("overview", data, recall_curve="true")
    assert "would take too long" in page.info[-1].value


def test_a_metric_with_a_depth_of_its_own_has_no_cutoffs():
    page = open_page("overview", DATA, metric="r_precision")
    (title,) = charts(page)
    assert title.startswith("r_precision@all: expected, shuffled and naive.")
    assert "along the cutoffs" not in words(page)


def test_of_many_models_the_leaders_and_the_endangered_have_panels():
    names = tuple(f"model {place:02}" for place in range(20))
    rankings = made_rankings(names)
    page = open_page("overview", made_data(rankings))
    panels, (tiles,) = specs(page, PANELS), specs(page, MAP)
    three = rr.Study(rankings, "ndcg", cutoffs=CUTOFFS).three_scores
    three = three.filter(pl.col("copy_of").is_null())  # copies share the row of their first
    models = three.filter(cutoff=3)["model"].to_list()  # as in the table
    is_off = pl.col("off_by").abs() > 1e-12, pl.col("naive_rank") != pl.col("expected_rank")
    off = three.filter(pl.any_horizontal(*is_off))["model"].to_list()  # others are only counted
    assert {row["model"] for row in marks(tiles, "naive")} == {*off} < {*models}
    assert table(page, 0).height == len(models)
    shown = [row["model"] for panel in panels for row in marks(panel, "model")]
    assert len(panels) == len({*shown}) == 12
    assert {*models[:6]} <= {*shown}
    endangered = {*three.filter("rank_can_change")["model"]}
    assert len({*shown} & endangered) >= min(6, len(endangered))

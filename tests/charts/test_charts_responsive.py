"""Charts side by side, and charts that fit a page of any width."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import polars as pl
import pytest

from chart_frames import PLACE, PLAIN, frames
from made_reports import made_report
from retrieval_report import charts
from retrieval_report.charts.data import nice_domain
from retrieval_report.study.pictures import pictures


def drawn(name: str) -> Any:
    own = frames(PLAIN)
    made = {
        "policies": lambda: charts.policies(own["summary"], **PLACE),
        "panels": lambda: charts.policy_panels(own["summary"], metric="precision"),
        "cutoffs": lambda: charts.scores_by_cutoff(own["summary"], metric="precision"),
        "matrix": lambda: charts.comparison_matrix(own["comparison"], **PLACE),
        "board": lambda: charts.leaderboard(own["leaderboard"], **PLACE),
        "profile": lambda: charts.profile(own["profile"]),
    }
    return made[name]()


@pytest.mark.parametrize("other", ["panels", "cutoffs", "profile"])
def test_charts_stand_beside_and_below_each_other(other: str) -> None:
    first, second = drawn("board"), drawn(other)
    for whole, kind in (
        (first | second, "hconcat"),
        (first & second, "vconcat"),
        ((second | first) & first, "vconcat"),
    ):
        spec = whole.to_dict()
        assert spec["config"]["background"] == "transparent"
        assert '"config"' not in json.dumps(spec[kind])
        assert len(spec[kind]) == 2
    plain = alt.Chart(alt.InlineData(values=[{"a": 1}])).mark_point().encode(x="a:Q")
    assert (plain | first).to_dict()["hconcat"][1]["title"] == first.to_dict()["title"]
    assert (first | plain).to_dict()["config"]["background"] == "transparent"


@pytest.mark.parametrize("name", ["policies", "panels", "cutoffs", "matrix", "board", "profile"])
def test_every_plot_fits_its_element(name: str) -> None:
    chart = drawn(name)
    whole, parts = chart.to_dict(), charts.responsive(chart)
    assert parts.title == " ".join(whole["title"]["text"])
    assert parts.description == whole["description"]
    plots = next((whole[kind] for kind in ("concat", "hconcat") if kind in whole), [whole])
    assert len(parts.panels) == len(plots)
    for panel in parts.panels:
        spec = panel.specification
        assert (spec["width"], spec["autosize"]) == (
            "container",
            {"type": "fit-x", "contains": "padding"},
        )
        assert spec["description"]
        used = json.dumps({key: part for key, part in spec.items() if key != "datasets"})
        assert all(data in used for data in spec["datasets"])
        # Vega-Lite takes a layout of legends, but its schema knows only an expression there.
        assert "vertical" in json.dumps(spec["config"]["legend"].pop("layout"))
        alt.Chart.from_dict(
            {key: part for key, part in spec.items() if key != "datasets"} | {"datasets": {}}
        )


def test_texts_right_of_a_plot_follow_its_width() -> None:
    spec = charts.responsive(drawn("board")).panels[0].specification
    right = [
        layer["encoding"]["x"]["value"]
        for layer in spec["layer"]
        if layer["mark"]["type"] == "text"
    ]
    assert right == [{"expr": "width + 12"}]


def test_a_legend_that_panels_share_is_there_once() -> None:
    panels = [panel.specification for panel in charts.responsive(drawn("panels")).panels]
    legends: list[Any] = [
        panel["encoding"]["color"]["legend"] if "encoding" in panel else None for panel in panels
    ]
    assert legends[0]["columns"]["expr"].endswith("? 1 : 3")
    assert legends[1:] == [None] * (len(panels) - 1)


def test_a_sentence_is_text() -> None:
    chart = charts.rank_flips(frames(PLAIN[:1])["summary"], **PLACE)
    assert charts.responsive(chart).panels == ()
    assert charts.responsive(chart).title == chart.to_dict()["description"]


def test_small_charts_do_not_grow_without_end() -> None:
    assert charts.responsive(drawn("matrix")).panels[0].most == 2 * 46 * len(PLAIN) + 300
    assert charts.responsive(drawn("board")).panels[0].most is None


def test_the_axis_of_shares_ends_at_one() -> None:
    assert nice_domain(pl.Series([0.97, 0.97])) == (0.9, 1.0)
    assert nice_domain(pl.Series([0.03, 0.99]))[1] == 1.0
    assert nice_domain(pl.Series([-0.01, 0.9]))[0] < 0
    assert nice_domain(pl.Series([3.2, 17.0]))[1] >= 17


@pytest.mark.slow
def test_all_pictures_of_a_report_have_words() -> None:
    for picture in pictures(made_report(("fine", "middle", "coarse"))):
        assert picture.drawn.title


def test_a_selection_stays_with_its_panel() -> None:
    chart = charts.query_scatter(frames(PLAIN)["queries"], **PLACE)
    (scatter,) = charts.responsive(
        chart
    ).panels  # the list beside it follows the rectangle, and cannot stand alone
    assert [param["name"] for param in scatter.specification["params"]] == ["brush"]


def test_ranks_that_were_not_evaluated_are_left_out() -> None:
    board = frames(PLAIN)["leaderboard"]
    unknown = board.with_columns(
        pl.lit(None, pl.Int64).alias(name) for name in ("tie_rank_low", "tie_rank_high")
    )
    both, one = (charts.responsive(charts.leaderboard(part, **PLACE)) for part in (board, unknown))
    assert both.subtitle.endswith("ranks: under tie order | left open by the tests over queries")
    assert one.subtitle.endswith("ranks: left open by the tests over queries")
    assert " | " not in json.dumps(one.panels[0].specification["datasets"])

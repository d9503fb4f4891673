"""Charts side by side, and charts that fit a page of any width."""

import json

import altair as alt
import pytest

from chart_frames import PLACE, PLAIN, frames
from retrieval_report import charts
from retrieval_report.charts.responsive import responsive


def drawn(name: str):
    own = frames(PLAIN)
    made = {
        "policies": lambda: charts.policies(own["summary"], **PLACE),
        "cutoffs": lambda: charts.scores_by_cutoff(own["summary"], metric="precision"),
        "matrix": lambda: charts.comparison_matrix(own["comparison"], **PLACE),
        "profile": lambda: charts.profile(own["profile"]),
    }
    return made[name]()


@pytest.mark.parametrize("name", ["policies", "cutoffs", "matrix", "profile"])
def test_every_plot_fits_its_element(name: str):
    chart = drawn(name)
    whole, parts = chart.to_dict(), responsive(chart)
    assert parts.title == " ".join(whole["title"]["text"])
    assert parts.description == whole["description"]
    plots = whole.get("concat", [whole])
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


def test_a_sentence_is_text():
    chart = charts.policies(frames(PLAIN)["summary"].clear(), **PLACE)
    assert responsive(chart).panels == ()
    assert responsive(chart).title == chart.to_dict()["description"]


@pytest.mark.parametrize("name", ["matrix", "profile"])
def test_tiles_let_a_page_shine_through_that_says_its_colour_and_are_light_elsewhere(
    name: str,
):
    alone = drawn(name).to_dict()["config"]
    assert {tones[0] for tones in alone["range"].values()} == {"#ececec"}
    assert alone["style"]["in-cell"]["color"] == "#222222"
    for panel in responsive(drawn(name), text="#e6e6e6").panels:
        config = panel.specification["config"]
        assert all(faint == f"{dark}14" for faint, dark in config["range"].values())
        assert config["style"]["in-cell"]["color"] == "#e6e6e6"

"""What every chart must do: hold to the Vega-Lite schema, tell itself in words, take any name and
any size.
"""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from typing import Any

import altair as alt
import polars as pl
import pytest

import retrieval_report as rr
from chart_frames import CHARTS, HOSTILE, PLACE, PLAIN, Frames, frames
from retrieval_report import charts
from retrieval_report.charts.theme import styled
from retrieval_report.writing.names import unique_labels

every_chart = pytest.mark.parametrize("draw", CHARTS.values(), ids=CHARTS)


def drawn(chart: Any) -> dict[str, Any]:
    """The specification, which `to_dict` holds against the schema; strict JSON, nothing of it
    NaN.
    """
    spec: dict[str, Any] = chart.to_dict()
    json.dumps(spec, allow_nan=False)
    return spec


def text_of(spec: dict[str, Any]) -> str:
    """The specification without the numbers that Altair counts what it has drawn by."""
    return re.sub(r"(view|param|concat)_\d+", "", json.dumps(spec))


@cache
def plain(draw: Callable[[Frames], Any]) -> dict[str, Any]:
    """The specification with plain names."""
    return drawn(draw(frames(PLAIN)))


@every_chart
def test_one_model_is_drawn(draw: Callable[[Frames], Any]):
    spec = drawn(draw(frames(PLAIN[:1])))
    assert spec["description"].endswith(".")
    assert spec["config"]["background"] == "transparent"


def test_a_measure_of_one_metric_alone_and_measures_that_are_not_there():
    summary = frames(PLAIN)["summary"]
    wanted = charts.scores_by_cutoff(summary, metric="precision").to_dict()["title"]
    for metric in (rr.Precision(), "P@2"):
        assert charts.scores_by_cutoff(summary, metric=metric).to_dict()["title"] == wanted
    whole = charts.policies(summary, metric="precision", cutoff=None).to_dict()["title"]
    for cutoff in ("all", float("nan"), None):
        assert (
            charts.policies(summary, metric="precision", cutoff=cutoff).to_dict()["title"]  # type: ignore[arg-type]
            == whole
        )
    for measure, message in (
        ("precision@3", "cutoff: 3 is not one of 1, 2, None"),
        ("precison@2", "did you mean 'precision'"),
    ):
        with pytest.raises(rr.ParameterError, match=message):
            charts.policies(summary, metric=measure)
    with pytest.raises(rr.ParameterError, match="cutoff: 1 is given as well as 'precision@2'"):
        charts.policies(summary, metric="precision@2", cutoff=1)
    with pytest.raises(rr.ColumnError, match="expected what summarise returns"):
        charts.policies(summary.drop("value"), **PLACE)


@every_chart
def test_names_are_data_and_drawn_as_text(draw: Callable[[Frames], Any]):
    spec = drawn(draw(frames(HOSTILE)))
    leaves = walk(spec)
    code = ("labelExpr", "calculate", "expr", "test", "filter")
    expressions = [str(value) for key, value in leaves if key in code]
    marks = ("script", "{{", "quoted", "xxx")
    assert not [text for text in expressions if any(part in text for part in marks)]
    texts = [value for _, value in leaves if isinstance(value, str)]
    assert max(map(len, texts)) <= 1600
    assert not [text for text in texts if set(text) & set("\u2028\u0000\u202e")]
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(spec)
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
    assert not tags & {"script", "img", "image", "a"}


@every_chart
def test_nothing_is_told_as_such(draw: Callable[[Frames], Any]):
    spec = drawn(
        draw(
            {name: frame.clear() for name, frame in frames(PLAIN).items()}
            | {
                "summary": pl.DataFrame(
                    schema=dict.fromkeys(frames(PLAIN)["summary"].columns, pl.String)
                )
            }
        )
    )
    assert spec["description"].startswith("Nothing to show: ")


@cache
def in_pandas():
    pytest.importorskip("pandas")
    own = frames(PLAIN)
    return {name: own[name] if name == "summary" else own[name].to_pandas() for name in own}


@every_chart
def test_pandas_frames_are_taken(draw: Callable[[Frames], Any]):
    assert text_of(drawn(draw(in_pandas()))) == text_of(plain(draw))


@every_chart
def test_the_text_takes_another_colour(draw: Callable[[Frames], Any]):
    spec = drawn(styled(draw(frames(PLAIN)), text="#fafafa"))
    config = spec["config"]
    colours = [config["axis"]["labelColor"], config["title"]["color"], config["text"]["color"]]
    assert colours == ["#fafafa"] * 3
    assert "white" not in [value for _, value in walk(spec["config"])]


def test_nothing_changes_in_altair_itself():
    before = (alt.data_transformers.active, alt.theme.active, alt.renderers.active)
    for draw in CHARTS.values():
        draw(frames(PLAIN))
    assert (alt.data_transformers.active, alt.theme.active, alt.renderers.active) == before


def test_all_charts_are_listed():
    assert {name.split(",")[0] for name in CHARTS} == set(charts.__all__)


def test_labels_differ_where_names_do():
    labels = unique_labels(HOSTILE)
    assert len(set(labels.values())) == len(HOSTILE)
    assert max(map(len, labels.values())) <= 32


def walk(node: Any) -> list[tuple[str, Any]]:
    """Every leaf with its key."""
    found: list[tuple[str, Any]] = []
    pairs = node.items() if isinstance(node, dict) else [("", value) for value in node]
    for key, value in pairs:
        found += walk(value) if isinstance(value, dict | list) else [(key, value)]
    return found

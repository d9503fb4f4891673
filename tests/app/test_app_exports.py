"""Charts are saved as pictures on white, under names that say what they are."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

import retrieval_report as rr
from chart_display import picture
from made_pages import TIMEOUT, made_data, open_page
from made_reports import made_rankings
from retrieval_report import charts

RANKINGS = made_rankings(("coarse", "fine", "middle"))


@pytest.mark.parametrize(
    ("kind", "begin"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")]
)
def test_a_chart_becomes_a_picture(kind: str, begin: bytes) -> None:
    chart = charts.policies(rr.Study(RANKINGS, "ndcg@3").summary, metric="ndcg@3")
    made = picture(lambda: chart, kind)
    assert made.startswith(begin)
    if kind == "svg":
        assert b'fill="white"' in made
        assert b"coarse" in made


def test_every_chart_of_a_page_is_offered_in_three_formats() -> None:
    page = open_page("overview", made_data(RANKINGS))
    offered = [button.proto.label for button in page.get("download_button")]
    assert offered == ["PNG", "SVG", "PDF"]


def sentence() -> None:
    from chart_display import Drawing, show_chart
    from retrieval_report.charts.theme import sentence_chart

    show_chart(Drawing(lambda: sentence_chart("no model has a score"), ("sentence",)))


def test_a_sentence_in_place_of_a_chart_is_not_offered_as_a_picture() -> None:
    page = AppTest.from_function(sentence, default_timeout=TIMEOUT).run()
    assert not page.exception
    assert "no model has a score" in page.markdown[0].value
    assert not page.get("download_button")

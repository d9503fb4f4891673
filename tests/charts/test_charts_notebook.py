"""A chart in a notebook, as the docstring of `retrieval_report.charts` says, with the network
away.
"""

from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest

from retrieval_report import charts, evaluate, summarise

pytestmark = pytest.mark.browser


def test_a_chart_displays_without_network(browser: Any, tmp_path: Path):
    rankings = pl.DataFrame(
        {
            "query": ["q"] * 4,
            "item": list("abcd"),
            "distance": [0, 2, 2, 5],
            "relevance": [0, 1, 0, 1],
        }
    )
    summary = summarise(evaluate(rankings, metrics="precision", cutoffs=2))
    with alt.renderers.enable("html", template="inline"):
        shown: Any = charts.policies(summary, metric="precision", cutoff=2)._repr_mimebundle_()
    bundle = shown[0] if isinstance(shown, tuple) else shown
    path = tmp_path / "output.html"
    path.write_text(
        f"<!doctype html><meta charset=utf-8><body>{bundle['text/html']}</body>", encoding="utf-8"
    )
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("canvas, svg", timeout=20_000)
    assert asked == [path.as_uri()]
    page.close()

"""Every chart on the screen of a phone: in Chromium, no text of a legend, an axis or a label leaves
its plot.
"""

import json
from typing import Any

import polars as pl
import pytest

from chart_frames import CHARTS, Frames, frames
from retrieval_report.charts.responsive import responsive
from retrieval_report.study.html import vega_bundle

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE = 390 - 2 * 16  # pixels inside the margins of a page
LONG = tuple(f"model-with-a-long-name-{number:02}" for number in range(20))
OUTSIDE = """async (specification) => {
    const box = document.createElement("div");
    document.body.replaceChildren(box);
    const how = {ast: true, renderer: "svg", actions: false, defaultStyle: false};
    const drawn = await window.embedChart(box, specification, how);
    await drawn.view.runAsync();
    const frame = box.querySelector("svg").getBoundingClientRect();
    const texts = [...box.querySelectorAll("svg text")].filter((text) => text.textContent);
    const leaves = (at) => at.right > frame.right + 1 || at.left < frame.left - 4 || at.bottom > frame.bottom + 1;
    const outside = texts.filter((text) => leaves(text.getBoundingClientRect())).map((text) => text.textContent);
    drawn.finalize();
    return [frame.width, outside];
}"""  # fmt: skip


def cut(own: Frames) -> Frames:
    """The frames as if all lists were cut, which adds a second legend."""
    share = pl.lit(0.5).alias("truncated_share")
    return {name: frame.with_columns(share) if share.meta.output_name() in frame.columns else frame
            for name, frame in own.items()}  # fmt: skip


@pytest.fixture(scope="module")
def phone(browser: Any):
    page = browser.new_page()
    page.set_viewport_size({"width": PHONE, "height": 844})
    page.set_content(f"<style>body {{margin: 0}}</style><script>{vega_bundle()}</script>")
    return page


def test_no_text_leaves_its_plot_on_a_phone(phone: Any):
    own = cut(frames(LONG))
    for name, draw in CHARTS.items():
        for panel in responsive(draw(own)).panels:
            width, outside = phone.evaluate(OUTSIDE, json.loads(json.dumps(panel.specification)))
            assert width <= PHONE, name
            assert outside == [], name


NUMBERS = """async (specification) => {
    const box = document.createElement("div");
    document.body.replaceChildren(box);
    const how = {ast: true, renderer: "svg", actions: false, defaultStyle: false};
    const drawn = await window.embedChart(box, specification, how);
    await drawn.view.runAsync();
    const sizes = (selector) => [...box.querySelectorAll(selector)].map((mark) => {
        const at = mark.getBoundingClientRect();
        return [at.width, at.height, getComputedStyle(mark).opacity];
    });
    return [sizes(".mark-rect.role-mark path"), sizes("text[aria-roledescription='text mark']")];
}"""


def test_the_numbers_of_a_matrix_are_read_on_a_phone(phone: Any):
    """They are turned where they would be wider than their cells, in which the smallest fits, too."""
    compared = frames(LONG)["comparison"].with_columns(pl.col("difference") / 1000)
    chart = CHARTS["comparison_matrix"]({**frames(LONG), "comparison": compared})
    specification = responsive(chart).panels[0].specification
    cells, numbers = phone.evaluate(NUMBERS, json.loads(json.dumps(specification)))
    assert len(numbers) == 16 * 15
    (wide, high), shown = cells[0][:2], {number[2] for number in numbers}
    assert shown == {"1"}
    assert wide < 20
    assert all(width <= wide + 1 and height <= high + 1 for width, height, _ in numbers)

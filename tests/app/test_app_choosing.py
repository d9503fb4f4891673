"""In the browser: a row, a rectangle and a button lead to one chosen list, and the address tells
which.
"""

import re
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from app_visits import READY, Visit

pytestmark = pytest.mark.browser
api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
PlaywrightTimeout = api.TimeoutError

ROW = 35  # pixels of a table's row, and of its heading
CHARTS = "[data-testid=stVegaLiteChart] svg"


def told(visit: Visit, name: str) -> str:
    """What the address says of a name."""
    return parse_qs(urlsplit(str(visit.page.url)).query).get(name, [""])[0]


def wait_until_told(visit: Visit, name: str, text: str | None = None) -> str:
    """Wait until the address tells a name, of this value if one is given."""
    wanted = "true" if text is None else f"p.get('{name}') === {text!r}"
    visit.page.wait_for_function(
        f"() => {{const p = new URLSearchParams(location.search); return p.has('{name}') && "
        f"{wanted}}}"
    )
    visit.page.wait_for_function(READY)
    return told(visit, name)


def choose_row(visit: Visit, number: int, name: str) -> str:
    """Tick one row of the first table, and wait until the address tells the choice; a table that is
    still being drawn takes no click, so it is tried again.
    """
    wanted = f"() => new URLSearchParams(location.search).has('{name}')"
    for _ in range(8):
        click_row(visit, number)
        with suppress(PlaywrightTimeout):
            visit.page.wait_for_function(wanted, timeout=15_000)
            break
    return wait_until_told(visit, name)


def click_row(visit: Visit, number: int, which: int = 0):
    """Tick one row of a table, counted from 0."""
    canvas = visit.page.locator(
        "[data-testid=stDataFrame] canvas[data-testid=data-grid-canvas]"
    ).nth(which)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    visit.page.mouse.click(box["x"] + 16, box["y"] + ROW * (number + 1) + ROW / 2)


def open_queries(browser: Any, server: str, query: str = "") -> Visit:
    visit = Visit(browser, server, f"queries{query}")
    visit.page.wait_for_selector(CHARTS)
    visit.page.wait_for_selector("[data-testid=stDataFrame] canvas")
    visit.page.wait_for_function(READY)
    return visit


@pytest.mark.slow
def test_a_row_chooses_its_list_and_a_rectangle_the_first_of_its_queries(browser: Any, server: str):
    with open_queries(browser, server) as visit:
        query = choose_row(visit, 2, "query")
        # What the chart of the chosen list says:
        visit.page.get_by_text("of one list under its tie orders").first.wait_for()
        marks = visit.page.locator(CHARTS).first
        box = marks.bounding_box()
        visit.page.mouse.move(box["x"] + box["width"] * 0.72, box["y"] + box["height"] * 0.25)
        visit.page.mouse.down()
        visit.page.mouse.move(
            box["x"] + box["width"] * 0.97, box["y"] + box["height"] * 0.5, steps=8
        )
        visit.page.mouse.up()
        visit.page.get_by_text(re.compile(r"inside the rectangle, of \d+")).wait_for()
        visit.page.wait_for_function(
            "query => new URLSearchParams(location.search).get('query') !== query", arg=query
        )
        assert visit.problems == []

"""The dashboard as a reader sees it, started from the command line and opened in Chromium."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from app_visits import LAPTOP, OPENINGS, READY, Visit, lists

pytestmark = pytest.mark.browser

pytest.importorskip("streamlit", reason="streamlit is not installed")

PHONE = {"width": 390, "height": 844}
PAGES = {
    "overview": "Overview",
    "compare": "Compare",
    "pair": "Two models",
    "ties": "Ties",
    "queries": "Queries",
    "costs": "Costs",
    "audit": "Audit",
    "data": "Data & export",
    "segments?open=digits": "Segments",
    "thresholds?open=digits": "Thresholds",
}
WITHOUT_CHART = {"audit", "data", "costs", "segments?open=digits"}
FAULTS = """() => {
  const main = document.querySelector("[data-testid=stMain]"), faults = [];
  const box = (node) => node.getBoundingClientRect();
  const seen = (node) => box(node).width > 0 && box(node).height > 0
    && !node.closest("details:not([open]) > :not(summary)");
  for (const node of main.querySelectorAll("h1, h2, h3, p, button, label, [data-testid=stMetric] *"))
    if (seen(node) && getComputedStyle(node).overflow !== "visible"
        && node.scrollWidth > node.clientWidth + 1) faults.push(`cut: ${node.innerText}`);
  const parts = [...main.querySelectorAll("[data-testid=stElementContainer]")].filter(seen);
  for (const [number, one] of parts.entries()) for (const other of parts.slice(number + 1)) {
    const a = box(one), b = box(other);
    if (!one.contains(other) && !other.contains(one)
        && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2)
      faults.push(`overlap: ${one.innerText.slice(0, 60)} | ${other.innerText.slice(0, 60)}`);
  }
  for (const text of main.querySelectorAll("svg.marks text")) {
    const outer = box(text.closest("svg")), inner = box(text);
    if (inner.width && (inner.left < outer.left - 2 || inner.right > outer.right + 2))
      faults.push(`leaves its chart: ${text.textContent}`);
  }
  return faults;
}"""  # what is cut, overlaps, or leaves its chart
FAINT = """() => {
  const numbers = (colour) => (colour.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const page = numbers(getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor);
  const over = ([r, g, b, alpha = 1], below) =>
    [r, g, b].map((part, at) => alpha * part + (1 - alpha) * below[at]);
  const light = (colour) => colour.map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const fill = (node) => numbers(getComputedStyle(node).fill);
  const box = (node) => node.getBoundingClientRect(), faults = [];
  for (const chart of document.querySelectorAll("svg.marks")) {
    const tiles = [...chart.querySelectorAll(".mark-rect.role-mark path")]
      .map((node) => [box(node), fill(node)]);
    for (const text of chart.querySelectorAll("text")) {
      const { left, right, top, bottom } = box(text);
      const tile = tiles.find(([around]) => around.left <= (left + right) / 2
        && around.right >= (left + right) / 2 && around.top <= (top + bottom) / 2
        && around.bottom >= (top + bottom) / 2);
      const below = tile ? over(tile[1], page) : page;
      if (right > left && text.textContent && contrast(over(fill(text), below), below) < 3)
        faults.push(`faint: ${text.textContent}`);
    }
  }
  for (const node of document.querySelectorAll("[data-testid=stMain] :is(h1, h2, h3, p, label)")) {
    const rows = numbers(getComputedStyle(node).color);
    if (box(node).width && !node.closest("[data-testid=stAlert], button")
        && contrast(over(rows, page), page) < 4) faults.push(`faint: ${node.innerText}`);
  }
  return faults;
}"""  # text that does not stand out from what is below it


def assert_nothing_is_cut(visit: Visit, size: dict[str, int]):
    visit.page.wait_for_timeout(1500)  # charts are fitted after the script has ended
    assert visit.page.evaluate(FAULTS) == []
    # Charts and tables scroll by themselves; the page is never wider than the window.
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= size["width"]


# Where little fits, and dark, every page; on a laptop those on which most stands side by side, which
# then get as narrow as a telephone that is turned.
VISITS = [(PHONE, path) for path in PAGES] + [(LAPTOP, "overview")]


@pytest.mark.slow
@pytest.mark.parametrize(("size", "path"), VISITS)
def test_every_page_draws_without_a_complaint_or_a_request_to_others(
    browser: Any, server: str, size: dict[str, int], path: str
):
    scheme = "dark" if size is PHONE else "light"
    with Visit(browser, server, path, size, color_scheme=scheme) as visit:
        visit.title(PAGES[path])
        if path not in WITHOUT_CHART:
            chart = visit.page.locator("[data-testid=stVegaLiteChart]")
            drawing = chart.locator(":is(svg, canvas)").first
            drawing.wait_for()
            assert drawing.bounding_box()["height"] > 40
            described = chart.locator("[aria-label]").first
            assert len(described.get_attribute("aria-label")) > 20
        assert_nothing_is_cut(visit, size)
        assert visit.page.evaluate(FAINT) == []
        if size is LAPTOP:
            visit.page.set_viewport_size(PHONE)
            assert_nothing_is_cut(visit, PHONE)
        visit.assert_clean()


def test_a_phone_has_the_three_scores_side_by_side(browser: Any, server: str):
    with Visit(browser, server, "", PHONE) as visit:
        heads = visit.page.locator(".phone th")
        heads.first.wait_for()
        assert heads.all_inner_texts() == ["model", "expected", "shuffled", "naive"]
        boxes = [head.bounding_box() for head in heads.all()]
        assert max(box["x"] + box["width"] for box in boxes) <= PHONE["width"]
        frames = visit.page.locator("[data-testid=stDataFrame]")  # is_visible asks of the first
        assert not frames.first.is_visible()
        visit.page.set_viewport_size(LAPTOP)
        frames.first.wait_for()
        assert not heads.first.is_visible()


def test_row_104_an_address_inside_a_name_is_no_link(browser: Any, server: str):
    with Visit(
        browser, server, "?models=https://evil.example%20www.evil.example&seed=me@evil.example"
    ) as visit:
        visit.title("Overview: ndcg@10")
        assert visit.alerts().count("evil.example") == 3
        assert visit.page.locator("a[href*='evil.example']").count() == 0


@pytest.fixture(scope="module")
def dark(browser: Any, server: str):
    """The first page, dark."""
    with Visit(browser, server, color_scheme="dark") as visit:
        visit.title("Overview")
        yield visit


def test_dark_pages_are_dark_and_their_charts_are_read(dark: Visit):
    text = dark.page.locator("[data-testid=stVegaLiteChart] svg text").first
    text.wait_for(state="attached")
    shade = (
        "getComputedStyle(document.querySelector('[data-testid=stApp]'))"
        ".backgroundColor.match(/\\d+/g).map(Number)"
    )
    assert max(dark.page.evaluate(shade)[:3]) < 60
    assert text.evaluate("node => node.getAttribute('fill')") == "#e6e6e6"


def test_the_answer_stands_on_the_first_screen_and_the_keyboard_reaches_all_controls(
    dark: Visit,
):
    alert = dark.page.locator("[data-testid=stAlert]").first.bounding_box()
    assert alert["y"] + alert["height"] < LAPTOP["height"]  # the answer is on the first screen
    # Streamlit fetches the code of a control when the first one is drawn, which may be after the
    # script has ended.
    dark.page.get_by_role("combobox", name="Models").wait_for()
    focused = "(document.activeElement.ariaLabel || document.activeElement.innerText || '').trim()"
    reached = []
    for _ in range(25):
        dark.page.keyboard.press("Tab")
        reached.append(dark.page.evaluate(focused))
    told = "\n".join(reached)
    assert all(name in told for name in ("Compare", "Audit", "Metric", "Cutoff k", "Models"))


def test_back_returns_to_the_last_setting(browser: Any, server: str):
    with Visit(browser, server) as visit:
        visit.title("Overview: ndcg@10")
        visit.choose("Metric", "precision")
        visit.title("Overview: precision@10")
        assert urlsplit(visit.page.url).query == "metric=precision"
        visit.page.get_by_role("link", name="Compare", exact=True).click()
        visit.title("Compare: precision@10")
        for title in ("Overview: precision@10", "Overview: ndcg@10"):
            visit.page.go_back()
            visit.title(title)
        assert urlsplit(visit.page.url).query == ""  # of settings as they are from the start
        visit.page.go_forward()
        visit.title("Overview: precision@10")
        visit.choose("Cutoff k", "5")
        visit.title("Overview: precision@5")
        visit.page.go_back()
        visit.title("Overview: precision@10")
        visit.assert_clean()


@pytest.mark.slow
def test_rows_of_the_first_table_choose_models(browser: Any, server: str):
    with Visit(browser, server) as visit:
        visit.title("Overview")
        names = choose_rows(visit, 0, 2)
        visit.page.get_by_role("button", name="Show only 2 models").click()
        visit.page.wait_for_function("location.search.split('models=').length === 3")
        visit.page.get_by_role("button", name="Show all models").click()
        visit.page.wait_for_function("location.search === ''")
        choose_rows(visit, 0, 2)
        visit.page.get_by_role("button", name="Compare these two").click()
        visit.title("Two models")
        boxes = [visit.page.get_by_role("combobox", name=f"Model {side}") for side in "AB"]
        assert [box.input_value() for box in boxes] == names
        visit.assert_clean()


@pytest.mark.slow
def test_a_laptop_shows_six_chosen_models_and_the_button_that_opens_files(
    browser: Any, server: str
):
    names = ["bfloat16", "float16", "float32", "int8", "binary-64", "binary-256"]
    with Visit(
        browser, server, "?models=" + "&models=".join(f"wordllama-{n}" for n in names)
    ) as visit:
        tags = visit.page.get_by_test_id("stMultiSelectTagsContainer")
        assert tags.get_by_role("button").count() >= len(names)
        assert tags.evaluate("box => box.scrollHeight <= box.clientHeight")
        visit.go("data")
        file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": lists("mine")}
        visit.page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files([file])
        opens = visit.page.get_by_role("button", name="Open these files")
        opens.wait_for()
        visit.settle()
        # Lines of the page before it may still stand above the button on a busy machine.
        above_the_end = (
            "height => [...document.querySelectorAll('button')].some(button => "
            "button.innerText.includes('Open these files') && "
            "button.getBoundingClientRect().bottom <= height)"
        )
        visit.page.wait_for_function(above_the_end, arg=LAPTOP["height"])
        visit.assert_clean()


def choose_rows(visit: Visit, *numbers: int) -> list[str]:
    """Tick rows of the first table, and return the names of their models. A table that is drawn
    anew meanwhile takes no click.
    """
    visit.page.wait_for_function(READY)
    table = visit.page.locator("[data-testid=stDataFrame]").first
    rows = table.locator("[role=row]")
    rows.nth(1).wait_for(state="attached")
    for number in numbers:
        for _ in range(OPENINGS):
            box = table.bounding_box()
            visit.page.mouse.click(box["x"] + 17, box["y"] + 35 + 28 * (number + 0.5))
            visit.page.wait_for_function(READY)
            visit.page.wait_for_timeout(500)
            if rows.nth(number + 1).get_attribute("aria-selected") == "true":
                break
    visit.page.get_by_role("button", name=f"Show only {len(numbers)} model").wait_for()
    return [
        rows.nth(number + 1).locator("[role=gridcell]").first.inner_text() for number in numbers
    ]

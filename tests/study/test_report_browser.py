"""The page as a reader sees it, opened from disk in Chromium."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from made_reports import HOSTILE, made_rankings, made_report
from retrieval_report.report import Report, write_report
from visits import Visited

pytestmark = pytest.mark.browser

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(
    scope="module",
    params=[HOSTILE, ("alone",)],
    ids=["hostile", "one"],
)
def report_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    return write_page(tmp_path_factory.mktemp("report"), made_report(request.param))


def write_page(folder: Path, report: Report) -> Path:
    write_report(folder, report, formats="html")
    return folder / "report.html"


MEASURED = """[...document.querySelectorAll(".chart")].map((chart) => {
    const svg = chart.querySelector("svg"), box = svg.getBoundingClientRect();
    const shown = [...svg.querySelectorAll("text:not([opacity='0']), path")];
    const marks = shown.map((mark) => mark.getBoundingClientRect().right);
    return [chart.clientWidth, box.width, box.height, Math.max(...marks) - box.right];
})"""


class Visit(Visited):
    """A report that was opened."""

    def __init__(
        self,
        browser: Any,
        path: Path,
        size: dict[str, int] = DESKTOP,
        *,
        opened: bool = True,
        fragment: str = "",
        **media: str,
    ):
        super().__init__(browser, size, **media)
        self.page.goto(path.as_uri() + fragment)
        if opened:
            self.page.evaluate(
                "document.querySelectorAll('details').forEach(d => { d.open = true })"
            )
        self.page.wait_for_function(
            "() => !document.querySelector('.chart:not([data-drawn], .failed)')"
        )

    def column(self, table: str, number: int) -> list[str]:
        cells = self.page.locator(f"#table-{table} tbody tr:not([hidden]) > :nth-child({number})")
        return [text.strip() for text in cells.all_inner_texts()]


@pytest.mark.parametrize(
    "size", [DESKTOP, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["desktop", "phone"]
)
def test_every_chart_draws_without_a_complaint_or_a_request(
    browser: Any, report_file: Path, size: dict[str, int]
):
    with Visit(browser, report_file, size) as visit:
        assert visit.problems == []
        assert visit.requests == [report_file.as_uri()]
        charts = visit.page.evaluate(MEASURED)
        assert len(charts) >= 3
        for width, drawn, height, beyond in charts:
            assert width - 2 <= drawn <= width  # as wide as the page
            assert height > 20
            assert beyond <= 2, "something is cut at the right"
        assert visit.page.title() == "Retrieval report"
        # Nothing but tables and charts, which scroll by themselves, is wider than the window.
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_charts_of_names_that_every_object_of_javascript_has(browser: Any, tmp_path: Path):
    """Vega found the properties of objects where it looked for rows by the names of models."""
    models = ("toString", "constructor", "hasOwnProperty", "__proto__", "valueOf")
    rows = made_rankings(models, queries=len(models))
    queries = dict(zip(rows["query"].unique(maintain_order=True), models, strict=True))
    rows = rows.with_columns(pl.col("query").replace_strict(queries))
    write_report(tmp_path, rows, metrics="ndcg@3, rr", shuffles=20, formats="html")
    with Visit(browser, tmp_path / "report.html") as visit:
        assert visit.problems == []
        assert visit.page.locator(".chart.failed").count() == 0
        names = visit.page.locator("svg text").all_text_contents()
        assert {name.removesuffix("\u2060") for name in names} >= set(models)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory):
    return write_page(tmp_path_factory.mktemp("three"), made_report())


def test_a_page_opens_on_the_answer_and_a_link_on_its_question(browser: Any, three: Path):
    height, words = "document.documentElement.scrollHeight", "document.body.innerText"
    with Visit(browser, three, opened=False) as visit:
        assert visit.page.evaluate(height) <= 2_000
        assert len(visit.page.evaluate(words).split()) <= 700
        assert visit.page.locator("#table-summary").is_visible()
        assert not visit.page.locator("#table-comparison").is_visible()
        visit.page.locator("nav a", has_text="Comparison").click()
        visit.page.locator(
            "#table-comparison"
        ).wait_for()  # the page hears of its new fragment later
    with Visit(browser, three, opened=False, fragment="#ties") as visit:
        assert visit.page.locator("#table-profile").is_visible()
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert visit.page.locator("#method table").first.is_visible()


def test_paper_has_every_chart_at_once(browser: Any, three: Path):
    """Printing waits for no script, so that all must stand when ``beforeprint`` has returned, even
    after the window has changed its size while sections were folded.
    """
    widths = """() => {
        dispatchEvent(new Event("beforeprint"));
        return [...document.querySelectorAll(".chart")].map(
            (chart) => [chart.clientWidth, chart.querySelector("svg")?.getBoundingClientRect().width ?? 0]
        );
    }"""
    with Visit(browser, three, opened=False) as visit:
        visit.page.evaluate("() => { window.heard = new Promise((go) => { onresize = go; }); }")
        visit.page.set_viewport_size({"width": 1000, "height": 800})
        visit.page.evaluate("() => window.heard.then(() => null)")
        visit.page.wait_for_function(
            "() => !document.documentElement.classList.contains('laid-out')"
        )
        assert not visit.page.locator("#comparison .chart").first.is_visible()
        drawn = visit.page.evaluate(widths)
        assert len(drawn) > 3
        assert all(place - 2 <= width <= place for place, width in drawn)


def test_the_first_screen_holds_verdict_what_could_turn_it_around_leaderboard_and_chart(
    browser: Any, three: Path
):
    with Visit(browser, three, {"width": 1366, "height": 900}, opened=False) as visit:
        page = visit.page
        sources = page.locator("#reversals tbody th").all_inner_texts()
        assert sources == ["tie order", "queries", "both"]
        parts = ("#verdict h2", "#reversals", "#table-three-scores", "#scores-chart")
        boxes = [page.locator(part).bounding_box() for part in parts]
        ends = [box["y"] + box["height"] for box in boxes]
        assert ends == sorted(ends)
        assert ends[-1] <= 900


def test_a_phone_shows_what_could_turn_it_around_and_the_three_scores(browser: Any, three: Path):
    with Visit(browser, three, PHONE, opened=False) as visit:
        beyond = "box => box.scrollWidth - box.clientWidth"
        assert visit.page.locator("#reversals").evaluate(beyond) == 0
        for table in ("three-scores", "summary"):
            headings = visit.page.locator(f"#table-{table} thead")
            naive = headings.get_by_role("columnheader", name="Naive", exact=True)
            box = naive.bounding_box()
            assert box["x"] + box["width"] <= PHONE["width"] - 2 * 13


@pytest.mark.parametrize(("width", "most"), [(1366, 2), (PHONE["width"], 3)])
def test_headings_take_few_lines_and_percentages_keep_together(
    browser: Any, three: Path, width: int, most: int
):
    lines = """heading => {
        const range = document.createRange();
        range.selectNodeContents(heading);
        return Math.round(range.getBoundingClientRect().height / parseFloat(getComputedStyle(heading).lineHeight));
    }"""
    with Visit(browser, three, {"width": width, "height": 900}, opened=False) as visit:
        headings = visit.page.locator(":is(#table-summary, #table-three-scores) thead th")
        said = {heading.inner_text(): heading.evaluate(lines) for heading in headings.all()}
        assert {"Ranks by ties,\u00a095%", "Shuffled, 5–\u206095%"} < {*said}
        assert "Some order changes the rank" in said
        assert max(said.values()) == most, said


def test_numbers_are_not_broken_on_paper(browser: Any, three: Path):
    lines = """cells => cells.map((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        return new Set([...text.getClientRects()].map((box) => box.top)).size;
    })"""
    with Visit(browser, three, {"width": 400, "height": 900}, media="print") as visit:
        cells = visit.page.locator("#table-comparison tr:not([hidden]) td.n")
        assert any("[" in text for text in cells.all_inner_texts())
        assert {*cells.evaluate_all(lines)} == {1}


def test_tables_sort_by_number_and_by_name_and_are_filtered_by_measure_and_by_words(
    browser: Any, three: Path
):
    with Visit(browser, three) as visit:
        header = visit.page.locator("#table-summary thead th", has_text="Expected")
        for direction, descending in (("descending", True), ("ascending", False)):
            header.get_by_role("button").click()
            values = [float(text) for text in visit.column("summary", 3)]
            assert header.get_attribute("aria-sort") == direction
            assert len(values) == 3
            assert values == sorted(values, reverse=descending)
        name = visit.page.locator("#table-summary thead th", has_text="Model").get_by_role("button")
        name.focus()
        visit.page.keyboard.press("Enter")
        assert visit.column("summary", 2) == ["coarse", "fine", "middle"]
        assert header.get_attribute("aria-sort") is None
        table = visit.page.locator("#table-summary-all")
        assert visit.column("summary-all", 2) == [
            row for row in visit.column("summary-all", 2) if row
        ]
        assert table.locator(".count").inner_text() == "3 of 27 rows"
        table.locator(".measure").select_option("")
        assert table.locator(".count").inner_text() == "27 of 27 rows"
        table.locator(".filter").fill("COARSE ndcg@3")
        assert visit.column("summary-all", 2) == ["coarse"]
        table.locator(".filter").fill("no such model")
        assert visit.column("summary-all", 2) == []
        # A tooltip shows on a mark.
        marks = visit.page.locator("#scores-chart-plot .mark-symbol.role-mark > *")
        marks.first.scroll_into_view_if_needed()
        marks.first.hover(force=True)
        visit.page.wait_for_selector("#vg-tooltip-element.visible", state="attached")
        assert visit.problems == []


def test_dark_and_light_follow_the_system_and_the_button(browser: Any, three: Path):
    background = "getComputedStyle(document.body).backgroundColor"
    with Visit(browser, three, color_scheme="dark") as visit:
        button = visit.page.locator("#theme")
        dark = visit.page.evaluate(background)
        assert button.inner_text() == "Light mode"  # what it will do
        button.click()
        assert button.inner_text() == "Dark mode"
        assert visit.page.evaluate(background) == "rgb(255, 255, 255)" != dark


def test_paper_has_the_rows_of_the_chosen_measure_and_no_table_that_sticks_out(
    browser: Any, tmp_path: Path
):
    models = tuple(f"wordllama-truncated-{number}" for number in range(10, 24))
    how: Any = {"baseline": models[0], "margin": 0.3, "costs": dict.fromkeys(models, 1024)}
    measures = "ndcg@3, precision@3, recall@3, ap"
    study = rr.Study(made_rankings(models, 40), measures, truncated="no", **how)
    page = write_page(tmp_path, study.contents())
    paper = {"width": 720, "height": 900}  # of A4 with its margins
    with Visit(browser, page, paper, opened=False, media="print") as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= paper["width"]
        choice = visit.page.locator("#table-no-worse select")
        choice.evaluate("(box) => { box.value = 'ap@all'; box.dispatchEvent(new Event('change')) }")
        rows = visit.page.locator("#table-no-worse tbody tr:not([hidden])")
        assert rows.count() == len(models) - 1
        assert rows.last.is_visible()
        below = "table => getComputedStyle(table, '::after').content"
        assert visit.page.locator("#table-no-worse").evaluate(below) == "none"


def test_the_printed_page_leaves_the_controls_out(browser: Any, three: Path):
    with Visit(browser, three, media="print") as visit:
        for control in ("#theme", "nav", "#table-summary .tools"):
            assert not visit.page.locator(control).is_visible()
        assert visit.page.locator("#table-summary table").is_visible()
        # Chromium 156 repeats a table's head on every printed page unless a button in it has a box
        # of its own.
        shown = "button => getComputedStyle(button).display"
        assert visit.page.locator("#table-summary thead button").first.evaluate(shown) == "contents"

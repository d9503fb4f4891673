"""What a study shows in a notebook: the three scores as a picture and a table, without scripts."""

import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser

import pytest

import retrieval_report as rr
from made_reports import HOSTILE, made_rankings
from retrieval_report.charts.responsive import responsive
from retrieval_report.study.notebook import round_numbers
from retrieval_report.study.pictures import PAGE_TEXT, pictures

MODELS = tuple(f"model {letter}" for letter in "abcdefghijkl")
# What JupyterLab 4 leaves of the output of a notebook that is not trusted (its sanitizer.ts), as far
# as it is used here; SVG, scripts and style sheets are removed.
TAGS = {"b", "caption", "div", "p", "span", "table", "tbody", "td", "th", "thead", "tr"}
STYLES = {
    *(
        "background-color",
        "border-radius",
        "border-spacing",
        "color",
        "font-size",
        "height",
        "left",
    ),
    *("line-height", "margin-bottom", "margin-left", "margin-right", "max-height", "max-width"),
    *("opacity", "overflow", "overflow-wrap", "position", "text-align", "top", "white-space"),
    "width",
}


@cache
def study_of(models: tuple[str, ...] = MODELS) -> rr.Study:
    return rr.Study(made_rankings(models), "ndcg@4, rr", truncated="no")


class Elements(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]):
        self.found.append((tag, dict(attrs)))


def titles(page: str) -> list[str]:
    """The text that every row of the picture shows under the pointer."""
    return [part["title"] or "" for _, part in Elements(page).found if "title" in part]


def test_every_model_is_named_with_its_three_scores():
    study = study_of()
    rows = study.at("ndcg@4").three_scores
    page = study._repr_html_()
    shown = titles(page)
    assert len(shown) == rows.height == 12
    form = r"left:([\d.]+)%;margin[^>]*>"
    (left, low), *_, (right, high) = re.findall(form + r"([\d.]+)<", page)  # ticks
    share = (rows["expected"] - float(low)) / (float(high) - float(low))
    dots = [float(dot) for dot in re.findall(r"left:([\d.]+)%[^>]*border-radius", page)]
    assert dots == pytest.approx(
        (float(left) + share * (float(right) - float(left))).to_list(), abs=0.1
    )
    for row, text in zip(rows.iter_rows(named=True), shown, strict=True):
        form = r"(.+): expected ([\d.]+), shuffled ([\d.]+)(?: to ([\d.]+))?, naive ([\d.]+)"
        parts = re.fullmatch(form, text)
        assert parts
        assert parts[1] == row["model"]
        said = [float(part) for part in (parts[2], parts[3], parts[4] or parts[3], parts[5])]
        known = [row[column] for column in ("expected", "order_low", "order_high", "naive")]
        assert said == pytest.approx(known, abs=1e-4)


def test_notebooks_that_are_not_trusted_keep_all_of_it():
    page = study_of(HOSTILE)._repr_html_()
    assert len(page.encode()) < 100_000
    for tag, attributes in Elements(page).found:
        assert tag in TAGS
        assert attributes.keys() <= {"style", "title", "role", "aria-label"}
        styles = (attributes.get("style") or "").split(";")
        assert {style.partition(":")[0].strip() for style in styles if style} <= STYLES
    assert re.search("https?:|//|url\\(|<script|<svg|<style", page) is None


def test_axes_end_in_round_numbers_around_the_values():
    for low, high in ((0.2, 0.21), (0.0, 1.0), (0.3, 0.3), (1e-6, 2e-6), (-3.0, 11.0), (0, 0)):
        ticks = round_numbers(low, high)
        assert ticks[0] <= low <= high <= ticks[-1]
        assert 2 <= len(ticks) <= 8
        assert ticks == sorted(set(ticks))


def test_the_picture_needs_no_library_for_charts():
    program = (
        "import sys, retrieval_report as rr\n"
        "rows = {'query': ['q'] * 2, 'item': ['a', 'b'], 'distance': [1, 1], 'relevance': [1, 0]}\n"
        "assert 'role=\"img\"' in rr.Study(rows, 'rr', truncated='no')._repr_html_()\n"
        "print(*sorted({'altair', 'vl_convert'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_the_first_chart_of_a_report_is_the_first_of_a_study():
    study = study_of(MODELS[:3])
    first = pictures(study.contents())[0]
    assert first.id == "scores-chart"
    assert first.drawn == responsive(study.plot.scores(), text=PAGE_TEXT)
    assert study.plot.__dir__()[0] == "scores"
    assert repr(study.plot).startswith("Charts: scores, ")

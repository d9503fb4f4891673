"""Take the pictures of README and of the gallery anew, in Chromium, from the samples and from the
tables kept beside the pages.

    python docs/make_pictures.py [folder]

Needs the extra `dev` and a Chromium, which is found as in the tests.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

import retrieval_report as rr
from retrieval_report.study.samples import SAMPLES
from retrieval_report.writing.colours import BLUE, SKY, VERMILLION

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "tests" / "helpers"))
from app_visits import READY, Visit  # noqa: E402
from visits import launched, served  # noqa: E402

IMAGES = DOCS / "images"
GALLERY = DOCS / "gallery"


def report(browser: Any, folder: Path, images: Path) -> None:
    """Take the top of the report on the sample that README shows."""
    command = [sys.executable, "-m", "retrieval_report", "demo", "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    page = browser.new_page()
    page.set_viewport_size({"width": 1200, "height": 1060})
    page.goto((folder / "docs" / "report.html").as_uri())
    page.screenshot(path=images / "report.png")
    page.close()


def dashboard(browser: Any, address: str, images: Path) -> None:
    """Take the overview of the dashboard by ndcg@10, whose printed winner is an accident, down to
    its chart.
    """
    with Visit(browser, address, "?cutoff=10", size={"width": 1366, "height": 1600}) as visit:
        visit.title("Overview")
        chart = visit.page.locator("[data-testid=stVegaLiteChart]").first
        chart.locator("canvas, svg").first.wait_for()
        visit.page.wait_for_function(READY)
        visit.page.wait_for_timeout(
            3000
        )  # charts are fitted to the page after the script has ended
        row = chart.locator("xpath=ancestor::*[@data-testid='stHorizontalBlock']").first
        box = row.bounding_box()  # with the panels beside it
        height = box["y"] + box["height"] + 16
        clip = {"x": 0, "y": 0, "width": 1366, "height": height}
        visit.page.screenshot(path=images / "dashboard-overview.png", clip=clip)


def ranges(table: str, names: dict[str, str]) -> Any:
    """Draw a table that a page of the gallery keeps: range over tie orders, exact and printed."""
    frame = pl.read_csv(GALLERY / table).rename({ours: name for name, ours in names.items()})
    rows = frame.unique("model", keep="first", maintain_order=True).sort("exact", descending=True)
    base = alt.Chart(rows.head(6)).encode(y=alt.Y("model", sort=None, title=None, axis=None))
    scale = alt.Scale(zero=False)
    bar = base.mark_rule(strokeWidth=9, opacity=0.4, color=SKY)
    exact = base.mark_point(filled=True, color=BLUE, size=60)
    printed = base.mark_tick(color=VERMILLION, thickness=3)
    layers = (
        bar.encode(x=alt.X("lowest", scale=scale, title=None), x2="highest"),
        exact.encode(x=alt.X("exact", scale=scale)),
        printed.encode(x=alt.X("printed", scale=scale)),
    )
    return alt.layer(*layers).properties(width=300, height=150)


def study_of(page: str) -> rr.Study:
    """Run the cells of a page of the gallery and return its study."""
    text = (GALLERY / f"{page}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for cell in re.findall(r"^```\{code-cell\}\n(?::tags:.*\n)?(.*?)^```", text, re.M | re.S):
        exec(compile(cell, f"{page}.md", "exec"), names)  # noqa: S102 (our own pages)
    study: rr.Study = names["study"]
    return study


def thumbnails(images: Path) -> None:
    """Draw a small picture for every page of the gallery, from what the page shows."""
    docs = next(sample.files for sample in SAMPLES if sample.name == "docs")
    drawn = {
        "llmjudge": ranges("llmjudge.csv", {"printed": "last_name_first"}),
        "trec-covid": ranges("trec-covid.csv", {"exact": "expected"}),
        "core17": ranges("core17.csv", {"exact": "expected", "printed": "item_descending"}),
        "digits": study_of("digits").plot.scores(),
        "quantisation": study_of("quantisation").plot.comparison_matrix(),
        "scikit-learn": study_of("scikit-learn").at("precision@5").plot.scores(),
        "reactive": rr.Study(**docs, measures="ndcg@10", truncated="between_ties").plot.scores(),
    }
    for name, chart in drawn.items():
        small = 0.45 if name not in ("llmjudge", "trec-covid", "core17") else 1
        chart.save(images / f"gallery-{name}.png", scale_factor=small)


def main() -> None:
    """Take all."""
    images = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
    thumbnails(images)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with launched(folder / "profile") as browser, served(folder) as address:
            report(browser, folder / "report", images)
            dashboard(browser, address, images)


if __name__ == "__main__":
    main()

"""Take the pictures of README anew, in Chromium, from the samples.

    python tests/helpers/take_pictures.py [folder]

Needs the extra `dev` and a Chromium, which is found as in the tests.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from app_visits import READY, Visit
from visits import launched, served

IMAGES = Path(__file__).parents[2] / "docs" / "images"


def report(browser: Any, folder: Path, images: Path) -> None:
    """Take the top of the report on the digits."""
    command = [sys.executable, "-m", "retrieval_report", "demo", "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    page = browser.new_page()
    page.set_viewport_size({"width": 1100, "height": 1044})
    page.goto((folder / "digits" / "report.html").as_uri())
    page.screenshot(path=images / "report.png")
    page.close()


def dashboard(browser: Any, address: str, images: Path) -> None:
    """Take the overview of the dashboard by ndcg@5, whose printed winner is an accident, down to
    its chart.
    """
    with Visit(browser, address, "?cutoff=5", size={"width": 1366, "height": 1600}) as visit:
        visit.title("Overview")
        chart = visit.page.locator("[data-testid=stVegaLiteChart]").first
        chart.locator("canvas, svg").first.wait_for()
        visit.page.wait_for_function(READY)
        visit.page.wait_for_timeout(
            3000
        )  # charts are fitted to the page after the script has ended
        box = chart.bounding_box()
        height = box["y"] + box["height"] + 16
        clip = {"x": 0, "y": 0, "width": 1366, "height": height}
        visit.page.screenshot(path=images / "dashboard-overview.png", clip=clip)


def main() -> None:
    """Take both."""
    images = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with launched(folder / "profile") as browser, served(folder) as address:
            report(browser, folder / "report", images)
            dashboard(browser, address, images)


if __name__ == "__main__":
    main()

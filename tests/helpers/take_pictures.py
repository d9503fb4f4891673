"""Take the pictures of README anew, in Chromium, from the samples.

    python docs/take_pictures.py [folder]

Needs the extras `app` and `dev`, and a Chromium on the path or in RETRIEVAL_REPORT_CHROMIUM.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
PORT = 8599
PATIENCE = 240_000  # milliseconds: kernels may have to be compiled first
READY = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"


def report(browser: Any, images: Path) -> None:
    """Take the top of the report on the digits."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "retrieval_report", "demo", "--out", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        page = browser.new_page(viewport={"width": 1100, "height": 1044})
        page.goto((Path(folder) / "digits" / "report.html").as_uri())
        page.screenshot(path=images / "report.png")
        page.close()


def dashboard(browser: Any, images: Path) -> None:
    """Take the overview of the dashboard, down to the end of its first chart."""
    command = [sys.executable, "-m", "retrieval_report", "dashboard", "--no-browser", "--port", str(PORT)]
    server = subprocess.Popen(command)
    try:
        page = browser.new_page(viewport={"width": 1366, "height": 1600})
        page.set_default_timeout(PATIENCE)
        open_when_ready(page, f"http://127.0.0.1:{PORT}")
        chart = page.locator("[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg").first
        chart.wait_for()
        page.wait_for_function(READY)
        page.wait_for_timeout(3000)  # charts are fitted to the page after the script has ended
        boxes = [chart.bounding_box() for chart in page.locator("[data-testid=stVegaLiteChart]").all()[:2]]
        height = max(box["y"] + box["height"] for box in boxes) + 16
        page.screenshot(path=images / "dashboard-overview.png", clip={"x": 0, "y": 0, "width": 1366, "height": height})
        page.close()
    finally:
        server.terminate()
        server.wait()


def open_when_ready(page: Any, address: str) -> None:
    """Open a page whose server may still be starting."""
    for _ in range(100):
        try:
            page.goto(address)
            return
        except Exception as error:
            if "ERR_CONNECTION_REFUSED" not in str(error):
                raise
            page.wait_for_timeout(300)
    raise SystemExit(f"nothing answers at {address}")


def main() -> None:
    """Take both."""
    images = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
    chromium = os.environ.get("RETRIEVAL_REPORT_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        report(browser, images)
        dashboard(browser, images)
        browser.close()


if __name__ == "__main__":
    main()

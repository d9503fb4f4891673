"""Chromium, and a dashboard for it to visit, for tests that look at pages as a reader does."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
NAMES = ("chromium", "chromium-browser", "google-chrome")
# Milliseconds until a wait fails: kernels may have to be compiled first, while Spark takes both
# processors; a test that waits in vain holds up its process for as long.
PATIENCE = 90_000


def chromium() -> str:
    """Where Chromium is; RETRIEVAL_REPORT_CHROMIUM says so if it is in no usual place."""
    found = [os.environ.get("RETRIEVAL_REPORT_CHROMIUM"), *(shutil.which(name) for name in NAMES)]
    return next((path for path in found if path), "")


@contextmanager
def launched(profile: Path) -> Iterator[Any]:
    """Start Chromium without a window, with a folder of its own: the profile of the user is left
    alone.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium(), headless=True, args=list(FLAGS)
        )
        context.set_default_timeout(PATIENCE)
        yield context
        context.close()


def blank_page(browser: Any, size: dict[str, int], **media: str) -> Any:
    """A page of this size, which a visit before may have left: a new one has to load and compile
    all scripts again, which is two thirds of the work of a visit.
    """
    left = [page for page in browser.pages if page.url == "about:blank"]
    page = left[0] if left else browser.new_page()
    page.set_viewport_size(size)
    page.emulate_media(**{"color_scheme": "light", "media": "screen", **media})
    return page


class Visited:
    """A page that a test looks at, and what it asked for and complained about meanwhile."""

    def __init__(self, browser: Any, size: dict[str, int], **media: str) -> None:
        self.page = blank_page(browser, size, **media)
        self.requests: list[str] = []
        self.problems: list[str] = []
        self.listeners: dict[str, Callable[[Any], None]] = {
            "request": lambda request: self.requests.append(request.url),
            "response": self.answered,
            "pageerror": lambda error: self.problems.append(str(error)),
            "console": self.listen,
        }
        for event, listener in self.listeners.items():
            self.page.on(event, listener)

    def answered(self, response: Any) -> None:
        """What is to be said of an answer; by default nothing."""

    def listen(self, message: Any) -> None:
        """Keep what the console shows as an error."""
        if message.type == "error":
            self.problems.append(message.text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        """Leave the page for the next visit, or close it if its test failed."""
        if failed:
            self.page.close()
            return
        for event, listener in self.listeners.items():
            self.page.remove_listener(event, listener)
        self.page.goto("about:blank")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Generator[Any]:
    """Chromium without a window."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not chromium():
        pytest.skip("no Chromium on this machine (Debian: apt install chromium)")
    with launched(tmp_path_factory.mktemp("profile")) as context:
        yield context


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[str]:
    """Start a dashboard from this folder, and give its address; Ctrl-C ends it at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "log"
    command = [
        sys.executable,
        "-m",
        "retrieval_report",
        "dashboard",
        *arguments,
        "--no-browser",
        "--port",
        str(port),
    ]
    with log.open("wb") as file:
        started = subprocess.Popen(
            command, cwd=folder, stdout=file, stderr=file, start_new_session=True
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", started, log)
        yield f"http://127.0.0.1:{port}"
        started.send_signal(signal.SIGINT)
        assert started.wait(30) == 0, log.read_text()
        assert "Traceback" not in log.read_text()
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a dashboard that was started elsewhere."""
    if not chromium():
        pytest.skip("no Chromium on this machine (Debian: apt install chromium)")
    with served(tmp_path_factory.mktemp("elsewhere")) as address:
        yield address


def wait_for(address: str, started: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert started.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                assert answer.status == 200
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(log.read_text())

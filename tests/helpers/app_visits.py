"""The dashboard as a reader visits it."""

from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import polars as pl

from visits import PATIENCE, Visited

LAPTOP = {"width": 1366, "height": 768}
OPENINGS = 16  # how often a menu is opened before its option is missed

READY = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"


# Streamlit looks for its server below the page first, and then beside it.
PROBES = ("/_stcore/health", "/_stcore/host-config")


class Visit(Visited):
    """A session of the dashboard, what it asked for and what it complained about."""

    def __init__(
        self, browser: Any, server: str, path: str = "", size: dict[str, int] = LAPTOP, **media: str
    ) -> None:
        self.server = server
        super().__init__(browser, size, **media)
        self.go(path)

    def answered(self, response: Any) -> None:
        if response.status >= 400 and not urlsplit(response.url).path.endswith(PROBES):
            self.problems.append(f"{response.status} {response.url}")

    def listen(self, message: Any) -> None:
        # What could not be loaded is in `answered`, with its address.
        if "Failed to load resource" not in message.text:
            super().listen(message)

    def go(self, path: str) -> None:
        self.page.goto(f"{self.server}/{path}")
        self.settle()

    def settle(self) -> None:
        """Wait until the script has run and its title stands."""
        self.page.wait_for_selector("h1")
        self.page.wait_for_function(READY)

    def title(self, text: str) -> None:
        """Wait for a title."""
        self.page.wait_for_function(
            "text => document.querySelector('h1')?.innerText.includes(text)", arg=text
        )
        self.page.wait_for_function(READY)

    @property
    def hosts(self) -> set[str]:
        addresses = [urlsplit(url) for url in self.requests]
        return {address.netloc for address in addresses if address.scheme not in ("data", "blob")}

    def choose(self, label: str, text: str) -> None:
        """Choose from a menu by its label; a page that is drawn meanwhile may close the menu."""
        from playwright.sync_api import TimeoutError as Late

        box = self.page.get_by_role("combobox", name=label).first
        option = self.page.get_by_role("option", name=text).first
        for _ in range(OPENINGS):
            self.page.wait_for_function(READY)
            box.click()
            self.page.keyboard.type(text)
            with suppress(Late):
                option.click(timeout=PATIENCE / OPENINGS)
                return
            box.press("Escape")
        raise AssertionError(f"{label}: no option {text!r}")

    def alerts(self) -> str:
        return "\n".join(self.page.locator("[data-testid=stAlert]").all_inner_texts())

    def assert_clean(self) -> None:
        assert self.problems == []
        assert self.hosts == {urlsplit(self.server).netloc}


def lists(name: str) -> bytes:
    rows = [
        (name, f"q{query}", f"d{item}", item // 3, (query + item) % 2)
        for query in range(4)
        for item in range(9)
    ]
    frame = pl.DataFrame(
        rows, schema=["model", "query", "item", "distance", "relevance"], orient="row"
    )
    return frame.write_csv().encode()

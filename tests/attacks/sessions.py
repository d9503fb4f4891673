"""Twenty readers of one dashboard, who click at random: ``python tests/attacks/sessions.py
--sessions 20 --minutes 5``.

Every reader opens a window of Chromium, uploads data of its own, and then changes pages and
controls. Only names of its own models may reach it, no page may end in an exception, and the memory
of the server has to stay flat once everybody has opened the data.
"""

import argparse
import asyncio
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import Page, TimeoutError, async_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from app_visits import READY
from made_reports import made_rankings
from visits import FLAGS, PATIENCE, chromium, served

NAMES = re.compile(rb"reader\\?-(\d\d)\\?-")  # in Markdown, escaped
CLICKED = ("stSidebarNavLink", "stSelectbox", "stCheckbox")
A_CLICK = 5_000  # milliseconds; what was to be clicked may go when the page is drawn anew


class Reader:
    """A window, and what came into it."""

    def __init__(self, number: int, page: Page, server: str):
        self.number, self.page, self.server = number, page, server
        self.draw = random.Random(number)
        self.seen: Counter[str] = Counter()
        page.set_default_timeout(PATIENCE)
        page.on("websocket", lambda socket: socket.on("framereceived", self.receive))

    def receive(self, data: Any):
        """Count whose models a message of the server names."""
        for name in NAMES.findall(data):
            self.seen["own names" if int(name) == self.number else "NAMES OF OTHERS"] += 1

    async def go(self, path: str = "") -> None:
        """Load a page, which begins a session."""
        await self.page.goto(f"{self.server}/{path}")
        await self.drawn()

    async def drawn(self) -> None:
        """Wait until the script has run."""
        await self.page.wait_for_timeout(300)
        await self.page.wait_for_selector("h1")
        await self.page.wait_for_function(READY)
        self.seen["pages"] += 1
        self.seen["EXCEPTIONS"] += await self.page.get_by_test_id("stException").count()

    async def upload(self) -> None:
        """Open three models of its own."""
        models = tuple(f"reader-{self.number:02}-{letter}" for letter in "abc")
        rows = made_rankings(models, 30).write_csv().encode()
        file: Any = {"name": "lists.csv", "mimeType": "text/csv", "buffer": rows}
        await self.go("data")
        await self.page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(file)
        await self.page.get_by_role("button", name="Open these files").click()
        async with asyncio.timeout(PATIENCE / 1000):
            while not self.seen["own names"]:
                await self.drawn()

    async def click(self) -> None:
        """Another page, or another value of a control that is not the choice of the data."""
        kind = self.draw.choice(CLICKED)
        named = self.page.get_by_test_id(kind).filter(has_not_text=re.compile("^Data$"))
        shown = [one for one in await named.all() if await one.is_visible()]
        with suppress(TimeoutError, IndexError):
            await self.draw.choice(shown).click(timeout=A_CLICK)
            if kind == "stSelectbox":
                options = await self.page.get_by_role("option").all()
                await self.draw.choice(options).click(timeout=A_CLICK)
            self.seen[kind] += 1
        await self.drawn()

    async def run(self, seconds: float) -> None:
        """Click until the time is over."""
        with suppress(asyncio.TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    await self.click()

    async def load(self, loads: int) -> None:
        """Load a page of the sample again and again, and click once on each."""
        for _ in range(loads):
            await self.go()
            await self.click()


def print_memory(when: str, server: str):
    """Print the resident memory of the server, the last process that was given its port."""
    port = server.rpartition(":")[2]
    found = subprocess.check_output(["pgrep", "--full", "--newest", f"port.{port}"], text=True)
    status = Path(f"/proc/{found.strip()}/status").read_text(encoding="utf-8")
    print(f"{when}: {int(status.partition('VmRSS:')[2].split()[0]) // 1024} MB", flush=True)


async def read(server: str, sessions: int, minutes: float, loads: int) -> None:
    """Let everybody open the data and click, or two load pages; print what became of it."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        pages = [await browser.new_page() for _ in range(2 if loads else sessions)]
        readers = [Reader(number, page, server) for number, page in enumerate(pages)]
        if not loads:
            await asyncio.gather(*(reader.upload() for reader in readers))
        print_memory("open", server)
        for part in ("a quarter", "half", "three quarters", "all"):
            works = (one.load(loads // 8) if loads else one.run(15 * minutes) for one in readers)
            await asyncio.gather(*works)
            print_memory(part, server)
        print(dict(sum((reader.seen for reader in readers), Counter[str]())), flush=True)


def main():
    """Start the server, and let readers come."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument(
        "--loads", type=int, default=0, help="of the sample instead, by two readers"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server:
        asyncio.run(read(server, **vars(asked)))


if __name__ == "__main__":
    main()

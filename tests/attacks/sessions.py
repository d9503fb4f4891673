"""Twenty readers of one dashboard, who click at random: ``python tests/attacks/sessions.py --sessions
20 --minutes 5``.

Every reader opens a session of the server that ``retrieval-report dashboard`` starts, uploads data
of its own, and then changes pages and controls. Only names of its own models may reach it, no page
may end in an exception, and the memory of the server has to stay flat once everybody has opened the
data.
"""

import argparse
import asyncio
import random
import re
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

NAMES = re.compile(rb"reader\\?-(\d\d)\\?-")  # in Markdown, escaped
CONTROLS = ("selectbox", "checkbox")
PATIENCE = 600


def rankings(number: int) -> bytes:
    """The upload of one reader: three models of its own, 30 queries of 20 items."""
    names = [f"reader-{number:02}-{letter}" for letter in "abc"]
    rows = pl.DataFrame({"model": names}).join(pl.DataFrame({"query": range(30)}), how="cross")
    rows = rows.join(pl.DataFrame({"item": range(20)}), how="cross")
    hashed = pl.struct("model", "query", "item").hash(number)
    relevant = pl.struct("query", "item").hash(number) % 4 == 0
    return (
        rows.with_columns(distance=hashed % 5, relevance=relevant.cast(pl.Int8))
        .write_csv()
        .encode()
    )


class Reader:
    """One session: what is on its page, and what was wrong."""

    def __init__(self, number: int, port: int) -> None:
        self.number, self.address = number, f"127.0.0.1:{port}"
        self.draw = random.Random(number)
        self.socket: Any = None
        self.session, self.page = "", ""
        self.pages: list[str] = []
        self.elements: dict[str, Any] = {}
        self.states: dict[str, dict[str, Any]] = {}
        self.urls: Any = None
        self.seen: Counter[str] = Counter()
        self.said: list[str] = []
        self.opened = False

    def connection(self) -> Any:
        """Open a session, as a page that is loaded does."""
        address = f"ws://{self.address}/_stcore/stream"
        return connect(
            address, subprotocols=[Subprotocol("streamlit")], max_size=None, ping_interval=None
        )

    async def load(self) -> None:
        """Load a page of the sample, click once, and leave."""
        self.page, self.states = "", {}
        async with self.connection() as self.socket:
            await self.rerun()
            await self.click()

    async def run(self, ready: asyncio.Event, minutes: float) -> None:
        """Open the data, wait for the others, and click until the time is over."""
        async with self.connection() as self.socket:
            await self.rerun()
            self.page = next(page for page in self.pages if page)
            await self.upload()
            self.opened = True
            await ready.wait()
            end = time.monotonic() + 60 * minutes
            while time.monotonic() < end:
                await self.click()

    async def rerun(self, trigger: str = "") -> None:
        """Ask for the page with all controls as they are, and take what comes until it is drawn."""
        message = BackMsg()
        state = message.rerun_script
        state.page_script_hash = self.page
        for name, value in self.states.items():
            state.widget_states.widgets.add(id=name, **value)
        if trigger:
            state.widget_states.widgets.add(id=trigger, trigger_value=True)
        self.elements.clear()
        await self.socket.send(message.SerializeToString())
        await self.until("script_finished")
        self.seen["runs"] += 1

    async def until(self, kind: str) -> None:
        """Take messages until one of a kind has come."""
        found = ""
        while found != kind:
            data = await asyncio.wait_for(self.socket.recv(), PATIENCE)
            message = ForwardMsg.FromString(data)
            found = message.WhichOneof("type")
            if (
                message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            ):  # another run comes at once
                found = ""
            self.seen["own names"] += bool(NAMES.search(data))
            self.seen["NAMES OF OTHERS"] += any(
                int(name) != self.number for name in NAMES.findall(data)
            )
            self.take(found, message)

    def take(self, kind: str, message: Any) -> None:
        """Remember what can be clicked, and count what is wrong."""
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id
        elif kind == "navigation":
            self.pages = [page.page_script_hash for page in message.navigation.app_pages]
        elif kind == "file_urls_response":
            self.urls = message.file_urls_response.file_urls[0]
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            what = element.WhichOneof("type")
            self.said += [element.alert.body[:300]] if what == "alert" else []
            self.seen["EXCEPTIONS"] += what == "exception"
            if what == "exception":
                print(element.exception.type, element.exception.message[:200], flush=True)
            if what in (*CONTROLS, "button", "file_uploader"):
                own = getattr(element, what)
                self.elements[own.id] = (what, own)

    async def upload(self) -> None:
        """Go to the page of the data, upload a file and open it."""
        self.page = self.pages[-1]
        await self.rerun()
        uploaders = [
            own
            for what, own in self.elements.values()
            if what == "file_uploader" and "one" in own.label
        ]
        data = rankings(self.number)
        request = BackMsg()
        request.file_urls_request.request_id = str(uuid.uuid4())
        request.file_urls_request.session_id = self.session
        request.file_urls_request.file_names.append("lists.csv")
        await self.socket.send(request.SerializeToString())
        await self.until("file_urls_response")
        await asyncio.to_thread(put, f"http://{self.address}{self.urls.upload_url}", data)
        info = {
            "name": "lists.csv",
            "size": len(data),
            "file_id": self.urls.file_id,
            "file_urls": self.urls,
        }
        self.states[uploaders[0].id] = {"file_uploader_state_value": {"uploaded_file_info": [info]}}
        await self.rerun()
        button = next(
            own
            for what, own in self.elements.values()
            if what == "button" and "Open these" in own.label
        )
        await self.rerun(button.id)
        if not self.seen["own names"]:
            raise RuntimeError(f"the upload was not opened: {self.said}")

    async def click(self) -> None:
        """Another page, or another value of a control."""
        controls = [(what, own) for what, own in self.elements.values() if what in CONTROLS]
        if not controls or self.draw.random() < 0.3:
            self.page = self.draw.choice(self.pages)
        else:
            what, own = self.draw.choice(controls)
            if what == "checkbox":
                self.states[own.id] = {"bool_value": self.draw.random() < 0.5}
            elif own.options and own.label != "Data":
                self.states[own.id] = {"string_value": self.draw.choice(own.options)}
        await self.rerun()


def put(url: str, data: bytes) -> None:
    """Upload as a browser does."""
    with urllib.request.urlopen(url.split("/_stcore")[0] + "/_stcore/health") as answer:
        cookie = answer.headers["Set-Cookie"] or ""
    token = cookie.partition("=")[2].partition(";")[0]
    mark = uuid.uuid4().hex
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="lists.csv"\r\n\r\n'
    body = head.encode() + data + f"\r\n--{mark}--\r\n".encode()
    headers = {
        "Content-Type": f"multipart/form-data; boundary={mark}",
        "X-Xsrftoken": token,
        "Cookie": cookie,
    }
    urllib.request.urlopen(urllib.request.Request(url, body, headers, method="PUT"))


def memory(process: int) -> int:
    """Resident memory of a process in megabytes."""
    text = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(text.partition("VmRSS:")[2].split()[0]) // 1024


async def watch(process: int, sizes: list[int]) -> None:
    """Write down the memory of the server every few seconds."""
    while True:
        sizes.append(memory(process))
        await asyncio.sleep(3)


async def reload(process: int, port: int, loads: int) -> None:
    """Load pages of the sample two at a time, each in a session of its own; print the memory."""
    readers = [Reader(number, port) for number in range(2)]
    for done in range(0, loads, 2):
        await asyncio.gather(*(reader.load() for reader in readers))
        if done % 50 == 0:
            print(f"{done + 2} loads: {memory(process)} MB", flush=True)
    print(dict(sum((reader.seen for reader in readers), Counter[str]())), flush=True)


async def read(process: int, port: int, sessions: int, minutes: float) -> None:
    """Let everybody open the data, then click; print what became of it."""
    ready, sizes = asyncio.Event(), list[int]()
    readers = [Reader(number, port) for number in range(sessions)]
    tasks = [asyncio.create_task(reader.run(ready, minutes)) for reader in readers]
    while any(not reader.opened for reader in readers) and not any(task.done() for task in tasks):
        await asyncio.sleep(1)
    print(f"open: {memory(process)} MB", flush=True)
    ready.set()
    watching = asyncio.create_task(watch(process, sizes))
    await asyncio.gather(*tasks)
    watching.cancel()
    seen = sum((reader.seen for reader in readers), Counter[str]())
    quarter = max(len(sizes) // 4, 1)
    means = [
        sum(part) // len(part)
        for part in (sizes[n * quarter : (n + 1) * quarter] for n in range(4))
        if part
    ]
    print(f"{sessions} sessions, {minutes} minutes: {dict(seen)}")
    print(f"memory in MB by quarters of the time: {means}, at most {max(sizes)}", flush=True)


def main() -> None:
    """Start the server, and let readers come."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument(
        "--loads", type=int, default=0, help="of pages of the sample, one after the other"
    )
    asked = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["-m", "retrieval_report", "dashboard", "--no-browser", "--port", str(port)]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        children = (
            Path(f"/proc/{process.pid}/task/{process.pid}/children")
            .read_text(encoding="utf-8")
            .split()
        )
        server = int((children or [str(process.pid)])[0])
        if asked.loads:
            asyncio.run(reload(server, port, asked.loads))
        else:
            asyncio.run(read(server, port, asked.sessions, asked.minutes))
    finally:
        process.terminate()
        process.wait()


def wait_for(port: int) -> None:
    """Wait until the server answers."""
    for _ in range(PATIENCE):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health")
        except OSError:
            time.sleep(1)
        else:
            return


if __name__ == "__main__":
    main()

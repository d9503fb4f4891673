"""The dashboard's server: `retrieval-report dashboard`,
`streamlit run app/main.py`, or `python app/main.py`.
"""

import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

if __name__ == "__main__":
    # Ctrl-C ends the server without a traceback while it loads, and again after it has shut down.
    # Python's own exception could get lost in libraries that catch all errors of callbacks.
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    sys.path.insert(0, str(Path(__file__).parent))  # Python leaves it out with PYTHONSAFEPATH

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from retrieval_report.study.server import SETTINGS


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Start background work. It takes seconds to load, so it starts here, where Ctrl-C already
    works.
    """
    from prefetch import start

    start()
    yield


def of_this_machine(app: ASGIApp) -> ASGIApp:
    """Refuse requests that pages of other machines make
    through a reader's browser, and those for other names.

    Streamlit would ask the internet for this machine's address to judge them, and answers an origin
    that is no address with an internal error.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        addresses = [headers[name] for name in (b"origin", b"host") if name in headers]
        if all(_names_this_machine(name.decode("latin-1")) for name in addresses):
            await app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await send({"type": "http.response.start", "status": 403, "headers": []})
            await send({"type": "http.response.body"})

    return answer


ADDRESS = re.compile(r"(?:https?://)?(?:\[([0-9a-f:.]+)\]|([\w.-]+?)\.?)(?::\d+)?", re.IGNORECASE)


def _names_this_machine(address: str) -> bool:
    """Return whether an origin or a host is this machine."""
    match = ADDRESS.fullmatch(address)
    name = (match[1] or match[2]).lower() if match else ""
    return name in st.get_option("server.allowedHosts")


app = st.App("dashboard.py", lifespan=lifespan, middleware=[Middleware(of_this_machine)])

if __name__ == "__main__":
    app.run(config=json.loads(os.environ.get(SETTINGS, "{}")))

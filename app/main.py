"""The dashboard's server: `retrieval-report dashboard`, `streamlit run app/main.py`, or `python app/main.py`."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

if __name__ == "__main__":
    # Ctrl-C ends it without a traceback while it loads, and again, raised by the server, once that has shut down.
    # Python's own exception would get lost where libraries catch what goes wrong in their callbacks.
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))

import streamlit as st

from retrieval_report.study.server import SETTINGS


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Start what runs beside the server. It takes seconds to load: from here, where Ctrl-C is heard already."""
    from prefetch import start

    start()
    yield


app = st.App("dashboard.py", lifespan=lifespan)

if __name__ == "__main__":
    app.run(config=json.loads(os.environ.get(SETTINGS, "{}")))

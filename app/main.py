"""The dashboard's server: `retrieval-report dashboard`, `streamlit run app/main.py`, or `python app/main.py`."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import streamlit as st

from retrieval_report.cli.dashboard import SETTINGS


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Start what runs beside the server. It takes seconds to load: from here, where Ctrl-C is heard already."""
    from ahead import start

    start()
    yield


app = st.App("dashboard.py", lifespan=lifespan)

if __name__ == "__main__":
    with suppress(KeyboardInterrupt):  # Ctrl-C has ended the server; there is nothing to tell
        app.run(config=json.loads(os.environ.get(SETTINGS, "{}")))

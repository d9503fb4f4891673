"""The dashboard's server: `retrieval-report dashboard`, `streamlit run app/main.py`, or `python
app/main.py`.
"""

from __future__ import annotations

import json
import os
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
from streamlit import net_util

from retrieval_report.study.server import SETTINGS


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Start background work. It takes seconds to load, so it starts here, where Ctrl-C already
    works.
    """
    from prefetch import start

    start()
    yield


# Streamlit would ask the internet for this machine's address, to judge the pages of other machines
# that open a session through a reader's browser; it refuses them as it is.
net_util.get_external_ip = lambda: None
app = st.App("dashboard.py", lifespan=lifespan)

if __name__ == "__main__":
    app.run(config=json.loads(os.environ.get(SETTINGS, "{}")))

"""The dashboard's server: `retrieval-report dashboard`, `streamlit run app/main.py`, or `python app/main.py`."""

from __future__ import annotations

import json
import os
from contextlib import suppress

import streamlit as st

from ahead import start
from retrieval_report.cli.dashboard import SETTINGS

app = st.App("dashboard.py", lifespan=start)

if __name__ == "__main__":
    with suppress(KeyboardInterrupt):  # Ctrl-C has ended the server; there is nothing to tell
        app.run(config=json.loads(os.environ.get(SETTINGS, "{}")))

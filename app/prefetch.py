"""Compute the first page in advance, while the server starts.

benchmarks/dashboard.md shows the benefit: a first view takes a tenth of a second instead of one to
four seconds.
"""

import importlib
import os
import threading
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from cached import read_files
from chart_display import specification
from data_source import first_files
from page import Page
from retrieval_report.cli.dashboard import open_browser
from retrieval_report.contracts.warning import noticed
from retrieval_report.contracts.wording import speaking_to
from retrieval_report.study.server import BROWSER
from wording import DashboardReader

# What a page needs beside its heading, loaded while the browser loads Streamlit's own scripts.
PARTS = (
    "altair",
    "pandas",
    "retrieval_report.scoring.run",
    "retrieval_report.kernels.shuffling",
    "scipy.special",
)


def start() -> None:
    """Prepare the first page while the server starts; say where it is, or open a browser there."""
    address = f"http://127.0.0.1:{st.get_option('server.port')}"
    print(f"The dashboard is at {address}. Ctrl-C ends it.", flush=True)  # noqa: T201
    # A daemon thread does not keep the server from ending.
    threading.Thread(target=prepare, daemon=True, name="ahead").start()
    if os.environ.get(BROWSER):
        open_browser(address)


def prepare() -> None:
    """Compute what the first page shows, which also shows errors in reading or scoring."""
    with suppress(Exception), noticed(), speaking_to(DashboardReader()):
        data = read_files(first_files())  # for the heading too
        for part in PARTS:
            importlib.import_module(part)
        page = Page(data, replace(data.start, models=data.models))
        page.study.verdict  # noqa: B018
        charts = importlib.import_module("retrieval_report.charts")
        frames = page.drawn.three_scores, page.drawn.shuffled, page.study.summary
        specification("light", charts.scores, frames, page.choice.at)
        curves = (page.drawn_curve.three_scores,)
        for chart in (charts.along_cutoffs, charts.off_by):
            specification("light", chart, curves, page.choice.at)

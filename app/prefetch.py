"""Compute in advance: the first page while the server starts, and other measures while a page is
read.

benchmarks/dashboard.md shows the benefit: a first view takes a tenth of a second instead of one to
four seconds.
"""

from __future__ import annotations

import importlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import streamlit as st

from cached import read_files
from chart_display import draw_ahead
from data_source import first_files
from page import Page
from records import METRICS
from retrieval_report.cli.dashboard import open_browser
from retrieval_report.study.server import BROWSER
from views import overview
from warning_log import noticed

# Loaded before the server answers, because a page that waits for them would take twice as long.
PARTS = (
    "altair",
    "pandas",
    "retrieval_report.scoring.run",
    "retrieval_report.kernels.shuffling",
    "scipy.stats",
)
FEW_SHUFFLES = 200  # up to this many are drawn for metrics that are not chosen yet
REST = 1.0  # seconds during which a browser has the cores to itself, to draw the page

_changed = threading.Condition()
_drawn = 0  # pages that are being drawn now
_asked: set[object] = set()


def start() -> None:
    """Prepare the first page while the server starts, and open a browser if requested."""
    for part in PARTS:
        importlib.import_module(part)
    _background(prepare)
    if os.environ.get(BROWSER):
        open_browser(f"http://127.0.0.1:{st.get_option('server.port')}")


def prepare() -> None:
    """Compute what the first page shows; errors in reading or scoring are shown there."""
    data = read_files(first_files())
    _compute(Page(data, data.first_choice), "light")


def _compute(page: Page, theme: str) -> None:
    """Everything that the overview shows."""
    page.all_measures.verdict  # noqa: B018
    for drawing in overview.drawings(page):
        draw_ahead(drawing, theme)


@contextmanager
def drawing() -> Iterator[None]:
    """Suspend computing in advance while a page is drawn, because both would compete for the same
    cores.
    """
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(pages: int) -> None:
    global _drawn
    with _changed:
        _drawn += pages
        _changed.notify_all()


def prefetch(page: Page, theme: str) -> None:
    """Compute in the background, once a page is drawn, what another metric or cutoff will need."""
    choice, key = page.choice, (page.data.digest, page.choice, theme)
    many = "shuffled" in choice.policies and choice.options["shuffles"] > FEW_SHUFFLES
    if not (page.data.large or many or key in _asked):
        _asked.add(key)
        _background(lambda: _follow(page, theme))


def _follow(page: Page, theme: str) -> None:
    choice = page.choice
    others = [replace(choice, metric=metric) for metric in METRICS]
    others += [replace(choice, cutoff=cutoff) for cutoff in choice.cutoffs]
    time.sleep(REST)
    for other in others:
        with suppress(Exception):  # errors in the data are shown on the page
            with _changed:
                _changed.wait_for(lambda: not _drawn)
            _compute(Page(page.data, other), theme)


def _background(work: Callable[[], None]) -> None:
    """Run work in a thread that does not keep the server from ending."""

    def quietly() -> None:
        with suppress(Exception), noticed():
            work()

    threading.Thread(target=quietly, daemon=True, name="ahead").start()

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

from cached import read_files, study_of
from chart_display import draw_ahead
from data_source import first_files
from records import CUTOFFS, METRICS, Choice, Data, first_choice
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
_turn = threading.Lock()  # one prefetch at a time
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
    _compute(data, first_choice(data), "light")


def _compute(data: Data, choice: Choice, theme: str) -> None:
    """Everything that the overview shows."""
    study_of(data, choice).verdict  # noqa: B018
    for drawing in overview.drawings(data, choice):
        draw_ahead(drawing, theme)


@contextmanager
def drawing() -> Iterator[None]:
    """Suspend computing in advance while a page is drawn, because both would compete for the same
    cores.
    """
    global _drawn
    with _changed:
        _drawn += 1
    try:
        yield
    finally:
        with _changed:
            _drawn -= 1
            _changed.notify_all()


def prefetch(data: Data, choice: Choice, theme: str) -> None:
    """Compute in the background, once a page is drawn, what another metric or cutoff will need."""
    if data.large or ("shuffled" in choice.policies and choice.draws.shuffles > FEW_SHUFFLES):
        return
    key = (data.digest, choice, theme)
    if key not in _asked:
        _asked.add(key)
        _background(lambda: _follow(data, choice, theme))


def _follow(data: Data, choice: Choice, theme: str) -> None:
    others = [replace(choice, metric=metric) for metric in METRICS if metric != choice.metric]
    others += [
        replace(choice, cutoff=number)
        for number in CUTOFFS
        if number != choice.cutoff and number in choice.cutoffs
    ]
    time.sleep(REST)
    for other in others:
        with _turn, suppress(Exception):  # errors in the data are shown on the page
            with _changed:
                _changed.wait_for(lambda: not _drawn)
            _compute(data, other, theme)


def _background(work: Callable[[], None]) -> None:
    """Run work in a thread that does not keep the server from ending."""

    def quietly() -> None:
        with suppress(Exception), noticed():
            work()

    threading.Thread(target=quietly, daemon=True, name="ahead").start()

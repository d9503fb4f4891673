"""What the dashboard computes before anybody asks for it is what the first page then shows."""

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from records import CUTOFFS, METRICS, Files
from retrieval_report.study import study_data

pytest.importorskip("streamlit", reason="streamlit is not installed")

import streamlit as st

import prefetch
import retrieval_report as rr
from made_pages import TIMEOUT, dashboard, drawn
from retrieval_report.engines.evaluate import score_with_draws
from retrieval_report.study.server import BROWSER

ALL = len(METRICS) * len(CUTOFFS)  # measures that are scored at once


def wait_for_threads():
    for thread in threading.enumerate():
        if thread.name == "ahead":
            thread.join(TIMEOUT)
            assert not thread.is_alive()


def listening(function: Callable[..., Any], found: list[Any]) -> Callable[..., Any]:
    def listen(*given: Any, **named: Any):
        found.append(len(named["measures"]) * len(named["cutoffs"]))
        return function(*given, **named)

    return listen


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch):
    """What is scored from now on; nothing remembered from other tests, and nothing computed beyond
    this one.
    """
    wait_for_threads()  # those of tests before, whose data may be the same
    found: list[Any] = []
    monkeypatch.setattr(study_data, "evaluate", listening(rr.evaluate, found))
    monkeypatch.setattr(study_data, "score_with_draws", listening(score_with_draws, found))
    st.cache_resource.clear()
    yield found
    wait_for_threads()


def test_the_first_page_finds_its_numbers_and_charts_ready(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch
):
    prefetch.prepare()
    assert asked == [ALL, ALL]  # exact scores, and then random orders
    monkeypatch.setattr(
        "retrieval_report.charts.responsive.responsive",
        lambda *_, **__: pytest.fail("a chart was made again"),
    )
    page = drawn(dashboard().run())
    assert "depends on tie order" in page.warning[0].value
    assert asked == [ALL, ALL]


def test_the_server_prepares_and_opens_a_browser(
    asked: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    opened: list[str] = []
    monkeypatch.setattr(prefetch, "open_browser", opened.append)
    monkeypatch.setattr(st, "get_option", {"server.port": 8765}.__getitem__)
    monkeypatch.setenv(BROWSER, "open")
    prefetch.start()
    wait_for_threads()
    assert opened == ["http://127.0.0.1:8765"]
    assert "The dashboard is at http://127.0.0.1:8765. " in capsys.readouterr().out
    assert set(prefetch.PARTS) <= set(sys.modules)
    assert asked[:1] == [ALL]
    monkeypatch.setattr(prefetch, "prepare", lambda: None)
    monkeypatch.setenv(BROWSER, "")
    prefetch.start()
    wait_for_threads()
    assert len(opened) == 1


def test_bad_data_end_it_in_silence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(prefetch, "first_files", lambda: Files("gone", {"rankings": ["gone.csv"]}))
    prefetch.prepare()
    assert capfd.readouterr().err == ""

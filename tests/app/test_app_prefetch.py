"""What the dashboard computes before anybody asks for it is what the pages then show, and waits its
turn.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from records import CUTOFFS, METRICS
from retrieval_report.study import study as answers
from retrieval_report.study import study_data

pytest.importorskip("streamlit", reason="streamlit is not installed")

import streamlit as st
from streamlit.testing.v1 import AppTest

import cached
import prefetch
import retrieval_report as rr
from data_source import first_files
from made_pages import APP, TIMEOUT, drawn, made_data
from page import Page
from retrieval_report.engines.evaluate import evaluate_with_draws
from retrieval_report.study.server import BROWSER

RANKINGS = pl.DataFrame(
    {
        "model": ["a"] * 4 + ["b"] * 4,
        "query": ["q"] * 8,
        "item": list("wxyz") * 2,
        "distance": [1, 1, 1, 2, 1, 2, 3, 4],
        "relevance": [1, 0, 0, 1] * 2,
    }
)

ALL = len(METRICS) * len(CUTOFFS)  # measures that are scored at once


def wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread.name == "ahead":
            thread.join(TIMEOUT)
            assert not thread.is_alive()


def listening(function: Callable[..., Any], found: list[Any]) -> Callable[..., Any]:
    def listen(*given: Any, **named: Any) -> Any:
        metrics = named["metrics"]
        found.append(len(metrics) if isinstance(metrics, tuple) else str(metrics))
        return function(*given, **named)

    return listen


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What is scored from now on; nothing remembered from other tests, and nothing computed beyond
    this one.
    """
    wait_for_threads()  # those of tests before, whose data may be the same
    monkeypatch.setattr(prefetch, "REST", 0.0)
    found: list[Any] = []
    monkeypatch.setattr(study_data, "evaluate", listening(rr.evaluate, found))
    monkeypatch.setattr(study_data, "evaluate_with_draws", listening(evaluate_with_draws, found))
    st.cache_resource.clear()
    monkeypatch.setattr(prefetch, "_asked", set())
    yield found
    wait_for_threads()


def test_the_first_page_finds_its_numbers_and_charts_ready(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    prefetch.prepare()
    assert asked == [ALL]  # random orders are drawn only if they are to be shown
    monkeypatch.setattr(prefetch, "prefetch", lambda *_: None)
    monkeypatch.setattr(
        "chart_display.responsive", lambda *_, **__: pytest.fail("a chart was made again")
    )
    page = drawn(AppTest.from_file(f"{APP}/dashboard.py", default_timeout=TIMEOUT).run())
    assert "depends on tie order" in page.error[0].value
    assert asked == [ALL]


def test_other_metrics_and_cutoffs_are_ready_once_a_page_is_drawn(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = made_data(RANKINGS)
    choice = data.first_choice
    choice = replace(choice, policies=(*choice.policies, "shuffled"))
    prefetch.prefetch(Page(data, choice), "light")
    prefetch.prefetch(Page(data, choice), "light")
    wait_for_threads()
    assert asked.count(ALL) == 1
    assert sorted(metric for metric in asked if metric != ALL) == sorted(METRICS)
    monkeypatch.setattr(answers, "compare", lambda *_, **__: pytest.fail("compared again"))
    for metric in set(METRICS) - {"ndcg"}:
        assert cached.study_of(data, replace(choice, metric=metric)).verdict
    for cutoff in set(choice.cutoffs) - {choice.cutoff}:
        assert cached.study_of(data, replace(choice, cutoff=cutoff)).verdict


def test_it_waits_while_a_page_is_drawn(asked: list[Any]) -> None:
    data = made_data(RANKINGS, cutoff=2)
    with prefetch.drawing():
        prefetch.prefetch(Page(data, data.first_choice), "light")
        time.sleep(0.3)
        assert asked == []
    wait_for_threads()
    assert asked != []


def test_bad_data_end_it_in_silence(asked: list[Any], capfd: pytest.CaptureFixture[str]) -> None:
    data = made_data(RANKINGS.with_columns(relevance=pl.lit(None, dtype=pl.Int64)))
    prefetch.prefetch(Page(data, data.first_choice), "light")
    wait_for_threads()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("wanted", [True, False])
def test_the_server_prepares_and_opens_a_browser(
    wanted: bool, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(prefetch, "open_browser", opened.append)
    monkeypatch.setattr(st, "get_option", {"server.port": 8765}.__getitem__)
    monkeypatch.setenv(BROWSER, "open" if wanted else "")
    prefetch.start()
    wait_for_threads()
    assert opened == ["http://127.0.0.1:8765"] * wanted
    assert "scipy.stats" in sys.modules
    assert asked[:1] == [ALL]


def test_what_is_prepared_is_what_the_sidebar_says_at_first(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(
        prefetch,
        "prefetch",
        lambda page, theme: seen.append((page.data.digest, page.choice, theme)),
    )
    drawn(AppTest.from_file(f"{APP}/dashboard.py", default_timeout=TIMEOUT).run())
    data = cached.read_files(first_files())
    assert seen == [(data.digest, data.first_choice, "light")]

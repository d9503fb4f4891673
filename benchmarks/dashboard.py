"""Measure what computing in advance saves in the dashboard: seconds until a page is drawn, with and
without it.

    python benchmarks/dashboard.py

Pages run in Streamlit's own test runner, without a server and without a browser, on both samples.
Kernels are compiled before anything is measured. "Known" is the cost of a page whose numbers and
charts the threads of app/prefetch.py have already computed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import streamlit as st
from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parent.parent / "app"
TIMEOUT = 600
STEPS = (("metric", "ap"), ("metric", "rr"), ("metric", "precision"), ("cutoff", "20"))


def main() -> None:
    """Measure, and print a table."""
    ready()
    print("| data | page | first | known |\n| --- | --- | --: | --: |")
    for data in ("digits", "docs"):
        st.cache_resource.clear()
        page = opened(data)
        row(data, "first page", page.run)
        for control, value in STEPS:
            page.selectbox(key=control).set_value(value)
            row(data, f"{control} {value}", page.run)


def ready() -> None:
    """Import and compile what pages need, and let none be computed in advance."""
    sys.path.insert(0, str(APP))
    prefetch = import_module("prefetch")
    for part in prefetch.PARTS:
        import_module(part)
    prefetch.prefetch = lambda *_: None
    opened("digits").run()
    st.cache_resource.clear()


def opened(data: str) -> AppTest:
    page = AppTest.from_file(str(APP / "dashboard.py"), default_timeout=TIMEOUT)
    page.query_params["open"] = data
    return page


def row(data: str, name: str, run: Callable[[], AppTest]) -> None:
    first, known = (seconds(run) for _ in range(2))
    print(f"| {data} | {name} | {first:.2f} s | {known:.2f} s |")


def seconds(run: Callable[[], AppTest]) -> float:
    begin = time.process_time()
    assert not run().exception
    return time.process_time() - begin


if __name__ == "__main__":
    main()

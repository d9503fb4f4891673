"""What benchmarks/latency.py --check says of ratios that have grown."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def ratios(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "benchmarks")
    return import_module("ratios")


def test_what_has_grown_by_a_quarter_is_named(ratios: Any):
    stored = {("rows", "loop"): 2.0, ("board", "loop"): 1.0, ("audit", "loop"): 3.0}
    now = {("rows", "loop"): 2.5, ("board", "loop"): 1.24, ("new", "loop"): 9.0}
    assert ratios.grown(now, stored) == ["rows took 2.50 × loop; stored: 2.00"]

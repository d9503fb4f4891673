"""A short fuzzing of readers and metric texts; benchmarks/fuzz.py does it at length."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz import ALL, fuzz_file, fuzz_metric
from retrieval_report import RetrievalReportError
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.reading.crash_guard import tried_first

FEW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
MANY = settings(max_examples=400, deadline=None)
numbers = st.integers(0, 2**63)


def marks(name: str) -> list[pytest.MarkDecorator]:
    """Every input of these is read by a process of its own first, which takes time."""
    return [pytest.mark.slow] if "parquet" in name or "arrow" in name else []


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in ALL])
@FEW
@given(numbers)
def test_row_089_damaged_files_are_read_or_refused(tmp_path: Path, name: str, number: int) -> None:
    with tried_first():
        assert fuzz_file(name, number, tmp_path) in ("read", "refused")


@MANY
@given(numbers)
def test_row_062_damaged_texts_of_metrics_are_read_or_refused(number: int) -> None:
    assert fuzz_metric(number) in ("read", "refused")


@MANY
@given(st.text(max_size=30))
def test_row_062_any_text_is_a_metric_or_refused(text: str) -> None:
    with suppress(RetrievalReportError):
        parse_metrics(text, [3])

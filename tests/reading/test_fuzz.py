"""A short fuzzing of readers and metric texts; ``make fuzz`` does it at length."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz import ALL, fuzz_file, fuzz_metric
from retrieval_report import RetrievalReportError
from retrieval_report.metrics.parsing import parse_metrics


@pytest.mark.parametrize("name", ALL)
def test_row_089_damaged_files_are_read_or_refused(tmp_path: Path, name: str):
    # A process of its own reads binary files first, which takes time.
    for number in range(1 if "parquet" in name or "arrow" in name else 20):
        assert fuzz_file(name, number, tmp_path) in ("read", "refused")


def test_row_062_damaged_texts_of_metrics_are_read_or_refused():
    for number in range(100):
        assert fuzz_metric(number) in ("read", "refused")


@given(st.text(max_size=30))
def test_row_062_any_text_is_a_metric_or_refused(text: str):
    with suppress(RetrievalReportError):
        parse_metrics(text, [3])

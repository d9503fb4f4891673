"""Many files, many columns and very long names: quickly answered, and shortened where they are quoted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

from retrieval_report import evaluate
from retrieval_report.contracts.errors import (
    ColumnError,
    DataError,
    FileError,
    ParameterError,
    RetrievalReportError,
    RetrievalReportWarning,
)
from retrieval_report.reading import read_rankings
from retrieval_report.reading.frames import to_polars
from retrieval_report.reading.sources import find_files

COLUMNS = [f"column {number}" for number in range(40_000)]


@contextmanager
def quickly(seconds: float) -> Iterator[None]:
    begin = time.process_time()
    yield
    assert time.process_time() - begin < seconds


def test_many_columns_take_no_time_for_each_pair(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(f"query,item,score,{','.join(COLUMNS)}\nq,i,1{',' * len(COLUMNS)}\n")
    with quickly(6):  # it took 29
        assert read_rankings(path).height == 1
    wide = pd.DataFrame([[0] * 20_003], columns=["query", "item", "score", *COLUMNS[:20_000]])
    with quickly(9):  # it took 18
        assert to_polars(wide, "rankings").width == 20_003


def test_many_files_take_no_time_for_each_pair(tmp_path: Path) -> None:
    for number in range(8000):
        (tmp_path / f"{number}.csv").touch()
    with quickly(4):  # it took 64 with reading
        assert len(find_files(tmp_path)) == 8000
    with pytest.raises(FileError, match=r"7\.csv: listed more than once"):
        find_files([tmp_path, tmp_path / "7.csv"])


def test_lists_of_thousands_of_columns_are_shortened(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(COLUMNS) + "\n" + "," * (len(COLUMNS) - 1) + "\n")
    with pytest.raises(ColumnError, match="and 39980 more") as caught:
        read_rankings(path)
    assert "lack query and item and distance|score" in str(caught.value)
    assert len(str(caught.value)) < 2000


LONG = {"word": "x" * 10**6, "words": "blank " * 200_000, "zero width": "\u200b" * 10**6}


@pytest.mark.parametrize("name", LONG.values(), ids=LONG)
def test_row_106_names_of_a_million_characters_are_shortened(name: str) -> None:
    frame = pl.DataFrame({"model": name, "query": "q", "item": ["a", "a"], "distance": [1, 2], "relevance": [1, 0]})
    with pytest.raises(DataError) as caught:
        evaluate(frame)
    assert len(str(caught.value)) < 5000
    with pytest.raises(ParameterError) as refused:
        evaluate(frame, metrics=name)
    assert len(str(refused.value)) < 5000


def test_messages_of_usual_length_are_left_alone() -> None:
    message = f"/{'folder/' * 50}a.csv: the header names {[f'c{number}' for number in range(200)]}"
    assert str(RetrievalReportError(message)) == message
    assert str(RetrievalReportWarning(message)) == message
    assert str(FileError()) == ""

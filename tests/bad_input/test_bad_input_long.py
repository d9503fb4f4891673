"""Many files, many columns and very long names: looked at once, and shortened where they are
quoted.
"""

import ast
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

import retrieval_report
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
from retrieval_report.reading.finding import find_files
from retrieval_report.reading.frames import to_polars

PACKAGE = Path(retrieval_report.__file__).parent
COLUMNS = [f"column {number}" for number in range(2_000)]


SCANS = {"count", "index", "remove"}  # of a list: each looks through all of it
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
READERS = sorted(
    path for folder in ("reading", "contracts") for path in (PACKAGE / folder).glob("*.py")
)


@pytest.mark.parametrize("path", READERS, ids=lambda path: path.name)
def test_no_list_is_looked_through_for_each_of_its_entries(path: Path):
    """What once took 64 s for 8 000 files, and 29 s for a header of 40 000 columns."""
    loops = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, LOOPS)
    ]
    calls = [node.func for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Call)]
    assert [
        ast.unparse(call)
        for call in calls
        if isinstance(call, ast.Attribute) and call.attr in SCANS
    ] == []


class Counted(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_many_columns_are_read(tmp_path: Path):
    path = tmp_path / "wide.csv"
    path.write_text(f"query,item,score,{','.join(COLUMNS)}\nq,i,1{',' * len(COLUMNS)}\n")
    assert read_rankings(path).height == 1
    wide = pd.DataFrame([[0] * 2_003], columns=["query", "item", "score", *COLUMNS])
    assert to_polars(wide, "rankings").width == 2_003


def test_many_files_are_found(tmp_path: Path):
    for number in range(2000):
        (tmp_path / f"{number}.csv").touch()
    assert len(find_files(tmp_path)) == 2000
    with pytest.raises(FileError, match=r"7\.csv: listed more than once"):
        find_files([tmp_path, tmp_path / "7.csv"])


def test_lists_of_thousands_of_columns_are_shortened(tmp_path: Path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(COLUMNS) + "\n" + "," * (len(COLUMNS) - 1) + "\n")
    with pytest.raises(ColumnError, match="and 1980 more") as caught:
        read_rankings(path)
    assert "lack query, item, distance or score" in str(caught.value)
    assert len(str(caught.value)) < 2000


LONG = {"word": "x" * 10**6, "words": "blank " * 200_000, "zero width": "\u200b" * 10**6}


@pytest.mark.parametrize("name", LONG.values(), ids=LONG)
def test_row_106_names_of_a_million_characters_are_shortened(name: str):
    frame = pl.DataFrame(
        {"model": name, "query": "q", "item": ["a", "a"], "distance": [1, 2], "relevance": [1, 0]}
    )
    with pytest.raises(DataError) as caught:
        evaluate(frame)
    assert len(str(caught.value)) < 5000
    with pytest.raises(ParameterError) as refused:
        evaluate(frame, metrics=name)
    assert len(str(refused.value)) < 5000


def test_messages_of_usual_length_are_left_alone():
    message = f"/{'folder/' * 50}a.csv: the header names {[f'c{number}' for number in range(200)]}"
    assert str(RetrievalReportError(message)) == message
    assert str(RetrievalReportWarning(message)) == message
    assert str(FileError()) == ""

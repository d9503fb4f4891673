"""NDJSON values keep their types; nothing is lost or changed silently."""

import json
from pathlib import Path

import pytest

from retrieval_report import evaluate
from retrieval_report.contracts.errors import (
    ColumnError,
    FileError,
    RetrievalReportError,
)
from retrieval_report.reading import read_rankings


def write(folder: Path, *lines: str) -> Path:
    path = folder / "run.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def refused(path: Path, error: type[RetrievalReportError], message: str):
    with pytest.raises(error, match=message) as caught:
        read_rankings(path)
    assert str(caught.value).startswith(str(path))


def scored(*scores: str) -> list[str]:
    return [
        f'{{"query": "q", "item": "i{index}", "score": {score}}}'
        for index, score in enumerate(scores)
    ]


def test_brackets_in_texts_and_many_short_lists_are_not_deep(tmp_path: Path):
    wide = '1, "x": [' + ", ".join(["[]"] * 200) + '], "y": "' + "[" * 300 + '"'
    assert read_rankings(write(tmp_path, *scored(wide, "2")))["score"].to_list() == [1, 2]


@pytest.mark.parametrize("value", ["1.0", "true", "[1]"])
def test_ids_that_are_neither_texts_nor_integers_are_refused(tmp_path: Path, value: str):
    for column in ("query", "item", "model"):
        row = {"query": "q", "item": "b", "score": 1, "model": "m"}
        line = json.dumps(row).replace(f'"{column}": "{row[column]}"', f'"{column}": {value}')
        with pytest.raises(
            ColumnError, match=f"column '{column}' is .* an id must be text or a wh"
        ):
            evaluate(read_rankings(write(tmp_path, line)), truncated="no")


@pytest.mark.parametrize("inside", ["[" * 100_000, "[" * 1_000 + "]" * 1_000])
def test_deep_nesting_is_refused(tmp_path: Path, inside: str):
    # Python 3.12 reads a thousand levels, and leaves the refusal to Polars.
    refused(
        write(tmp_path, *scored("1", inside)), FileError, r"line 2: not JSON|run\.jsonl: failed"
    )
    refused(write(tmp_path, '{"q": ' + '{"a": ' * 100_000), FileError, "not JSON")

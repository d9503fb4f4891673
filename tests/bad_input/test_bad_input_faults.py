"""What once ended in a traceback: our error, or the right result."""

import os
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from commands import run
from retrieval_report.contracts.errors import FileError, RetrievalReportWarning
from retrieval_report.reading import files, formats, read_rankings

LISTS: Any = {
    "query": ["q"] * 4,
    "item": list("abcd"),
    "distance": [0, 2, 2, 5],
    "relevance": [0, 1, 0, 1],
}


@pytest.mark.filterwarnings("ignore:column 'distance' is Float16")
@pytest.mark.parametrize("dtype", [pl.Float16, pl.Float32, pl.Float64])
def test_the_largest_distance_has_neighbours_below_it(dtype: Any):
    most = {
        pl.Float16: 65504.0,
        pl.Float32: 3.4028234663852886e38,
        pl.Float64: 1.7976931348623157e308,
    }[dtype]
    distance = pl.Series([1.0, 2.0, most / 2, most], dtype=pl.Float64).cast(dtype)
    table = rr.tie_profile(pl.DataFrame(LISTS).with_columns(distance=distance), cutoffs="all")
    assert table["near_ties"].to_list() == [
        1 / 3
    ]  # of a list that reaches so far, 1 and 2 are neighbours


@pytest.mark.skipif(
    os.name != "posix" or sys.platform == "darwin", reason="names of files are text here"
)
@pytest.mark.parametrize("name", [b"\xff.csv", b"caf\xe9.run"])
def test_row_093_names_of_files_that_are_not_utf_8(tmp_path: Path, name: bytes):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/" + name)
    Path(path).write_bytes(b"query,item,distance\nq,a,1\n")
    for read in (read_rankings, rr.evaluate):
        with pytest.raises(FileError, match=r"\\udc.*the name of the file is not UTF-8"):
            read(path)
    run("evaluate", path, code=2)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_file_deleted_between_header_and_body(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    path = tmp_path / name
    path.write_text('{"query": "q"}\n' if name == "a.jsonl" else "query,item,distance\nq,a,1\n")
    detect = formats.detect_format

    def deleted(source: Any):
        detect(source)
        path.unlink()
        return {".csv": "csv", ".tsv": "tsv", ".jsonl": "ndjson", ".run": "run"}[path.suffix]

    monkeypatch.setattr(files, "detect_format", deleted)
    with pytest.raises(FileError, match=r"a\.\w+: No such file"):
        read_rankings(path)


def test_warnings_are_told_and_no_errors_whatever_python_is_asked(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("query,item,distance,relevance\nq,a,1,1\nq,b,2,0")
    result = run("evaluate", path)
    assert "Warning: " in result.stderr
    assert "no newline at the end" in result.stderr
    with pytest.warns(RetrievalReportWarning, match="no newline"):
        read_rankings(path)


def test_reports_quote_paths_as_seen_from_where_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "here").mkdir()
    pl.DataFrame(LISTS).write_csv(tmp_path / "a.csv")
    monkeypatch.chdir(tmp_path / "here")
    words = f"report {tmp_path}/a.csv --out={tmp_path}/here/out --formats json"
    monkeypatch.setattr(sys, "argv", ["retrieval-report", *words.split()])
    run(words)
    about = Path("out/about.json").read_text(encoding="utf-8")
    assert '"command": "retrieval-report report ../a.csv --out=out --formats json"' in about

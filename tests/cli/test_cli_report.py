"""`retrieval-report report`, through click and on files."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from commands import run
from retrieval_report import Study, read_report
from retrieval_report.study.by_cutoff import cutoffs_sentence

ROWS = "model,query,item,distance,relevance\na,q,x,1,1\na,q,y,1,0\nb,q,x,2,1\nb,q,y,1,0\n"


@pytest.fixture
def rankings(tmp_path: Path):
    path = tmp_path / "rankings.csv"
    path.write_text(ROWS)
    return path


def test_a_report_is_written_and_read_again(rankings: Path, tmp_path: Path):
    result = run(
        f"report {rankings} --metrics rr@1 --formats csv,markdown --out {tmp_path}/out --title Mine"
    )
    assert "a has the highest expected rr@1: 0.5000" in result.output
    files = len(list((tmp_path / "out").iterdir()))
    assert result.output.endswith(f"\nWrote {files} files to {tmp_path / 'out'}.\n")
    report = read_report(tmp_path / "out")
    assert report.title == "Mine"
    assert report.summary.filter(policy="expected")["value"].to_list() == [0.5, 0.0]
    assert (tmp_path / "out/summary.md").is_file()


def test_the_terminal_says_at_which_cutoffs_the_naive_order_is_an_accident(
    rankings: Path, tmp_path: Path
):
    rankings.write_text(
        "model,query,item,distance,relevance\n"
        + "".join(
            f"{model},q,i{item},{distance},{int(item == 0)}\n"
            for model, distances in (("coarse", [1] * 4), ("fine", [2, 1, 3, 4]))
            for item, distance in enumerate(distances)
        )
    )
    result = run(f"report {rankings} --measures rr@3 --truncated no --out {tmp_path}/out")
    depths = cutoffs_sentence(read_report(tmp_path / "out").by_cutoff)
    assert "is an accident of ties at cutoff" in depths
    assert depths in result.output.splitlines()


def test_the_default_title_names_the_data_their_size_and_the_day(
    rankings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    how = ("--metrics", "rr@1", "--formats", "csv", "--out", tmp_path / "out")
    packed = tmp_path / "runs.csv.gz"
    packed.write_bytes(gzip.compress(rankings.read_bytes()))
    run(f"report {packed}", *how)
    assert read_report(tmp_path / "out").title == "runs, 2 models, 1 query, 1970-01-02"
    frame = pl.read_csv(rankings)
    title = Study(frame, "rr@1").contents().title
    assert title == "Retrieval report: 2 models, 1 query"
    frame.with_columns(model=pl.lit("c")).unique("item").write_csv(tmp_path / "third.csv")
    run(f"report {packed} {tmp_path}/third.csv", *how)
    assert read_report(tmp_path / "out").title == "a and 2 more, 3 models, 1 query, 1970-01-02"

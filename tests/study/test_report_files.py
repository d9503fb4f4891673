import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from made_reports import HOSTILE, made_rankings, made_report
from retrieval_report.contracts.errors import (
    FileError,
    OutputError,
    ParameterError,
    RetrievalReportWarning,
)
from retrieval_report.report import (
    FORMATS,
    Report,
    compare_reports,
    read_report,
    report_contents,
    write_report,
)
from retrieval_report.study import reports
from retrieval_report.study.export import ABOUT


def assert_equal(first: Report, second: Report):
    for name, frame in first.frames.items():
        assert second.frames[name].equals(frame), name
        assert second.frames[name].schema == frame.schema, name
    words = ("title", "metric", "cutoff", "status", "verdict", "parameters", "versions", "command")
    assert [getattr(first, name) for name in words] == [getattr(second, name) for name in words]


@pytest.mark.parametrize(("kind", "raw"), [("csv", False), ("parquet", False), ("json", True)])
def test_a_report_is_loaded_as_it_was_written(tmp_path: Path, kind: str, raw: bool):
    report = made_report(HOSTILE)
    write_report(tmp_path, report, formats=kind, raw=raw)
    assert_equal(read_report(tmp_path), report)


def test_integer_queries_counts_and_one_model_are_loaded_as_they_were(tmp_path: Path):
    rankings = made_rankings(("a",)).with_columns(
        query=pl.col("query").str.slice(6).cast(pl.UInt16)
    )
    report = report_contents(rr.count_ties(rankings), metrics="ap", cutoffs=(2, None))
    write_report(tmp_path, report, formats=("csv", "json"))
    assert not (tmp_path / "audit.csv").exists()
    assert_equal(read_report(tmp_path), report)


def test_formats_not_asked_for_again_are_removed_and_files_of_others_stay(tmp_path: Path):
    report = made_report()
    (tmp_path / "scores.json").write_text("mine")
    mine = r"\['scores.json'\] existed before"
    with pytest.warns(RetrievalReportWarning, match=mine):
        write_report(tmp_path, report, formats=("html", "csv", "parquet", "markdown"))
    (tmp_path / "notes.txt").write_text("mine")
    for formats in (("csv", "latex"), ("html",)):
        with pytest.warns(RetrievalReportWarning, match=mine):
            written = write_report(tmp_path, report, formats=formats)
        assert {path.name for path in tmp_path.iterdir()} == {path.name for path in written} | {
            "notes.txt",
            "scores.json",
        }


def test_row_109_the_same_input_gives_the_same_bytes(tmp_path: Path):
    arguments: Any = {
        "metrics": "ndcg",
        "cutoffs": (1, 3),
        "formats": FORMATS,
        "shuffles": 5,
    }
    for name, threads in (("first", 1), ("second", 2)):
        write_report(tmp_path / name, made_rankings(("a", "b")), threads=threads, **arguments)
    names = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "second").iterdir())
    for name in names:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_a_time_stamp_is_shown_on_request_only(tmp_path: Path):
    write_report(tmp_path, made_report(), formats=("html", "json"), timestamp="2026-11-20 <noon>")
    assert "Made 2026-11-20 &lt;noon&gt;" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (
        json.loads((tmp_path / ABOUT).read_text(encoding="utf-8"))["timestamp"]
        == "2026-11-20 <noon>"
    )


def test_columns_csv_describes_every_column_of_every_file(tmp_path: Path):
    write_report(tmp_path, made_report(), formats="csv")
    described = pl.read_csv(tmp_path / "columns.csv")
    for (name,), part in described.group_by("frame"):
        assert pl.read_csv(tmp_path / f"{name}.csv").columns == part["column"].to_list()
    assert described["meaning"].null_count() == 0


def test_row_107_json_has_no_nan(tmp_path: Path):
    report = made_report()
    audit = report.audit.with_columns(z=pl.lit(float("nan")), off=pl.lit(float("inf")))
    infinite = replace(report, frames={**report.frames, "audit": audit})
    write_report(tmp_path, infinite, formats="json")

    def refuse(constant: str):
        raise AssertionError(constant)

    for path in tmp_path.iterdir():
        json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def test_row_102_a_folder_that_cannot_be_written_to_is_found_before_computing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def compute(*_: object, **__: object):
        raise AssertionError("computed")

    monkeypatch.setattr(reports, "report_contents", compute)
    with pytest.raises(OutputError, match="cannot write to"):
        write_report(tmp_path / "missing" / "below", made_rankings(("a",)))
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write to"):
        write_report(tmp_path / "file", made_rankings(("a",)))


def test_bad_arguments_are_refused(tmp_path: Path):
    with pytest.raises(ParameterError, match="formats: 'pdf'"):
        write_report(tmp_path, made_report(), formats="pdf")
    with pytest.raises(ParameterError, match="a finished report takes no cutoffs, metrics"):
        write_report(tmp_path, made_report(), metrics="ap", cutoffs=3)


def test_what_is_no_report_is_refused(tmp_path: Path):
    with pytest.raises(FileError, match=r"no report to load: No such file"):
        read_report(tmp_path)
    write_report(tmp_path, made_report(), formats="csv")
    (tmp_path / "summary.csv").write_text("model\n1,2,3\n")
    with pytest.raises(FileError, match="the report is damaged"):
        read_report(tmp_path)
    (tmp_path / ABOUT).write_text("{")
    with pytest.raises(FileError, match="the report is damaged: JSONDecodeError"):
        read_report(tmp_path)


def test_files_of_two_reports_are_not_loaded_as_one(tmp_path: Path):
    """As they are mixed where a writer is killed between two files."""
    for name, order in (("one", 1), ("two", -1)):
        rows = {
            "query": ["q"] * 2,
            "item": ["a", "b"],
            "distance": [1, 1 + order],
            "relevance": [1, 0],
        }
        write_report(tmp_path / name, rows, metrics="rr@2", formats="csv")
    (tmp_path / "two" / "summary.csv").replace(tmp_path / "one" / "summary.csv")
    with pytest.raises(FileError, match=r"summary\.csv is not the file that about\.json describes"):
        read_report(tmp_path / "one")


def test_two_reports_are_compared_line_by_line(tmp_path: Path):
    before, after = made_report(("a", "b")), made_report(("b", "c"))
    changes = compare_reports(before, after)
    assert changes.height == 3 * before.summary.height // 2
    assert set(changes.filter(model="a")["change"]) == {"gone"}
    assert set(changes.filter(model="c")["change"]) == {"new"}
    assert set(changes.filter(model="b")["change"]) <= {"changed", "same"}
    write_report(tmp_path / "before", before, formats="parquet")
    write_report(tmp_path / "after", after, formats="parquet")
    assert_frame_equal(compare_reports(tmp_path / "before", str(tmp_path / "after")), changes)
    assert set(compare_reports(before, before)["change"]) == {"same"}


def test_of_many_rows_the_page_leaves_the_audit_to_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rows = {"query": ["q", "q"], "item": ["a", "b"], "distance": [1, 1], "relevance": [1, 0]}
    said = "<code>retrieval-report audit</code> computes it"
    rr.write_report(tmp_path / "few", rows, metrics="ap@2")
    assert (tmp_path / "few" / "audit.csv").exists()
    assert said not in (tmp_path / "few" / "report.html").read_text(encoding="utf-8")
    for module in ("questions", "html"):
        monkeypatch.setattr(f"retrieval_report.study.{module}.MOST_AUDITED", 1)
    rr.write_report(tmp_path / "many", rows, metrics="ap@2")
    assert not (tmp_path / "many" / "audit.csv").exists()
    assert said in (tmp_path / "many" / "report.html").read_text(encoding="utf-8")

"""Labels of items and thresholds as questions of a study, of its report and of the command line."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import retrieval_report as rr
from commands import run
from made_pages import APP, TIMEOUT, drawn, made_data, open_page, table
from made_reports import made_rankings
from retrieval_report import read_report

RANKINGS = made_rankings(("coarse", "fine"))
LABELS = {item: "ab"[item % 2] for item in range(8)}
QUERIES = {f"query {number}": "ab"[number % 2] for number in range(6)}
FRAME = rr.read_queries({"query": [*QUERIES], "label": [*QUERIES.values()]})
ASKED: Any = {"labels": LABELS, "k": 3, "calibrate": "precision", "at_least": 0.5}


def test_a_report_holds_what_the_functions_return(tmp_path: Path):
    study = rr.Study(RANKINGS, "ap@3", queries=FRAME, shuffles=2, **ASKED)
    report = read_report(study.report(tmp_path))
    found, pairs = rr.knn(RANKINGS, LABELS, queries=QUERIES, k=3), rr.thresholds(RANKINGS)
    assert report.knn_accuracy.equals(found.accuracy)
    assert report.knn_confusion.equals(found.confusion)
    assert report.knn_classes.equals(found.classes)
    assert report.calibration.equals(pairs.calibrate("precision", 0.5))
    assert report.thresholds.equals(pairs.table)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="neighbours"' in page
    assert 'id="thresholds"' in page
    assert "thresholds-chart" in page


def test_nothing_is_there_unless_it_was_asked_for():
    report = rr.Study(RANKINGS, "ap@3", queries=FRAME, shuffles=2).contents()
    names = "knn_accuracy", "knn_classes", "knn_confusion", "calibration", "thresholds"
    assert not any(report.frames[name].width for name in names)


def test_the_command_takes_files(tmp_path: Path):
    RANKINGS.write_csv(tmp_path / "run.csv")
    FRAME.write_csv(tmp_path / "queries.csv")
    lines = [f"{item},{label}" for item, label in LABELS.items()]
    (tmp_path / "labels.csv").write_text("\n".join(["item,label", *lines]) + "\n")
    files = "{0}/run.csv --queries {0}/queries.csv --labels {0}/labels.csv --out {0}/out"
    run(f"report --k 3 --calibrate f1 --metrics ap@3 --formats csv {files.format(tmp_path)}")
    found = rr.knn(RANKINGS, LABELS, queries=QUERIES, k=3)
    report = read_report(tmp_path / "out")
    assert report.knn_accuracy["value"].to_list() == found.accuracy["value"].to_list()
    assert report.calibration["metric"].to_list() == ["f1", "f1"]


def test_the_pages_of_the_dashboard_show_them():
    labels = rr.Study(RANKINGS, "ap@3", queries=FRAME, **ASKED).frames["labels"]
    data = made_data(RANKINGS, queries=FRAME, labels=labels)
    page = open_page("neighbours", data, k="3")
    found = rr.knn(RANKINGS, LABELS, queries=QUERIES, k=3)
    assert table(page, 0)["value"].to_list() == found.accuracy["value"].to_list()
    page = open_page("thresholds", data)
    chosen = rr.thresholds(RANKINGS).calibrate()
    shown = table(page, 0)
    best = rr.Study(RANKINGS, "ap@3").table()["model"].to_list()
    assert shown["model"].to_list() == best
    assert dict(zip(shown["model"], shown["threshold"], strict=True)) == dict(
        chosen.select("model", "threshold").iter_rows()
    )
    page = open_page("neighbours", made_data(made_rankings(("alone",)), queries=FRAME))
    assert "--labels" in page.info[0].value


@pytest.mark.parametrize("labelled", [True, False])
def test_the_menu_names_pages_that_have_something_to_show(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, labelled: bool
):
    scores = RANKINGS.select(pl.all().exclude("distance"), score=-pl.col("distance"))
    (RANKINGS if labelled else scores).write_csv(tmp_path / "run.csv")
    FRAME.write_csv(tmp_path / "queries.csv")
    labels = pl.DataFrame({"item": list(LABELS), "label": list(LABELS.values())})
    labels.write_csv(tmp_path / "labels.csv")
    given = {"rankings": [str(tmp_path / "run.csv")], "queries": str(tmp_path / "queries.csv")}
    if labelled:
        given["labels"] = str(tmp_path / "labels.csv")
    monkeypatch.setenv("RETRIEVAL_REPORT_DASHBOARD", json.dumps(given))
    shown, make = {}, st.Page

    def page(*script: Any, **how: Any):
        shown[how["title"]] = how.get("visibility", "visible") == "visible"
        return make(*script, **how)

    monkeypatch.setattr(st, "Page", page)
    drawn(AppTest.from_file(f"{APP}/dashboard.py", default_timeout=TIMEOUT).run())
    asked = {name: shown[name] for name in ("Nearest neighbours", "Thresholds", "Ties", "History")}
    assert asked == {
        "Nearest neighbours": labelled,
        "Thresholds": labelled,
        "Ties": True,
        "History": False,
    }

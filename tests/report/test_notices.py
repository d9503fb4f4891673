"""Notices that come before any number: lists that were cut, and an unknown R."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report import charts
from retrieval_report.report import Report, report_contents, write_report
from retrieval_report.report.html import render_html
from retrieval_report.report.notices import POOLED, divided_by_relevant, notices
from retrieval_report.report.paper import latex_table, markdown_table
from retrieval_report.report.pictures import pictures
from retrieval_report.report.tables import report_tables
from retrieval_report.report.terminal import summary_table

OPTIONS: dict[str, Any] = {"metrics": ("precision", "recall"), "cutoffs": (1, 10), "shuffles": 5}


def top_ten(models: int = 1, *, queries: int = 30, items: int = 2000) -> pl.DataFrame:
    """The ten nearest items of random 64-bit codes to each query, as an index returns them, an accident in each tie."""
    frames = []
    for model in range(models):
        random = np.random.default_rng(model)
        labels, asked = random.integers(0, 5, items), random.integers(0, 5, queries)
        centres = 0.5 + 0.4 * (random.random((5, 64)) - 0.5)
        codes = random.random((items, 64)) < centres[labels]
        distance = ((random.random((queries, 64)) < centres[asked])[:, None] != codes[None]).sum(axis=2)
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :10]
        frames.append(
            pl.DataFrame(
                {
                    "model": [f"codes-{model}"] * queries * 10,
                    "query": np.repeat(np.arange(queries), 10),
                    "item": nearest.ravel(),
                    "distance": np.take_along_axis(distance, nearest, axis=1).ravel(),
                    "relevance": (labels[nearest] == asked[:, None]).ravel().astype(int),
                }
            )
        )
    # Codes of different models rank the same items; what is relevant is the query's.
    frame = pl.concat(frames)
    return frame.with_columns(relevance=pl.col("relevance").first().over("query", "item"))


@cache
def cut_report(models: int = 1) -> Report:
    with pytest.warns(rr.RetrievalReportWarning, match="seem cut"):
        return report_contents(top_ten(models), **OPTIONS, headline="precision@10")


def rows_of(chart: Any, column: str) -> list[dict[str, Any]]:
    """The rows of a chart's layer that have a column."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows if column in row]


def test_the_first_line_of_a_report_on_an_index_says_that_its_lists_are_cut() -> None:
    report = cut_report()
    cut, relevant = report.notices
    assert cut.startswith(
        "The lists of codes-0 are cut (its lists hold 10 items, and not the same ones): for 100% of the"
    )
    assert "for codes, count_codes counts all ties without lists." in cut
    [depth] = report.truncation.filter(cutoff=10)["sufficient_depth"]
    assert f"about {depth} items per query would be enough for precision@10" in cut
    assert relevant.startswith("R counts only the relevant items in the cut lists of this one model")
    page = render_html(report, [])
    paragraphs = re.findall(r"<p[^>]*><bdi>(.*?)</bdi>", page)
    assert paragraphs[0].startswith("The lists of codes-0 are cut")


def test_nothing_calls_the_scores_of_cut_lists_exact() -> None:
    for models in (1, 2):
        report = cut_report(models)
        said = " ".join(report.verdict)
        assert "exact" not in said
        assert "digits here" not in said
        rows = report.summary.filter(pl.col("truncated_share") > 0)
        assert rows.filter(cutoff=10).height == rows.height == 2 * models * 5
        assert rows["tie_std"].null_count() == rows.height
        assert set(re.findall(r"± +(\S+)", summary_table(report.summary.filter(cutoff=10)))) == {"tie", "cut"}
        for line in markdown_table(report).splitlines()[2 : 2 + models]:
            assert ["±" in cell for cell in line.strip("| ").split(" | ")[1:]] == [True, False, True, False]
        table = report_tables(report)["summary"]
        column = [column.header for column in table.columns].index("± tie std")
        shown = {measure: row[column].text for measure, row in zip(table.measures, table.rows, strict=True)}
        assert shown["precision@10"] == shown["recall@10"] == "cut"
        assert re.fullmatch(r"0\.\d{4}", shown["precision@1"])


def test_papers_print_the_bounds_of_cut_lists_and_say_so() -> None:
    report = cut_report()
    row = report.summary.filter(metric="precision", cutoff=10, policy="expected").row(0, named=True)
    bounds = f"{row['value']:.4f} [{row['lowest']:.4f}, {row['highest']:.4f}]"
    assert row["lowest"] < row["value"] < row["highest"]
    for text in (markdown_table(report), latex_table(report)):
        assert bounds in text
        assert "brackets hold the lowest and highest value that a deeper retrieval could show" in text
        assert "for the true R" in text


def test_the_method_tells_what_every_list_was_taken_to_be() -> None:
    table = report_tables(cut_report(2))["truncation"]
    cells = [[cell.text for cell in row] for row in table.rows]
    assert [row[:2] for row in cells] == [[f"codes-{n}", "are cut, maybe inside their last tie"] for n in (0, 1)]
    assert {row[2] for row in cells} == {"models retrieved different items for one query (0)"}
    assert (
        "The lists of codes-0 and codes-1 are cut (models retrieved different items for one" in cut_report(2).notices[0]
    )
    assert cut_report(2).notices[1] == POOLED


def test_whole_lists_have_no_notice(tmp_path: Path) -> None:
    report = report_contents(top_ten(), **OPTIONS, truncated="no")
    assert (report.notices, report.cut) == ((), False)
    assert [cell.text for cell in report_tables(report)["truncation"].rows[0]][1:3] == ["hold all items", "as given"]
    write_report(tmp_path, report)
    assert rr.read_report(tmp_path).truncation.equals(report.truncation)
    assert "cut" not in summary_table(report.summary)


def test_a_measure_that_a_cut_does_not_reach_says_which_do() -> None:
    rows = cut_report().summary
    [text, *_] = notices(rows, measure=("precision", 1))
    assert text.startswith("The lists of codes-0 are cut. precision@1 does not depend on what they leave out; ")
    assert text.endswith("precision@10 and recall@10 do.")
    [text, *_] = notices(rows.filter(pl.col("metric") == "precision"), measure=("precision", 1))
    assert text.endswith("precision@10 does.")
    assert len(notices(rows.filter(cutoff=1, metric="precision"))) == 0


@pytest.mark.parametrize(
    ("metric", "divided"),
    [
        *(
            (name, True)
            for name in ("recall", "f1", "ap", "ap(denominator=min)", "ndcg", "r_precision", "ap_at_r", "wap")
        ),
        *((name, False) for name in ("precision", "rr", "dcg", "ap(denominator=k)", "ndcg(ideal=list)", "err")),
        ("ndcg(gain=<function gain at 0x7f>)", True),
    ],
)
def test_r_is_doubted_only_where_it_divides(metric: str, divided: bool) -> None:
    assert divided_by_relevant(metric) is divided


def test_charts_draw_what_is_open_dashed_with_a_legend_of_its_own() -> None:
    summary = cut_report(2).summary
    here: dict[str, Any] = {"metric": "precision", "cutoff": 10}
    drawn = [
        charts.policies(summary, **here),
        charts.policy_panels(summary, metric="precision"),
        charts.scores_by_cutoff(summary, metric="precision", bands=["codes-0"]),
        charts.intervals(cut_report(2).comparison, **here, summary=summary),
    ]
    for chart in drawn:
        text = chart.to_json()
        assert '"not exact, for the lists are cut"' in text
        assert '"strokeDash"' in text
    whole = report_contents(top_ten(2), **OPTIONS, truncated="no")
    for picture in pictures(whole):
        assert "lists are cut" not in str(picture.drawn)
    ends = [(row["lowest"], row["highest"]) for row in rows_of(drawn[0], "range")]
    expected = summary.filter(**here, policy="expected").sort("value", descending=True)
    assert ends == expected.select("lowest", "highest").rows()


def test_what_is_open_of_a_difference_is_drawn_from_end_to_end() -> None:
    report = cut_report(2)
    chart = charts.intervals(report.comparison, metric="precision", cutoff=10, summary=report.summary)
    [row] = rows_of(chart, "open_low")
    bounds = {
        name: rows
        for name, *rows in report.summary.filter(metric="precision", cutoff=10, policy="expected")
        .select("model", "lowest", "highest")
        .rows()
    }
    one, other = bounds[row["model_a"]], bounds[row["model_b"]]
    assert (row["open_low"], row["open_high"]) == (one[0] - other[1], one[1] - other[0])
    without = charts.intervals(report.comparison, metric="precision", cutoff=10).to_dict()
    assert "open_low" not in str(without)


def test_a_study_says_it_first_too() -> None:
    study = rr.Study(top_ten(), "precision@10", shuffles=5, truncated="within_tie")
    assert repr(study).startswith("The lists of codes-0 are cut (as given): for 100% of the queries")


@pytest.mark.parametrize("grades", [[1, 1], [1, 0]])
def test_lists_that_end_between_ties_are_not_said_to_be_cut_inside_one(grades: list[int]) -> None:
    lists = {"model": ["a", "b"], "query": ["q"] * 2, "item": ["x", "y"], "distance": [1] * 2, "relevance": grades}
    study = rr.Study(lists, "precision@3", truncated="between_ties")
    assert study.status == "lists are cut"
    said = "put one ahead" if grades == [1, 1] else "reverse this lead"
    [sentence] = [sentence for sentence in study.sentences if said in sentence]
    assert f"The lists are cut, and what they leave out could {said}. Retrieve deeper, until every list" in sentence
    assert "last tie" not in " ".join(study.verdict)

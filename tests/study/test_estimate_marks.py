"""A number that is an estimate is marked, and none beside it that is exact."""

import re
from pathlib import Path

import polars as pl

import retrieval_report as rr
from commands import run
from made_reports import lettered
from retrieval_report.study.leaderboard_rows import leaderboard_of
from retrieval_report.study.terminal import summary_table

MEANING = "≈: estimates, where lists may be cut."


ROWS = lettered({"whole": ["a B c d E f"] * 8, "cut": ["a B c dEf"] * 8})
FACTS = pl.DataFrame({"query": ROWS["query"].unique(), "n_relevant": [3] * 8})


def study_of_a_cut_and_a_whole_list() -> rr.Study:
    """One list ends inside the tie at cutoff 4; the other one is whole there."""
    return rr.Study(ROWS, "precision@4, rr@1, recall@5", queries=FACTS, truncated="within_tie")


def test_only_numbers_of_models_with_cut_lists_are_marked_in_every_column():
    study = study_of_a_cut_and_a_whole_list()
    rows, _, note = leaderboard_of(study)
    marks = dict(rows.select("model", "estimates").iter_rows())
    assert marks == {"cut": ["expected", "recall@5"], "whole": []}
    assert "≈: estimates" in note
    line = {row.split()[1]: row for row in repr(study).split("recall@5\n")[-1].splitlines()[:2]}
    assert line["cut"].count("≈") == 2  # expected and recall; a random order prints what is given
    assert "≈" not in line["whole"]
    assert "≈precision" not in repr(study)


def test_the_mark_is_explained_once_wherever_it_is_printed(tmp_path: Path):
    study = study_of_a_cut_and_a_whole_list()
    texts = {"study": repr(study), "notebook": study._repr_html_()}
    texts["evaluate"] = summary_table(study.summary)
    for name, text in texts.items():
        assert text.count("≈") > text.count(MEANING) == 1, name
    whole = study.models("whole")
    assert "≈" not in summary_table(whole.summary) + repr(whole)
    page = (study.report(tmp_path) / "report.html").read_text("utf-8")
    tables = [table.split("</table>", 1) for table in page.split("<table")[1:]]
    explained = [MEANING in below for rows, below in tables if "≈0" in rows]
    assert explained == [False, True, True, True]  # the heading of the three scores does it there


def test_compare_marks_the_means_that_the_leaderboard_marks(tmp_path: Path):
    rows, facts = tmp_path / "rows.csv", tmp_path / "facts.csv"
    ROWS.write_csv(rows)
    FACTS.write_csv(facts)
    how = ["--queries", facts, "--truncated", "within_tie", "--measures", "precision@4,rr@1"]
    printed = run("compare", rows, *how).output
    head, row = re.findall(r"^(?:measure  .*|precision@4  .*)", printed, re.M)
    means = dict(zip(head.split(), row.split(), strict=False))  # a verdict has blanks
    estimates = {means[f"model_{side}"]: means[f"value_{side}"][0] == "≈" for side in "ab"}
    assert estimates == {"cut": True, "whole": False}
    assert printed.count("≈") == 2  # and its meaning
    assert MEANING in printed
    assert "≈" not in run("compare", rows, *how[:2], "--truncated", "no").output


def test_scores_divided_by_an_unknown_r_are_marked_and_precision_is_not():
    data = {
        "query": [query for query in "pqrs" for _ in range(3)],
        "item": list("abc") * 3 + list("def"),
        "score": [3.0, 3.0, 1.0] * 4,
        "relevance": [1, 0, 1] * 4,
    }
    study = rr.Study(data, "recall@1, precision@1")
    assert study.summary["truncated_share"].max() == 0
    rows, _, _ = leaderboard_of(study)
    assert rows["estimates"].to_list() == [["expected"]]
    deviations = dict(study.three_scores.select("metric", "tie_std").iter_rows())
    assert deviations == {"recall": None, "precision": 0.25}
    assert (
        repr(study).count("≈") == 3
    )  # among the three scores, on the leaderboard, and its meaning
    assert summary_table(study.summary).count("≈") == 2

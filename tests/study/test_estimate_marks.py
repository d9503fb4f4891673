"""A number that is an estimate is marked, and none beside it that is exact."""

from pathlib import Path

import polars as pl

import retrieval_report as rr
from made_reports import lettered
from retrieval_report.study.leaderboard_rows import leaderboard_of
from retrieval_report.study.terminal import summary_table

MEANING = "≈: estimates, where lists may be cut."


def study_of_a_cut_and_a_whole_list() -> rr.Study:
    """One list ends inside the tie at cutoff 4; the other one is whole there."""
    rows = lettered({"whole": ["a B c d E f"] * 8, "cut": ["a B c dEf"] * 8})
    facts = pl.DataFrame({"query": rows["query"].unique(), "n_relevant": [3] * 8})
    return rr.Study(rows, "precision@4, rr@1, recall@5", queries=facts, truncated="within_tie")


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
    asked = study.using(baseline="whole", margin=0.2)
    page = (asked.report(tmp_path) / "report.html").read_text("utf-8")
    tables = [table.split("</table>", 1) for table in page.split("<table")[1:]]
    explained = [MEANING in below for rows, below in tables if "≈0" in rows]
    # The heading of the three scores does it there.
    assert explained == [False, *[True] * 4]


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

"""The decision that a baseline, a margin and costs ask for; most of it is in tests/data/answers.json."""

from typing import Any

import pytest

import retrieval_report as rr
from made_reports import lists_that_lose
from retrieval_report.study.tables import report_tables

LISTS = lists_that_lose({"float32": 0, "int8": 1, "lsh": 300})
ASKED: Any = {"baseline": "float32", "margin": 0.02, "truncated": "no"}


def study(**settings: Any) -> rr.Study:
    return rr.Study(LISTS, "rr@3, precision@1", **(ASKED | settings))


def test_a_report_says_how_many_queries_would_decide_only_what_is_not_decided():
    table = report_tables(study(margin=0.002).contents())["no-worse"]
    titles = [column.header for column in table.columns]
    needed = titles.index("Queries if nothing is lost")
    texts = {row[titles.index("Verdict")].text: row[needed].text for row in table.rows}
    assert texts.pop("worse") == "–"
    assert texts.pop("not decided") not in {"", "–"}
    assert not texts


def test_a_typo_of_the_baseline_is_told_of_the_nearest_model_alone():
    with pytest.raises(rr.ParameterError, match=r"did you mean 'float32'\?$"):
        study(baseline="flaot32")
    with pytest.raises(rr.ParameterError, match=r"; name_by='file' names TREC runs after"):
        study(baseline="bm25")

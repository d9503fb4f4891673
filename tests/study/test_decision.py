"""The decision that a baseline, a margin and costs ask for; most of it
is in tests/data/answers.json.
"""

import re
from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from made_reports import lists_that_lose
from retrieval_report.comparison.verdicts import CUT, reworded
from retrieval_report.study.decision import decided
from retrieval_report.study.html import render_html
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


def test_queries_are_said_to_decide_it_for_the_only_model_of_which_they_would():
    rows = reworded(study(margin=0.002).no_worse, pl.col("model") == "lsh", CUT)
    _, sentence = decided(rows, pl.DataFrame(), ("rr", 3))
    assert "int8 and lsh may lose too much" in sentence
    assert sentence.endswith(
        "; about 1963 queries would decide it for int8 if nothing is lost, "
        "and about 8161 if int8 really loses 0.0013."
    )


def test_a_typo_of_the_baseline_is_told_of_the_nearest_model_alone():
    with pytest.raises(rr.ParameterError, match=r"did you mean 'float32'\?$"):
        study(baseline="flaot32")
    with pytest.raises(rr.ParameterError, match=r"'lsh'$"):  # there are no TREC runs
        study(baseline="bm25")


def test_the_kind_of_cost_is_named_if_it_has_a_name():
    amounts = {"float32": 4.0, "int8": 1.0, "lsh": 0.5}
    assert "Cost:" not in repr(study(costs=amounts))
    kind = {"model": [*amounts], "bytes": [*amounts.values()]}
    assert repr(study(costs=kind)).endswith("Cost: bytes.")


def test_the_page_says_by_which_of_several_measures_evaluators_name_the_winner():
    for measures, end in (("rr@3, precision@1", " for rr@3."), ("rr@3", ".")):
        page = render_html(rr.Study(LISTS, measures, truncated="no").contents(), [])
        (found,) = re.findall(r"evaluator configurations([^.<]*\.)", page)
        assert found == end

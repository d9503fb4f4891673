"""The one join: what is judged once is scored, counted and narrowed as the frames themselves would
be.
"""

import warnings
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from retrieval_report import RetrievalReportWarning, Study, evaluate
from retrieval_report.contracts.options import Options
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.study.reports import report_contents

RANKINGS = pl.DataFrame(
    {
        "model": ["m"] * 6 + ["n"] * 4,
        "query": ["p", "p", "p", "q", "q", "q", "p", "p", "r", "r"],
        "item": ["b", "a", "c", "a", "d", "b", "c", "d", "a", "b"],
        "distance": [0.14, 0.11, 0.5, 1.0, 1.0, None, 0.2, 0.21, 3.0, 3.0],
        "relevance": [2, 0, 1, 1, 0, 3, 1, 0, 0, 2],
        "mask": [True] * 9 + [False],
    }
)
JUDGEMENTS = pl.DataFrame(
    {"query": ["p", "p", "q", "s"], "item": ["b", "z", "a", "a"], "relevance": [2, 1, 1, 3]}
)
QUERIES = pl.DataFrame({"query": ["p", "q", "r", "s"], "n_relevant": [3, 4, 2, 1]})
GIVEN = [(None, None), (JUDGEMENTS, None), (None, QUERIES), (JUDGEMENTS, QUERIES)]
ROWS: Any = {
    "null_distance": "not_retrieved",
    "unjudged_query": "skip",
    "truncated": "no",
}
ASKED: Any = {"metrics": "dcg, ap, rr, recall", "cutoffs": (1, 2, None)}


def frame_of(judgements: pl.DataFrame | None) -> pl.DataFrame:
    return RANKINGS if judgements is None else RANKINGS.drop("relevance")


def judged(judgements: pl.DataFrame | None, queries: pl.DataFrame | None) -> Judged:
    return judge(frame_of(judgements), judgements, queries, Options(**ROWS))


@pytest.mark.parametrize(("judgements", "queries"), GIVEN)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"decimals": 1},
        {"distance_threshold": 0.2},
        {"naive_order": "item_descending"},
        {"relevant_from": 2},
    ],
)
def test_one_record_is_scored_under_all_rules_that_leave_the_rows_alone(
    judgements: pl.DataFrame | None, queries: pl.DataFrame | None, options: dict[str, Any]
):
    asked = {
        **ASKED,
        **ROWS,
        **options,
        "policies": ("expected", "naive", "shuffled", "best"),
        "shuffles": 3,
    }
    expected = evaluate(frame_of(judgements), judgements=judgements, queries=queries, **asked)
    assert_frame_equal(evaluate(judged(judgements, queries), **asked), expected, check_exact=True)


def odd_names() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "model": ["m", "m", "m ", "m "],
            "query": ["p", "p", "p", "p"],
            "item": list("abab"),
            "distance": [1, 2, 2, 1],
            "relevance": [1, 0, 1, 0],
        }
    )


def test_a_report_and_a_study_warn_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report_contents(odd_names(), metrics="rr@1", truncated="no", shuffles=2)
    assert ["differ only by what strip()" in str(one.message) for one in caught] == [True]
    study = Study(odd_names(), "rr@1", truncated="no", shuffles=2)
    with pytest.warns(RetrievalReportWarning, match="differ only by") as found:
        _ = (
            study.profile,
            study.hints,
            study.audit,
            study.scores,
            study.comparison,
            study.models("m").profile,
        )
    assert len(found) == 1

"""Lists and judgements that do not match: which warnings are raised, and which rule decides."""

import polars as pl
import pytest

from bad_input import JUDGEMENTS, rankings
from made_reports import lettered
from retrieval_report import evaluate
from retrieval_report.contracts.errors import DataError, RetrievalReportWarning

BARE = rankings(relevance=None, weight=None)


def test_judgements_of_other_items_are_told():
    other = JUDGEMENTS.with_columns(item=pl.lit("00") + pl.col("item"))
    with pytest.warns(RetrievalReportWarning) as told:
        found = evaluate(
            BARE, judgements=other, metrics="recall", cutoffs=None, policies="expected"
        )
    assert str(told.pop(RetrievalReportWarning).message) == (
        f"judgements: none of the {BARE.height} retrieved items is judged; the rankings have items "
        "like "
        f"{BARE['item'][0]!r}, the judgements like '00a' (query 'q1')"
    )
    assert set(found["value"]) == {0.0}


@pytest.mark.parametrize("rule", ["zero", "skip", "one", "error"])
def test_lists_without_rows_are_ruled_by_missing_query_alone(rule: str):
    """What one model has not is no query without relevant items: another model shows one."""
    frame = lettered({"m1": ["A"], "m2": ["A", "A b"]})
    metrics = ("ap", "recall", "ndcg", "rr", "hit_rate")
    found = evaluate(frame, metrics=metrics, cutoffs=2, policies="expected", no_relevant=rule)
    assert found.filter(model="m1", query="q1")["value"].to_list() == [0.0] * 5
    judged = frame.select("query", "item", relevance=0).unique()
    bare = frame.drop("relevance")
    with (
        pytest.raises(DataError)
        if rule == "error"
        else pytest.warns(RetrievalReportWarning, match="no query has")
    ):
        known = evaluate(
            bare, judgements=judged, metrics="ap", cutoffs=2, policies="expected", no_relevant=rule
        )
        values = {"zero": 0.0, "skip": None, "one": 1.0}
        assert set(known["value"]) == {values[rule]}

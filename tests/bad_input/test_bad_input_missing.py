"""Lists and judgements that do not match: which warnings are raised, and which rule decides."""

import polars as pl
import pytest

from bad_input import JUDGEMENTS, rankings
from retrieval_report import evaluate
from retrieval_report.contracts.errors import RetrievalReportWarning

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

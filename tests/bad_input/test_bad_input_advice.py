"""What a message on bad input advises."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bad_input import rankings, refused
from retrieval_report import evaluate
from retrieval_report.contracts.errors import (
    KeyMismatchError,
    RetrievalReportWarning,
)

BARE = rankings(relevance=None, weight=None)
JUDGEMENTS = pl.DataFrame(
    {"query": ["q1", "q1", "q2"], "item": ["a", "b", "b"], "relevance": [1, 0, 1]}
)


@pytest.mark.filterwarnings("ignore:judgements. none of the")
def test_judgements_whose_queries_all_have_other_ids_show_both_ids() -> None:
    other = JUDGEMENTS.with_columns(query="topic " + pl.col("query"))
    words = (
        "none of the 2 queries has judgements",
        "queries like 'q1'",
        "the judgements like 'topic q1'",
    )
    refused(BARE, KeyMismatchError, *words, judgements=other)
    some = JUDGEMENTS.filter(query="q1")
    refused(
        BARE,
        KeyMismatchError,
        "1 of 2 queries has no judgements",
        "unjudged_query='skip'",
        judgements=some,
    )


def test_distances_sorted_as_scores_are_warned_of() -> None:
    def lists(number: int, step: int, column: str = "distance") -> pl.DataFrame:
        rows = [
            (f"q{query}", item, step * (item // 2), int(item == 0))
            for query in range(number)
            for item in range(6)
        ]
        return pl.DataFrame(rows, schema=["query", "item", column, "relevance"], orient="row")

    asked: dict[str, Any] = {"metrics": "ap@5", "truncated": "no"}
    with pytest.warns(
        RetrievalReportWarning,
        match="fall .* all of the first 10 lists, .* name the column 'score'",
    ):
        evaluate(lists(10, -1), **asked)
    evaluate(lists(9, -1), **asked)  # too few to tell
    evaluate(lists(10, -1, "score"), **asked)

"""Ties as Polars defines them; those inside ``evaluate`` are compared in `test_properties.py`."""

from __future__ import annotations

import polars as pl
import pytest

from retrieval_report import ParameterError, evaluate
from retrieval_report.lists import tie_groups


def test_tie_groups_columns() -> None:
    frame = pl.DataFrame(
        {
            "query": ["q"] * 5,
            "item": list("abcde"),
            "score": [3, 1, 3, 2, 1],
            "relevance": [0, 2, 1, 0, 0],
        }
    )
    groups = tie_groups(frame, relevant_from=2)
    assert groups["item"].to_list() == ["a", "c", "d", "b", "e"]
    assert groups["tie"].to_list() == [1, 1, 2, 3, 3]
    assert groups["tie_start"].to_list() == [1, 1, 3, 4, 4]
    assert groups["tie_size"].to_list() == [2, 2, 1, 2, 2]
    assert groups["tie_relevant"].to_list() == [0, 0, 0, 1, 1]


def test_counts_have_no_naive_order_and_no_items_to_judge() -> None:
    counts = pl.DataFrame({"query": ["q"], "distance": [1], "relevance": [1], "count": [3]})
    with pytest.raises(
        ParameterError, match="'naive' needs the order of the items, and a counts frame has none"
    ):
        evaluate(counts)
    judgements = pl.DataFrame({"query": ["q"], "item": ["a"], "relevance": [1]})
    with pytest.raises(
        ParameterError, match="judgements: a counts frame has no items to join them on"
    ):
        evaluate(counts, judgements=judgements, policies="expected")

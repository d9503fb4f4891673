"""Ties as Polars defines them; those inside ``evaluate`` are compared in `test_properties.py`."""

from __future__ import annotations

import polars as pl

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

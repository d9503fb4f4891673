"""Ties as Polars defines them, and the faster layout inside ``evaluate``, which must be the
same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given

from retrieval_report import ParameterError, evaluate
from retrieval_report.contracts.options import Options
from retrieval_report.lists import tie_groups
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.layout import lay_out
from strategies import FrameCase, frame_cases


def layout(rankings: pl.DataFrame, threads: int = 1) -> list[tuple[Any, ...]]:
    """(model, query, tie, grade, items) of every cell that evaluate lays out."""
    options = Options(policies=("expected",), threads=threads)
    prepared = lay_out(judge(rankings, None, None, options), options)
    lists, rows = prepared.ties, []
    for number, (model, query) in enumerate(prepared.names.iter_rows()):
        for index, tie in enumerate(range(lists.start[number], lists.start[number + 1]), start=1):
            for cell in range(lists.tie[tie], lists.tie[tie + 1]):
                grade = float(prepared.grades[lists.grade[cell]])
                rows.append((model, query, index, grade, int(lists.items[cell])))
    return rows


def defined(rankings: pl.DataFrame) -> list[tuple[Any, ...]]:
    """The same from the window expressions of ``tie_groups``."""
    counted = (
        tie_groups(rankings)
        .with_columns(pl.col("relevance").cast(pl.Float64))
        .group_by("model", "query", "tie", "relevance")
        .agg(pl.len())
        .sort("model", "query", "tie", "relevance")
    )
    return counted.rows()


@pytest.mark.filterwarnings("ignore:no query has a relevant item")
@given(case=frame_cases())
def test_the_layout_inside_evaluate_is_that_of_the_window_expressions(case: FrameCase) -> None:
    assert layout(case.rankings) == defined(case.rankings)


@pytest.mark.parametrize("order", ["distance", "score"])
@pytest.mark.parametrize("kind", ["few", "many", "unique", "wide"])
def test_layout_of_longer_lists(kind: str, order: str) -> None:
    generator = np.random.default_rng(3)
    rows = 5000
    values = {
        "few": generator.integers(-3, 4, rows),
        "many": generator.integers(0, 10**6, rows),
        "unique": generator.normal(size=rows),
        "wide": generator.choice([-(2**63), 2**63 - 1, 0, 1], rows),
    }[kind]
    frame = pl.DataFrame(
        {
            "model": generator.choice(["a", "b"], rows),
            "query": generator.integers(-5, 5, rows),
            "item": np.arange(rows),
            order: values,
            "relevance": generator.integers(0, 4, rows),
        }
    )
    grouped = frame.sort("model", "query", maintain_order=True)
    for rows_given in (frame, grouped, grouped.sort("model", "query", order)):
        assert layout(rows_given, threads=2) == defined(rows_given)


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

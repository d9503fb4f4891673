"""The drawn frames say what the drawn lists say."""

from __future__ import annotations

import polars as pl
from hypothesis import given

from strategies import FrameCase, ListCase, frame_cases, list_cases


@given(list_cases(fractional=True))
def test_lists_are_small_and_ties_not_empty(case: ListCase) -> None:
    items = sum(map(len, case.ties))
    assert 1 <= items <= 7
    assert all(case.ties)
    assert case.cutoff is None or 1 <= case.cutoff <= items + 3
    assert len(case.judged) == items + len(case.unretrieved)


@given(frame_cases())
def test_frames_hold_the_lists_they_came_from(case: FrameCase) -> None:
    assert case.rankings.select("model", "query", "item").is_unique().all()
    assert case.rankings.select("model", "query").n_unique() == len(case.ties)
    judged = case.judgements.join(case.rankings, on=["query", "item", "relevance"], how="right")
    assert judged.height == case.rankings.height
    for (model, query), ties in case.ties.items():
        rows = case.rankings.filter(pl.col("model") == model, pl.col("query") == query).rows(
            named=True
        )
        distances = sorted({row["distance"] for row in rows})
        found = [
            sorted(row["relevance"] for row in rows if row["distance"] == at) for at in distances
        ]
        assert found == [sorted(tie) for tie in ties]


@given(frame_cases(fractional=True))
def test_judgements_hold_every_item_of_a_query(case: FrameCase) -> None:
    for query, grades in case.judged.items():
        rows = case.judgements.filter(pl.col("query") == query)
        assert rows["relevance"].to_list() == grades
    assert case.judgements.height == sum(map(len, case.judged.values()))

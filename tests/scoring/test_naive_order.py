"""Naive orders by item depend on no order of rows."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_report import evaluate

rows_of = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 12)), max_size=60)


@pytest.mark.filterwarnings("ignore:no query has a relevant item")
@given(rows_of.filter(bool), st.sampled_from(["item", "item_descending"]), st.integers(0, 3))
def test_the_order_of_items_is_the_same_from_rows_in_any_order(
    rows: list[Any], order: str, seed: int
):
    ids = [(f"m{model}", f"item {query}", f"item {item}") for model, query, item in {*rows}]
    frame = pl.DataFrame(ids, ["model", "query", "item"], orient="row").with_columns(
        distance=pl.col("item").str.len_bytes(), relevance=pl.col("item").str.contains("[37]")
    )
    asked: Any = {"metrics": ("rr", "ap"), "policies": "naive", "naive_order": order}
    given = [
        frame.sample(fraction=1, shuffle=True, seed=seed),
        frame.sort("model", "query", "item"),
        frame.sort("item"),
    ]
    scores = [evaluate(one, truncated="no", relevant_items="own", **asked) for one in given]
    assert scores[0].equals(scores[1])
    assert scores[0].equals(scores[2])

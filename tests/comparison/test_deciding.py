"""Which queries decide between two models, and how tie order could reverse each."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import retrieval_report as rr
from made_scores import bounded_scores, scores_of


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_no_fewer_queries_would_do(steps: list[int]) -> None:
    """Against every smaller set of queries."""
    lead = np.array(steps) / 8
    rows = rr.stats.deciding_queries(
        scores_of({"a": 0.5 + lead, "b": np.full(lead.size, 0.5)}), "a", "b"
    )
    total = lead.sum()
    marked = rows.filter("decides").height
    if total == 0:
        assert marked == 0
        assert rows["share"].null_count() == rows.height
        return
    ahead = lead * np.sign(total)
    left = rows.filter(~pl.col("decides"))["difference"].sum() * np.sign(total)
    assert left <= 1e-12
    for size in range(marked):
        assert all(
            ahead.sum() - sum(chosen) > 1e-12 for chosen in combinations(ahead.tolist(), size)
        )


def test_what_tie_order_could_show() -> None:
    values = {
        "a": ([0.5, 0.5], [0.5, 0.5], [0.3, 0.4], [0.9, 0.6]),
        "b": ([0.4, 0.1], [0.4, 0.1], [0.2, 0.0], [0.8, 0.3]),
    }
    rows = (
        rr.stats.deciding_queries(bounded_scores(values), "a", "b")
        .filter(policy="expected")
        .sort("query")
    )
    np.testing.assert_allclose(rows["lowest"].to_numpy(), [0.3 - 0.8, 0.4 - 0.3])
    np.testing.assert_allclose(rows["highest"].to_numpy(), [0.9 - 0.2, 0.6 - 0.0])
    assert rows["order_unsure"].to_list() == [True, False]
    np.testing.assert_allclose(rows["tie_std"].to_numpy(), np.sqrt([0.02, 0.02]))
    assert set(rr.stats.deciding_queries(bounded_scores(values), "a", "b")["policy"]) == {
        "expected",
        "naive",
    }


def test_without_bounds_nothing_is_said_of_the_range() -> None:
    rows = rr.stats.deciding_queries(scores_of({"a": [0.5, None], "b": [0.4, 0.2]}), "a", "b")
    assert rows.select("lowest", "highest", "order_unsure").row(0) == (None, None, None)
    assert rows.height == 1
    naive = rr.stats.deciding_queries(scores_of({"a": [0.5], "b": [0.4]}, policy="naive"), "a", "b")
    assert naive["tie_std"].to_list() == [None]

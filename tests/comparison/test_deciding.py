"""Which queries decide between two models, and how tie order could reverse each."""

from itertools import combinations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import retrieval_report as rr
from made_scores import scores_of


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_no_fewer_queries_would_do(steps: list[int]):
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

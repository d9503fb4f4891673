"""Row 43 of the table of bad input: text ids and whole numbers are the same ids where they are
spelt the same.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from bad_input import rankings, refused
from retrieval_report import evaluate
from retrieval_report.contracts.errors import KeyMismatchError

ASKED: dict[str, Any] = {"metrics": "ap, ndcg", "truncated": "no"}
BARE = rankings(relevance=None, weight=None)


@pytest.mark.parametrize("odd", ["007", "+7", " 7", "7.0", "1e3", "-0", "٧", "7" * 39, "seven"])
def test_row_043_text_is_a_number_where_all_of_it_is_spelt_as_one(odd: str) -> None:
    numbered = BARE.with_columns(
        query=pl.Series([-7, -7, 0, 0]), item=pl.Series([1, 2, 1, 2**63 - 1])
    )
    judged = pl.DataFrame(
        {"query": [-7, -7, 0, 12], "item": [1, 2, 2**63 - 1, 5], "relevance": [1, 0, 1, 1]}
    )
    queries = pl.DataFrame({"query": [-7, 0, 12], "label": ["x", "y", "y"]})
    text, texts = (
        judged.with_columns(pl.col("query", "item").cast(pl.String)),
        pl.col("query").cast(pl.String),
    )
    wanted = evaluate(numbered, judgements=judged, queries=queries, **ASKED)
    assert_frame_equal(
        evaluate(numbered, judgements=text, queries=queries.with_columns(texts), **ASKED), wanted
    )
    as_text = numbered.with_columns(pl.col("query", "item").cast(pl.String))
    found = evaluate(as_text, judgements=judged, queries=queries, **ASKED)
    assert_frame_equal(
        found, wanted.with_columns(texts).sort("model", "query", maintain_order=True)
    )
    for column in ("query", "item"):
        spoilt = text.with_columns(
            pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(odd)).otherwise(column).alias(column)
        )
        refused(
            numbered,
            KeyMismatchError,
            f"'{column}'",
            repr(odd),
            "not spelt as a number",
            judgements=spoilt,
            **ASKED,
        )

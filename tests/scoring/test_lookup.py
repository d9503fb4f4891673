"""Judgements looked up row by row: the same as looking each up in a dictionary, whatever the ids
are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_report import evaluate
from retrieval_report.scoring.known_items import judged_rows

TEXT, WHOLE, WIDE = (lambda n: f"item {n}"), (lambda n: n - 3), (lambda n: n + 2**70)
TYPES = {pl.String: TEXT, pl.Int64: WHOLE, pl.Int128: WIDE}

rows_of = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 12)), max_size=60)
judged_of = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 12)), st.integers(0, 3), max_size=40
)


def frames(
    rows: list[Any], judged: dict[Any, int], dtype: Any
) -> tuple[pl.DataFrame, pl.DataFrame]:
    name: Callable[[int], Any] = TYPES[dtype]
    ids = {"query": dtype, "item": dtype}
    return (
        pl.DataFrame(
            [(f"m{model}", name(query), name(item)) for model, query, item in rows],
            schema={"model": pl.String, **ids},
            orient="row",
        ),
        pl.DataFrame(
            [(name(query), name(item), grade) for (query, item), grade in judged.items()],
            schema={**ids, "relevance": pl.Int64},
            orient="row",
        ),
    )


def check(rows: list[Any], judged: dict[Any, int], dtype: Any) -> None:
    frame, judgements = frames(rows, judged, dtype)
    found = judged_rows(frame, judgements)
    assert found["relevance"].to_list() == [judged.get((query, item)) for _, query, item in rows]
    assert found["judged"].to_list() == [(query, item) in judged for _, query, item in rows]
    assert found.drop("relevance", "judged").equals(frame)
    assert judged_rows(frame, judgements, unjudged=0).equals(found.fill_null(0))


@pytest.mark.filterwarnings("ignore:judgements. none of the")
@given(rows_of, judged_of, st.sampled_from(list(TYPES)))
def test_rows_get_what_a_dictionary_says(
    rows: list[Any], judged: dict[Any, int], dtype: Any
) -> None:
    check(rows, judged, dtype)


def test_many_rows_are_looked_up() -> None:
    generator = np.random.default_rng(5)
    rows = [
        (0, int(query), int(item)) for query, item in generator.integers(0, (40, 5000), (30_000, 2))
    ]
    judged = {
        (query, item): (query + item) % 3 for query in range(40) for item in range(0, 5000, 7)
    }
    check(rows, judged, pl.String)


@pytest.mark.filterwarnings("ignore:no query has a relevant item")
@given(rows_of.filter(bool), st.sampled_from(["item", "item_descending"]), st.integers(0, 3))
def test_the_order_of_items_is_the_same_from_rows_in_any_order(
    rows: list[Any], order: str, seed: int
) -> None:
    frame, _ = frames(list(dict.fromkeys(rows)), {}, pl.String)
    frame = frame.with_columns(
        distance=pl.col("item").str.len_bytes(), relevance=pl.col("item").str.contains("[37]")
    )
    asked: dict[str, Any] = {"metrics": ("rr", "ap"), "policies": "naive", "naive_order": order}
    given = [
        frame.sample(fraction=1, shuffle=True, seed=seed),
        frame.sort("model", "query", "item"),
        frame.sort("item"),
    ]
    scores = [evaluate(one, truncated="no", relevant_items="own", **asked) for one in given]
    assert scores[0].equals(scores[1])
    assert scores[0].equals(scores[2])

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from retrieval_report import ColumnError, DataError, ParameterError, evaluate
from retrieval_report.lists import tie_groups
from retrieval_report.ties.resolve_ties import resolve_ties

RANKINGS = pl.DataFrame(
    {
        "model": ["m"] * 5 + ["n"] * 3,
        "query": ["p"] * 3 + ["q"] * 2 + ["p"] * 3,
        "item": ["a", "b", "c", "a", "b", "a", "b", "c"],
        "distance": [2, 1, 2, 7, 7, 0, 0, 0],
        "relevance": [1, 0, 0, 0, 1, 1, 0, 0],
        "key": [0.5, 9.0, 0.25, 1.0, 1.0, 3.0, 2.0, 3.0],
    }
)


def random_rankings(seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    size = 600
    return pl.DataFrame(
        {
            "model": np.repeat(["m", "n"], size // 2),
            "query": np.tile(np.repeat(np.arange(10), 30), 2),
            "item": np.tile(np.arange(30), 20),
            "score": draw.integers(0, 4, size).astype(np.float32),
            "relevance": np.tile(draw.integers(0, 2, size // 2), 2),
            "coarse": draw.integers(0, 3, size),
            "fine": draw.permutation(size),
        }
    )


def test_ties_are_parted_by_the_key_and_rows_stay_in_place() -> None:
    found = resolve_ties(RANKINGS, by="key")
    assert found["distance"].dtype == pl.Int64
    assert found["distance"].to_list() == [3, 1, 2, 1, 1, 2, 1, 2]
    assert found.select("model", "query", "item", "relevance").equals(
        RANKINGS.select("model", "query", "item", "relevance")
    )
    assert "key" not in found.columns


def test_descending_puts_large_keys_first() -> None:
    assert resolve_ties(RANKINGS, by="key", descending=True)["distance"].to_list() == [
        2,
        1,
        3,
        1,
        1,
        1,
        2,
        1,
    ]


def test_scores_become_distances_with_large_scores_near() -> None:
    scored = RANKINGS.rename({"distance": "score"})
    found = resolve_ties(scored, by="key")
    assert "score" not in found.columns
    assert found["distance"].to_list() == [2, 3, 1, 1, 1, 2, 1, 2]


@pytest.mark.parametrize("by", ["coarse", "fine", "item"])
def test_the_order_is_lexicographic(by: str) -> None:
    rankings = random_rankings(1)
    found = rankings.with_columns(resolve_ties(rankings, by=by)["distance"])
    keys = sorted(rankings.select(-pl.col("score"), by).unique().rows())
    for part in found.partition_by("model", "query"):
        pairs = [(-score, key) for score, key in part.select("score", by).rows()]
        measures = {pair: number + 1 for number, pair in enumerate(sorted(set(pairs)))}
        assert part["distance"].to_list() == [measures[pair] for pair in pairs]
    assert keys


def test_no_key_makes_no_difference() -> None:
    rankings = random_rankings(2).with_columns(same=pl.lit(0))
    options: dict[str, Any] = {
        "metrics": ("ap", "ndcg"),
        "policies": ("expected", "naive", "best", "worst"),
    }
    assert evaluate(resolve_ties(rankings, by="same"), **options).equals(
        evaluate(rankings, **options)
    )


def test_a_total_key_leaves_no_ties() -> None:
    resolved = resolve_ties(random_rankings(3), by="fine")
    assert tie_groups(resolved)["tie_size"].unique().to_list() == [1]


@pytest.mark.parametrize(
    "key",
    [
        pl.Series(["b", "a"] * 4),
        pl.Series([True, False] * 4),
        pl.Series([1, 0] * 4, dtype=pl.UInt8),
        pl.Series([2**63 - 1, -(2**63)] * 4),
        pl.Series([0.25, -0.0] * 4, dtype=pl.Float32),
        pl.Series([1, 0] * 4).cast(pl.Datetime),
        pl.Series([float("inf"), float("-inf")] * 4),
    ],
)
def test_keys_of_any_ordered_type(key: pl.Series) -> None:
    found = resolve_ties(RANKINGS.with_columns(key.alias("other")), by="other")
    assert found["distance"].to_list() == [2, 1, 2, 1, 2, 1, 2, 1]


def test_zeros_of_either_sign_tie() -> None:
    rankings = RANKINGS.with_columns(key=pl.Series([0.0, -0.0] * 4))
    assert resolve_ties(rankings, by="key")["distance"].to_list() == [2, 1, 2, 1, 1, 1, 1, 1]


def test_the_model_may_be_absent() -> None:
    alone = RANKINGS.filter(model="n").drop("model")
    assert resolve_ties(alone, by="key")["distance"].to_list() == [2, 1, 2]


def test_items_that_were_not_retrieved_stay_so() -> None:
    rankings = RANKINGS.with_columns(pl.when(pl.int_range(pl.len()) != 1).then("distance"))
    assert resolve_ties(rankings, by="key")["distance"].to_list() == [2, None, 1, 1, 1, 2, 1, 2]


def test_rounding_comes_before_the_key() -> None:
    rankings = RANKINGS.with_columns(
        distance=pl.Series([0.12, 0.11, 0.13, 0.2, 0.3, 0.1, 0.1, 0.1])
    )
    assert resolve_ties(rankings, by="key", decimals=1)["distance"].to_list() == [
        2,
        3,
        1,
        1,
        2,
        2,
        1,
        2,
    ]


def test_columns_that_hold_no_key_are_refused() -> None:
    with pytest.raises(
        ColumnError, match="rankings: no column 'rerank' to break ties by; found 'model', 'query'"
    ):
        resolve_ties(RANKINGS, by="rerank")
    with pytest.raises(ColumnError, match="column 'other' is List"):
        resolve_ties(RANKINGS.with_columns(other=pl.lit([1])), by="other")
    with pytest.raises(
        DataError, match="column 'key': 1 null, first in query 'p', item 'c' of model 'm'"
    ):
        resolve_ties(
            RANKINGS.with_columns(pl.when(pl.int_range(pl.len()) != 2).then("key")), by="key"
        )
    with pytest.raises(
        DataError, match="column 'key': 1 NaN, first in query 'p', item 'b' of model 'n'"
    ):
        resolve_ties(
            RANKINGS.with_columns(
                pl.when(key=2.0).then(float("nan")).otherwise("key").alias("key")
            ),
            by="key",
        )
    with pytest.raises(ParameterError, match="decimals"):
        resolve_ties(RANKINGS, by="key", decimals=-1)

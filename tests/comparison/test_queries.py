from __future__ import annotations

import polars as pl
import pytest

from made_scores import bounded_scores, scores_of
from retrieval_report.comparison.queries import query_table

COLUMNS = [
    *("model", "query", "metric", "cutoff"),
    *("naive", "expected", "lowest", "highest", "std", "spread", "naive_error", "truncated"),
]
SCORES = bounded_scores(
    {
        "a": ([0.5, 0.4, 0.3], [0.5, 0.6, 0.3], [0.25, 0.0, 0.3], [0.75, 1.0, 0.3]),
        "b": ([0.5, 0.4, None], [0.5, 0.1, None], [0.25, 0.0, None], [0.75, 0.5, None]),
    }
)


def test_policies_stand_side_by_side() -> None:
    table = query_table(SCORES)
    assert table.columns == COLUMNS
    assert table.height == 6
    row = table.row(0, named=True)
    assert (row["model"], row["query"], row["metric"], row["cutoff"]) == ("a", "q00001", "ap", 10)
    assert (row["naive"], row["expected"], row["lowest"], row["highest"], row["std"]) == (
        0.6,
        0.4,
        0.0,
        1.0,
        0.1,
    )
    assert (row["spread"], row["naive_error"]) == pytest.approx((1.0, 0.2))


def test_the_widest_spread_comes_first_and_nulls_last() -> None:
    spread = query_table(SCORES)["spread"].to_list()
    assert spread == [1.0, 0.5, 0.5, 0.5, 0.0, None]


def test_equal_spreads_are_sorted_by_std_then_by_name() -> None:
    wider = SCORES.with_columns(
        pl.when((pl.col("model") == "b") & (pl.col("query") == "q00001"))
        .then(0.2)
        .otherwise("std")
        .alias("std")
    )
    found = query_table(wider).slice(1, 3).select("model", "query").rows()
    assert found == [("b", "q00001"), ("a", "q00000"), ("b", "q00000")]


def test_rounding_errors_of_spreads_decide_no_order() -> None:
    last = (pl.col("model") == "b") & (pl.col("query") == "q00001")
    best = last & (pl.col("policy") == "best")
    noisy = query_table(
        SCORES.with_columns(value=pl.col("value") + pl.when(best).then(2e-16).otherwise(0.0))
    )
    assert noisy["spread"].n_unique() == query_table(SCORES)["spread"].n_unique() + 1
    assert noisy.select("model", "query").equals(query_table(SCORES).select("model", "query"))


def test_policies_that_were_not_evaluated_are_null() -> None:
    table = query_table(scores_of({"a": [0.5, 0.2]}, stds={"a": [0.0, 0.2]}, cutoff=None))
    assert table.columns == COLUMNS
    assert table["query"].to_list() == ["q00001", "q00000"]
    for name in ("naive", "lowest", "highest", "spread", "naive_error", "cutoff"):
        assert table[name].null_count() == 2

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from made_scores import bounded_scores, scores_of
from retrieval_report import ColumnError, DataError, ParameterError
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.engines import summary as summaries
from retrieval_report.engines.summary import interval_of_equal, summarise

generator = np.random.default_rng(20240)
SKEWED = generator.beta(0.6, 2.0, size=40)


def test_columns_and_types_are_those_of_the_contract() -> None:
    assert dict(summarise(scores_of({"a": SKEWED})).schema) == SUMMARY
    assert dict(summarise(scores_of({"a": SKEWED}).clear()).schema) == SUMMARY


def test_lowest_and_highest_stand_beside_every_policy() -> None:
    scores = bounded_scores(
        {"a": ([0.5, 0.5], [0.6, 0.6], [0.25, 0.5], [0.75, 1.0]), "b": ([1], [1], [1], [1])}
    )
    summary = summarise(scores)
    assert summary.filter(model="a").select("lowest", "highest").unique().rows() == [(0.375, 0.875)]
    assert summary.filter(model="b").select("lowest", "highest").unique().rows() == [(1.0, 1.0)]


def test_bounds_are_null_where_they_were_not_evaluated() -> None:
    scores = bounded_scores({"a": ([0.5, 0.5], [0.6, 0.6], [0.25, 0.5], [0.75, 1.0])})
    summary = summarise(scores.filter(pl.col("policy") != "best"))
    assert summary.select("lowest", "highest").unique().rows() == [(0.375, None)]


@pytest.mark.parametrize("chance", [0.975, 0.9])
def test_quantiles_are_scipys_from_a_table_and_beyond_it(chance: float) -> None:
    freedom = [1, 2, 39, 999, 1000, 1001, 2345, 10**5, 10**8]
    found = [summaries._quantile(number, chance) for number in freedom]
    assert found == pytest.approx(stats.t.ppf(chance, freedom), rel=1e-14)
    table = np.load(Path(summaries.__file__).with_name("student_t.npy"))
    np.testing.assert_allclose(table, stats.t.ppf(0.975, np.arange(1, 1001)), rtol=1e-14)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_spreads_of_ties_are_those_of_a_sum_of_independent_scores(average: str) -> None:
    shares = {"macro": [1 / 4, 1 / 4, 1 / 2], "weighted": [1 / 6, 2 / 6, 3 / 6]}[average]
    stds = [0.1, 0.2, 0.4]
    scores = scores_of({"a": [0.5] * 3}, stds={"a": stds})
    queries = pl.DataFrame(
        {"query": scores["query"], "label": ["x", "x", "y"], "weight": [1, 2, 3]}
    )
    [found] = summarise(scores, queries=queries, average=average)["tie_std"]
    assert found == pytest.approx(np.linalg.norm(np.array(shares) * stds))


@pytest.mark.parametrize("value", [0.0, 0.5, 3.0, -2.0])
@pytest.mark.parametrize("clusters", [1, 2])
def test_the_interval_of_equal_scores_has_a_width(value: float, clusters: int) -> None:
    size = 14
    scores = scores_of({"a": [value] * size})
    if abs(value) > 1:
        scores = scores.with_columns(metric=pl.lit("dcg"))
    names = [f"q{number:05}" for number in range(size)]
    queries = pl.DataFrame({"query": names, "topic": np.arange(size) // clusters})
    row = summarise(scores, queries=queries, cluster="topic").row(0, named=True)
    step = max(1.0, abs(value))
    more = np.array([value] * (size // clusters) + [0, 0, step, step])
    reach = stats.t.ppf(0.975, more.size - 1) * stats.sem(more)
    low, high = min(value, more.mean() - reach), max(value, more.mean() + reach)
    if abs(value) <= 1:
        low, high = max(low, 0), min(high, 1)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), rel=1e-12)
    assert row["ci_low"] < row["ci_high"]
    assert (row["value"], row["query_se"]) == pytest.approx((value, 0), abs=1e-12)


def test_weights_of_zero_do_not_keep_scores_from_being_equal() -> None:
    queries = pl.DataFrame({"query": ["q00000", "q00001", "q00002"], "weight": [1, 1, 0]})
    scores = scores_of({"a": [1.0, 1.0, 0.5]})
    row = summarise(scores, queries=queries, average="weighted").row(0, named=True)
    assert (row["ci_low"], row["ci_high"]) == (interval_of_equal(1.0, 2, 0.95)[0], 1.0)


def test_one_query_has_a_mean_and_no_interval() -> None:
    row = summarise(scores_of({"a": [0.4, None]})).row(0, named=True)
    assert (row["value"], row["query_se"], row["ci_low"], row["ci_high"], row["queries"]) == (
        0.4,
        None,
        None,
        None,
        1,
    )


def test_a_label_with_one_query_leaves_no_interval() -> None:
    queries = pl.DataFrame({"query": ["q00000", "q00001", "q00002"], "label": [1, 1, 2]})
    scores = scores_of({"a": [0.0, 1.0, 0.5]})
    row = summarise(scores, queries=queries, average="macro").row(0, named=True)
    assert (row["value"], row["ci_low"], row["ci_high"]) == (0.5, None, None)


def test_no_query_left_is_a_row_of_nulls() -> None:
    row = summarise(scores_of({"a": [None, None]})).row(0, named=True)
    assert (row["value"], row["tie_std"], row["queries"]) == (None, None, 0)


def test_scores_that_went_through_pandas_are_understood() -> None:
    scores = pl.concat([scores_of({"a": [0.5, None]}), scores_of({"a": [0.5, None]}, cutoff=None)])
    there_and_back = scores.to_pandas()
    assert str(there_and_back["cutoff"].dtype) == "float64"
    assert_frame_equal(summarise(there_and_back), summarise(scores))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"average": "mikro"}, "did you mean 'micro'"),
        ({"confidence": 95}, "confidence: 95 is not a number between 0 and 1"),
    ],
)
def test_row_062_arguments_out_of_range_are_named(
    arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        summarise(scores_of({"a": [0.5]}), **arguments)  # type: ignore[arg-type]


def test_scores_that_break_their_contract_are_refused() -> None:
    scores = scores_of({"a": [0.5, 1.0]})
    with pytest.raises(ColumnError, match="no column 'std'; expected what evaluate returns"):
        summarise(scores.drop("std"))
    with pytest.raises(ColumnError, match="column 'value' is String; evaluate gives Float64"):
        summarise(scores.with_columns(pl.col("value").cast(pl.String)))
    with pytest.raises(
        DataError, match="2 scores of the same model, query, metric, cutoff and policy, first in"
    ):
        summarise(pl.concat([scores, scores.head(1)]))
    with pytest.raises(
        DataError, match="column 'value': 1 infinite, first in query 'q00001' of model 'a'"
    ):
        summarise(scores.with_columns(value=pl.Series([0.5, np.inf])))
    with pytest.raises(DataError, match="column 'query': 1 null in the scores"):
        summarise(scores.with_columns(query=pl.Series(["q", None])))


def cut(scores: pl.DataFrame, *queries: str, pooled: bool = False) -> pl.DataFrame:
    """The scores, truncated for some queries; whoever marked them has left a standard deviation
    in.
    """
    return scores.with_columns(truncated=pl.col("query").is_in(queries), pooled=pl.lit(pooled))


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_one_truncated_score_leaves_the_mean_without_a_deviation(average: str) -> None:
    scores = scores_of({"m": [0.5, 0.25, None, 1.0]}, stds={"m": [0.1, 0.1, None, 0.1]})
    queries = pl.DataFrame(
        {"query": [f"q{n:05}" for n in range(4)], "label": list("xxxy"), "weight": [1, 2, 3, 4]}
    )
    asked: dict[str, Any] = {"queries": None if average == "micro" else queries, "average": average}
    whole = summarise(scores, **asked).row(0, named=True)
    marked = summarise(cut(scores, "q00001", pooled=True), **asked).row(0, named=True)
    assert whole["tie_std"] > 0
    assert (whole["truncated_share"], whole["pooled"]) == (0.0, False)
    assert marked == whole | {"tie_std": None, "truncated_share": 1 / 3, "pooled": True}


def test_a_score_without_a_bound_leaves_the_mean_without_one() -> None:
    scores = bounded_scores(
        {"m": ([0.5, 0.5, None], [0.5, 0.5, None], [0.0, 0.5, None], [None, 0.5, None])}
    )
    summary = summarise(cut(scores, "q00000"))
    row = summary.filter(policy="best").row(0, named=True)
    assert (row["value"], row["highest"], row["lowest"], row["query_se"]) == (
        None,
        None,
        0.25,
        None,
    )
    assert (row["queries"], row["truncated_share"]) == (2, 0.5)
    assert summary.filter(policy="expected")["highest"].to_list() == [None]
    assert summarise(scores).filter(policy="best")["value"].to_list() == [
        0.5
    ]  # the query was left out there


def test_scores_from_elsewhere_need_not_say_that_they_are_whole() -> None:
    scores = scores_of({"m": [0.5, 0.25]})
    assert summarise(scores.drop("truncated", "pooled")).equals(summarise(scores))


def test_intervals_of_shares_stay_between_0_and_1_and_others_do_not() -> None:
    scores = scores_of({"a": [0.9, 1.0, 0.2]})
    t = stats.t.interval(0.95, 2, 0.7, stats.sem([0.9, 1.0, 0.2]))
    assert t[0] < 0 < 1 < t[1]
    cut = summarise(scores).row(0, named=True)
    assert (cut["ci_low"], cut["ci_high"]) == (0.0, 1.0)
    for metric in ("dcg", "acg", "wap(denominator=retrieved)", "num_rel_ret", "seconds"):
        whole = summarise(scores.with_columns(metric=pl.lit(metric))).row(0, named=True)
        assert (whole["ci_low"], whole["ci_high"]) == pytest.approx(t, rel=1e-12)
    percent = summarise(scores.with_columns(pl.col("value") * 100)).row(
        0, named=True
    )  # somebody's own unit
    assert (percent["ci_low"], percent["ci_high"]) == pytest.approx(
        [100 * end for end in t], rel=1e-12
    )


def test_row_024_a_mean_without_any_weight_is_null() -> None:
    scores = scores_of({"a": [0.9, 1.0, 0.2]})
    queries = scores.select("query").with_columns(weight=0.0)
    found = summarise(scores, queries=queries, average="weighted").row(0, named=True)
    assert [found[name] for name in ("value", "tie_std", "query_se", "ci_low", "ci_high")] == [
        None
    ] * 5
    assert found["queries"] == 3

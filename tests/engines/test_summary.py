from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from made_scores import scores_of
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.engines import summary as summaries
from retrieval_report.engines.summary import summarise

generator = np.random.default_rng(20240)
SKEWED = generator.beta(0.6, 2.0, size=40)


def test_columns_and_types_are_those_of_the_contract():
    assert dict(summarise(scores_of({"a": SKEWED})).schema) == SUMMARY
    assert dict(summarise(scores_of({"a": SKEWED}).clear()).schema) == SUMMARY


@pytest.mark.parametrize("chance", [0.975, 0.9])
def test_quantiles_are_scipys_from_a_table_and_beyond_it(chance: float):
    freedom = [1, 2, 39, 999, 1000, 1001, 2345, 10**5, 10**8]
    found = [summaries._quantile(number, chance) for number in freedom]
    assert found == pytest.approx(stats.t.ppf(chance, freedom), rel=1e-14)
    table = np.load(Path(summaries.__file__).with_name("student_t.npy"))
    np.testing.assert_allclose(table, stats.t.ppf(0.975, np.arange(1, 1001)), rtol=1e-14)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_spreads_of_ties_are_those_of_a_sum_of_independent_scores(average: str):
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
def test_the_interval_of_equal_scores_has_a_width(value: float, clusters: int):
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


def test_scores_that_went_through_pandas_are_understood():
    scores = pl.concat([scores_of({"a": [0.5, None]}), scores_of({"a": [0.5, None]}, cutoff=None)])
    there_and_back = scores.to_pandas()
    assert str(there_and_back["cutoff"].dtype) == "float64"
    assert_frame_equal(summarise(there_and_back), summarise(scores))


def test_scores_from_elsewhere_need_not_say_that_they_are_whole():
    scores = scores_of({"m": [0.5, 0.25]})
    assert summarise(scores.drop("truncated", "pooled")).equals(summarise(scores))

"""Walks and closed forms of single lists, against what evaluate says of them and against all their
orders.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval_report import evaluate
from retrieval_report.contracts.options import Options
from retrieval_report.kernels.walks import multiply_characteristics, sampled_walks
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.scoring import score_distribution as orders_of_lists
from retrieval_report.scoring.convolution import Complex
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.layout import lay_out
from retrieval_report.scoring.score_distribution import OrderScores, score_orders
from retrieval_report.scoring.score_paths import Walk

SUMS = (
    *(
        "ap",
        "ap(denominator=retrieved)",
        "ap(denominator=min)",
        "wap",
        "ndcg",
        "ndcg(ideal=list)",
        "dcg",
        "acg",
    ),
    *("rbp", "err", "ap_at_r", "ndcg(gain=exp2,discount=reciprocal)"),
)
CLOSED = (
    "precision",
    "precision(denominator=retrieved)",
    "recall",
    "f1",
    "hit_rate",
    "rr",
    "r_precision",
)


def made(queries: int, items: int, seed: int, *, grades: int = 3) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    size = queries * items
    relevance = random.integers(0, grades, size) * (random.random(size) < 0.5)
    return pl.DataFrame({
        "model": "m", "query": np.repeat(np.arange(queries), items), "item": np.tile(np.arange(items), queries),
        "distance": random.integers(0, 4, size), "relevance": relevance,
    })  # fmt: skip


def found(
    rankings: pl.DataFrame, metric: str, cutoff: int | None, **options: Any
) -> list[OrderScores]:
    asked = Options(policies=("expected",), **options)
    prepared = lay_out(judge(rankings, None, None, asked), asked)
    return score_orders(prepared, parse_metrics(metric, cutoff), asked, 50, walks=True)


def scored(rankings: pl.DataFrame, metric: str, cutoff: int | None, **options: Any) -> pl.DataFrame:
    scores = evaluate(
        rankings, metrics=metric, cutoffs=cutoff, policies=("expected", "worst", "best"), **options
    )
    return scores.pivot("policy", index="query", values=["value", "std"])


@pytest.mark.parametrize("cutoff", [1, 5, 13, None])
@pytest.mark.parametrize("metric", SUMS)
def test_mean_spread_and_bounds_of_every_walk_are_those_of_evaluate(
    metric: str, cutoff: int | None
) -> None:
    # With more kinds of relevant items a cut tie that is divided by those found has no walk.
    rankings = made(12, 20, 1, grades=2 if "retrieved" in metric else 3)
    lists = found(rankings, metric, cutoff, relevant_from=1)
    wide = {
        row["query"]: row
        for row in scored(rankings, metric, cutoff, relevant_from=1).iter_rows(named=True)
    }
    for own in lists:
        (walk,) = own.walks
        assert walk is not None
        told = wide[own.query]
        assert walk.mean == pytest.approx(told["value_expected"], abs=1e-11)
        assert walk.variance**0.5 == pytest.approx(told["std_expected"], abs=1e-7)
        assert walk.least == pytest.approx(told["value_worst"], abs=1e-11)
        assert walk.most == pytest.approx(told["value_best"], abs=1e-11)


@pytest.mark.parametrize("options", [{}, {"relevant_from": 2, "no_relevant": "one"}])
@pytest.mark.parametrize("cutoff", [1, 7, 20, None])
@pytest.mark.parametrize("metric", CLOSED)
def test_closed_forms_are_whole_distributions(
    metric: str, cutoff: int | None, options: dict[str, Any]
) -> None:
    rankings = made(20, 40, 2)
    wide = {
        row["query"]: row
        for row in scored(rankings, metric, cutoff, **options).iter_rows(named=True)
    }
    for own in found(rankings, metric, cutoff, **options):
        value, told = own.value[:, 0], wide[own.query]
        mean = own.chance @ value
        assert own.exact
        assert own.chance.sum() == pytest.approx(1, abs=1e-12)
        assert mean == pytest.approx(told["value_expected"], abs=1e-12)
        assert (own.chance @ (value - mean) ** 2) ** 0.5 == pytest.approx(
            told["std_expected"], abs=1e-7
        )
        assert value.min() == pytest.approx(told["value_worst"], abs=1e-12)
        assert value.max() == pytest.approx(told["value_best"], abs=1e-12)


def wave(walk: Walk, step: float, terms: int) -> Complex:
    product = np.ones(terms, np.complex128)
    multiply_characteristics(walk.steps, walk.last, step, product, terms)
    return product


@settings(max_examples=30, deadline=None)
@given(
    metric=st.sampled_from(SUMS), seed=st.integers(0, 1000), cutoff=st.sampled_from([2, 4, None]),
    items=st.integers(1, 6),
)  # fmt: skip
def test_a_walk_is_all_orders(metric: str, seed: int, cutoff: int | None, items: int) -> None:
    rankings = made(1, items, seed).with_columns(
        pl.when(pl.col("item") == 0).then(1).otherwise("relevance").alias("relevance")
    )
    for own in found(rankings, metric, cutoff):
        (walk,) = own.walks
        if walk is None:
            assert "retrieved" in metric
            continue
        source = walk.steps.source
        assert np.unique(source).size == 1 + np.count_nonzero(
            np.diff(source)
        )  # steps from a node follow each other
        times = 1.7 * np.arange(40)
        truth = np.exp(1j * np.outer(times, own.value[:, 0])) @ own.chance
        np.testing.assert_allclose(wave(walk, 1.7, 40), truth, atol=1e-9)


def test_random_walks_have_the_mean_and_the_spread() -> None:
    (own,) = found(made(1, 30, 5), "ndcg", None)
    (walk,) = own.walks
    assert walk is not None
    sums = np.empty(4000)
    sampled_walks(walk.steps, walk.last, np.uint64(9), sums)
    assert abs(sums.mean() - walk.mean) < 5 * (walk.variance / sums.size) ** 0.5
    assert sums.std() == pytest.approx(walk.variance**0.5, rel=0.1)
    assert walk.least - 1e-12 <= sums.min() <= sums.max() <= walk.most + 1e-12


def test_lists_with_walks_are_neither_drawn_nor_tried_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(orders_of_lists, "FEW_LISTS", 0)
    for own in found(made(3, 30, 6), "ap", None):
        assert own.exact
        assert own.value.shape == (0, 1)
        assert own.walks[0] is not None

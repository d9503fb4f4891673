"""Item weights after KerasRS: weights of lists, gains that are weighed, and what is refused."""

from __future__ import annotations

import math

import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.contracts.errors import ParameterError

UNEVEN = pl.DataFrame(
    {
        "query": ["q"] * 3 + ["r"] * 2 + ["s"],
        "item": list("abc") + list("ab") + ["a"],
        "distance": [1, 1, 2, 1, 2, 1],
        "relevance": [1, 2, 0, 0, 1, 0],
        "weight": [1.0, 3.0, 7.0, 2.0, 5.0, 4.0],
    }
)


@pytest.mark.parametrize("metric", ["ap", "wap(denominator=min)", "dcg", "ndcg(gain=exp2)@3"])
def test_weights_that_differ_among_the_items_that_gain_are_refused_by_name(metric: str) -> None:
    name = metric.split("@")[0].replace("(", r"\(").replace(")", r"\)")
    told = rf"weight: {name}: in 1 lists .* query 'q' .* weigh_gains\(\) accepts .* dcg and ndcg"
    with pytest.raises(ParameterError, match=told):
        rr.lists.query_weights(UNEVEN, metrics=["rr", metric])
    even = UNEVEN.with_columns(
        weight=pl.when(pl.col("relevance") > 0).then(2.0).otherwise("weight")
    )
    assert rr.lists.query_weights(even, metrics=metric)["weight"].to_list() == [2.0, 2.0, 2.0]


def keras(kind: str) -> float:
    """The mean that KerasRS defines: the two tied items of q once in each order, its Σ over lists
    written out.
    """
    total = divisor = 0.0
    gains = [1.0 * 1, 3.0 * 3]  # weight · (2^rel − 1)
    for order, chance in ((gains, 0.5), (gains[::-1], 0.5)):
        dcg = order[0] + order[1] / math.log2(3)
        own = 10 / 4  # Σ w·g / Σ g
        total += chance * (dcg if kind == "dcg" else own * dcg / (9 + 1 / math.log2(3)))
    divisor += 10 / 4
    total += 5 / math.log2(3) if kind == "dcg" else 5 * (5 / math.log2(3)) / 5
    divisor += 5
    divisor += (10 / 4 + 5) / 2  # s gains nothing: 0, with the mean weight
    return total / divisor


@pytest.mark.parametrize("kind", ["dcg", "ndcg"])
def test_weighed_gains_give_the_mean_that_keras_rs_prints(kind: str) -> None:
    rankings, metric, weights = rr.lists.weigh_gains(UNEVEN, f"{kind}(gain=exp2)")
    assert str(metric) == kind  # the gains are the relevances now
    scores = rr.evaluate(rankings, metrics=metric, cutoffs=None, policies="expected")
    mean = rr.summarise(scores, queries=weights, average="weighted")["value"].item()
    assert mean == pytest.approx(keras(kind), rel=1e-12)


def test_masked_items_leave_lists_and_other_metrics_have_no_gains() -> None:
    masked = UNEVEN.with_columns(mask=pl.col("item") != "c")
    assert rr.lists.weigh_gains(masked).rankings.height == 4 + 1
    assert rr.lists.weigh_gains(masked).weights.equals(
        rr.lists.weigh_gains(UNEVEN.filter(pl.col("item") != "c")).weights
    )
    with pytest.raises(
        ParameterError,
        match="weigh_gains: ap has no gains; item weights are defined for dcg and ndcg",
    ):
        rr.lists.weigh_gains(UNEVEN, "ap")


def test_what_gains_in_other_metrics_has_relevance_1_whatever_is_relevant() -> None:
    rows = UNEVEN.filter(query="q").with_columns(relevance=pl.Series([0.5, 1.0, 2.0]))
    weights = rr.lists.query_weights(rows, metrics="rr")
    assert weights["weight"].to_list() == [(3 + 7) / 2]
    assert "relevant_from" in str(rr.lists.query_weights.__doc__)


def test_an_item_of_weight_0_is_masked() -> None:
    weights = UNEVEN.with_columns(
        weight=pl.when(pl.col("item") == "a").then(0.0).otherwise("weight")
    )
    masked = weights.with_columns(mask=pl.col("weight") > 0)
    for metric in ("rr", "ndcg"):
        of_lists = rr.lists.query_weights(weights, metrics=metric)
        assert of_lists.equals(rr.lists.query_weights(masked, metrics=metric))
        assert of_lists["weight"].to_list() == [3.0, 5.0, 0.0]
    assert rr.lists.weigh_gains(weights).rankings["item"].to_list() == ["b", "c", "b"]

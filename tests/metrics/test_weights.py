"""Item weights after KerasRS: weights of lists, gains that are weighed, and what is refused."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from oracles import enumerate_metric
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
def test_weighed_gains_give_the_mean_that_keras_rs_prints(kind: str):
    rankings, metric, weights = rr.lists.weigh_gains(UNEVEN, f"{kind}(gain=exp2)")
    assert str(metric) == kind  # the gains are the relevances now
    scores = rr.evaluate(rankings, metrics=metric, cutoffs=None, policies="expected")
    mean = rr.summarise(scores, queries=weights, average="weighted")["value"].item()
    assert mean == pytest.approx(keras(kind), rel=1e-12)


def weighed_ap(weights: Sequence[Any], k: int | None) -> Fraction:
    """Σ w · precision@i / Σ w over the relevant items of one ordered list; 0: not relevant."""
    total, hits = Fraction(0), 0
    for rank, weight in enumerate(weights[:k], 1):
        hits += weight > 0
        total += weight * Fraction(hits, rank)
    return Fraction(total, sum(weights))


def uneven_ties(rng: np.random.Generator) -> list[list[Fraction]]:
    sizes = rng.integers(1, 5, rng.integers(1, 4))
    return [[Fraction(max(0, int(rng.integers(-3, 6))), 4) for _ in range(size)] for size in sizes]


def weighed_batch(lists: list[list[list[Fraction]]]) -> dict[str, Any]:
    """The batch in which lists of ties have these weights; other items weigh 2."""
    places = [[place for place, tie in enumerate(ties) for _ in tie] for ties in lists]
    flat = [[weight for tie in ties for weight in tie] for ties in lists]
    return {
        "distances": places,
        "relevance": [[int(weight > 0) for weight in row] for row in flat],
        "sample_weight": [[float(weight or 2) for weight in row] for row in flat],
    }


def test_ap_with_item_weights_has_the_mean_and_deviation_of_all_orders():
    rng = np.random.default_rng(6)
    lists = [ties for ties in (uneven_ties(rng) for _ in range(20)) if any(map(any, ties))]
    meter = rr.Meter("ap@1, ap@3, ap@4, ap")
    meter.update(**weighed_batch(lists))
    scores = meter.scores.filter(policy="expected")
    spreads = set()
    for query, rows in scores.group_by("query", maintain_order=True):
        for cutoff, value, std in rows.select("cutoff", "value", "std").rows():
            every = enumerate_metric(lists[query[0]], partial(weighed_ap, k=cutoff))
            assert value == pytest.approx(float(every.mean), abs=1e-15)
            assert std == pytest.approx(every.std, abs=1e-14)
            spreads.add(every.std > 0)
    assert spreads == {True, False}
    assert meter.compute()["lowest"].null_count() == 4  # the extremes are not computed


def test_weigh_gains_of_ap_is_what_a_meter_computes():
    rng = np.random.default_rng(7)
    batch = weighed_batch([uneven_ties(rng) for _ in range(20)])
    rows = (
        pl.DataFrame(batch)
        .with_row_index("query")
        .explode("distances", "relevance", "sample_weight")
    )
    rows = rows.rename({"distances": "distance", "sample_weight": "weight"}).with_columns(
        item=pl.int_range(pl.len()).over("query")
    )
    rankings, metric, weights = rr.lists.weigh_gains(rows, "ap")
    how: Any = {"metrics": metric, "cutoffs": [2, None], "truncated": "no"}
    scores = rr.evaluate(rankings, policies=("expected", "naive"), **how)
    means = rr.summarise(scores, queries=weights, average="weighted").filter(policy="expected")
    meter = rr.Meter("ap", [2, None])
    meter.update(**batch)
    ours = meter.compute()
    for name in ("value", "tie_std"):
        assert means[name].to_list() == pytest.approx(ours[name].to_list(), rel=1e-14)
    with pytest.raises(ParameterError, match="lowest and highest values over tie orders are not"):
        rr.evaluate(rankings, policies=("best",), **how)

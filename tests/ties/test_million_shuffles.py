"""The chance of a reversal against a million random orders of every list."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import oracles
from retrieval_report import compare, evaluate

SHUFFLES, QUERIES = 1_000_000, 25
MODELS = ("a", "b")


def made() -> pl.DataFrame:
    """Two models of equal quality that rank the same six items of every query by distances 0 to
    3.
    """
    random = np.random.default_rng(7)
    relevance = random.integers(0, 3, (QUERIES, 6)) * (random.random((QUERIES, 6)) < 0.6)
    parts = [
        pl.DataFrame(
            {
                "model": model,
                "query": f"q{query:02}",
                "item": list("uvwxyz"),
                "distance": random.integers(0, 4, 6),
                "relevance": relevance[query],
            }
        )
        for model in MODELS
        for query in range(QUERIES)
    ]
    return pl.concat(parts)


def drawn(rows: pl.DataFrame, text: str, random: np.random.Generator) -> NDArray[np.float64]:
    """A list's score in a million of its orders, each drawn among all permutations inside its
    ties.
    """
    ties = [
        part["relevance"].to_list()
        for part in rows.sort("distance").partition_by("distance", maintain_order=True)
    ]
    orders = itertools.product(*(itertools.permutations(tie) for tie in ties))
    found = [
        float(oracles.score(list(itertools.chain.from_iterable(order)), text, 4))
        for order in orders
    ]
    return np.array(found)[random.integers(0, len(found), SHUFFLES)]


@pytest.mark.parametrize("text", ["ap", "ndcg", "ap(denominator=retrieved)"])
def test_bounds_hold_the_share_of_a_million_shuffles(text: str) -> None:
    rankings, random = made(), np.random.default_rng(11)
    scores = evaluate(
        rankings, metrics=text, cutoffs=4, policies=("expected", "worst", "best"), truncated="no"
    )
    row = compare(scores, rankings=rankings, truncated="no").row(0, named=True)
    total = {model: np.zeros(SHUFFLES) for model in MODELS}
    for (model, _), rows in rankings.group_by("model", "query", maintain_order=True):
        total[str(model)] += drawn(rows, text, random)
    ahead = (total["a"] - total["b"]) * np.sign(row["difference"])
    reversed_, equal = (ahead < -1e-9).mean(), (np.abs(ahead) <= 1e-9).mean()
    margin = 5 * np.sqrt(0.25 / SHUFFLES)  # five standard deviations of a share
    assert 0.001 < reversed_ < 0.6  # tie order does decide here
    assert row["p_tie_low"] - margin <= reversed_ <= row["p_tie_high"] + margin
    assert row["p_tie_low"] <= row["p_tie"] <= row["p_tie_high"] <= row["p_tie_low"] + 0.01
    assert row["p_equal"] is None or abs(row["p_equal"] - equal) <= margin

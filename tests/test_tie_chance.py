from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import oracles
from made_scores import within
from retrieval_report import ColumnError, evaluate, shuffled_means, tie_distributions
from retrieval_report.analysis.comparison import compare
from retrieval_report.analysis.tie_chance import normal_chance

SHUFFLES = 3000


def tied_rankings(queries: int, seed: int, items: int = 12) -> pl.DataFrame:
    """Two models that see the relevance through noise and round it to few distances."""
    draw = np.random.default_rng(seed)
    relevance = draw.integers(0, 2, size=(queries, items))
    parts = []
    for model, noise in (("rough", 2.5), ("rougher", 2.7)):
        distance = np.round(2 - relevance + noise * draw.normal(size=relevance.shape)).astype(int)
        parts.append(
            pl.DataFrame(
                {
                    "model": model,
                    "query": np.repeat(np.arange(queries), items),
                    "item": np.tile(np.arange(items), queries),
                    "distance": distance.ravel(),
                    "relevance": relevance.ravel(),
                }
            )
        )
    return pl.concat(parts)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_p_tie_is_the_share_of_shuffles_that_show_the_other_order(seed: int) -> None:
    rankings = tied_rankings(60, seed)
    scores = evaluate(rankings, metrics=("ap", "ndcg", "precision"), cutoffs=5, policies="expected")
    draws = shuffled_means(rankings, metrics=("ap", "ndcg", "precision"), cutoffs=5, shuffles=SHUFFLES, seed=99)
    wide = draws.pivot("model", index=["metric", "draw"], values="value")
    for row in compare(scores, resamples=99).iter_rows(named=True):
        assert row["p_tie_method"] == "normal"
        here = wide.filter(metric=row["metric"])
        sign = np.sign(row["difference"])
        ahead = (here["rough"] - here["rougher"]).to_numpy() * sign
        # Means of k / 5 are often equal: a normal distribution gives each order half of those draws.
        share = float((ahead < -1e-12).mean() + (np.abs(ahead) <= 1e-12).mean() / 2)
        assert abs(share - row["p_tie"]) < 0.01 + 4 * np.sqrt(share * (1 - share) / SHUFFLES)


METRICS = ("precision", "rr", "ap", "ap(denominator=retrieved)", "ndcg", "err", "recall")


def outcomes(rankings: pl.DataFrame, metric: str, cutoff: int | None) -> dict[str, list[tuple[Fraction, Fraction]]]:
    """Every sum over the queries that a model's orders can give, and its probability, in whole fractions."""
    found: dict[str, list[tuple[Fraction, Fraction]]] = {}
    for (model,), lists in rankings.group_by("model", maintain_order=True):
        sums = [(Fraction(0), Fraction(1))]
        for _, rows in lists.group_by("query", maintain_order=True):
            ties = [tie["relevance"].to_list() for tie in rows.sort("distance").partition_by("distance")]
            one = [(oracles.score(order, metric, cutoff), share) for order, share in oracles.orderings(ties)]
            sums = [(value + more, share * part) for value, share in sums for more, part in one]
        found[str(model)] = sums
    return found


def reversal(rankings: pl.DataFrame, metric: str, cutoff: int | None) -> float | None:
    """By trying all orders of both models against each other."""
    sums = outcomes(rankings, metric, cutoff)
    first, second = sums["rough"], sums["rougher"]
    lead = float(sum(value * share for value, share in first) - sum(value * share for value, share in second))
    if abs(lead) < 1e-12:
        return None
    values, shares = (np.array([[float(part) for part in pair] for pair in side]).T for side in (first, second))
    ahead = np.sign(lead) * np.subtract.outer(values[0], shares[0])
    return float((np.outer(values[1], shares[1]) * (ahead < -1e-9)).sum())


@pytest.mark.parametrize("seed", range(1, 7))
def test_few_tied_queries_are_decided_by_all_orders(seed: int) -> None:
    rankings = tied_rankings(2, seed, items=4)
    asked: dict[str, Any] = {"metrics": METRICS, "cutoffs": (2, None)}
    scores = evaluate(rankings, policies="expected", **asked)
    distributions = tie_distributions(scores, rankings.sample(fraction=1.0, shuffle=True, seed=seed), **asked)
    for row in compare(scores, distributions=distributions).iter_rows(named=True):
        truth = reversal(rankings, row["metric"], row["cutoff"])
        assert row["p_tie"] == (None if truth is None else pytest.approx(truth, abs=1e-12)), row
        assert row["p_tie_method"] == (None if truth is None else "exact")
    assert compare(scores).filter(p_tie_method="normal").height > 0


def test_orders_that_are_equal_reverse_nothing() -> None:
    """Both models tie the same items alike, and one has a query that decides for it: a draw is no reversal."""
    rows = [(model, "p", item, 0, int(item == 0)) for model in ("a", "b") for item in range(2)]
    rows += [("a", "q", item, item, int(item == 0)) for item in range(2)]
    rows += [("b", "q", item, -item, int(item == 0)) for item in range(2)]
    rankings = pl.DataFrame(rows, schema=["model", "query", "item", "distance", "relevance"], orient="row")
    asked: dict[str, Any] = {"metrics": "precision", "cutoffs": 1}
    scores = evaluate(rankings, policies="expected", **asked)
    distributions = tie_distributions(scores, rankings, **asked)
    row = compare(scores, distributions=distributions).row(0, named=True)
    assert (row["difference"], row["p_tie"], row["p_tie_method"]) == (0.5, 0.0, "exact")


def test_mean_and_spread_of_every_distribution_are_those_of_evaluate() -> None:
    rankings = tied_rankings(12, 4, items=9)
    asked: dict[str, Any] = {"metrics": ("ap", "ndcg", "r_precision", "ap_at_r"), "cutoffs": (1, 5, None)}
    options: dict[str, Any] = {"relevant_from": 1, "no_relevant": "one", "missing_query": "error"}
    scores = evaluate(rankings, policies=("expected", "best", "worst"), **asked, **options)
    found = tie_distributions(scores, rankings, **asked, **options)
    assert set(found["method"]) == {"exact"}
    keys = ["model", "query", "metric", "cutoff"]
    mean = (pl.col("value") * pl.col("probability")).sum()
    moments = found.group_by(keys).agg(
        mean=mean,
        std=((pl.col("value") - mean) ** 2 * pl.col("probability")).sum().sqrt(),
        lowest=pl.col("value").min(),
        highest=pl.col("value").max(),
    )
    wide = scores.pivot("policy", index=keys, values=["value", "std"])
    both = moments.join(wide, on=keys, nulls_equal=True)
    assert both.height == moments.height > 50
    for one, other in (
        ("mean", "value_expected"),
        ("std", "std_expected"),
        ("lowest", "value_worst"),
        ("highest", "value_best"),
    ):
        np.testing.assert_allclose(both[one], both[other], atol=1e-10)


def test_only_lists_that_decide_a_pair_are_tried() -> None:
    rankings = tied_rankings(6, 3, items=6)
    certain = rankings.filter(model="rough").with_columns(
        pl.lit("certain").alias("model"), distance=1 - pl.col("relevance")
    )
    asked: dict[str, Any] = {"metrics": "ap", "cutoffs": None}
    data = pl.concat([rankings, certain])
    scores = evaluate(data, policies=("expected", "best", "worst"), **asked)
    found = tie_distributions(scores, data, **asked)
    assert set(found["model"]) == {"rough", "rougher"}
    depends = scores.filter(pl.col("policy") == "expected", pl.col("std") > 0)
    assert set(found.select("model", "query").unique().rows()) == set(depends.select("model", "query").rows())
    many = tied_rankings(60, 0)
    assert tie_distributions(evaluate(many, policies="expected", **asked), many, **asked).height == 0
    naive = evaluate(data, policies="naive", **asked)
    assert tie_distributions(naive, data, **asked).schema == found.schema


def test_lists_without_distribution_leave_the_normal_one() -> None:
    rankings = tied_rankings(6, 3, items=6)
    asked: dict[str, Any] = {"metrics": "ap", "cutoffs": None}
    scores = evaluate(rankings, policies="expected", **asked)
    found = tie_distributions(scores, rankings, **asked)
    for part in (found.filter(model="rough"), found.with_columns(cutoff=pl.lit(5, pl.Int64)), found[:0]):
        assert compare(scores, distributions=part)["p_tie_method"].to_list() == ["normal"]
    with pytest.raises(ColumnError, match="distributions: no column 'method'; expected what tie_distributions returns"):
        compare(scores, distributions=found.drop("method"))


def test_long_ties_are_drawn_and_long_sums_convolved() -> None:
    rankings = tied_rankings(20, 5, items=40)
    asked: dict[str, Any] = {"metrics": "ap", "cutoffs": (6, None)}
    scores = evaluate(rankings, policies="expected", **asked)
    found = tie_distributions(scores, rankings, **asked, seed=3)
    rows = compare(scores, distributions=found)
    assert dict(rows.select("cutoff", "p_tie_method").rows()) == {6: "convolved", None: "shuffles"}
    draws = shuffled_means(rankings, **asked, shuffles=SHUFFLES, seed=8)
    for row in rows.iter_rows(named=True):
        own = draws.filter(pl.col("cutoff").eq_missing(pl.lit(row["cutoff"], pl.Int64)))
        ahead = own.filter(model="rough")["value"].to_numpy() - own.filter(model="rougher")["value"].to_numpy()
        assert within(float((ahead * np.sign(row["difference"]) < -1e-12).mean()), row["p_tie"], SHUFFLES)


def test_normal_chance() -> None:
    chance = normal_chance(np.array([0.1, -0.1, 0.1, 0.0, 0.1]), np.array([0.1, 0.1, 0.0, 0.1, np.nan]))
    np.testing.assert_allclose(chance, [0.158655, 0.158655, 0.0, np.nan, np.nan], atol=1e-6)

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import oracles
from made_reports import grid
from made_scores import scores_of
from retrieval_report import evaluate
from retrieval_report.comparison.flips import pair_verdicts
from retrieval_report.comparison.p_tie import (
    MAX_DEVIATIONS,
    TAIL_PROBABILITY,
    _period,
)
from retrieval_report.comparison.pairs import compare


def tied_rankings(
    queries: int,
    seed: int,
    items: int = 12,
    models: Iterable[tuple[str, float]] = (("rough", 2.5), ("rougher", 2.7)),
) -> pl.DataFrame:
    """Models that see the relevance through noise and round it to few distances."""
    draw = np.random.default_rng(seed)
    relevance = draw.integers(0, 2, size=(queries, items))
    parts = []
    for model, noise in models:
        distance = np.round(2 - relevance + noise * draw.normal(size=relevance.shape)).astype(int)
        rows = grid(distance=distance, relevance=relevance)
        parts.append(rows.with_columns(model=pl.lit(model)))
    return pl.concat(parts)


@pytest.mark.parametrize("deviation", [0.3, 1.0, 2.7])
def test_a_period_of_waves_bounds_what_normal_sums_have_beyond_it(deviation: float):
    period, outside = _period(200.0, deviation, deviation / 100)
    beyond = np.arange(1, 100) * period - MAX_DEVIATIONS * deviation
    assert 2 * stats.norm.sf(beyond / deviation).sum() <= outside <= TAIL_PROBABILITY


METRICS = ("precision", "rr", "ap", "ap(denominator=retrieved)", "ndcg", "err", "recall")


def outcomes(
    rankings: pl.DataFrame, metric: str, cutoff: int | None
) -> dict[str, list[tuple[Fraction, Fraction]]]:
    """Every sum over the queries that a model's orders can give, and its probability, in whole
    fractions.
    """
    found: dict[str, list[tuple[Fraction, Fraction]]] = {}
    for (model,), lists in rankings.group_by("model", maintain_order=True):
        sums = [(Fraction(0), Fraction(1))]
        for _, rows in lists.group_by("query", maintain_order=True):
            ties = [
                tie["relevance"].to_list() for tie in rows.sort("distance").partition_by("distance")
            ]
            one = [
                (oracles.score(order, metric, cutoff), share)
                for order, share in oracles.orderings(ties)
            ]
            sums = [(value + more, share * part) for value, share in sums for more, part in one]
        found[str(model)] = sums
    return found


def reversal(rankings: pl.DataFrame, metric: str, cutoff: int | None) -> float | None:
    """By trying all orders of both models against each other."""
    sums = outcomes(rankings, metric, cutoff)
    first, second = sums["rough"], sums["rougher"]
    lead = float(
        sum(value * share for value, share in first) - sum(value * share for value, share in second)
    )
    if abs(lead) < 1e-12:
        return None
    values, shares = (
        np.array([[float(part) for part in pair] for pair in side]).T for side in (first, second)
    )
    ahead = np.sign(lead) * np.subtract.outer(values[0], shares[0])
    return float((np.outer(values[1], shares[1]) * (ahead < -1e-9)).sum())


@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.slow
def test_few_tied_queries_are_decided_by_all_orders(seed: int):
    rankings = tied_rankings(2, seed, items=4)
    asked: Any = {"metrics": METRICS, "cutoffs": (2, None)}
    scores = evaluate(rankings, policies="expected", **asked)
    shuffled = rankings.sample(fraction=1.0, shuffle=True, seed=seed)
    for row in compare(scores, rankings=shuffled).iter_rows(named=True):
        truth = reversal(rankings, row["metric"], row["cutoff"])
        if truth is None:
            assert (row["p_tie"], row["p_tie_method"]) == (None, None)
        elif row["p_tie_method"] == "exact":
            assert (
                row["p_tie_low"]
                == row["p_tie"]
                == row["p_tie_high"]
                == pytest.approx(truth, abs=1e-12)
            ), row
        else:  # so improbable that nobody needs to know
            assert row["p_tie_low"] <= truth <= row["p_tie_high"] <= 0.01
    for row in compare(scores).iter_rows(named=True):
        truth = reversal(rankings, row["metric"], row["cutoff"])
        assert truth is None or row["p_tie_low"] - 1e-12 <= truth <= row["p_tie_high"] + 1e-12


def lists(model: str, queries: Iterable[str], ties: Sequence[Sequence[int]]) -> pl.DataFrame:
    """The same list for many queries: the relevances of tie after tie."""
    one = [(distance, grade) for distance, tie in enumerate(ties) for grade in tie]
    named = [(f"{grade}/{[other for _, other in one[:at]].count(grade)}", distance, grade)
             for at, (distance, grade) in enumerate(one)]  # fmt: skip
    rows = [(model, query, *item) for query in queries for item in named]
    return pl.DataFrame(
        rows, schema=["model", "query", "item", "distance", "relevance"], orient="row"
    )


def test_a_lattice_keeps_equal_means_apart_from_reversals():
    """P@1 of 199 queries that tie two items: a binomial number of hits against a sure one."""
    queries = [f"q{number:03}" for number in range(199)]
    rankings = pl.concat([
        lists("coin", queries, [[1, 0]]),
        lists("sure", queries[:100], [[1], [0]]), lists("sure", queries[100:], [[0], [1]]),
    ])  # fmt: skip
    scores = evaluate(rankings, policies="expected", metrics="precision", cutoffs=1)
    row = compare(scores, rankings=rankings).row(0, named=True)
    assert row["p_tie_method"] == "exact"
    assert row["p_tie"] == pytest.approx(stats.binom.sf(100, 199, 0.5), abs=1e-12)
    assert row["p_equal"] == pytest.approx(stats.binom.pmf(100, 199, 0.5), abs=1e-12)


def test_cut_lists_are_open_unless_their_bounds_decide():
    def found(lowest: float, std: float = 0.0):
        stds: dict[str, list[float | None]] = {"a": [None, 0.0], "b": [0.0, std]}
        parts = [scores_of({"a": [0.8, 0.8], "b": [0.4, 0.4]}, stds=dict(stds))]
        for policy, value, end in (("worst", lowest, 0.3), ("best", 1.0, 0.9)):
            parts.append(scores_of({"a": [value, 0.8], "b": [0.4, end]}, policy=policy))
        first = (pl.col("model") == "a") & (pl.col("query") == "q00000")
        return compare(pl.concat(parts).with_columns(truncated=first), policies="expected")

    row = found(lowest=0.5).row(0, named=True)
    assert (row["p_tie"], row["p_tie_high"], row["p_tie_method"]) == (0.0, 0.0, "exact")
    row = found(lowest=-0.1).row(0, named=True)
    assert (row["p_tie"], row["p_tie_high"], row["p_tie_method"]) == (None, None, "truncated")
    assert (row["truncated_queries"], row["pooled"]) == (1, False)
    # The cut list may take 0.5 of a lead of 0.8; by Cantelli's inequality, ties rarely the rest.
    comparison = found(lowest=0.3, std=0.1)
    row = comparison.row(0, named=True)
    assert (row["p_tie"], row["p_tie_low"], row["p_tie_method"]) == (None, 0.0, "truncated")
    assert row["p_tie_high"] == pytest.approx(0.1)
    for tie_risk, word in ((0.05, "lists are cut"), (0.1, "not significant")):
        assert pair_verdicts(comparison, tie_risk=tie_risk)["verdict"].to_list() == [word]


@pytest.mark.slow
def test_bounds_hold_where_few_lists_decide_and_many_hardly_matter():
    """Six coins against a sum that five tails equal, and twelve lists that move it by a millionth.

    A Fourier series that covers the coins cannot tell a difference of a millionth from none:
    between its bounds lies the whole probability that the coins are level.
    """
    coins, light = [f"c{number}" for number in range(6)], [f"l{number:02}" for number in range(12)]
    start = [*[[1]] * 60, *[[0]] * 400]
    nearly = []
    for number, query in enumerate(light):
        ties = [*start, [1] + [0] * (9 + number % 5), [1] * 3 + [0] * 7]
        nearly += [
            lists("a", [query], [*ties, [1], [0]]),
            lists("b", [query], [*ties, *([[0], [1]] if number == 0 else [[1], [0]])]),
        ]
    heavy = [
        lists("a", coins, [[1, 0]]),
        lists("b", coins[:1], [[1], [0]]),
        lists("b", coins[1:], [[0], [1]]),
    ]

    def chance(parts: list[pl.DataFrame]):
        rankings = pl.concat(parts)
        scores = evaluate(rankings, policies="expected", metrics="ap", cutoffs=None, truncated="no")
        return compare(scores, rankings=rankings, resamples=9).row(0, named=True)

    one, both = chance(nearly), chance([*heavy, *nearly])
    low, high = (
        (1 + 6 * one[name]) / 64 for name in ("p_tie_low", "p_tie_high")
    )  # no head, or one head and behind
    assert high - low < 0.003
    assert both["p_tie_low"] <= low <= high <= both["p_tie_high"]
    assert both["p_tie_method"] == "convolved"


def test_a_pair_has_one_chance_whatever_other_models_there_are():
    # Moments leave less open of the first and the last than of the others, who need all lists.
    models = ("rough", 2.5), ("rougher", 4.0), ("roughest", 8.0)
    rankings = tied_rankings(150, 1, models=models)

    def chance(*names: str):
        rows = rankings.filter(pl.col("model").is_in(names))
        scores = evaluate(rows, policies="expected", metrics="ndcg@10", truncated="no")
        pairs = compare(scores, rankings=rows, resamples=9).filter(
            model_a=names[0], model_b=names[-1]
        )
        return list(pairs.select("^p_tie.*$").row(0))

    of_two = chance("rough", "roughest")
    assert of_two == chance("rough", "rougher", "roughest")
    assert of_two[2] < 1e-6  # thirteen deviations from a reversal, where a series is of little use


def test_metrics_that_are_no_sums_are_bounded_by_moments_unless_orders_are_few():
    for queries, items, method in ((2, 4, "exact"), (12, 30, "normal")):
        rankings = tied_rankings(queries, 2, items=items)
        scores = evaluate(rankings, metrics="bpref", cutoffs=None, policies="expected")
        (row,) = compare(scores, rankings=rankings, resamples=9).iter_rows(named=True)
        assert row["p_tie_method"] == method
        assert row["p_tie_low"] <= row["p_tie"] <= row["p_tie_high"]

"""No worse by more than a margin: two one-sided tests, their power, and the numbers of queries they
need.
"""

import itertools
import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy import stats

import retrieval_report as rr
from made_scores import bounded_scores, scores_of

MISSING = "statsmodels, of the extra `dev`, is not installed"


def pair(seed: int, queries: int = 40, loss: float = 0.0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    base = generator.random(queries)
    return {"float32": base, "int8": base - loss + generator.normal(0, 0.02, queries)}


def hall_p(difference: np.ndarray, margin: float) -> float:
    """Hall's p (1992), from scipy's bias-corrected skewness and the sample standard deviation."""
    n, spread = difference.size, difference.std(ddof=1)
    third = ((difference - difference.mean()) ** 3).mean() * n**2 / ((n - 1) * (n - 2))
    skewness = third / spread**3
    ahead = (difference.mean() + margin) / spread
    bent = ((1 + skewness * ahead / 3) ** 3 - 1) / skewness + skewness / (6 * n)
    return float(stats.t.sf(math.sqrt(n) * bent, n - 1))


def unseen_p(difference: np.ndarray, margin: float, largest: float = 1.0) -> float:
    """The chance that n queries miss all losses of the largest size, if they are as many as would
    bring the mean to the margin.
    """
    share = (margin + difference.mean()) / (largest + difference.mean())
    return float((1 - min(max(share, 0), 1)) ** difference.size)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("margin", [0.002, 0.01])
def test_the_two_tests_are_those_of_statsmodels(seed: int, margin: float):
    weightstats = pytest.importorskip("statsmodels.stats.weightstats", reason=MISSING)
    values = pair(seed, loss=0.004)
    difference = values["int8"] - values["float32"]
    small = -difference.min() * (1 + 1e-9)
    row = rr.stats.no_worse(
        scores_of(values), baseline="float32", margin=margin, largest_loss=small
    ).row(0, named=True)
    _, (_, lower, _), _ = weightstats.ttost_paired(
        values["int8"], values["float32"], -margin, margin
    )
    every = lower, hall_p(difference, margin), unseen_p(difference, margin, small)
    assert row["no_worse_p"] == pytest.approx(max(every), rel=1e-9)
    worse = stats.ttest_1samp(values["int8"] - values["float32"], -margin, alternative="less")
    assert row["worse_p"] == pytest.approx(worse.pvalue, rel=1e-9)
    interval = worse.confidence_interval(0.95)
    assert row["bound_high"] == pytest.approx(interval.high, rel=1e-9)


@pytest.mark.parametrize("queries", [2, 5, 50, 1_000])
def test_power_is_that_of_statsmodels(queries: int):
    power = pytest.importorskip("statsmodels.stats.power", reason=MISSING).TTestPower()
    effect = rr.stats.detectable_effect(0.2, queries, power=0.9, alpha=0.01)
    found = power.power(effect / 0.2, queries, 0.01, alternative="larger")
    assert found == pytest.approx(0.9, abs=1e-6)
    twice = rr.stats.detectable_effect(0.4, queries, power=0.9, alpha=0.01)
    assert twice == pytest.approx(2 * effect)
    needed = rr.stats.queries_needed(0.2, effect * (1 + 1e-9), power=0.9, alpha=0.01)
    assert needed == queries


@pytest.mark.parametrize(
    ("loss", "queries", "p", "verdict"),
    [
        (0.0, 3, (0.99**3, 1), "not decided"),
        (0.0, 299, (0.99**299, 1), "no worse"),
        (0.01, 299, (1, 1), "not decided"),
        (0.011, 3, (1, (1.01 / 1.011) ** 3), "not decided"),
        (0.2, 60, (1, (1.01 / 1.2) ** 60), "worse"),
    ],
)
def test_differences_without_spread(
    loss: float, queries: int, p: tuple[float, float], verdict: str
):
    base = [0.5, 0.75, 0.25] * (queries // 3) + [0.5] * (queries % 3)
    scores = scores_of({"a": base, "b": [value - loss for value in base]})
    row = rr.stats.no_worse(scores, baseline="a", margin=0.01).row(0, named=True)
    assert (row["no_worse_p"], row["worse_p"]) == pytest.approx(p, rel=1e-9)
    assert row["verdict"] == verdict
    assert (row["detectable"], row["queries_needed"]) == (0, 299)
    assert row["bound_low"] < row["bound_high"]  # an interval of width 0 would be certain


@pytest.mark.parametrize("queries", range(2, 8))
def test_losses_and_gains_of_one_size_are_seldom_called_a_loss(queries: int):
    false = 0
    for signs in itertools.product((-1.0, 1.0), repeat=queries):
        scores = scores_of({"a": [max(-s, 0) for s in signs], "b": [max(s, 0) for s in signs]})
        row = rr.stats.no_worse(scores, baseline="a", margin=0.01).row(0, named=True)
        false += row["verdict"] == "worse"
        assert (row["verdict"] == "worse") == (row["bound_high"] < -0.01)
    assert false <= 2**queries / 16  # as for "no worse": Student's t is not exact for two values


def test_every_model_and_place_against_the_baseline():
    values = {**pair(0, 400), "binary": pair(0, 400, loss=0.3)["int8"]}
    scores = pl.concat([scores_of(values), scores_of(values, cutoff=None)])
    told = rr.stats.no_worse(scores, baseline="float32", margin=0.01)
    assert told.select("model", "cutoff", "verdict").rows() == [
        ("binary", 10, "worse"), ("int8", 10, "no worse"), ("binary", None, "worse"), ("int8", None, "no worse")
    ]  # fmt: skip
    mixed = scores.sample(fraction=1, shuffle=True, seed=1).sort("cutoff", nulls_last=True)
    assert told.equals(rr.stats.no_worse(mixed, baseline="float32", margin=0.01))


def test_the_worst_order_holds_the_worst_of_one_to_the_best_of_the_other():
    generator = np.random.default_rng(0)
    base = generator.random(400) * 0.5 + 0.25
    tied = (base, base, base - 0.02, base + 0.02)
    scores = bounded_scores({"a": tied, "b": tied})
    assert rr.stats.no_worse(scores, baseline="a", margin=0.03)["verdict"][0] == "no worse"
    worst = rr.stats.no_worse(scores, baseline="a", margin=0.03, tie_order="worst").row(
        0, named=True
    )
    assert worst["difference"] == pytest.approx(-0.04)
    assert (worst["policy"], worst["verdict"], worst["tie_std"]) == ("worst", "worse", None)
    assert (
        rr.stats.no_worse(scores, baseline="a", margin=0.05, tie_order="worst")["verdict"][0]
        == "no worse"
    )


def test_an_estimate_is_held_to_the_margin_by_its_bounds():
    """One query of b is cut: only its lowest value decides "no worse", only its highest "worse"."""
    base = np.linspace(0.4, 0.6, 400)
    noise = np.random.default_rng(0).normal(0, 0.001, 400)
    exact = (base, base, base, base)

    def verdict(low: float, high: float, value: float, **flags: bool):
        candidate, lowest, highest = base + noise, base + noise, base + noise
        candidate[7], lowest[7], highest[7] = (base[7] + change for change in (value, low, high))
        scores = bounded_scores({"a": exact, "b": (candidate, candidate, lowest, highest)})
        marked = (pl.col("model") == "b") & (pl.col("query") == "q00007")
        scores = scores.with_columns(
            pl.when(marked).then(pl.lit(True)).otherwise(name).alias(name) for name in flags
        )
        row = rr.stats.no_worse(scores, baseline="a", margin=0.01).row(0, named=True)
        return row["verdict"], row["no_worse_p"] is None, row["worse_p"] is None

    assert verdict(-9.0, 0.1, 0.0)[0] == "no worse"  # without a mark it is exact
    assert verdict(-9.0, 0.1, 0.0, truncated=True)[0] == "lists are cut"
    assert verdict(-9.0, 0.1, 0.0, pooled=True)[0] == "R is not known"
    assert verdict(-0.001, 0.1, 0.0, truncated=True)[0] == "no worse"
    assert verdict(math.nan, 0.1, 0.0, truncated=True) == ("lists are cut", True, False)
    assert verdict(-0.001, math.nan, 0.0, truncated=True) == ("no worse", False, True)


def test_numbers_of_queries_at_the_ends():
    assert rr.stats.queries_needed(0.1, 1e-7) is None
    assert rr.stats.queries_needed(math.nan, 0.1) is None
    assert rr.stats.queries_needed(0.0, 0.1) == 2
    assert math.isnan(rr.stats.detectable_effect(0.1, 1))
    assert rr.stats.detectable_effect(0.1, 9, alpha=0.3, power=0.2) == 0


Draw = Callable[[np.random.Generator, int], np.ndarray]


def losers(share: float, loss: float, gain: float = 0.0, noise: float = 0.0) -> Draw:
    """A share of the queries lose so much, the others gain, and all vary a little."""

    def draw(generator: np.random.Generator, queries: int) -> np.ndarray:
        value = np.where(generator.random(queries) < share, -loss, gain)
        return value + (generator.normal(0, noise, queries) if noise else 0.0)

    return draw


def beta_losers(share: float, one: float, other: float) -> Draw:
    return lambda generator, queries: (
        -1.0 * (generator.random(queries) < share) * generator.beta(one, other, queries)
    )


# Differences whose mean is a loss of 0.02, the margin.
AT_THE_MARGIN: dict[str, Draw] = {
    "2 % lost": losers(0.02, 1.0),
    "few lose much, the others gain": losers(0.1, 0.245, gain=0.005),
    "2 % lost under noise": losers(0.02, 1.0, noise=0.02),
    "8 % lose 0.25 under noise": losers(0.08, 0.25, noise=0.005),
    "a tenth lose Beta(2, 8)": beta_losers(0.1, 2, 8),
    "a third lose Beta(1, 14)": beta_losers(0.3, 1, 14),
    "normal": lambda generator, queries: generator.normal(-0.02, 0.1, queries),
}


def test_bounds_are_the_margins_at_which_the_test_turns():
    generator = np.random.default_rng(2)
    for draw in AT_THE_MARGIN.values():
        base = np.full(250, 2.0)
        scores = scores_of({"a": base, "b": base + draw(generator, 250)})
        low = rr.stats.no_worse(scores, baseline="a", margin=0.1)["bound_low"].item()
        for factor, below in ((1 + 1e-6, True), (1 - 1e-6, False)):
            row = rr.stats.no_worse(scores, baseline="a", margin=-low * factor)
            assert (row["no_worse_p"].item() < 0.05) == below


def test_clusters_are_tested_by_their_number_and_size():
    base = np.random.default_rng(4).random(600)
    scores = scores_of({"a": base, "b": base})
    queries = pl.DataFrame({"query": scores["query"].unique(maintain_order=True)}).with_columns(
        topic=pl.int_range(pl.len()) % 100
    )
    row = rr.stats.no_worse(scores, baseline="a", margin=0.02, queries=queries, cluster="topic")
    assert row["no_worse_p"].item() == pytest.approx(0.98**100)
    assert row["queries_needed"].item() == 149 * 6
    alone = rr.stats.no_worse(scores, baseline="a", margin=0.02)
    assert (alone["verdict"].item(), row["verdict"].item()) == ("no worse", "not decided")


def test_margins_by_measure_and_relative_to_the_baseline():
    base = np.full(400, 0.5)
    scores = pl.concat(
        scores_of({"a": base, "b": base - loss}, metric=metric)
        for metric, loss in (("ndcg", 0.004), ("recall", 0.004), ("rr", 0.0))
    )
    margins = {"ndcg@10": 0.02, "recall@10": "3 %"}
    found = rr.stats.no_worse(scores, baseline="a", margin=margins)
    assert found.select("metric", "margin").rows() == [("ndcg", 0.02), ("recall", 0.015)]
    assert found["verdict"].to_list() == ["no worse", "no worse"]
    every = rr.stats.no_worse(scores, baseline="a", margin="1 %")
    assert every["margin"].to_list() == [0.005] * 3

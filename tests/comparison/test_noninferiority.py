"""No worse by more than a margin: two one-sided tests, their power, and the numbers of queries they
need.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

import retrieval_report as rr
from made_scores import bounded_scores, scores_of
from retrieval_report.comparison.noninferiority import one_sided

MISSING = "statsmodels, of the extra `dev`, is not installed"


def pair(seed: int, queries: int = 40, loss: float = 0.0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    base = generator.random(queries)
    return {"float32": base, "int8": base - loss + generator.normal(0, 0.02, queries)}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("margin", [0.002, 0.01])
def test_the_two_tests_are_those_of_statsmodels(seed: int, margin: float) -> None:
    weightstats = pytest.importorskip("statsmodels.stats.weightstats", reason=MISSING)
    values = pair(seed, loss=0.004)
    row = rr.stats.no_worse(scores_of(values), baseline="float32", margin=margin).row(0, named=True)
    _, (_, lower, _), _ = weightstats.ttost_paired(
        values["int8"], values["float32"], -margin, margin
    )
    assert row["no_worse_p"] == pytest.approx(lower, rel=1e-9)
    worse = stats.ttest_1samp(values["int8"] - values["float32"], -margin, alternative="less")
    assert row["worse_p"] == pytest.approx(worse.pvalue, rel=1e-9)
    interval = worse.confidence_interval(0.95)
    assert row["bound_high"] == pytest.approx(interval.high, rel=1e-9)


@pytest.mark.parametrize("queries", [2, 5, 50, 1_000])
def test_power_is_that_of_statsmodels(queries: int) -> None:
    power = pytest.importorskip("statsmodels.stats.power", reason=MISSING).TTestPower()
    effect = rr.stats.detectable_effect(0.2, queries, power=0.9, alpha=0.01)
    found = power.power(effect / 0.2, queries, 0.01, alternative="larger")
    assert found == pytest.approx(0.9, abs=1e-6)
    twice = rr.stats.detectable_effect(0.4, queries, power=0.9, alpha=0.01)
    assert twice == pytest.approx(2 * effect)
    needed = rr.stats.queries_needed(0.2, effect * (1 + 1e-9), power=0.9, alpha=0.01)
    assert needed == queries


def test_power_is_how_often_a_difference_is_found() -> None:
    generator = np.random.default_rng(0)
    effect = rr.stats.detectable_effect(1.0, 12)
    samples = generator.normal(effect, 1.0, (20_000, 12))
    found = stats.ttest_1samp(samples, 0, axis=1, alternative="greater").pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.012)


@pytest.mark.parametrize(
    ("loss", "spread", "verdict"),
    [
        (0.0, 0.001, "no worse"),
        (0.05, 0.001, "worse"),
        (0.005, 0.05, "not decided"),
        (-0.1, 0.01, "no worse"),
    ],
)
def test_verdicts(loss: float, spread: float, verdict: str) -> None:
    generator = np.random.default_rng(1)
    base = generator.random(30)
    scores = scores_of({"a": base, "b": base - loss + generator.normal(0, spread, 30)})
    assert rr.stats.no_worse(scores, baseline="a", margin=0.01)["verdict"].to_list() == [verdict]


@pytest.mark.parametrize(
    ("loss", "p", "verdict"),
    [(0.0, (0, 1), "no worse"), (0.01, (1, 1), "not decided"), (0.011, (1, 0), "worse")],
)
def test_differences_without_spread(loss: float, p: tuple[float, float], verdict: str) -> None:
    base = [0.5, 0.75, 0.25]
    scores = scores_of({"a": base, "b": [value - loss for value in base]})
    row = rr.stats.no_worse(scores, baseline="a", margin=0.01).row(0, named=True)
    assert (row["no_worse_p"], row["worse_p"]) == p
    assert row["verdict"] == verdict
    assert (row["detectable"], row["queries_needed"]) == (0, 2)


@pytest.mark.parametrize("queries", [0, 1])
def test_too_few_queries_decide_nothing(queries: int) -> None:
    values: dict[str, list[float | None]] = {"a": [0.5, None], "b": [0.5 if queries else None, 0.5]}
    row = rr.stats.no_worse(scores_of(values), baseline="a", margin=0.01).row(0, named=True)
    unknown = (row["no_worse_p"], row["detectable"], row["queries_needed"])
    assert (row["verdict"], *unknown) == ("not decided", None, None, None)
    assert (row["queries"], row["unpaired"]) == (queries, 2 - queries)


def test_what_is_detectable_and_what_is_needed_agree() -> None:
    scores = scores_of(pair(3))
    row = rr.stats.no_worse(scores, baseline="float32", margin=0.004).row(0, named=True)
    assert (row["queries_needed"] <= row["queries"]) == (row["detectable"] <= row["margin"])
    exact = rr.stats.no_worse(
        scores, baseline="float32", margin=row["detectable"] * (1 + 1e-9)
    ).row(0, named=True)
    assert exact["queries_needed"] == 40


def test_every_model_and_place_against_the_baseline() -> None:
    values = {**pair(0), "binary": pair(0, loss=0.3)["int8"]}
    scores = pl.concat([scores_of(values), scores_of(values, cutoff=None)])
    told = rr.stats.no_worse(scores, baseline="float32", margin=0.01)
    assert told.select("model", "cutoff", "verdict").rows() == [
        ("binary", 10, "worse"), ("int8", 10, "no worse"), ("binary", None, "worse"), ("int8", None, "no worse")
    ]  # fmt: skip
    mixed = scores.sample(fraction=1, shuffle=True, seed=1).sort("cutoff", nulls_last=True)
    assert told.equals(rr.stats.no_worse(mixed, baseline="float32", margin=0.01))


def test_the_worst_order_holds_the_worst_of_one_to_the_best_of_the_other() -> None:
    generator = np.random.default_rng(0)
    base = generator.random(30) * 0.5 + 0.25
    tied = (base, base, base - 0.02, base + 0.02)
    scores = bounded_scores({"a": tied, "b": tied})
    assert (
        rr.stats.no_worse(scores, baseline="a", margin=0.03, policies="expected")["verdict"][0]
        == "no worse"
    )
    worst = rr.stats.no_worse(scores, baseline="a", margin=0.03, tie_order="worst").row(
        0, named=True
    )
    assert worst["difference"] == pytest.approx(-0.04)
    assert (worst["policy"], worst["verdict"], worst["tie_std"]) == ("worst", "worse", None)
    assert (
        rr.stats.no_worse(scores, baseline="a", margin=0.05, tie_order="worst")["verdict"][0]
        == "no worse"
    )
    with pytest.raises(rr.ParameterError, match="'worst' needs policies 'best' and 'worst'"):
        rr.stats.no_worse(scores_of(pair(0)), baseline="int8", margin=0.1, tie_order="worst")
    with pytest.raises(rr.ParameterError, match="leave policies out"):
        rr.stats.no_worse(scores, baseline="a", margin=0.1, tie_order="worst", policies="worst")


def test_an_estimate_is_held_to_the_margin_by_its_bounds() -> None:
    """One query of b is cut: only its lowest value decides "no worse", only its highest "worse"."""
    base = np.linspace(0.4, 0.6, 30)
    noise = np.random.default_rng(0).normal(0, 0.001, 30)
    exact = (base, base, base, base)

    def verdict(low: float, high: float, value: float, **flags: bool) -> tuple[object, ...]:
        candidate, lowest, highest = base + noise, base + noise, base + noise
        candidate[7], lowest[7], highest[7] = (base[7] + change for change in (value, low, high))
        scores = bounded_scores({"a": exact, "b": (candidate, candidate, lowest, highest)})
        marked = (pl.col("model") == "b") & (pl.col("query") == "q00007")
        scores = scores.with_columns(
            pl.when(marked).then(pl.lit(True)).otherwise(name).alias(name) for name in flags
        )
        row = rr.stats.no_worse(scores, baseline="a", margin=0.01, policies="expected").row(
            0, named=True
        )
        return row["verdict"], row["no_worse_p"] is None, row["worse_p"] is None

    assert verdict(-0.9, 0.1, 0.0)[0] == "no worse"  # without a mark it is exact
    assert verdict(-0.9, 0.1, 0.0, truncated=True)[0] == "lists are cut"
    assert verdict(-0.9, 0.1, 0.0, pooled=True)[0] == "R is not known"
    assert verdict(-0.001, 0.1, 0.0, truncated=True)[0] == "no worse"
    assert verdict(math.nan, 0.1, 0.0, truncated=True) == ("lists are cut", True, False)
    assert verdict(-0.001, math.nan, 0.0, truncated=True) == ("no worse", False, True)
    late = bounded_scores({"a": exact, "b": (base - 0.02 + noise,) * 4}).with_columns(
        truncated=pl.lit(True)
    )
    assert rr.stats.no_worse(late, baseline="a", margin=0.01, policies="expected")[
        "verdict"
    ].to_list() == ["worse"]
    alone = late.filter(policy="expected")
    assert rr.stats.no_worse(alone, baseline="a", margin=0.01)["verdict"].to_list() == [
        "lists are cut"
    ]


@pytest.mark.parametrize(
    "wrong",
    [{"margin": 0}, {"margin": -0.1}, {"margin": math.inf}, {"baseline": "x"}, {"tie_order": "best"}, {"alpha": 0.5},
     {"power": 1}],
)  # fmt: skip
def test_wrong_arguments(wrong: dict[str, object]) -> None:
    settings: dict[str, object] = {"baseline": "int8", "margin": 0.01, **wrong}
    with pytest.raises(rr.ParameterError, match=next(iter(wrong))):
        rr.stats.no_worse(scores_of(pair(0)), **settings)  # type: ignore[arg-type]


def test_numbers_of_queries_at_the_ends() -> None:
    assert rr.stats.queries_needed(0.1, 1e-7) is None
    assert rr.stats.queries_needed(math.nan, 0.1) is None
    assert rr.stats.queries_needed(0.0, 0.1) == 2
    assert math.isnan(rr.stats.detectable_effect(0.1, 1))
    assert rr.stats.detectable_effect(0.1, 9, alpha=0.3, power=0.2) == 0
    with pytest.raises(rr.ParameterError, match="margin"):
        rr.stats.queries_needed(0.1, 0)


def test_spreads_of_ties_of_both_models_add_up() -> None:
    scores = scores_of(
        {"a": [0.5, 0.25], "b": [0.5, 0.75]}, stds={"a": [0.1, 0.2], "b": [0.3, 0.4]}
    )
    [spread] = rr.stats.no_worse(scores, baseline="a", margin=0.01)["tie_std"]
    assert spread == pytest.approx((0.1**2 + 0.2**2 + 0.3**2 + 0.4**2) ** 0.5 / 2)


@pytest.mark.parametrize("queries", [2, 20])
def test_one_sided_p_is_scipys(queries: int) -> None:
    sample = np.random.default_rng(0).normal(0.1, 1, queries)
    found = one_sided(
        np.array([sample.mean()]), np.array([sample.std(ddof=1)]), np.array([queries]), -0.2
    )
    assert found[0] == pytest.approx(stats.ttest_1samp(sample, -0.2, alternative="greater").pvalue)

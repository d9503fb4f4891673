"""Means over seeds and folds: the split of the variance, intervals, p, and whose order a seed
decides.
"""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from made_scores import scores_of
from retrieval_report.comparison.replicates import (
    VariancePart,
    p_value,
    replicate_groups,
)
from retrieval_report.comparison.significance import holm
from retrieval_report.stats import replicate_pairs, replicate_table

MISSING = "statsmodels, of the extra `dev`, is not installed"
PATTERN = r"(?P<model>.+)-s\d+"


def drawn(
    seed: int, replicates: int, queries: int, spread: float = 0.05, shift: float = 0.0
) -> np.ndarray:
    generator = np.random.default_rng(seed)
    topic = generator.beta(1, 2, queries)
    noise = generator.normal(0, 0.1, (replicates, queries))
    return topic + generator.normal(0, spread, (replicates, 1)) + noise + shift


def runs(model: str, values: np.ndarray) -> dict[str, list[Any]]:
    return {f"{model}-s{number}": row.tolist() for number, row in enumerate(values)}


@pytest.mark.parametrize(("seed", "replicates", "queries"), [(0, 3, 25), (1, 5, 10), (2, 2, 40)])
def test_components_are_those_of_statsmodels(seed: int, replicates: int, queries: int):
    formula = pytest.importorskip("statsmodels.formula.api", reason=MISSING)
    anova = pytest.importorskip("statsmodels.stats.anova", reason=MISSING)
    values = drawn(seed, replicates, queries, spread=0.2)
    std = np.random.default_rng(seed).random(values.shape)
    long = [
        {"score": values[j, i], "replicate": f"r{j}", "topic": f"t{i}"}
        for j, i in product(range(replicates), range(queries))
    ]
    fitted = formula.ols(
        "score ~ C(replicate) + C(topic)", data=pl.DataFrame(long).to_pandas()
    ).fit()
    square = anova.anova_lm(fitted)
    square = square["sum_sq"] / square["df"]
    table = replicate_table(scores_of(runs("m", values), stds=runs("m", std)), PATTERN)
    row = table.row(0, named=True)
    assert row["tie_var"] == pytest.approx((std**2).mean())
    assert row["tie_std"] == pytest.approx(math.sqrt((std**2).sum()) / values.size)
    rest = square["Residual"]
    assert row["residual_var"] == pytest.approx(rest)
    assert row["replicate_var"] == pytest.approx((square["C(replicate)"] - rest) / queries)
    assert row["query_var"] == pytest.approx((square["C(topic)"] - rest) / replicates)
    error = (square["C(topic)"] + square["C(replicate)"]) / (replicates * queries)
    assert row["std_error"] == pytest.approx(math.sqrt(error))
    assert row["value"] == pytest.approx(values.mean(), abs=1e-15)
    means = values.mean(axis=1)
    assert (row["replicate_low"], row["replicate_high"]) == pytest.approx(
        (means.min(), means.max())
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_is_that_of_banerjee(seed: int):
    values = drawn(seed, 4, 30)
    row = replicate_table(scores_of(runs("m", values)), PATTERN, confidence=0.9).row(0, named=True)
    reach = math.sqrt(
        scipy_stats.t.ppf(0.95, 29) ** 2 * scipy_stats.sem(values.mean(axis=0)) ** 2
        + scipy_stats.t.ppf(0.95, 3) ** 2 * scipy_stats.sem(values.mean(axis=1)) ** 2
    )
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(
        (values.mean() - reach, values.mean() + reach)
    )


@pytest.mark.parametrize("seed", range(4))
def test_p_is_that_of_the_interval_that_ends_at_0(seed: int):
    one, other = drawn(seed, 3, 20), drawn(seed, 5, 20, shift=-0.05 * seed)
    scores = scores_of({**runs("a", one), **runs("b", other)})
    pair = replicate_pairs(scores, PATTERN).row(0, named=True)
    closed = replicate_pairs(scores, PATTERN, confidence=1 - pair["p"]).row(0, named=True)
    assert min(abs(closed["ci_low"]), abs(closed["ci_high"])) < 1e-9
    by_query = one.mean(axis=0) - other.mean(axis=0)
    error = (
        scipy_stats.sem(by_query) ** 2
        + scipy_stats.sem(one.mean(axis=1)) ** 2
        + scipy_stats.sem(other.mean(axis=1)) ** 2
    )
    assert pair["std_error"] == pytest.approx(math.sqrt(error))
    assert (pair["replicates_a"], pair["replicates_b"]) in ((3, 5), (5, 3))


def test_p_without_variance_is_0_or_1():
    assert p_value(0.1, [VariancePart(0.0, 5), VariancePart(0.0, 2)]) == 0.0
    assert p_value(0.0, [VariancePart(0.0, 5)]) == 1.0
    assert math.isnan(p_value(0.1, [VariancePart(0.1, 5), VariancePart(math.nan, 0)]))


@pytest.mark.parametrize("seed", range(4))
def test_seed_reversals_are_counted_pair_by_pair(seed: int):
    generator = np.random.default_rng(seed)
    values = {
        f"{model}-s{number}": (generator.integers(0, 9, 4) / 8).tolist()
        for model, count in (("a", 3), ("b", 4))
        for number in range(count)
    }
    pair = replicate_pairs(scores_of(values), PATTERN).row(0, named=True)
    exact = {run: sum(map(Fraction, own)) / 4 for run, own in values.items()}
    sides = {
        model: [mean for run, mean in exact.items() if run.startswith(model)] for model in "ab"
    }
    best, worst = sides[pair["model_a"]], sides[pair["model_b"]]
    assert sum(best) / len(best) > sum(worst) / len(worst)
    points = sum(Fraction((a < b) * 2 + (a == b), 2) for a, b in product(best, worst))
    assert pair["seed_reversal"] == pytest.approx(float(points / 12), abs=1e-15)
    assert pair["verdict"] == "too few runs"  # 2 · 3! · 4! / 7! is 0.057
    parts = [np.var(np.array(side, float), ddof=1) * (1 + 1 / len(side)) for side in (best, worst)]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (len(best) - 1) + parts[1] ** 2 / (len(worst) - 1))
    t = float(pair["difference"]) / math.sqrt(sum(parts))
    assert pair["reversal"] == pytest.approx(scipy_stats.t.sf(t, freedom), rel=1e-9)


def test_a_seed_that_decides_is_found_and_one_that_does_not_is_not():
    scores = scores_of(
        {
            **runs("good", drawn(0, 4, 30, 0.01, 0.3)),
            **runs("noisy", drawn(0, 4, 30, 0.4)),
            **runs("steady", drawn(0, 4, 30, 0.01)),
        }
    )
    pairs = replicate_pairs(scores, PATTERN)
    said = {
        frozenset(row[:2]): row[2:]
        for row in pairs.select("model_a", "model_b", "verdict", "family_p").rows()
    }
    verdict, family_p = said[frozenset(("good", "steady"))]
    assert verdict == "safe"
    assert family_p < 0.05
    assert said[frozenset(("noisy", "steady"))][0] == "depends on the seed"
    assert pairs["family_p"].to_list() == pytest.approx(holm(pairs["p"].to_numpy()))


def test_a_mapping_and_both_kinds_of_pattern_name_the_same_models():
    names = ["a-s1", "a-s2", "b"]
    wanted = {"a-s1": "a", "a-s2": "a", "b": "b"}
    assert replicate_groups(names, PATTERN) == wanted
    assert replicate_groups(names, r"-s(?P<replicate>\d)") == wanted
    assert replicate_groups(names, {"a-s1": "a", "a-s2": "a"}) == wanted

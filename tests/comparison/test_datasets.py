"""Averages over data sets: the mean of means, its spread, models that lack a data set, and ranks."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from retrieval_report.stats import dataset_scores, dataset_table

SETS = {"law": 3, "news": 2, "web": 4}
QUERIES = pl.DataFrame(
    [
        {"query": f"{name}{number}", "dataset": name}
        for name, count in SETS.items()
        for number in range(count)
    ]
)


def drawn(models: str, seed: int) -> pl.DataFrame:
    """Scores of models in eighths."""
    generator = np.random.default_rng(seed)
    rows = [
        {
            "model": model,
            "query": query,
            "metric": "ap",
            "cutoff": None,
            "policy": "expected",
            "value": int(generator.integers(0, 9)) / 8,
            "std": int(generator.integers(0, 3)) / 8,
            "items": 5,
            "n_relevant": 1,
        }
        for model in models
        for query in QUERIES["query"]
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize("seed", range(3))
def test_means_of_means_are_those_of_fractions(seed: int):
    scores = drawn("abc", seed)
    table = dataset_table(dataset_scores(scores, QUERIES))
    joined = scores.join(QUERIES, on="query")
    for row in table.iter_rows(named=True):
        means, variance = [], Fraction()
        for name, count in SETS.items():
            own = joined.filter(model=row["model"], dataset=name)
            means.append(sum(map(Fraction, own["value"])) / count)
            variance += (
                sum((Fraction(std) * Fraction(std) for std in own["std"]), Fraction()) / count**2
            )
        assert row["value"] == pytest.approx(float(sum(means) / 3), abs=1e-15)
        assert row["tie_std"] == pytest.approx(math.sqrt(variance) / 3)
        assert (row["datasets"], row["lacks"]) == (3, "")
        interval = scipy_stats.t.interval(
            0.95, 2, loc=float(sum(means) / 3), scale=scipy_stats.sem(list(map(float, means)))
        )
        assert row["ci_low"] == pytest.approx(max(interval[0], 0))
        assert row["ci_high"] == pytest.approx(min(interval[1], 1))

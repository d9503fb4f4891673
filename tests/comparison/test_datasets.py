"""Averages over data sets: the mean of means, its spread, models that lack a data set, and ranks."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

import retrieval_report as rr
from retrieval_report.stats import dataset_scores, dataset_table

SETS = {"law": 3, "news": 2, "web": 4}
QUERIES = pl.DataFrame(
    [
        {"query": f"{name}{number}", "dataset": name}
        for name, count in SETS.items()
        for number in range(count)
    ]
)


def scores_of(lacking: dict[str, tuple[str, ...]], seed: int = 0) -> pl.DataFrame:
    """Scores of models in eighths, without lists for the data sets that they lack."""
    generator = np.random.default_rng(seed)
    rows = [
        {
            "model": model,
            "query": query,
            "metric": "ap",
            "cutoff": None,
            "policy": "expected",
            "value": 0.0 if name in lacks else int(generator.integers(0, 9)) / 8,
            "std": 0.0 if name in lacks else int(generator.integers(0, 3)) / 8,
            "items": 0 if name in lacks else 5,
            "n_relevant": 1,
        }
        for model, lacks in lacking.items()
        for query, name in QUERIES.rows()
    ]
    return pl.DataFrame(rows)


def rows_of(frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {row["model"]: row for row in frame.iter_rows(named=True)}


@pytest.mark.parametrize("seed", range(3))
def test_means_of_means_are_those_of_fractions(seed: int):
    scores = scores_of({"a": (), "b": (), "c": ()}, seed)
    table = rows_of(dataset_table(dataset_scores(scores, QUERIES)))
    joined = scores.join(QUERIES, on="query")
    for model, row in table.items():
        means, variance = [], Fraction()
        for name, count in SETS.items():
            own = joined.filter(model=model, dataset=name)
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


def test_a_model_that_lacks_a_data_set_is_named_and_not_averaged():
    scores = scores_of({"whole": (), "other": (), "part": ("law", "web")}, 1)
    of_sets = dataset_scores(scores, QUERIES)
    lacking = of_sets.filter(model="part", dataset="law").row(0, named=True)
    assert (lacking["value"], lacking["rank"], lacking["queries"]) == (None, None, 0)
    assert of_sets.filter(model="part", dataset="news")["value"].item() is not None
    table = dataset_table(of_sets)
    assert table["model"].to_list()[-1] == "part"
    part = table.row(-1, named=True)
    assert (part["value"], part["rank"], part["rank_low"], part["ci_low"]) == (None,) * 4
    assert (part["datasets"], part["lacks"]) == (1, "law, web")
    assert table["rank"].to_list()[:2] == [1, 2]
    # A model that is left out of the ranks cannot narrow or widen them.
    without = dataset_table(dataset_scores(scores.filter(pl.col("model") != "part"), QUERIES))
    assert table.head(2).equals(without)


def test_one_data_set_has_a_mean_and_no_interval():
    scores = scores_of({"a": (), "b": ()}, 3).filter(pl.col("query").str.starts_with("law"))
    table = dataset_table(dataset_scores(scores, QUERIES))
    assert table.select("ci_low", "ci_high").null_count().row(0) == (2, 2)
    assert table.select("rank_low", "rank_high").rows() == [(1, 2), (1, 2)]


def test_scores_of_other_policies_are_refused():
    naive = scores_of({"a": ()}).with_columns(policy=pl.lit("naive"))
    with pytest.raises(rr.ParameterError, match="no policy 'expected'"):
        dataset_scores(naive, QUERIES)

"""Scores within a radius against counting by hand, and both conventions for empty balls."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from codes_by_hand import classes, hamming, pairs, random_bits
from retrieval_report import summarise
from retrieval_report.codes import count_codes, count_relevant
from retrieval_report.contracts.errors import (
    RetrievalReportWarning,
)
from retrieval_report.scoring.radius import evaluate_radius, radius_scores

METRICS = ["precision", "recall", "f1", "hit_rate"]


def by_hand(
    distance: Any, relevance: Any, total: Any, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """Precision, recall, F1 and hit of every query, and which queries have an empty ball."""
    scores, empty = [], []
    for row, grades, known in zip(distance, relevance, total, strict=True):
        inside = row <= radius
        size, found = int(inside.sum()), int((inside & (grades > 0)).sum())
        precision = found / size if size else 0.0
        recall = found / known if known else 0.0
        f1 = 2 * precision * recall / (precision + recall) if found else 0.0
        scores.append([precision, recall, f1, float(found > 0)])
        empty.append(size == 0)
    return np.array(scores), np.array(empty)


@pytest.fixture(scope="module")
def case():
    queries, items = random_bits(1, 30, 10), random_bits(2, 60, 10)
    labels = {"query_labels": classes(3, 30, 4), "item_labels": classes(4, 60, 3)}
    relevance = pairs(labels["query_labels"], labels["item_labels"], lambda a, b: int(a == b))
    counts = count_codes(
        queries, items, query_labels=labels["query_labels"], item_labels=labels["item_labels"]
    )
    return {
        "distance": pairs(queries, items, hamming),
        "relevance": relevance,
        "counts": counts,
        "labels": labels,
    }


@pytest.mark.parametrize("empty", ["zero", "skip"])
@pytest.mark.parametrize("no_relevant", ["zero", "skip"])
def test_means_equal_counting_by_hand(case: dict[str, Any], empty: str, no_relevant: str):
    radii = (0, 1, 2, 3, 10)
    frame = evaluate_radius(case["counts"], radii=radii, empty=empty, no_relevant=no_relevant)
    assert frame.columns == ["model", "radius", *METRICS, "queries", "empty"]
    assert frame["radius"].to_list() == list(radii)
    total = case["relevance"].sum(axis=1)
    assert 0 < (total == 0).sum() < 30
    for row in frame.rows(named=True):
        scores, is_empty = by_hand(case["distance"], case["relevance"], total, row["radius"])
        kept = np.ones(30, bool)
        if empty == "skip":
            kept &= ~is_empty
        if no_relevant == "skip":
            kept &= total > 0
        assert row["queries"] == kept.sum()
        assert row["empty"] == is_empty.mean()
        np.testing.assert_allclose(
            [row[name] for name in METRICS], scores[kept].mean(axis=0), rtol=1e-14
        )
    assert frame["empty"][0] > frame["empty"][1] > frame["empty"][-1] == 0


@pytest.mark.parametrize("empty", ["zero", "skip"])
def test_scores_of_queries_give_the_same_means(case: dict[str, Any], empty: str):
    scores = radius_scores(case["counts"], radii=(0, 2), empty=empty)
    summary = summarise(scores)
    frame = evaluate_radius(case["counts"], radii=(0, 2), empty=empty)
    for metric in METRICS:
        for radius in (0, 2):
            row = summary.row(
                by_predicate=pl.col("metric") == f"{metric}(radius={radius})", named=True
            )
            wanted = frame.row(by_predicate=pl.col("radius") == radius, named=True)
            assert row["value"] == pytest.approx(wanted[metric], rel=1e-14)
            assert row["queries"] == wanted["queries"]
            assert row["missing"] == round(wanted["empty"] * 30)
            assert row["tie_std"] == 0


def test_relevant_items_outside_the_counts_are_told(case: dict[str, Any]):
    told = count_relevant(**case["labels"])
    near = case["counts"].filter(pl.col("distance") <= 3)
    assert evaluate_radius(near, queries=told).equals(evaluate_radius(case["counts"]))
    assert not evaluate_radius(near).equals(evaluate_radius(case["counts"]))


def test_a_radius_beyond_the_depth_of_counts_is_warned_of():
    generator = np.random.default_rng(1)
    queries, items = generator.integers(0, 2, (9, 16)), generator.integers(0, 2, (300, 16))
    labels: Any = {"query_labels": [0] * 9, "item_labels": [0, 1] * 150}
    whole = count_codes(queries, items, **labels)
    counts = count_codes(queries, items, depth=40, **labels)
    cut = counts.drop("truncated")
    assert evaluate_radius(whole, radii=16)["recall"].item() == 1.0
    evaluate_radius(cut, radii=2)  # inside all lists
    with pytest.warns(RetrievalReportWarning, match="9 lists that may be cut"):
        assert evaluate_radius(cut, radii=(2, 16))["recall"][1] == 1.0  # of what the counts hold

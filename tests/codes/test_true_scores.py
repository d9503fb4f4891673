"""The score of one true answer among its candidates: exact MRR and Hits@k, and what PyKEEN, OGB and
TGB print.
"""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import retrieval_report as rr

CUTOFFS = (1, 3, 10)
MEASURES = "rr, hit_rate@1, hit_rate@3, hit_rate@10"


def made(seed: int, rows: int = 40, columns: int = 30, levels: int = 4) -> tuple[Any, Any]:
    """Scores of few levels, some of them masked, and the column of the true answer."""
    generator = np.random.default_rng(seed)
    matrix = generator.integers(0, levels, (rows, columns)).astype(np.float32)
    matrix[generator.random(matrix.shape) < 0.1] = np.nan
    true = generator.integers(0, columns, rows)
    matrix[np.arange(rows), true] = generator.integers(0, levels, rows)
    return matrix, true


def by_pykeen(true: Any, every: Any):
    """Realistic ranks as PyKEEN 1.11.1 computes them of all scores, the true one among them."""
    optimistic = (every > true[:, None]).sum(axis=1) + 1
    pessimistic = (every >= true[:, None]).sum(axis=1)
    return (optimistic + pessimistic) / 2


def by_ogb(positive: Any, negative: Any):
    """Ranks as OGB 1.3.6 computes them of the negatives alone."""
    optimistic = (negative > positive[:, None]).sum(axis=1)
    pessimistic = (negative >= positive[:, None]).sum(axis=1)
    return 0.5 * (optimistic + pessimistic) + 1


def enumerated(true: float, others: list[float]) -> dict[tuple[str, int | None], Fraction]:
    """Means over all orders of the candidates, in which a larger score comes first."""
    ranks = []
    for order in itertools.permutations([(true, True), *((score, False) for score in others)]):
        scores = [score for score, _ in order]
        if scores == sorted(scores, reverse=True):
            ranks.append([own for _, own in order].index(True) + 1)
    mean = {("rr", None): sum((Fraction(1, rank) for rank in ranks), Fraction(0)) / len(ranks)}
    return mean | {
        ("hit_rate", k): Fraction(sum(rank <= k for rank in ranks), len(ranks)) for k in CUTOFFS
    }


@given(st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(0, 2), max_size=5)), min_size=1))
def test_scores_are_means_over_all_orders(queries: list[tuple[int, list[int]]]):
    true = np.array([own for own, _ in queries])
    others = np.empty(len(queries), object)
    others[:] = [np.array(row, np.int64) for _, row in queries]
    counts = rr.from_scores((true, others)).rankings
    scores = rr.evaluate(counts, measures=MEASURES, policies="expected")
    for query, (own, row) in enumerate(queries):
        for (metric, cutoff), value in enumerated(own, row).items():  # type: ignore[arg-type]
            one = scores.filter(
                pl.col("query") == query, metric=metric, cutoff=cutoff
            ) if cutoff else scores.filter(query=query, metric=metric)  # fmt: skip
            assert one["value"].item() == pytest.approx(float(value), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_realistic_ranks_are_those_of_the_other_packages(seed: int):
    matrix, true = made(seed)
    rows = np.arange(len(true))
    own = matrix[rows, true]
    others = np.where(np.arange(matrix.shape[1]) == true[:, None], np.nan, matrix)
    every = rr.from_scores((own, matrix), true_included=True)
    alone = rr.from_scores((own[:, None], others))
    assert_frame_equal(every.rankings, alone.rankings)
    np.testing.assert_array_equal(by_pykeen(own, matrix), by_ogb(own, others))
    rank = by_pykeen(own, matrix)
    wanted: dict[tuple[str, int | None], Any] = {
        ("rr", None): 1 / rank,
        **{("hit_rate", k): rank <= k for k in CUTOFFS},
    }
    for system in ("pykeen", "ogb", "tgb"):
        scores = rr.systems.evaluate_like(
            every.rankings, system, measures=MEASURES, policies="naive"
        )
        for (metric, cutoff), values in wanted.items():
            found = scores.filter(pl.col("cutoff").eq_missing(cutoff), metric=metric)
            np.testing.assert_allclose(found["value"].to_numpy(), values, rtol=1e-12)


def test_every_form_gives_the_same_counts():
    matrix, true = made(7)
    own = matrix[np.arange(len(true)), true]
    wanted = rr.from_scores((own, matrix), true_included=True).rankings

    def batches(size: int):
        for first in range(0, len(own), size):
            yield own[first : first + size], matrix[first : first + size]

    ragged = np.empty(len(own), object)
    ragged[:] = [row[~np.isnan(row)] for row in matrix]
    filled = np.nan_to_num(matrix, nan=99.0)
    forms: list[tuple[Any, dict[str, Any]]] = [
        (batches(7), {}),
        ((own, ragged), {}),
        ((own, [row.tolist() for row in matrix]), {}),
        ({"y_pred_pos": own, "y_pred_neg": matrix}, {}),
        ((own, filled), {"mask": ~np.isnan(matrix)}),
        ((-own, -matrix), {"scores": False}),
    ]
    for number, (form, how) in enumerate(forms):
        if number == 2:
            form = (own.astype(float), form[1])
        found = rr.from_scores(form, true_included=True, **how).rankings
        assert_frame_equal(found, wanted)
    named = rr.from_scores((own[:2], matrix[:2]), query_ids=["a", "b"], true_included=True)
    assert named.rankings["query"].unique().sort().to_list() == ["a", "b"]

"""Tukey's honest significant difference by permutation."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

import retrieval_report as rr
from made_scores import scores_of, within
from retrieval_report.comparison.tukey import range_draws, share_beyond, tukey
from retrieval_report.engines.score_grid import Pairs


def test_permutations_are_those_of_models_within_queries() -> None:
    """All 3!³ permutations by hand: the draws come from this set, each about as often as it
    should.
    """
    values = np.array([[0.9, 0.1, 0.5], [0.3, 0.2, 0.0], [0.4, 0.8, 0.7]])
    ranges = [
        np.ptp(np.mean([values[list(order), query] for query, order in enumerate(orders)], axis=0))
        for orders in product(permutations(range(3)), repeat=3)
    ]
    draws = range_draws(values, 20_000, 1)
    assert np.isin(np.round(draws, 12), np.round(ranges, 12)).all()
    for seen in (0.1, 0.2, 0.3, 0.4):
        assert within(
            float((draws >= seen - 1e-12).mean()),
            float((np.array(ranges) >= seen - 1e-12).mean()),
            draws.size,
        )


def test_normal_scores_give_tukeys_studentised_range() -> None:
    """With normal scores and many queries the permutations approach Tukey's distribution
    (scipy's).
    """
    generator = np.random.default_rng(3)
    values = generator.normal(size=(5, 400)) + np.array([0.12, 0.1, 0.06, 0.0, 0.0])[:, None]
    scores = scores_of({f"m{row}": values[row] + 5 for row in range(5)})
    pairs = rr.compare(scores, correction="tukey", resamples=20_000)
    interaction = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    freedom = 4 * 399
    error = np.sqrt((interaction**2).sum() / freedom / 400)
    expected = stats.studentized_range.sf(
        np.abs(pairs["difference"].to_numpy()) / error, 5, freedom
    )
    np.testing.assert_allclose(pairs["family_p"].to_numpy(), expected, atol=0.02)


def test_p_values_count_what_is_as_far_rounding_aside() -> None:
    draws = np.array([0.1, 0.2, 0.3 - 1e-16])
    np.testing.assert_allclose(share_beyond(draws, np.array([0.3, 0.05, 0.31])), [0.5, 1.0, 0.25])


def test_two_models_are_those_of_the_sign_flip_test() -> None:
    values = np.random.default_rng(0).random((2, 40)) * 0.5 + np.array([[0.1], [0.0]])
    pair = rr.compare(
        scores_of({"a": values[0], "b": values[1]}), correction="tukey", resamples=20_000
    )
    assert pair["family_p"].item() == pytest.approx(pair["permutation_p"].item(), abs=0.015)


def test_only_queries_of_all_models_count() -> None:
    values = np.random.default_rng(1).random((3, 20))
    holes = values.copy()
    holes[1, 0] = holes[2, 1] = np.nan
    pairs = Pairs.every(3)
    np.testing.assert_array_equal(tukey(holes, pairs, 999, 0), tukey(values[:, 2:], pairs, 999, 0))
    assert np.isnan(tukey(np.where(np.eye(3) == 1, 0.5, np.nan), pairs, 999, 0)).all()

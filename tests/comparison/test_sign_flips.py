from itertools import product

import numpy as np
import pytest

import retrieval_report as rr
from made_scores import scores_of, within
from retrieval_report.comparison.significance import EXACT, exact_sign_flips, sampled_sign_flips
from retrieval_report.engines.score_grid import Pairs
from retrieval_report.kernels.lists import Floats

FIRST, SECOND = np.array([0, 0, 1]), np.array([1, 2, 2])


def every_pattern(difference: Floats) -> float:
    """p by the definition, one pattern after the other."""
    seen = abs(difference.sum())
    sums = [
        abs(np.dot(signs, difference)) for signs in product((-1.0, 1.0), repeat=difference.size)
    ]
    return float(np.mean([one >= seen - 1e-9 for one in sums]))


def sampled(values: Floats, resamples: int = 9999, seed: int = 0) -> Floats:
    return sampled_sign_flips(values, Pairs(FIRST, SECOND), resamples, seed)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10])
@pytest.mark.parametrize("digits", [1, 15])
def test_exact_tries_every_pattern(size: int, digits: int):
    difference = np.round(np.random.default_rng(size).normal(0.3, 0.5, size=size), digits)
    holes = np.insert(difference, [0, size], [0.0, np.nan])
    expected = every_pattern(difference)
    assert exact_sign_flips(np.stack([holes, -holes])) == pytest.approx([expected, expected])


THIRDS = {  # scores over 12 whose differences, rounded to 12 digits, have other sums than without rounding
    "three sizes": ([2, 8, 11, 8, 4, 12, 8], [3, 11, 12, 6, 2, 2, 12]),
    "above one": ([16, 16, 12, 4, 4, 16, 32, 20], [16, 20, 24, 8, 12, 12, 28, 4]),
}


@pytest.mark.parametrize("name", THIRDS)
@pytest.mark.parametrize("scale", [1, 1000])
def test_rounding_sets_no_equal_sums_apart(name: str, scale: int):
    first, second = (np.array(values) for values in THIRDS[name])
    exact = every_pattern((first - second).astype(float))
    scores = scores_of({"a": first / 12 * scale, "b": second / 12 * scale}, metric="dcg")
    assert rr.compare(scores)["permutation_p"].item() == exact
    assert rr.compare(scores)["family_p"].item() == exact


def test_exact_leaves_long_pairs_and_pairs_without_queries_open():
    rows = np.full((3, EXACT + 1), 0.5)
    rows[1, 0], rows[2] = 0.0, np.nan
    np.testing.assert_array_equal(exact_sign_flips(rows), [np.nan, 2.0 ** (1 - EXACT), np.nan])


def test_sampled_agrees_with_all_patterns():
    values = np.random.default_rng(5).random((3, 16))
    values[1] += 0.15
    patterns = 1.0 - 2.0 * ((np.arange(2**16)[:, None] >> np.arange(16)) & 1)
    found = sampled(values)
    for pair in range(3):
        difference = values[FIRST[pair]] - values[SECOND[pair]]
        exact = float((np.abs(patterns @ difference) >= abs(difference.sum()) - 1e-9).mean())
        assert within(found[pair], exact, 9999)


def test_sampled_counts_the_pattern_seen():
    values = np.stack([np.ones(40), np.zeros(40), np.zeros(40)])
    assert sampled(values, resamples=99) == pytest.approx([0.01, 0.01, 1.0])


def test_rounding_does_not_part_equal_sums():
    # All differences are 0.1 up to rounding, so many patterns have exactly the sum seen.
    values = np.stack([np.arange(20) % 3 / 10 + 0.1, np.arange(20) % 3 / 10, np.zeros(20)])
    values[1, ::2] += 0.2
    assert sampled(values)[0] == 1.0

"""The standard deviation of ERR beside exact fractions, and how much work it may be."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval_report.kernels import err, err_variance
from retrieval_report.kernels.lists import Lists

STOPS = np.array([0.0, 1 / 16, 3 / 16, 7 / 16, 15 / 16])
Floats = NDArray[np.float64]


def one_tie(counts: list[int]) -> Lists:
    """A list of one tie with so many items of each grade."""
    grades = np.flatnonzero(counts).astype(np.int32)
    return Lists(
        np.array([0, 1]), np.array([0, grades.size]), grades, np.array(counts, np.int64)[grades]
    )


@pytest.mark.parametrize("slots", [2, 6])
@pytest.mark.parametrize("counts", [[2, 1, 1, 1, 1], [3, 0, 0, 0, 3], [0, 0, 2, 0, 4]])
def test_a_tie_far_down_keeps_its_digits(counts: list[int], slots: int):
    """There all weights are nearly one, and over the whole tie ERR hardly varies."""
    t, values = 1_000_000, []
    chances = [Fraction(stop) for grade, stop in enumerate(STOPS) for _ in range(counts[grade])]
    for order in itertools.permutations(chances):
        value, going = Fraction(0), Fraction(1)
        for index, chance in enumerate(order[:slots], t + 1):
            value += going * chance / index
            going *= 1 - chance
        values.append(value)
    mean = sum(values) / len(values)
    exact = sum((value - mean) ** 2 for value in values) / len(values)
    variances = err_variance.tie_variances(t, 6, 0, one_tie(counts), STOPS, np.array([t + slots]))
    assert variances[slots] == pytest.approx(float(exact), rel=1e-13, abs=0.0)


def test_beyond_the_work_there_is_no_variance():
    lists = one_tie([40_000, 4_000, 3_000, 2_000, 1_000])
    ahead = np.array([1, 5, 50_000])
    variances = err_variance.tie_variances(0, 50_000, 0, lists, STOPS, ahead)
    assert np.isnan(variances[ahead]).tolist() == [False, False, True]
    alone = err_variance.tie_variances(0, 50_000, 0, lists, STOPS, ahead[:1])
    assert alone[1] == variances[1]


@pytest.mark.compiled
@pytest.mark.parametrize("relevant", [1, 300, 999])
def test_a_tie_of_a_thousand_items_is_within_the_work(relevant: int):
    lists = one_tie([1000 - relevant, relevant])
    tie_variances: Any = err_variance.tie_variances  # as Python it takes a minute
    ahead = np.array([10, 1000])
    assert not np.isnan(tie_variances.compiled(0, 1000, 0, lists, STOPS, ahead)).any()


@pytest.mark.slow
@pytest.mark.compiled
def test_stops_too_slight_for_a_float64_are_one_kind():
    """The chance that the x-th of a thousand such items stops is their mean chance, whichever kinds
    they are of.
    """
    counts, stops = [1000] * 50, np.exp2(np.arange(50) - 150.0)
    survival_means: Any = err.survival_means  # as Python it takes minutes
    stopped = survival_means.compiled(0, one_tie(counts), stops, 2_000)
    assert stopped[[1, 10, 1000]].tolist() == pytest.approx([stops.mean()] * 3, rel=1e-12)

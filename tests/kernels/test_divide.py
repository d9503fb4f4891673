"""Moments become scores as NumPy would divide them, in the columns asked for."""

from __future__ import annotations

import numpy as np

from retrieval_report.kernels.divide import Columns, Divisor, Scores, write_scores
from retrieval_report.kernels.lists import Moments, frozen


def test_scores_stand_where_they_are_asked_for_with_numpys_bits() -> None:
    generator = np.random.default_rng(2)
    mean, variance = generator.random((50, 3)), generator.random((50, 3))
    divisor = np.where(generator.random((50, 1)) < 0.2, 0.0, generator.random((50, 1)) * 9)
    value, std = np.full((50, 4), -1.0), np.full((50, 4), -1.0)
    columns, places = np.array([2, 0]), np.array([1, 2])
    moments = Moments(frozen(mean), frozen(variance))
    where = Columns(frozen(columns), frozen(places))
    assert write_scores(10, 50, moments, Divisor(frozen(divisor), 4.0), where, Scores(value, std))
    by = np.where(divisor == 0, np.inf, divisor)
    assert (value[10:, 1:3] == (mean / by * 4.0)[10:, columns]).all()
    assert (std[10:, 1:3] == (np.sqrt(variance) / by * 4.0)[10:, columns]).all()
    assert (value[:10] == -1).all()
    assert (value[:, [0, 3]] == -1).all()


def test_a_value_that_overflows_is_reported() -> None:
    one, columns = frozen(np.ones((2, 1))), frozen(np.zeros(1, np.int64))
    huge = frozen(np.array([[1.0], [1e308]]))
    value, std = np.empty((2, 1)), np.empty((2, 1))
    given = Moments(huge, one), Divisor(one, 1e10), Columns(columns, columns), Scores(value, std)
    assert write_scores(0, 1, *given)
    assert not write_scores(0, 2, *given)

"""Moments become scores as NumPy would divide them, in the columns asked for."""

from __future__ import annotations

import numpy as np

from retrieval_report.kernels.lists import Moments
from retrieval_report.metrics.catalogue import Precision
from retrieval_report.scoring.scorer import Scores, Target, write_scores


def test_scores_stand_where_they_are_asked_for_with_numpys_bits() -> None:
    generator = np.random.default_rng(2)
    mean, variance = generator.random((50, 3)), generator.random((50, 3))
    divisor = np.where(generator.random((50, 1)) < 0.2, 0.0, generator.random((50, 1)) * 9)
    value, std = np.full((50, 4), -1.0), np.full((50, 4), -1.0)
    columns, places = np.array([2, 0]), np.array([1, 2])
    target = Target(Precision(), columns, Scores(value, std), places)
    full = np.broadcast_to(divisor, mean.shape)
    assert write_scores(target, Moments(mean, variance), full, 10, 50)
    by = np.where(divisor == 0, np.inf, divisor)
    assert (value[10:, 1:3] == (mean / by)[10:, columns]).all()
    assert (std[10:, 1:3] == (np.sqrt(variance) / by)[10:, columns]).all()
    assert (value[:10] == -1).all()
    assert (value[:, [0, 3]] == -1).all()


def test_a_value_that_overflows_is_reported() -> None:
    one, columns = np.ones((2, 1)), np.zeros(1, np.int64)
    huge = np.array([[1.0], [1e308]])
    target = Target(Precision(), columns, Scores(np.empty((2, 1)), np.empty((2, 1))), columns)
    given = target, Moments(huge, one), 1e-10 * one
    assert write_scores(*given, 0, 1)
    assert not write_scores(*given, 0, 2)

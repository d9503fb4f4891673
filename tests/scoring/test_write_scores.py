"""Moments become scores as NumPy would divide them, in the columns asked for."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.options import Options
from retrieval_report.kernels.lists import Floats
from retrieval_report.metrics.catalogue import DCG, Recall
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.layout import lay_out
from retrieval_report.scoring.scorer import Scorer

GRADES = [[0, 1, 2, 1], [0, 0, 0, 0], [2, 2, 1, 0]]


def scorer(top: float = 2.0) -> Scorer:
    frame = pl.DataFrame(
        {
            "query": np.repeat([0, 1, 2], 4),
            "item": np.tile(np.arange(4), 3),
            "distance": [1] * 12,
            "relevance": np.ravel(GRADES) * (top / 2.0),
        }
    )
    options = Options(policies="expected")
    return Scorer(lay_out(judge(frame, None, None, options), options), (None, 1, 3), 1)


def test_scores_stand_in_the_order_of_the_cutoffs_asked_for_with_numpys_bits() -> None:
    every = scorer()
    value, std = every.scores([(Recall(), (None, 1)), (DCG(), (3,))], "expected")
    alone = every.scores([(Recall(), (None, 1))], "expected")
    mean, variance = every.moments(Recall().term, "expected", every.prepared.ties)
    relevant: Floats = np.array([[3.0], [np.inf], [3.0]])  # nothing is relevant to the second
    assert (value[:, :2] == (mean / relevant)[:, [2, 0]]).all()
    assert (std[:, :2] == (np.sqrt(variance) / relevant)[:, [2, 0]]).all()
    assert (alone.value == value[:, :2]).all()
    assert value.shape == (3, 3)


def test_a_value_that_overflows_is_reported() -> None:
    huge = scorer(1.7e308)
    with pytest.raises(DataError, match="above the largest float64"):
        huge.scores([(DCG(), (None,))], "expected")

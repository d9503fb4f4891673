"""Chances of numbers of relevant items in part of a tie, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from retrieval_report.kernels.ap_retrieved import hypergeometric_band


@pytest.mark.parametrize(
    ("size", "relevant", "slots"),
    [(3, 2, 1), (10, 4, 10), (60, 30, 20), (10_000, 3_000, 2_000), (10_000, 9_000, 5_000)],
)
def test_the_band_holds_all_chances_that_count(size: int, relevant: int, slots: int) -> None:
    least, chances = hypergeometric_band(size, relevant, slots)
    found = np.zeros(slots + 1)
    found[least : least + chances.size] = chances
    expected = stats.hypergeom.pmf(np.arange(slots + 1), size, relevant, slots)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-25)

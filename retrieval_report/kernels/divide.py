"""Turn moments of sums into scores: divide them, convert their unit, and write them to the right
columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.lists import Floats, Integers, Moments


class Divisor(NamedTuple):
    """Divisors of the moments, with one row per list or one for all (columns likewise), and the
    unit.
    """

    by: Floats
    unit: float


class Columns(NamedTuple):
    """Columns of the moments, and the columns of the scores they are written to."""

    source: Integers
    place: Integers


class Scores(NamedTuple):
    """Value and standard deviation, each of shape (lists, cutoffs)."""

    value: Floats
    std: Floats


def write_scores(
    first: int, last: int, moments: Moments, divisor: Divisor, columns: Columns, scores: Scores
) -> bool:
    """Write value and standard deviation of the lists ``first`` … ``last`` − 1; return whether all
    values are finite.

    Both are 0 where the divisor is 0.
    """
    by = np.broadcast_to(divisor.by, moments.mean.shape)[first:last, columns.source]
    mean, variance = (part[first:last, columns.source] for part in moments)
    with np.errstate(all="ignore"):
        for found, into in zip((mean, np.sqrt(variance)), scores, strict=True):
            into[first:last, columns.place] = np.where(by != 0.0, found / by * divisor.unit, 0.0)
    return bool(np.isfinite(scores.value[first:last, columns.place]).all())

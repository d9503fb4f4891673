"""Correct p-values for the number of pairs of models: one family of tests for all analyses, chosen
by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from retrieval_report.comparison.max_t import step_down
from retrieval_report.comparison.significance import benjamini_hochberg, holm, sign_flips
from retrieval_report.comparison.tukey import tukey
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.options import PARAMETERS
from retrieval_report.engines.score_grid import Floats, Pairs

MAX_T = "max-t"  # the default
LEAST_RESAMPLES = 9_999
OF_SINGLE_TESTS: Mapping[str, Callable[[Floats], Floats]] = {"holm": holm, "bh": benjamini_hochberg}


def check_correction(correction: object) -> None:
    """Refuse an unknown correction.

    >>> check_correction("bonferroni")
    Traceback (most recent call last):
    retrieval_report.ParameterError: correction: 'bonferroni' is not one of 'max-t', 'holm',
    'tukey', 'bh'
    """
    check_choice("correction", correction, PARAMETERS["correction"].choices)


def resamples_for(correction: str, pairs: int) -> int:
    """Return how many sign patterns a correction needs: with fewer, Holm's could find no pair of
    many significant.

    >>> resamples_for("max-t", 10_153), resamples_for("holm", 10_153)
    (9999, 1015299)
    """
    return max(LEAST_RESAMPLES, 100 * pairs - 1) if correction == "holm" else LEAST_RESAMPLES


def corrected(p: Floats, correction: str) -> Floats:
    """Correct the p-values of single tests; a pair without one is not part of the family.

    >>> corrected(np.array([0.01, np.nan, 0.04]), "holm").tolist()
    [0.02, nan, 0.04]
    """
    known = ~np.isnan(p)
    found = np.full_like(p, np.nan)
    found[known] = OF_SINGLE_TESTS[correction](p[known])
    return found


def family_tests(
    values: Floats, pairs: Pairs, correction: str, resamples: int, seed: int
) -> Floats:
    """Return the p of every pair by every measure, corrected for all pairs of the measure; NaN
    without a shared query.

    Parameters
    ----------
    values
        Scores (measures, models, queries), NaN where there is none.
    pairs
        The family.
    correction
        One of those of `check_correction`. Holm's and Benjamini and Hochberg's are of the sign-flip
        test.
    resamples, seed
        Number and seed of the sign patterns or permutations.
    """
    if correction == MAX_T:
        return step_down(values, pairs, resamples, seed)
    if correction == "tukey":
        return np.stack([tukey(value, pairs, resamples, seed) for value in values])
    p, _ = sign_flips(values, pairs, resamples, seed)
    return np.stack([corrected(row, correction) for row in p])

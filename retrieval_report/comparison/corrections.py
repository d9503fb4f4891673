"""Correct p-values for the number of pairs of models:
one family of tests for all analyses, chosen by name.
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from retrieval_report.comparison.loss_test import difference_test
from retrieval_report.comparison.max_t import step_down
from retrieval_report.comparison.significance import benjamini_hochberg, holm, sign_flips
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.significance_tests import CORRECTIONS
from retrieval_report.engines.check_scores import SCORE
from retrieval_report.engines.score_grid import Pairs, differences
from retrieval_report.kernels.lists import Floats

LEAST_RESAMPLES = 9_999
MOST_COMPARED = (
    2_000_000_000  # sums of pairs in patterns, some seconds; of more pairs fewer patterns
)


OF_SINGLE_TESTS = {"holm": holm, "bh": benjamini_hochberg}  # of p-values


def of_skewed(value: Floats, pairs: Pairs, *_resamples: int) -> Floats:
    """Return the p of every pair by :func:`difference_test`, corrected by Holm; nothing is drawn.

    >>> value = np.array([[0.9, 0.8, 0.9, 0.7], [0.3, 0.1, 0.2, 0.2], [0.2, 0.2, 0.1, 0.3]])
    >>> of_skewed(value, Pairs.every(3)).round(4).tolist()
    [0.099, 0.1618, 1.0]
    """

    def of_part(part: Pairs) -> tuple[Floats]:
        return (difference_test(differences(value, part), part.cluster),)

    [p] = pairs.in_blocks(value.shape[1], of_part)
    return corrected(p, "holm")


OF_SCORES: dict[str, Callable[[Floats, Pairs, int, int], Floats]] = {
    "max-t": step_down,
    "skewed": of_skewed,
}  # of all scores
# With fewer resamples per pair, no pair of many could be significant.
RESAMPLES_PER_PAIR = {"holm": 100}


def check_correction(correction: object) -> None:
    """Refuse an unknown correction.

    >>> check_correction("bonferroni")
    Traceback (most recent call last):
    retrieval_report.ParameterError: correction: 'bonferroni' is not one of 'max-t', 'holm', 'skewed', 'bh'
    """
    check_choice("correction", correction, tuple(CORRECTIONS))


def resamples_for(correction: str, pairs: Pairs) -> int:
    """Return how many sign patterns a correction needs; of hundreds of thousands of pairs fewer, as
    many as take some seconds.

    >>> resamples_for("max-t", Pairs.every(143)), resamples_for("holm", Pairs.every(143))
    (9999, 1015299)
    >>> resamples_for("max-t", Pairs.every(1_000))
    4004
    """
    count = max(pairs.first.size, 1)
    needed = RESAMPLES_PER_PAIR.get(correction, 0) * count - 1
    return max(min(LEAST_RESAMPLES, MOST_COMPARED // count), needed)


def corrected(p: Floats, correction: str) -> Floats:
    """Correct the p-values of single tests; a pair without one is not part of the family.

    >>> corrected(np.array([0.01, np.nan, 0.04]), "holm").tolist()
    [0.02, nan, 0.04]
    """
    has_p = ~np.isnan(p)
    adjusted = np.full_like(p, np.nan)
    adjusted[has_p] = OF_SINGLE_TESTS[correction](p[has_p])
    return adjusted


def corrected_column(p: pl.Expr, correction: str, family: Sequence[str] = tuple(SCORE)) -> pl.Expr:
    """Correct a column of p-values, all that share these columns as one family; null is not a test."""

    def fill(column: pl.Series) -> pl.Series:
        return pl.Series(corrected(column.cast(pl.Float64).to_numpy(), correction)).fill_nan(None)

    return p.map_batches(fill, return_dtype=pl.Float64).over(family)


def family_tests(value: Floats, pairs: Pairs, correction: str, resamples: int, seed: int) -> Floats:
    """Return the p of every pair, corrected for all pairs; NaN without a shared query.

    Parameters
    ----------
    value
        Scores (models, queries), NaN where there is none.
    pairs
        The family.
    correction
        One of those of `check_correction`; those of single tests are of the sign-flip test.
    resamples, seed
        Number and seed of the sign patterns or permutations.
    """
    if correction in OF_SCORES:
        return OF_SCORES[correction](value, pairs, resamples, seed)
    return corrected(sign_flips(value, pairs, resamples, seed)[0], correction)

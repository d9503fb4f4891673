"""Differences and means of the scores of pairs of models, exact to 12 digits."""

from __future__ import annotations

import numpy as np

from retrieval_report.engines.score_grid import Bools, Floats, Indices, Pairs

DIGITS = 12  # scores are exact to 1e-12, so smaller differences count as equal


def paired_columns(value: Floats, std: Floats, pairs: Pairs) -> dict[str, Floats]:
    """Return the means of both models of each pair over the queries that both have, and what else
    describes these.

    ``tie_std`` is the standard deviation of the difference under random tie order, drawn for each
    model on its own.
    """
    first, second = pairs.first, pairs.second
    paired = ~np.isnan(value[first]) & ~np.isnan(value[second])
    size = paired.sum(axis=1)
    variance = np.where(paired, std[first] ** 2 + std[second] ** 2, 0.0).sum(axis=1)
    return {
        "value_a": paired_mean(value[first], paired),
        "value_b": paired_mean(value[second], paired),
        "tie_std": np.sqrt(variance) / np.where(size > 0, size, np.nan),
        "queries": size,
        "unpaired": (np.isnan(value[first]) != np.isnan(value[second])).sum(axis=1),
    }


def paired_mean(values: Floats, paired: Bools) -> Floats:
    """Return the mean over the queries that both models of a pair have, one row per pair; NaN if
    there is none.
    """
    size = paired.sum(axis=1)
    mean: Floats = np.where(paired, values, 0.0).sum(axis=1) / np.where(size > 0, size, np.nan)
    return mean


def differences(values: Floats, first: Indices, second: Indices) -> Floats:
    """Return the score of the first model minus that of the second, rounded to 12 digits of the
    pair's largest score.

    >>> differences(
    ...     np.array([[0.3, 1.0], [0.1 + 0.2, np.nan]]), np.array([0]), np.array([1])
    ... ).tolist()
    [[0.0, nan]]
    """
    unit = largest(values, first, second)[:, None]
    settled: Floats = (
        np.round((values[first] - values[second]) / unit, DIGITS) * unit + 0.0
    )  # no −0.0
    return settled


def settled_means(means: Floats) -> Floats:
    """Round means to 12 digits of 1 or of the largest, so that equal ones are equal however they
    were summed.

    >>> means = np.array([3 * 10000.1, 30000.3])
    >>> np.diff(means).item() == 0, np.diff(settled_means(means)).item() == 0
    (False, True)
    """
    most = float(np.abs(np.nan_to_num(means)).max(initial=1.0))
    unit = 2.0 ** np.ceil(np.log2(most))
    settled: Floats = np.round(means / unit, DIGITS) * unit
    return settled


def largest(values: Floats, first: Indices, second: Indices) -> Floats:
    """Return a power of two above the largest score of each pair, division by which does not
    round.
    """
    known = np.abs(np.nan_to_num(values)).max(axis=1, initial=0.0)
    most = np.maximum(known[first], known[second])
    digits, exponent = np.frexp(np.where(most > 0, most, 1.0))
    unit: Floats = np.ldexp(1.0, np.minimum(exponent - (digits == 0.5), 1023))
    return unit


def complete_queries(value: Floats) -> Bools:
    """Whether every model has a score for a query; (models, queries) → (queries)."""
    known: Bools = np.logical_and.reduce(~np.isnan(value), axis=0)
    return known


def best_first(means: Floats) -> Indices:
    """Rows of the models from the highest mean on; what is equal to 12 digits stays in the order of
    names.

    >>> best_first(np.array([0.1, 0.3, 0.1 + 1e-17, np.nan])).tolist()
    [1, 0, 2, 3]
    """
    order: Indices = np.argsort(-settled_means(means), kind="stable")
    return order

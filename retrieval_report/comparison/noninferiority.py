"""Test whether a model loses less than a margin, and compute what a set of queries can show."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace

import numpy as np
import polars as pl

from retrieval_report.comparison.clusters import clustered
from retrieval_report.comparison.significance import PairedT, paired_t
from retrieval_report.comparison.verdicts import CUT, NOTHING, UNKNOWN_R, margin_rule
from retrieval_report.contracts.arguments import Named, check_number, check_whole
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import MOST_ITEMS
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import check_fraction, check_scores
from retrieval_report.engines.score_grid import (
    DIGITS,
    Grid,
    Measure,
    Pairs,
    Scores,
    differences,
    divided,
    measured,
    paired_columns,
)
from retrieval_report.kernels.lists import Bools, Floats

NO_WORSE = schema("no_worse")
TIE_ORDERS = ("expected", "worst")
MOST_QUERIES = 10**9  # larger numbers are of no use


def no_worse(
    scores: object,
    *,
    baseline: str,
    margin: float,
    tie_order: str = "expected",
    alpha: float = 0.05,
    queries: object = None,
    cluster: str | None = None,
) -> pl.DataFrame:
    """Test for every model whether it is worse than the baseline by more than a margin.

    That a difference is not significant does not show that there is none, because few queries never
    show anything. Anyone who quantises or prunes wants to know: can I say that at most ``margin``
    is lost? Two one-sided t-tests of the paired differences answer: one may reject "the loss is the
    margin or more", the other "the loss is the margin or less".

    Parameters
    ----------
    scores
        The result of :func:`evaluate`, with the policy expected or, for ``tie_order="worst"``, with
        best and worst.
    baseline
        The model with which the others are compared.
    margin
        The largest loss of score that does not matter, above 0.
    tie_order
        "expected": means over all orders of the ties. "worst": the model in its worst order against
        the baseline in its best, so that a pass holds for every order. Under both, tests
        hold for whatever cut lists and an unknown R leave open (see Notes).
    alpha
        The probability of a false verdict that each test allows, below 0.5.
    queries, cluster
        A frame of the queries and one of its columns, such as the topic that several of them ask
        about: the tests are then over its values; see :func:`compare`. ``queries_needed`` are in
        clusters as large as these.

    Returns
    -------
    polars.DataFrame
        One row per metric and cutoff (in the order of the scores) and each other model by name:

        ``model``, ``baseline``, ``metric``, ``cutoff``, ``policy`` ("expected", or "worst" for the worst order);
        ``value``, ``baseline_value`` (means over the paired queries), ``difference`` (model −
        baseline), ``bound_low``, ``bound_high`` (the ends of the interval that leaves out ``alpha``
        on each side; null where nothing bounds a score);
        ``margin``, ``no_worse_p`` (small: the loss is below the margin), ``worse_p`` (small: it is
        above);
        ``verdict``: "no worse" (``no_worse_p`` below alpha), "worse" (``worse_p`` below alpha), or
        else "lists are cut" (items that follow could change a score), "R is not known" (relevant
        items that no model retrieved could), "nothing to compare" (no query has a relevant item) or
        "not decided", also if there are fewer than two queries; ``tie_std`` (of the difference,
        under random tie order drawn for each model on its own; null for policies without one);
        ``detectable`` (the smallest loss that a test with this number of queries and spread of
        differences finds with probability 0.8), ``queries_needed`` (to exclude a loss of ``margin``
        with probability 0.8 if there is none; null above 10⁹; see :func:`queries_needed` for
        others), ``queries`` (paired) and ``unpaired``.

    Raises
    ------
    RetrievalReportError
        The scores break their contract, or lack the policies, or there is an unknown baseline or an
        invalid
        margin.

    Notes
    -----
    Schuirmann, *A Comparison of the Two One-Sided Tests Procedure and the Power Approach*, Journal
    of Pharmacokinetics and Biopharmaceutics 15(6), 1987. Power is computed by the noncentral t
    distribution, one-sided at ``alpha``. If all differences are equal, p is 0 or 1, and 1 on both
    sides if the loss equals the margin.

    A score that is ``truncated``, or that depends on a ``pooled`` R, is an estimate. Where a
    query has one, the lowest score (policy worst) of the model against the highest (policy best) of
    the baseline must pass the test for "no worse", and its highest against the baseline's lowest
    the one for "worse", so that either verdict holds for all that a deeper retrieval or more
    judgements could show. Without these policies in the scores, neither is given.

    Examples
    --------
    Whole numbers instead of floats lose 0.001 of 0.6 on average; is that less than 0.005?

    >>> import polars as pl
    >>> exact = [0.61, 0.58, 0.64, 0.55, 0.62, 0.60, 0.57, 0.63]
    >>> coarse = [0.608, 0.578, 0.641, 0.549, 0.618, 0.599, 0.571, 0.628]
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": f"q{number}",
    ...             "metric": "ndcg",
    ...             "cutoff": 10,
    ...             "policy": "expected",
    ...             "value": value,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for model, column in (("int8", coarse), ("float32", exact))
    ...         for number, value in enumerate(column)
    ...     ]
    ... )
    >>> told = no_worse(scores, baseline="float32", margin=0.005)
    >>> told.select(pl.col("difference").round(4), pl.col("bound_low").round(4), "verdict").row(0)
    (-0.001, -0.0019, 'no worse')
    >>> told.select(
    ...     pl.col("no_worse_p").round(5), pl.col("detectable").round(4), "queries_needed"
    ... ).row(0)
    (3e-05, 0.0013, 3)
    >>> no_worse(scores, baseline="float32", margin=0.001)["verdict"][0]
    'not decided'
    """
    check_choice("tie_order", tie_order, TIE_ORDERS)
    margin = check_margin(margin)
    alpha = check_fraction("alpha", alpha)
    if alpha >= 0.5:
        raise ParameterError(f"alpha: {alpha} is not below 0.5; above it, both verdicts could hold")
    frame = check_scores(scores)
    grid = Grid.of(frame)
    pairs = clustered(grid.pairs(baseline), grid, cluster, queries)
    nothing = frame["n_relevant"].max() == 0
    frames = [pl.DataFrame(schema=NO_WORSE)]
    for part in _asked(grid, tie_order, baseline):
        columns = _columns(part, pairs, margin, alpha, nothing=nothing)
        columns |= {"model": [grid.models[row] for row in pairs.first], "baseline": baseline}
        frames.append(measured(columns, part.measure, NO_WORSE))
    return pl.concat(frames)


def check_margin(margin: object) -> float:
    """Return the margin as a float; raise a ParameterError unless it is a number above 0.

    >>> check_margin(0)
    Traceback (most recent call last):
    retrieval_report.ParameterError: margin: 0 is not a number above 0
    """
    return check_number("margin", margin, lambda loss: loss > 0, "number above 0")


def _asked(grid: Grid, tie_order: str, baseline: str) -> list[Scores]:
    """Return the scores by every measure, and the bounds of those that are not known; for the worst
    order, of the baseline's best and the others' worst.
    """
    if tie_order == "expected":
        return [_expected(part) for part in grid.asked("expected")]
    parts = [
        _worst(grid, measure, grid.models.index(baseline))
        for measure in grid.measures
        if measure[2] == "worst" and (*measure[:2], "best") in grid.measures
    ]
    if not parts:
        raise ParameterError("tie_order: 'worst' needs policies 'best' and 'worst' in the scores")
    return parts


def _worst(grid: Grid, measure: Measure, baseline: int) -> Scores:
    """Return the scores in the order that is worst for all but the baseline."""
    scores = grid.scores(measure)
    value = scores.value.copy()
    value[baseline] = scores.highest[baseline]
    cut = ~np.isnan(grid.under(measure, "expected")) & np.isnan(value)
    nowhere = np.zeros_like(cut)
    return Scores(measure, value, np.full_like(value, np.nan), cut, nowhere, value, value)


def _expected(scores: Scores) -> Scores:
    """Return scores with what bounds those that are estimates, because lists are cut or R is not
    known.
    """
    lowest, highest = (
        np.where(scores.truncated | scores.pooled, bound, scores.value)
        for bound in (scores.lowest, scores.highest)
    )
    return replace(scores, lowest=lowest, highest=highest)


def _columns(scores: Scores, pairs: Pairs, margin: float, alpha: float, *, nothing: bool) -> Named:
    columns = paired_columns(scores.value, scores.std, pairs)
    size = columns["queries"]
    plain = paired_t(differences(scores.value, pairs), 1 - 2 * alpha, pairs.cluster)
    known = ~np.isnan(scores.value) | scores.truncated
    scored = known[pairs.first] & known[pairs.second]
    least = _bound(scores.lowest, scores.highest, scored, pairs, alpha)
    most = _bound(scores.highest, scores.lowest, scored, pairs, alpha)
    above = one_sided(least.mean, least.spread, least.units, -margin)
    below = one_sided(-most.mean, most.spread, most.units, margin)
    reasons: dict[str, Bools] = {
        word: np.logical_or.reduce(scored & (where[pairs.first] | where[pairs.second]), axis=1)
        for word, where in ((CUT, scores.truncated), (UNKNOWN_R, scores.pooled))
    }
    if nothing:
        above, below = np.full((2, size.size), np.nan)
        reasons = {NOTHING: np.ones(size.shape, np.bool_)}
    units = plain.units.tolist()
    unit = {n: detectable_effect(1.0, n, alpha=alpha) for n in set(units)}
    needed = [queries_needed(spread, margin, alpha=alpha) for spread in plain.spread]
    each = zip(needed, size.tolist(), units, strict=True)
    return {
        **columns,
        "value": columns["value_a"],
        "baseline_value": columns["value_b"],
        "difference": plain.mean,
        "bound_low": least.low,
        "bound_high": most.high,
        "margin": margin,
        "no_worse_p": above,
        "worse_p": below,
        "verdict": margin_rule(above, below, alpha, reasons),
        "detectable": np.array([unit[n] for n in units]) * plain.spread,
        "queries_needed": pl.Series(
            [None if n is None else -(-n * queries // of) for n, queries, of in each],
            dtype=pl.Int64,
        ),
    }


def _bound(models: Floats, baseline: Floats, scored: Bools, pairs: Pairs, alpha: float) -> PairedT:
    """Test differences of bounds of the models and of the baseline; NaN for a pair with a score
    that has none.
    """
    both = replace(pairs, second=pairs.second + len(models))
    difference = differences(np.concatenate([models, baseline]), both)
    difference[(scored & np.isnan(difference)).any(axis=1)] = np.nan
    return paired_t(difference, 1 - 2 * alpha, pairs.cluster)


def one_sided(mean: Floats, std: Floats, size: Floats, least: float) -> Floats:
    """Return the p-value of the t-test that the true mean is above ``least``; NaN below two
    queries.

    >>> one_sided(np.array([0.2]), np.array([0.4]), np.array([16]), 0.0).round(4).tolist()
    [0.032]
    """
    from scipy import stats

    error = std / np.sqrt(np.maximum(size, 1))
    lead = mean - least
    lead = np.where(np.abs(lead) <= 10.0**-DIGITS * np.maximum(np.abs(mean), abs(least)), 0.0, lead)
    ratio = divided(lead, error, np.where(lead > 0, np.inf, -np.inf))
    p: Floats = stats.t.sf(ratio, np.maximum(size - 1, 1))
    p[(size < 2) | np.isnan(std)] = np.nan
    return p


def detectable_effect(
    std: float, queries: int, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest true mean difference that a one-sided paired t-test on some queries finds
    with a given probability.

    Parameters
    ----------
    std
        Standard deviation of the differences between queries.
    queries
        Number of queries.
    alpha, power
        The probability of a false finding, and of a true one; half the ``alpha`` for a two-sided
        test.

    Returns
    -------
    float
        In units of ``std``; NaN below two queries.

    Examples
    --------
    >>> round(detectable_effect(0.1, 50), 4), round(detectable_effect(0.1, 50, alpha=0.025), 4)
    (0.0357, 0.0404)
    """
    from scipy import optimize

    _check_design(std, queries, alpha, power)
    if queries < 2 or not std >= 0:
        return math.nan
    if power <= alpha:
        return 0.0
    top = 1.0
    while _power(top, queries, alpha) < power:
        top *= 2
    root = optimize.brentq(
        lambda effect: _power(effect, queries, alpha) - power, 0.0, top, xtol=1e-12
    )
    return std * float(root)


def queries_needed(
    std: float, effect: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Return how many queries a paired t-test needs to find a true mean difference with a given
    probability.

    Parameters
    ----------
    std
        Standard deviation of the differences between queries.
    effect
        The difference that matters, above 0.
    alpha, power
        As for :func:`detectable_effect`, whose inverse this is.

    Returns
    -------
    int or None
        At least 2; None if ``std`` is not known or more than 10⁹ are needed.

    Examples
    --------
    >>> queries_needed(0.1, 0.02), queries_needed(0.1, 0.005)
    (156, 2475)
    """
    check_margin(effect)
    _check_design(std, 2, alpha, power)
    if not std >= 0:
        return None
    if std == 0:
        return 2
    high = 2
    while _power(effect / std, high, alpha) < power:
        high *= 2
        if high > 2 * MOST_QUERIES:
            return None
    numbers = range(high // 2 + 1, high)
    return numbers.start + bisect_left(numbers, power, key=lambda n: _power(effect / std, n, alpha))


def _check_design(std: object, queries: object, alpha: float, power: float) -> None:
    """Refuse what is no design of a test; ``std`` may be NaN, if it is not known."""
    if not (isinstance(std, float) and math.isnan(std)):
        check_number("std", std, lambda _: True, "number")
    check_whole("queries", queries, 0, MOST_ITEMS)
    check_fraction("alpha", alpha)
    check_fraction("power", power)


def _power(effect: float, queries: int, alpha: float) -> float:
    """Return the probability that a one-sided paired t-test finds an effect given in units of its
    standard deviation.
    """
    from scipy import stats

    freedom, shift = queries - 1, effect * math.sqrt(queries)
    if shift <= 0:
        return alpha
    return float(stats.nct.sf(stats.t.isf(alpha, freedom), freedom, shift))

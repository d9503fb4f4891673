"""Test whether a model loses less than a margin, and compute what a set of queries can show."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import polars as pl

from retrieval_report.comparison.clusters import clustered
from retrieval_report.comparison.loss_test import (
    excess_test,
    fewest,
    loss_test,
    power_of_t,
    sparsity,
    units_to_pass,
)
from retrieval_report.comparison.margins import Margin, check_measures, parse_margin
from retrieval_report.comparison.significance import paired_t
from retrieval_report.comparison.verdicts import (
    CUT,
    NOT_DECIDED,
    NOTHING_TO_COMPARE,
    UNKNOWN_R,
    margin_rule,
    reworded,
)
from retrieval_report.comparison.verdicts import NO_WORSE as NO_WORSE_WORD
from retrieval_report.contracts.arguments import Named, as_list, check_number, check_whole
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import MOST_ITEMS
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import check_fraction, check_scores
from retrieval_report.engines.score_grid import (
    DIGITS,
    Grid,
    Indices,
    Measure,
    Pairs,
    Scores,
    differences,
    measured,
    paired_columns,
)
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.metrics.parsing import is_share

NO_WORSE = schema("no_worse")
TIE_ORDERS = ("expected", "worst")


def no_worse(
    scores: object,
    *,
    baseline: str,
    margin: object,
    tie_order: str = "expected",
    alpha: float = 0.05,
    largest_loss: float | None = None,
    queries: object = None,
    cluster: str | None = None,
    same_lists: Collection[str] = (),
) -> pl.DataFrame:
    """Test for every model whether it is worse than the baseline by more than a margin.

    That a difference is not significant does not show that there is none, because few queries never
    show anything. Anyone who quantises or prunes wants to know: can I say that at most ``margin``
    is lost? Two one-sided tests of the paired differences answer: one may reject "the loss is the
    margin or more", the other "the loss is the margin or less".

    Parameters
    ----------
    scores
        The result of :func:`evaluate`, with the policy expected or, for ``tie_order="worst"``, with
        best and worst.
    baseline
        The model with which the others are compared.
    margin
        The largest loss of score that does not matter: a number above 0, a share of the baseline's
        mean such as "1 %", or a dictionary of measure → either, such as ``{"ndcg@10": 0.005,
        "recall@10": "2 %"}``. Measures without a margin are left out.
    tie_order
        "expected": means over all orders of the ties. "worst": the model in its worst order against
        the baseline in its best, so that a pass holds for every order. Under both, tests
        hold for whatever cut lists and an unknown R leave open (see Notes).
    alpha
        How often each test may give its verdict although it is false, below 0.5. It holds for one
        test: if a gate runs every night, some night passes falsely far more often.
    largest_loss
        The largest loss that a single query can have; by default 1 for measures between 0 and 1, of
        others the baseline's largest score. Few queries cannot show that rare large losses are
        absent: about 3 · ``largest_loss`` / ``margin`` of them are needed. Lower it only if you
        know that no query can lose more; if one does, its loss counts instead.
    queries, cluster
        A frame of the queries, and the column that says which belong together, such as their topic.
        The tests then count its values, not single queries; see :func:`compare`. ``queries_needed``
        are in clusters as large as these.
    same_lists
        Models whose lists are known to be those of the baseline: they are no worse without a test.

    Returns
    -------
    polars.DataFrame
        One row per metric and cutoff (in the order of the scores) and each other model by name:

        ``model``, ``baseline``, ``metric``, ``cutoff``, ``policy`` ("expected", or "worst" for the
        worst order); ``value``, ``baseline_value`` (means over the paired queries), ``difference``
        (model − baseline), ``bound_low``, ``bound_high`` (the ends of the interval that leaves out
        ``alpha`` on each side; null where nothing bounds a score, and of the same lists);
        ``margin``, ``no_worse_p`` (small: the loss is below the margin), ``worse_p`` (small: it is
        above); ``verdict``: "no worse" (``no_worse_p`` below alpha), "worse" (``worse_p`` below
        alpha), or else "lists are cut" (it would be one of these if the best or the worst items
        followed), "R is not known" (likewise, of relevant items that no model retrieved), "nothing
        to compare" (no query has a relevant item) or "not decided", also if there are fewer than
        two queries, or if the margin is no less than what the baseline scores, so that nothing
        could fail; ``tie_std`` (of the difference, under random tie order drawn for each model on
        its own; null for policies without one); ``detectable`` (the smallest loss that a t-test
        with this number of queries and spread of differences finds with probability 0.8),
        ``queries_needed`` (to exclude a loss of ``margin`` with probability 0.8 if nothing is
        lost), ``queries_if_observed`` (the same if the true loss is the observed one; null if that
        is the margin or more); both null above 10⁹, and where cut lists or an unknown R leave more
        open than the margin allows; ``largest_loss``, ``same_lists``, ``queries`` (paired) and
        ``unpaired``.

    Raises
    ------
    RetrievalReportError
        The scores break their contract, or lack the policies, or there is an unknown baseline or an
        invalid margin.

    Notes
    -----
    Schuirmann, *A Comparison of the Two One-Sided Tests Procedure and the Power Approach*, Journal
    of Pharmacokinetics and Biopharmaceutics 15(6), 1987. Power is computed by the noncentral t
    distribution, one-sided at ``alpha``; numbers of queries also allow for the skewness of the
    differences, and for how many of them are 0.

    Losses are sparse and skewed: most queries stay as they are, and a few lose much. "No worse"
    therefore needs three tests: Student's t with one degree of freedom less than the queries that
    differ, Hall's t (1992), which allows for skewness, and the chance to have missed losses of the
    largest size that would bring the mean to the margin, (1 − (margin + difference)/(largest loss
    + difference))^n, which needs no assumption. ``no_worse_p`` is the largest of the three, and
    ``bound_low`` the lowest bound. In simulations with the loss at the margin, "no worse" is said
    in at most 6 % of samples of 10 to 500 queries (`docs/choosing-a-test`). "Worse" is Student's t;
    with fewer than five queries (by alpha = 0.05), or where all lose the same, it must also be
    unlikely that gains of the largest size were missed.

    A score that is ``truncated``, or that depends on a ``pooled`` R, is an estimate. Where a
    query has one, the lowest score (policy worst) of the model against the highest (policy best) of
    the baseline must pass the test for "no worse", and its highest against the baseline's lowest
    the one for "worse", so that either verdict holds for all that a deeper retrieval or more
    judgements could show. Without these policies in the scores, neither is given.

    Examples
    --------
    Whole numbers instead of floats lose 0.001 of 0.6 on average; is that less than 0.02?

    >>> import polars as pl
    >>> exact = [0.61, 0.58, 0.64, 0.55, 0.62, 0.60, 0.57, 0.63] * 25
    >>> coarse = [0.608, 0.578, 0.641, 0.549, 0.618, 0.599, 0.571, 0.628] * 25
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
    >>> columns = ["verdict", pl.col("difference", "bound_low").round(4), "queries_needed"]
    >>> no_worse(scores, baseline="float32", margin=0.02).select(columns).row(0)
    ('no worse', -0.001, -0.0159, 149)

    A margin of 0.005 needs more queries, unless no query can lose more than 0.1:

    >>> no_worse(scores, baseline="float32", margin=0.005).select(columns).row(0)
    ('not decided', -0.001, -0.0159, 603)
    >>> no_worse(scores, baseline="float32", margin=0.005, largest_loss=0.1).select(columns).row(0)
    ('no worse', -0.001, -0.0025, 60)
    """
    check_choice("tie_order", tie_order, TIE_ORDERS)
    margins = parse_margin(margin)
    if largest_loss is not None:
        check_number("largest_loss", largest_loss, lambda loss: loss > 0, "number above 0")
    alpha = check_fraction("alpha", alpha)
    if alpha >= 0.5:
        raise ParameterError(f"alpha: {alpha} is not below 0.5; above it, both verdicts could hold")
    frame = check_scores(scores)
    grid = Grid.of(frame)
    for name in (twins := as_list(same_lists)):
        check_choice("same_lists", name, grid.models)
    pairs = clustered(grid.pairs(baseline), grid, cluster, queries)
    nothing = frame["n_relevant"].max() == 0
    parts = _requested_scores(grid, tie_order, baseline)
    check_measures(margins, [part.measure[:2] for part in parts])
    frames = [pl.DataFrame(schema=NO_WORSE)]
    for part in parts:
        if (accepted := margins.of(*part.measure[:2])) is None:
            continue
        columns = _columns(part, pairs, accepted, alpha, largest_loss, nothing=nothing)
        names = [grid.models[row] for row in pairs.first]
        columns |= {"model": names, "baseline": baseline}
        columns["same_lists"] = [name in twins for name in names]
        rows = _without_test(measured(columns, part.measure, NO_WORSE))
        frames.append(_that_could_fail(rows, part))
    return pl.concat(frames)


def _without_test(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows in which models with the lists of the baseline are no worse by identity,
    unless something may follow these lists.
    """
    same = pl.col("same_lists") & (pl.col("difference") == 0)
    same &= ~pl.col("verdict").is_in([CUT, NOTHING_TO_COMPARE])
    unknown = ("bound_low", "bound_high", "queries_needed", "queries_if_observed", "detectable")
    certain: Named = {"verdict": pl.lit(NO_WORSE_WORD), "no_worse_p": 0.0, "worse_p": 1.0}
    certain |= dict.fromkeys(unknown)
    return rows.with_columns(
        pl.when(same).then(value).otherwise(name).alias(name) for name, value in certain.items()
    ).with_columns(same_lists=same)


def _that_could_fail(rows: pl.DataFrame, scores: Scores) -> pl.DataFrame:
    """Call no model no worse by a margin that even scores of 0 would keep to: it is not decided."""
    if np.fmin.reduce(scores.value, axis=None, initial=0.0) < 0:
        return rows
    vain = (pl.col("margin") >= pl.col("baseline_value")) & (pl.col("verdict") == NO_WORSE_WORD)
    return reworded(rows, vain, NOT_DECIDED)


def _requested_scores(grid: Grid, tie_order: str, baseline: str) -> list[Scores]:
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
    """Return scores with what bounds those that are
    estimates, because lists are cut or R is not known.
    """
    lowest, highest = (
        np.where(scores.truncated | scores.pooled, bound, scores.value)
        for bound in (scores.lowest, scores.highest)
    )
    return replace(scores, lowest=lowest, highest=highest)


def _columns(
    scores: Scores,
    pairs: Pairs,
    accepted: Margin,
    alpha: float,
    largest_loss: float | None,
    *,
    nothing: bool,
) -> Named:
    columns = paired_columns(scores.value, scores.std, pairs)
    size = columns["queries"]
    paired = differences(scores.value, pairs)
    plain = paired_t(paired, 1 - 2 * alpha, pairs.cluster)
    margin = np.array([accepted.of(value) for value in columns["value_b"]], np.float64)
    has_value = ~np.isnan(scores.value) | scores.truncated
    scored = has_value[pairs.first] & has_value[pairs.second]
    lowest = _difference(scores.lowest, scores.highest, scored, pairs)
    highest = _difference(scores.highest, scores.lowest, scored, pairs)
    least, most = (paired_t(part, 1 - 2 * alpha, pairs.cluster) for part in (lowest, highest))
    worst = _largest_loss(scores, pairs, lowest, largest_loss)
    above, bound_low = loss_test(lowest, pairs.cluster, least, margin, alpha, worst)
    # No difference is larger; Student's t goes far beyond with two or three queries.
    reach = _most_weight(scores) if is_share(scores.measure[0]) else np.inf
    gain = _largest_score(scores, pairs.first)
    below, bound_high = excess_test(highest, pairs.cluster, most, margin, alpha, gain)
    reasons = {
        word: np.logical_or.reduce(scored & (where[pairs.first] | where[pairs.second]), axis=1)
        for word, where in ((CUT, scores.truncated), (UNKNOWN_R, scores.pooled))
    }
    if np.any([*reasons.values()]):
        # They leave the verdict open only if the best or the worst that may follow would decide it.
        no_loss, _ = loss_test(highest, pairs.cluster, most, margin, alpha, worst)
        loss, _ = excess_test(lowest, pairs.cluster, least, margin, alpha, gain)
        could_decide = ~((no_loss >= alpha) & (loss >= alpha))
        reasons = {word: where & could_decide for word, where in reasons.items()}
    if nothing:
        above, below = np.full((2, size.size), np.nan)
        reasons = {NOTHING_TO_COMPARE: np.ones(size.shape, np.bool_)}
    units = plain.units.tolist()
    unit = {n: detectable_effect(1.0, n, alpha=alpha) for n in set(units)}
    shape = sparsity(paired, pairs.cluster, plain)

    def queries_to_pass(difference: Floats) -> pl.Series:
        """Return how many queries pass if these are the true differences, as far below which the
        lowest may be as here.
        """
        difference = difference - (plain.mean - least.mean)
        lead = np.where(np.abs(margin + difference) <= 10.0**-DIGITS, 0.0, margin + difference)
        each = zip(plain.spread, lead, difference, worst, *shape, size.tolist(), units, strict=True)
        numbers = []
        for spread, ahead, mean, loss, share, bend, queries, of in each:
            needed = units_to_pass(spread, ahead, mean, loss, alpha, differing=share, skewness=bend)
            numbers.append(needed and -(-needed * queries // of))
        return pl.Series(numbers, dtype=pl.Int64)

    return {
        **columns,
        "value": columns["value_a"],
        "baseline_value": columns["value_b"],
        "difference": plain.mean,
        "bound_low": np.maximum(bound_low, -reach),
        "bound_high": np.minimum(bound_high, reach),
        "margin": margin,
        "no_worse_p": above,
        "worse_p": below,
        "verdict": margin_rule(above, below, alpha, reasons),
        "detectable": np.array([unit[n] for n in units]) * plain.spread,
        "queries_needed": queries_to_pass(np.zeros_like(plain.mean)),
        "queries_if_observed": queries_to_pass(plain.mean),
        "largest_loss": worst,
    }


def _difference(models: Floats, baseline: Floats, scored: Bools, pairs: Pairs) -> Floats:
    """Return the differences between bounds of the models and of the baseline; NaN for a pair with
    a score that has none.
    """
    joint_pairs = replace(pairs, second=pairs.second + len(models))
    difference = differences(np.concatenate([models, baseline]), joint_pairs)
    difference[(scored & np.isnan(difference)).any(axis=1)] = np.nan
    return difference


def _largest_loss(
    scores: Scores, pairs: Pairs, lowest: Floats, largest_loss: float | None
) -> Floats:
    """Return the largest loss that a query of each pair can have, times its weight."""
    if largest_loss is None:
        return _largest_score(scores, pairs.second)
    seen = -np.fmin.reduce(lowest, axis=1, initial=0.0)
    return np.asarray(np.maximum(largest_loss * _most_weight(scores), seen))


def _largest_score(scores: Scores, models: Indices) -> Floats:
    """Return the largest score, times its weight, that a query of each of some models can have; of
    measures without a bound, the largest that one has.
    """
    if is_share(scores.measure[0]):
        return np.full(models.size, _most_weight(scores))
    return np.asarray(np.fmax.reduce(scores.highest[models], axis=1, initial=0.0))


def _most_weight(scores: Scores) -> float:
    """Return the largest weight of a query."""
    weights = scores.weight
    return 1.0 if weights is None else float(np.fmax.reduce(weights, axis=None, initial=0.0))


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
        In the unit of ``std``, that of the scores; NaN below two queries.

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
    while power_of_t(top, 1.0, queries, alpha) < power:
        top *= 2
    root = optimize.brentq(
        lambda effect: power_of_t(effect, 1.0, queries, alpha) - power, 0.0, top, xtol=1e-12
    )
    return std * float(root)


def queries_needed(
    std: float, effect: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Return how many queries a one-sided paired t-test needs to find a true mean difference.

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
    check_number("effect", effect, lambda difference: difference > 0, "number above 0")
    _check_design(std, 2, alpha, power)
    if not std >= 0:
        return None
    if std == 0:
        return 2
    return fewest(lambda queries: power_of_t(effect, std, queries, alpha) >= power)


def _check_design(std: object, queries: object, alpha: float, power: float) -> None:
    """Refuse what is no design of a test; ``std`` may be NaN, if it is not known."""
    if not (isinstance(std, float) and math.isnan(std)):
        check_number("std", std, lambda _: True, "number")
    check_whole("queries", queries, 0, MOST_ITEMS)
    check_fraction("alpha", alpha)
    check_fraction("power", power)

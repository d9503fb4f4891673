"""Compare many models at once, with p-values that hold for all pairs together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.analysis.grid import Bools, Floats, Grid, Indices, Pairs, asked_measures
from retrieval_report.analysis.inputs import check_draws, check_scores
from retrieval_report.analysis.paired import DIGITS, differences, largest, paired_columns, paired_mean, settled_means
from retrieval_report.contracts.arguments import check_whole
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.registry import schema

FAMILY = schema("families")
BLOCK = 1 << 21  # permuted scores held at a time
MANY = 10  # models from which one set of permutations for all pairs tells more than Holm's correction
CHUNK = 512  # sign patterns drawn at a time; never adapted, or else the draws would depend on the number of models
TESTS = ("tukey", "max-t")
Columns = dict[str, NDArray[Any]]


def compare_many(
    scores: object,
    *,
    baseline: str | None = None,
    test: str | None = None,
    policies: str | Sequence[str] | None = None,
    most_apart: int | None = None,
    resamples: int = 9_999,
    seed: int = 0,
) -> pl.DataFrame:
    r"""Compare many models at once, with p-values for the chance of any false finding among all pairs.

    Randomised Tukey HSD (``test="tukey"``): under the null hypothesis the models of a query could have exchanged their
    scores, so the scores of each query are permuted among the models, and every pair is compared with the distance
    between the best and the worst mean of a permutation. One set of permutations serves all pairs, so the cost is
    models × queries × permutations. All pairs are compared with the same distance, so models with a small but steady
    difference are not separated if others are far away.

    max-T (``test="max-t"``): the signs of all differences of a query are flipped together, and every pair is compared
    with the largest \|t\| of a pattern, so that each pair is judged by its own spread. The cost grows with the number
    of pairs. With a baseline there are only as many pairs as models (Dunnett's case), and only this test is available.

    Holm's correction of single tests, in :func:`compare`, needs more sign patterns if there are more pairs.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`.
    baseline
        Compare all models with this one alone; it is ``model_b``. Default: all pairs.
    test
        One of {"tukey", "max-t"}. By default "tukey"; with a baseline only "max-t".
    policies
        By default all policies in the scores except best and worst.
    most_apart
        Only pairs at most this many ranks apart; 1 gives neighbours. The p-values remain those of all pairs.
    resamples, seed
        Number and seed of the permutations or sign patterns; p is at least 1 / (resamples + 1). The result does not
        depend on the order of the rows.

    Returns
    -------
    polars.DataFrame
        One row per metric, cutoff and policy (in the order of the scores) and pair, neighbours first and from the
        top of the ranking on:

        ``model_a``, ``model_b`` (the better one is ``model_a``; with a baseline that is ``model_b``), ``metric``,
        ``cutoff``, ``policy``;
        ``value_a``, ``value_b``, ``difference`` (a − b), ``tie_std`` (of the difference, under random tie order drawn
        for each model on its own; null for policies without one);
        ``apart`` (how many ranks lie between the two; 1: neighbours);
        ``queries`` (in the means) and ``unpaired`` (left out): for Tukey's test the queries that all models have a
        score for, for max-T those that both have;
        ``family_p`` (the probability, if no two models differed, that any pair of the family would be as far apart;
        null without queries), ``family`` (pairs that the p-value holds for) and ``family_method`` ("tukey" or "max-t").

    Raises
    ------
    RetrievalReportError
        The scores break their contract, or there is an unknown baseline or policy.

    Notes
    -----
    p is (b + 1) / (B + 1), where b of B permutations reach the difference seen. Sources: Carterette, *Multiple Testing
    in Statistical Analysis of Systems-Based Information Retrieval Experiments*, TOIS 30(1), 2012; Westfall and Young,
    *Resampling-Based Multiple Testing*, 1993. See ``docs/choosing-a-test.md`` for which test to use.

    Examples
    --------
    Three models on eight queries; the third is far behind.

    >>> import polars as pl
    >>> values = {"a": [.9, .8, .7, .9, .8, .9, .6, .8], "b": [.8, .9, .7, .8, .8, .9, .6, .7], "c": [.1] * 8}
    >>> scores = pl.DataFrame([
    ...     {"model": model, "query": f"q{number}", "metric": "ap", "cutoff": None, "policy": "expected",
    ...      "value": value, "std": 0.0, "items": 9, "n_relevant": 2}
    ...     for model, column in values.items() for number, value in enumerate(column)])
    >>> pairs = compare_many(scores)
    >>> pairs.select("model_a", "model_b", pl.col("difference").round(3), "apart", pl.col("family_p").round(2)).rows()
    [('a', 'b', 0.025, 1, 1.0), ('b', 'c', 0.675, 1, 0.0), ('a', 'c', 0.7, 2, 0.0)]
    """
    check_draws(resamples, seed)
    test = ("tukey" if baseline is None else "max-t") if test is None else test
    check_choice("test", test, TESTS if baseline is None else TESTS[1:])
    if most_apart is not None:
        check_whole("most_apart", most_apart, 1)
    grid = Grid.of(check_scores(scores))
    if baseline is not None:
        check_choice("baseline", baseline, grid.models)
    fixed = None if baseline is None else grid.models.index(baseline)
    frames = [pl.DataFrame(schema=FAMILY)]
    for at in asked_measures(grid, policies) if len(grid.models) > 1 else ():
        value, std = grid.value[at], grid.std[at]
        pairs, columns = _tukey(value, std) if test == "tukey" else _max_t(value, std, fixed)
        columns["family_p"] = family_p(value, pairs, pairs, test, resamples, seed)
        family = int((~np.isnan(columns["family_p"])).sum())
        frame = grid.of_pairs(at, pairs, columns, FAMILY, family=family, family_method=test)
        frames.append(frame if most_apart is None else frame.filter(pl.col("apart") <= most_apart))
    return pl.concat(frames)


def complete_queries(value: Floats) -> Bools:
    """Whether every model has a score for a query; (models, queries) → (queries)."""
    known: Bools = np.logical_and.reduce(~np.isnan(value), axis=0)
    return known


def best_first(means: Floats) -> Indices:
    """Rows of the models from the highest mean on; what is equal to 12 digits stays in the order of names.

    >>> best_first(np.array([0.1, 0.3, 0.1 + 1e-17, np.nan])).tolist()
    [1, 0, 2, 3]
    """
    order: Indices = np.argsort(-settled_means(means), kind="stable")
    return order


def range_draws(values: Floats, resamples: int, seed: int) -> Floats:
    """Distance between the highest and the lowest mean in every permutation of scores within queries, rising.

    Parameters
    ----------
    values
        Scores (models, queries), none missing.
    resamples, seed
        How many permutations, and which.

    Examples
    --------
    Two models: each query's difference keeps or changes its sign.

    >>> range_draws(np.array([[1.0, 1.0], [0.0, 0.0]]), 8, 0).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    """
    generator = np.random.default_rng(seed)
    by_query = np.ascontiguousarray(values.T)
    draws = np.empty(resamples)
    step = max(1, BLOCK // max(by_query.size, 1))
    room = np.empty((min(step, resamples), *by_query.shape))
    for start in range(0, resamples, step):
        part = room[: min(step, resamples - start)]
        part[:] = by_query
        means = generator.permuted(part, axis=2, out=part).mean(axis=1)
        draws[start : start + len(part)] = np.ptp(means, axis=1)
    return np.sort(draws)


def max_t_draws(values: Floats, pairs: Pairs, resamples: int, seed: int) -> tuple[Floats, Floats]:
    r"""Size of each pair's t, and the largest of all pairs in every sign pattern, rising.

    Flipping signs leaves Σ d² alone, so that \|t\| rises with \|Σ d\| / √Σ d², which is what is returned; a pair
    without difference has 0.

    Parameters
    ----------
    values
        Scores (models, queries), NaN where there is none.
    pairs
        The family. Every query has one sign in a pattern, shared by all pairs.
    resamples, seed
        How many sign patterns, and which.

    Examples
    --------
    >>> seen, draws = max_t_draws(np.array([[0.5, 0.5], [0.1, 0.1]]), Pairs.every(2), 4, 0)
    >>> seen.round(4).tolist(), draws.round(4).tolist()
    ([1.4142], [0.0, 1.4142, 1.4142, 1.4142])
    """
    seen, draws = [np.empty(0)], np.zeros(resamples)
    step = max(1, BLOCK // CHUNK)
    for block in (slice(start, start + step) for start in range(0, pairs.first.size, step)):
        first, second = pairs.first[block], pairs.second[block]
        filled = np.nan_to_num(differences(values, first, second))
        length = np.sqrt((filled**2).sum(axis=1, keepdims=True))
        scaled = np.divide(filled, length, out=np.zeros_like(filled), where=length > 0)
        # Differences are rounded, which must not set equal sums apart.
        rounding = 10.0**-DIGITS * filled.shape[1] * largest(values, first, second)
        room = np.divide(rounding, length[:, 0], out=np.zeros_like(rounding), where=length[:, 0] > 0)
        seen.append(np.abs(scaled.sum(axis=1)) - room)
        generator = np.random.default_rng(seed)  # the same patterns for every block
        for start in range(0, resamples, CHUNK):
            part = draws[start : start + CHUNK]
            signs = 1.0 - 2.0 * generator.integers(0, 2, (part.size, filled.shape[1]))
            np.maximum(part, np.abs(scaled @ signs.T).max(axis=0), out=part)
    return np.concatenate(seen), np.sort(draws)


def share_beyond(draws: Floats, seen: Floats) -> Floats:
    """(b + 1) / (B + 1), where b of B rising draws are at least as large as what was seen, rounding aside.

    >>> share_beyond(np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.0, 0.4])).tolist()
    [0.5, 1.0, 0.25]
    """
    room = 10.0**-DIGITS * max(1.0, float(np.abs(draws).max(initial=0.0)))
    beyond = draws.size - np.searchsorted(draws, seen - room, side="left")
    share: Floats = (beyond + 1) / (draws.size + 1)
    return share


def family_p(value: Floats, pairs: Pairs, every: Pairs, test: str, resamples: int, seed: int) -> Floats:
    """The p-value of some pairs within a family of pairs, in its order; NaN where a pair has no queries.

    Two models, whose difference has one sign in all four queries: two of 16 patterns reach it.

    >>> pairs = Pairs.every(2)
    >>> family_p(np.array([[1.0] * 4, [0.0] * 4]), pairs, pairs, "tukey", 9999, 0).round(1).tolist()
    [0.1]
    """
    if test == "tukey":
        complete = value[:, complete_queries(value)]
        means = _means(complete)
        if not complete.size:
            return np.full(pairs.first.size, np.nan)
        return share_beyond(range_draws(complete, resamples, seed), np.abs(means[pairs.first] - means[pairs.second]))
    seen, draws = max_t_draws(value, every, resamples, seed)
    asked = np.isin(every.first * len(value) + every.second, pairs.first * len(value) + pairs.second)
    scored = (~np.isnan(value)).astype(np.float64)
    shared = (scored @ scored.T)[pairs.first, pairs.second]
    return np.where(shared > 0, share_beyond(draws, seen[asked]), np.nan)


def nearest(value: Floats, pairs: Pairs, most_apart: int) -> Pairs:
    """The pairs that are at most so many ranks apart, in their order.

    >>> near = nearest(np.array([[0.1], [0.9], [0.5]]), Pairs.every(3), 1)
    >>> list(zip(near.first.tolist(), near.second.tolist()))
    [(0, 2), (1, 2)]
    """
    ranks = np.argsort(best_first(_means(value)))
    near = np.abs(ranks[pairs.first] - ranks[pairs.second]) <= most_apart
    return Pairs(pairs.first[near], pairs.second[near])


def _means(value: Floats) -> Floats:
    """Mean of each model over the queries it has a score for; NaN where there is none."""
    return paired_mean(value, ~np.isnan(value))


def _ranked_pairs(means: Floats) -> tuple[Pairs, Indices]:
    """All pairs, the better model first, neighbours before others; and how many ranks apart they are."""
    order = best_first(means)
    steps = [np.arange(order.size - step) for step in range(1, order.size)]
    above = np.concatenate([np.empty(0, np.intp), *steps]).astype(np.intp)
    apart = np.repeat(np.arange(1, len(steps) + 1), [len(step) for step in steps])
    return Pairs(order[above], order[above + apart]), apart


def _against(means: Floats, baseline: int) -> tuple[Pairs, Indices]:
    """All models against the baseline, the nearest in rank first."""
    order = best_first(means)
    ranks = np.argsort(order)
    others = order[order != baseline]
    apart = np.abs(ranks[others] - ranks[baseline])
    nearest = np.argsort(apart, kind="stable")
    return Pairs(others[nearest], np.full(others.size, baseline)), apart[nearest]


def _tukey(value: Floats, std: Floats) -> tuple[Pairs, Columns]:
    """All pairs, on the queries that all models have a score for."""
    shared = complete_queries(value)
    complete = value[:, shared]
    means = _means(complete)
    pairs, apart = _ranked_pairs(means)
    spread = (std[:, shared] ** 2).sum(axis=1)
    columns = {
        "value_a": means[pairs.first],
        "value_b": means[pairs.second],
        "difference": means[pairs.first] - means[pairs.second] + 0.0,
        "tie_std": np.sqrt(spread[pairs.first] + spread[pairs.second]) / max(complete.shape[1], 1),
        "apart": apart,
        "queries": np.full(apart.size, complete.shape[1]),
        "unpaired": np.full(apart.size, value.shape[1] - complete.shape[1]),
    }
    return pairs, columns


def _max_t(value: Floats, std: Floats, baseline: int | None) -> tuple[Pairs, Columns]:
    """All pairs, or those of one column, each on its own queries."""
    means = _means(value)
    pairs, apart = _ranked_pairs(means) if baseline is None else _against(means, baseline)
    parts = []
    for block in pairs.blocks(value.shape[1]):
        own = pairs.part(block)
        gap = differences(value, own.first, own.second)
        parts.append({**paired_columns(value, std, own), "difference": paired_mean(gap, ~np.isnan(gap))})
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
    return pairs, {**columns, "apart": apart}

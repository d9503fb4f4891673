"""Many models at once: p-values that hold for all pairs together, at a cost linear in the models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from retrieval_report.analysis.inputs import (
    DIGITS,
    Bools,
    Floats,
    Grid,
    Indices,
    Pairs,
    check_scores,
    check_whole,
    differences,
    paired_mean,
)
from retrieval_report.checking import check_choice
from retrieval_report.errors import ParameterError

__all__ = [
    "FAMILY",
    "asked_places",
    "best_first",
    "compare_many",
    "complete_queries",
    "max_t_draws",
    "range_draws",
    "share_beyond",
]

FAMILY = {
    "model_a": pl.String,
    "model_b": pl.String,
    "metric": pl.String,
    "cutoff": pl.Int64,
    "policy": pl.String,
    "value_a": pl.Float64,
    "value_b": pl.Float64,
    "difference": pl.Float64,
    "tie_std": pl.Float64,
    "apart": pl.Int64,
    "queries": pl.Int64,
    "unpaired": pl.Int64,
    "family_p": pl.Float64,
    "family": pl.Int64,
    "family_method": pl.String,
}
BLOCK = 1 << 21  # permuted scores held at a time
CHUNK = 512  # sign patterns drawn at a time; never adapted, or else the draws would depend on the number of models
BOUNDS = ("best", "worst")


def compare_many(
    scores: object,
    *,
    baseline: str | None = None,
    policies: str | Sequence[str] | None = None,
    most_apart: int | None = None,
    resamples: int = 9_999,
    seed: int = 0,
) -> pl.DataFrame:
    r"""Compare many models at once, so that a single false finding among all pairs is as rare as a p-value says.

    Without a baseline this is the randomised Tukey HSD test: under the null hypothesis the models of a query could
    have exchanged their scores, so the scores of each query are permuted among the models, and every pair is held to
    the distance between the best and the worst mean that a permutation shows. One set of permutations serves all pairs,
    so that the cost is models × queries × permutations, where Holm's correction of single tests needs more permutations
    the more pairs there are. With a baseline it is the max-T test of one column, after Dunnett's idea: the signs of the
    differences of a query are flipped together, and every model is held to the largest \|t\| that a pattern shows.

    Parameters
    ----------
    scores
        What :func:`evaluate` returns.
    baseline
        Compare all models with this one alone; it is ``model_b``. Default: all pairs.
    policies
        Default: all policies in the scores but best and worst.
    most_apart
        Only pairs at most so many ranks apart; 1 gives neighbours. The p-values stay those of all pairs.
    resamples, seed
        Of the permutations or sign patterns; p is at least 1 / (resamples + 1). The result does not depend on the
        order of the rows.

    Returns
    -------
    polars.DataFrame
        A row for each metric, cutoff and policy (in the order of the scores) and pair, neighbours first and from the
        top of the ranking on:

        ``model_a``, ``model_b`` (the better one is ``model_a``; with a baseline that is ``model_b``), ``metric``,
        ``cutoff``, ``policy``;
        ``value_a``, ``value_b``, ``difference`` (a − b), ``tie_std`` (of the difference, under random tie order drawn
        for each model on its own; null for policies without one);
        ``apart`` (how many ranks lie between the two; 1: neighbours);
        ``queries`` (in the means) and ``unpaired`` (left out). Without a baseline the queries are those that all
        models have a score for; with one, those that both models have;
        ``family_p`` (the probability, if no two models differed, that any pair of the family would be as far apart;
        null without queries), ``family`` (pairs that the p-value holds for) and ``family_method`` ("tukey" or "max-t").

    Raises
    ------
    RetrievalReportError
        Scores that break their contract, an unknown baseline or policy.

    Notes
    -----
    p is (b + 1) / (B + 1), where b of B permutations reach the difference seen. Sources: Carterette, *Multiple Testing
    in Statistical Analysis of Systems-Based Information Retrieval Experiments*, TOIS 30(1), 2012; Westfall and Young,
    *Resampling-Based Multiple Testing*, 1993. Which test to take for how many models: ``docs/choosing-a-test.md``.

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
    check_whole("seed", seed, 0)
    check_whole("resamples", resamples, 1)
    if most_apart is not None:
        check_whole("most_apart", most_apart, 1)
    grid = Grid.of(check_scores(scores))
    if baseline is not None:
        check_choice("baseline", baseline, grid.models)
    frames = [pl.DataFrame(schema=FAMILY)]
    for place in asked_places(grid, policies):
        if baseline is None:
            frames.append(_every_pair(grid, place, most_apart, resamples, seed))
        else:
            frames.append(_one_column(grid, place, grid.models.index(baseline), most_apart, resamples, seed))
    return pl.concat(frames)


def asked_places(grid: Grid, policies: str | Sequence[str] | None) -> list[int]:
    """Which metrics, cutoffs and policies of the grid are asked for; by default all but the bounds."""
    found = list(dict.fromkeys(policy for _, _, policy in grid.places))
    if policies is None:
        chosen = [policy for policy in found if policy not in BOUNDS] or found
    else:
        chosen = [policies] if isinstance(policies, str) else list(policies)
        if not chosen:
            raise ParameterError("policies: none given")
        for policy in chosen:
            check_choice("policies", policy, found)
    return [number for number, (_, _, policy) in enumerate(grid.places) if policy in chosen]


def complete_queries(value: Floats) -> Bools:
    """Whether every model has a score for a query; (models, queries) → (queries)."""
    known: Bools = np.logical_and.reduce(~np.isnan(value), axis=0)
    return known


def best_first(means: Floats) -> Indices:
    """Rows of the models from the highest mean on; what is equal to 12 digits stays in the order of names.

    >>> best_first(np.array([0.1, 0.3, 0.1 + 1e-17, np.nan])).tolist()
    [1, 0, 2, 3]
    """
    order: Indices = np.argsort(-np.round(means, DIGITS), kind="stable")
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


def max_t_draws(difference: Floats, resamples: int, seed: int) -> tuple[Floats, Floats]:
    r"""Size of each pair's t, and the largest of all pairs in every sign pattern, rising.

    Flipping signs leaves Σ d² alone, so that \|t\| rises with \|Σ d\| / √Σ d², which is what is returned; a pair
    without difference has 0.

    Parameters
    ----------
    difference
        Of paired scores (pairs, queries); NaN where unpaired.
    resamples, seed
        How many sign patterns, and which.
    """
    generator = np.random.default_rng(seed)
    filled = np.nan_to_num(difference)
    length = np.sqrt((filled**2).sum(axis=1, keepdims=True))
    scaled = np.divide(filled, length, out=np.zeros_like(filled), where=length > 0)
    draws = np.empty(resamples)
    for start in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - start)
        signs = 1.0 - 2.0 * generator.integers(0, 2, (size, filled.shape[1]))
        draws[start : start + size] = np.abs(scaled @ signs.T).max(axis=0, initial=0.0)
    return np.abs(scaled.sum(axis=1)), np.sort(draws)


def share_beyond(draws: Floats, seen: Floats) -> Floats:
    """(b + 1) / (B + 1), where b of B rising draws are at least as large as what was seen, rounding aside.

    >>> share_beyond(np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.0, 0.4])).tolist()
    [0.5, 1.0, 0.25]
    """
    room = 10.0**-DIGITS * max(1.0, float(np.abs(draws).max(initial=0.0)))
    beyond = draws.size - np.searchsorted(draws, seen - room, side="left")
    share: Floats = (beyond + 1) / (draws.size + 1)
    return share


def _every_pair(grid: Grid, place: int, most_apart: int | None, resamples: int, seed: int) -> pl.DataFrame:
    """All pairs of one metric, cutoff and policy by Tukey's test."""
    shared = complete_queries(grid.value[place])
    value, std = grid.value[place][:, shared], grid.std[place][:, shared]
    size = value.shape[1]
    means = value.mean(axis=1) if size else np.full(len(value), np.nan)
    order = best_first(means)
    near = len(order) if most_apart is None else most_apart
    steps = [np.arange(len(order) - step) for step in range(1, min(near, len(order) - 1) + 1)]
    above = np.concatenate([np.empty(0, np.intp), *steps]).astype(np.intp)
    apart = np.repeat(np.arange(1, len(steps) + 1), [len(step) for step in steps])
    pairs = Pairs(order[above], order[above + apart])
    difference = means[pairs.first] - means[pairs.second]
    p = np.full(difference.size, np.nan)
    if size:
        p = share_beyond(range_draws(value, resamples, seed), np.abs(difference))
    columns = {
        "value_a": means[pairs.first],
        "value_b": means[pairs.second],
        "difference": difference + 0.0,
        "tie_std": np.sqrt((std**2).sum(axis=1)[pairs.first] + (std**2).sum(axis=1)[pairs.second]) / max(size, 1),
        "apart": apart,
        "queries": np.full(p.size, size),
        "unpaired": np.full(p.size, shared.size - size),
        "family_p": p,
    }
    return _frame(grid, place, pairs, columns, len(order) * (len(order) - 1) // 2 if size else 0, "tukey")


def _one_column(
    grid: Grid, place: int, baseline: int, most_apart: int | None, resamples: int, seed: int
) -> pl.DataFrame:
    """Every model against the baseline by the max-T test."""
    value, std = grid.value[place], grid.std[place]
    others = np.array([row for row in range(len(value)) if row != baseline], dtype=np.intp)
    pairs = Pairs(others, np.full_like(others, baseline))
    difference = differences(value, pairs.first, pairs.second)
    paired = ~np.isnan(difference)
    size = paired.sum(axis=1)
    seen, draws = max_t_draws(difference, resamples, seed)
    ranks = np.argsort(best_first(np.nanmean(np.where(np.isnan(value), np.nan, value), axis=1)))
    variance = np.where(paired, std[pairs.first] ** 2 + std[pairs.second] ** 2, 0.0).sum(axis=1)
    columns = {
        "value_a": paired_mean(value[pairs.first], paired),
        "value_b": paired_mean(value[pairs.second], paired),
        "difference": paired_mean(difference, paired),
        "tie_std": np.sqrt(variance) / np.where(size > 0, size, np.nan),
        "apart": np.abs(ranks[pairs.first] - ranks[pairs.second]),
        "queries": size,
        "unpaired": (np.isnan(value[pairs.first]) != np.isnan(value[pairs.second])).sum(axis=1),
        "family_p": np.where(size > 0, share_beyond(draws, seen), np.nan),
    }
    frame = _frame(grid, place, pairs, columns, int((size > 0).sum()), "max-t")
    near = len(value) if most_apart is None else most_apart
    return frame.filter(pl.col("apart") <= near).sort("apart", "value_a", descending=[False, True], maintain_order=True)


def _frame(grid: Grid, place: int, pairs: Pairs, columns: dict[str, Floats], family: int, method: str) -> pl.DataFrame:
    """The rows of one metric, cutoff and policy."""
    metric, cutoff, policy = grid.places[place]
    models = pl.Series(grid.models, dtype=pl.String)
    frame = pl.DataFrame({"model_a": models[pairs.first], "model_b": models[pairs.second], **columns}).with_columns(
        pl.lit(metric).alias("metric"),
        pl.lit(cutoff, dtype=pl.Int64).alias("cutoff"),
        pl.lit(policy).alias("policy"),
        pl.lit(family).alias("family"),
        pl.lit(method).alias("family_method"),
    )
    floats = pl.selectors.float().fill_nan(None)
    return frame.with_columns(floats).select(pl.col(name).cast(dtype) for name, dtype in FAMILY.items())

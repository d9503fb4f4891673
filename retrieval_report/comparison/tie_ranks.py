"""Find which ranks a model may have under another tie order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Named, Names, check_whole
from retrieval_report.contracts.options import MOST_SHUFFLES
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import (
    COUNTED,
    check_fraction,
    check_scores,
)
from retrieval_report.engines.score_grid import (
    DIGITS,
    Grid,
    Scores,
    best_first,
    complete_queries,
    measured,
    row_ranks,
    settled_means,
)
from retrieval_report.kernels.lists import Bools, Floats

RANKS = schema("tie_ranks")
CHUNK = (
    256  # draws at a time; never adapted, or else the draws would depend on the number of models
)


def tie_ranks(
    scores: object,
    *,
    policies: Names | None = None,
    confidence: float = 0.95,
    resamples: int = 9_999,
    seed: int = 0,
) -> pl.DataFrame:
    """Compute which ranks each model takes under random tie order, for the queries as they are.

    Another sample of queries is another question, which the tests answer; see :func:`leaderboard`.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`. With the policies best and worst in it, no mean is drawn
        from outside its bounds, and lists that have nothing else, such as cut ones, count by them.
    policies
        By default all policies in the scores except best and worst.
    confidence
        Share of the draws whose ranks the interval holds, with equal shares left out below and
        above.
    resamples, seed
        Number and seed of the draws.

    Returns
    -------
    polars.DataFrame
        One row per ``metric``, ``cutoff``, ``policy`` and ``model``, best model first: ``value``
        (mean over the queries for which all models have a score), ``rank`` (1 is best; means equal
        to 12 digits share the better rank), ``rank_low`` and ``rank_high`` (the interval, best and
        worst rank) and ``method``: "normal" (moments), "exact" if no score depends on tie
        order, or "bounds" if nothing else is known of some lists. The last three are null if the
        policy or the model has neither a standard deviation nor bounds, or if no query is shared.

    Raises
    ------
    RetrievalReportError
        The scores break their contract, or there is an unknown policy.

    Notes
    -----
    Percentile intervals of ranks. The mean of a model is normal with variance Σ std² / n², exact
    moments of a sum over the queries, kept within its bounds. Lists without a standard deviation,
    such as cut ones, may score anything between their bounds: their model is ahead of another in
    the best rank of that one only if it surely is, and in its worst rank if it may be. Level models
    share the better rank.

    Examples
    --------
    The ties of "a" make its score uncertain, but never by more than its lead over "c".

    >>> import polars as pl
    >>> values = {
    ...     "a": ([0.8, 0.6, 0.7, 0.9], 0.2),
    ...     "b": ([0.7, 0.7, 0.7, 0.8], 0.0),
    ...     "c": ([0.1, 0.2, 0.1, 0.2], 0.0),
    ... }
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": f"q{number}",
    ...             "metric": "ap",
    ...             "cutoff": None,
    ...             "policy": "expected",
    ...             "value": value,
    ...             "std": std,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for model, (column, std) in values.items()
    ...         for number, value in enumerate(column)
    ...     ]
    ... )
    >>> ranks = tie_ranks(scores)
    >>> ranks.select("model", "rank", "rank_low", "rank_high", "method").rows()
    [('a', 1, 1, 2, 'normal'), ('b', 2, 1, 2, 'normal'), ('c', 3, 3, 3, 'normal')]
    """
    confidence = check_fraction("confidence", confidence)
    check_whole("resamples", resamples, 1, MOST_SHUFFLES)
    check_whole("seed", seed, 0)
    grid = Grid.of(check_scores(scores))
    frames = [pl.DataFrame(schema=RANKS)]
    for part in grid.asked(policies):
        means = _MeasureMeans.of(part)
        chunks = _drawn_means(means, resamples, seed)
        method = "normal"
        if not np.nan_to_num(means.spread).any():
            chunks, method = iter([means.mean[None]]), "exact"
        columns = {"model": grid.models, **_ranked(means, chunks, method, confidence)}
        frames.append(measured(columns, part.measure, RANKS)[best_first(means.mean)])
    return pl.concat(frames)


class _MeasureMeans(NamedTuple):
    """The means of one metric, cutoff and policy over the queries that all models share; NaN if
    there is none.
    """

    mean: Floats
    spread: Floats  # standard deviation of the lists that have one under random tie order
    sure: Bools  # whether all lists have one
    lowest: Floats  # bounds over all tie orders; infinite where unknown
    highest: Floats
    fall: Floats  # how far the other lists can bring the mean down, and up
    rise: Floats

    @classmethod
    def of(cls, scores: Scores) -> _MeasureMeans:
        shared = complete_queries(scores.value)
        size = shared.sum() or np.nan
        value, std, *bounds = (
            part[:, shared] for part in (scores.value, scores.std, scores.lowest, scores.highest)
        )
        mean, lowest, highest = (part.sum(axis=1) / size for part in (value, *bounds))
        usable = scores.measure[2] in COUNTED
        fall, rise = (
            np.where(np.isnan(std), bound - value, 0.0).sum(axis=1) / size for bound in bounds
        )
        return cls(
            mean,
            np.sqrt((np.nan_to_num(std) ** 2).sum(axis=1)) / size,
            ~np.isnan(std.sum(axis=1) / size),
            *(
                np.where(usable & ~np.isnan(bound), bound, end)
                for bound, end in zip(
                    (lowest, highest, fall, rise), (-np.inf, np.inf) * 2, strict=True
                )
            ),
        )


def _drawn_means(means: _MeasureMeans, resamples: int, seed: int) -> Iterator[Floats]:
    """Means of each model under random tie order, (draws,
    models), chunk by chunk, from their exact moments.
    """
    generator = np.random.default_rng(seed)
    for start in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - start)
        yield means.mean + means.spread * generator.standard_normal((size, means.mean.size))


def _ranked(
    means: _MeasureMeans, chunks: Iterator[Floats], method: str, confidence: float
) -> Named:
    """The ranks of one metric, cutoff and policy; null where nothing bounds a mean."""
    sure, tail = means.sure, (1 - confidence) / 2
    ranked = sure | np.isfinite(means.lowest) | np.isfinite(means.highest)
    ranks = zip(*(_ranks(means, chunk) for chunk in chunks), strict=True)
    low, high = (
        np.quantile(np.concatenate(part).astype(np.int32), share, axis=0, method="inverted_cdf")
        for part, share in zip(ranks, (tail, 1 - tail), strict=True)
    )
    words = (None, "bounds", method)
    return {
        "rank_low": np.where(ranked, low, np.nan),
        "rank_high": np.where(ranked, high, np.nan),
        "method": [words[rank_pairs] for rank_pairs in ranked.astype(np.intp) + sure],
        "value": means.mean,
        "rank": means.mean if np.isnan(means.mean).any() else _order(means.mean[None])[0],
    }


def _order(means: Floats) -> Floats:
    """Return the rank of each model in each row; equal means share the better one."""
    return row_ranks(-settled_means(means))[0]


def _ranks(means: _MeasureMeans, draws: Floats) -> tuple[Floats, Floats]:
    """Best and worst rank of each model in each draw, no
    mean beyond its bounds, and some known by these alone.
    """
    sure, ends = means.sure, (means.lowest, means.highest)
    bounded = np.clip(draws, *ends)
    lowest, highest = (
        np.where(sure, bounded, np.clip(draws + shift, *ends)) for shift in (means.fall, means.rise)
    )
    best, worst = np.ones_like(bounded), np.ones_like(bounded)
    best[:, sure] = worst[:, sure] = _order(bounded[:, sure])
    margin = 10.0**-DIGITS * max(1.0, float(np.abs(means.mean).max()))  # means that close are level
    for model in np.flatnonzero(~sure):
        # Of two models that may overlap, each may be ahead of the other.
        low, high = lowest[:, [model]], highest[:, [model]]
        best[:, model] = 1 + (lowest - high > margin).sum(axis=1)
        may_be_ahead = highest - low > margin
        may_be_ahead[:, model] = True  # itself, which takes the place after the others
        worst[:, model] = may_be_ahead.sum(axis=1)
        best[:, sure] += low - bounded[:, sure] > margin
        worst[:, sure] += high - bounded[:, sure] > margin
    return best, worst

"""Find which ranks a model may have: under another tie order, on another sample of queries, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.analysis.grid import Floats, Grid, asked_measures, measured
from retrieval_report.analysis.inputs import at_measure, check_draws, check_fraction, check_scores, hold
from retrieval_report.analysis.paired import settled_means
from retrieval_report.analysis.tukey import best_first, complete_queries
from retrieval_report.contracts.arguments import listed
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import KeyMismatchError, ParameterError
from retrieval_report.contracts.registry import schema
from retrieval_report.metrics.parsing import measure_text

RANKS = schema("rank_intervals")
DRAWS = schema("shuffled")
SOURCES = ("ties", "queries", "both")
CHUNK = 256  # samples at a time; never adapted, or else the draws would depend on the number of models


def rank_intervals(
    scores: object,
    *,
    sources: str | Sequence[str] = ("ties", "queries"),
    policies: str | Sequence[str] | None = None,
    shuffled: object = None,
    confidence: float = 0.95,
    resamples: int = 9_999,
    seed: int = 0,
) -> pl.DataFrame:
    """Compute which ranks each model takes under random tie order, resampled queries, or both.

    "ties" draws another order inside the ties and keeps the queries; "queries" draws another sample of queries
    (bootstrap) and keeps the scores as they are; "both" does both at once. The first is an accident of measurement, the
    second the uncertainty of the test collection: they are never mixed unless asked.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`. Ties need a policy with an exact standard deviation ("expected").
    sources
        Any of {"ties", "queries", "both"}.
    policies
        By default all policies in the scores except best and worst.
    shuffled
        The result of :func:`shuffled_means` for the same input: source "ties" then counts ranks in those draws, where
        else it draws each mean from the normal distribution with the exact mean and standard deviation. They have no
        effect where a model lacks the score of a query, because they are means over each model's own queries.
    confidence
        Share of the draws whose ranks the interval holds, with equal shares left out below and above.
    resamples, seed
        Number and seed of the draws.

    Returns
    -------
    polars.DataFrame
        One row per ``metric``, ``cutoff``, ``policy``, ``source`` and ``model``, best model first: ``value`` (mean
        over the queries for which all models have a score), ``rank`` (1 is best; means equal to 12 digits share the
        better rank), ``rank_low`` and ``rank_high`` (the interval, best and worst rank), ``first_share`` (of the draws
        in which no model is ahead of it) and ``method``: "bootstrap", "normal" (moments), "draws" (``shuffled``),
        "normal+bootstrap" for both, or "exact" if no score depends on tie order. The last four are null if the policy
        or a score has no standard deviation (for example with a cut list), or if no query is shared.

    Raises
    ------
    RetrievalReportError
        The scores break their contract, or there is an unknown source or policy, or draws of other models.

    Notes
    -----
    Percentile intervals of ranks. For ties, the mean of a model is normal with variance Σ std² / n², exact moments of a
    sum over many queries; with few tied queries pass ``shuffled``. In "both", a query drawn twice has its ties drawn
    twice. Rank intervals by bootstrap: Goldstein and Spiegelhalter, *League Tables and Their Limitations*, Journal of
    the Royal Statistical Society A 159(3), 1996.

    Examples
    --------
    The ties of "a" make its score uncertain, but never by more than its lead over "c".

    >>> import polars as pl
    >>> values = {"a": ([.8, .6, .7, .9], .2), "b": ([.7, .7, .7, .8], 0.0), "c": ([.1, .2, .1, .2], 0.0)}
    >>> scores = pl.DataFrame([
    ...     {"model": model, "query": f"q{number}", "metric": "ap", "cutoff": None, "policy": "expected",
    ...      "value": value, "std": std, "items": 9, "n_relevant": 2}
    ...     for model, (column, std) in values.items() for number, value in enumerate(column)])
    >>> ranks = rank_intervals(scores, sources="ties")
    >>> ranks.select("model", "rank", "rank_low", "rank_high", pl.col("first_share").round(1), "method").rows()
    [('a', 1, 1, 2, 0.6, 'normal'), ('b', 2, 1, 2, 0.4, 'normal'), ('c', 3, 3, 3, 0.0, 'normal')]
    """
    wanted = listed(sources)
    for source in wanted:
        check_choice("sources", source, SOURCES)
    if not wanted:
        raise ParameterError("sources: none given")
    confidence = check_fraction("confidence", confidence)
    check_draws(resamples, seed)
    grid = Grid.of(check_scores(scores))
    known = None if shuffled is None else hold(shuffled, DRAWS, "shuffled", "shuffled_means")
    frames = [pl.DataFrame(schema=RANKS)]
    for measure in asked_measures(grid, policies):
        here = _Part.of(grid, measure)
        for source in wanted:
            draws = None
            if source == "ties" and known is not None and here.measure[2] == "expected" and here.alike:
                draws = _given_draws(known, here, grid.models)
            frames.append(_ranked(here, grid.models, str(source), draws, confidence, resamples, seed))
    return pl.concat(frames)


class _Part(NamedTuple):
    """The scores of one metric, cutoff and policy on the queries that all models share."""

    measure: tuple[str, int | None, str]
    value: Floats  # (models, queries)
    std: Floats
    alike: bool  # the models have scores for the same queries, so means over all of them are over these

    @classmethod
    def of(cls, grid: Grid, measure: int) -> _Part:
        value, std = grid.value[measure], grid.std[measure]
        shared, known = complete_queries(value), ~np.isnan(value)
        alike = bool(shared.any()) and np.array_equal(known.any(axis=0), shared)
        return cls(grid.measures[measure], value[:, shared], std[:, shared], alike)


def resampled_means(value: Floats, resamples: int, seed: int, std: Floats | None = None) -> Iterator[Floats]:
    """Means of each model over queries drawn with replacement, (samples, models), chunk by chunk.

    Every sample is one of queries, the same for all models. With ``std`` each drawn query adds its own tie order, by
    the normal distribution.

    >>> chunks = resampled_means(np.array([[1.0, 0.0, 0.5]]), 3, 0)
    >>> [chunk.round(2).tolist() for chunk in chunks]
    [[[0.5], [0.5], [0.67]]]
    """
    generator = np.random.default_rng(seed)
    queries = value.shape[1]
    for start in range(0, resamples, CHUNK):
        times = generator.multinomial(queries, np.full(queries, 1 / queries), min(CHUNK, resamples - start))
        means = times @ value.T / queries
        if std is not None:
            spread = np.sqrt(times @ (std**2).T) / queries
            means = means + spread * generator.standard_normal(means.shape)
        yield means


def _tied_means(here: _Part, resamples: int, seed: int) -> Iterator[Floats]:
    """Means of each model under random tie order, from their exact moments."""
    generator = np.random.default_rng(seed)
    means, spread = here.value.mean(axis=1), np.sqrt((here.std**2).sum(axis=1)) / here.value.shape[1]
    for start in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - start)
        yield means + spread * generator.standard_normal((size, means.size))


def _given_draws(known: pl.DataFrame, here: _Part, models: list[str]) -> Floats:
    """The means of single random orders, (draws, models)."""
    rows = known.filter(at_measure(*here.measure[:2]))
    wide = rows.pivot("model", index="draw", values="value", aggregate_function="first").drop("draw")
    if set(wide.columns) != set(models) or not wide.height or sum(wide.null_count().row(0)):
        measure = measure_text(*here.measure[:2])
        raise KeyMismatchError(f"shuffled: lacks draws of some model at {measure}; it must come from the same input")
    return wide.select(models).to_numpy()


def _means(here: _Part, source: str, draws: Floats | None, resamples: int, seed: int) -> tuple[Iterator[Floats], str]:
    """Drawn means, chunk by chunk, and how they were drawn."""
    still = not here.std.any()
    if source == "queries" or (source == "both" and still):
        return resampled_means(here.value, resamples, seed), "bootstrap"
    if still:
        return iter([here.value.mean(axis=1)[None]]), "exact"
    if source == "both":
        return resampled_means(here.value, resamples, seed, here.std), "normal+bootstrap"
    if draws is not None:
        return iter(np.array_split(draws, -(-len(draws) // CHUNK))), "draws"
    return _tied_means(here, resamples, seed), "normal"


def _ranked(
    here: _Part, models: list[str], source: str, draws: Floats | None, confidence: float, resamples: int, seed: int
) -> pl.DataFrame:
    """The rows of one metric, cutoff, policy and source."""
    known = here.value.shape[1] > 0
    silent = not known or (source != "queries" and bool(np.isnan(here.std).any()))
    means = here.value.mean(axis=1) if known else np.full(len(models), np.nan)
    columns: dict[str, object] = {"rank_low": None, "rank_high": None, "first_share": None, "method": None}
    if not silent:
        chunks, method = _means(here, source, draws, resamples, seed)
        low, high, first = _interval(chunks, confidence)
        columns = {"rank_low": low, "rank_high": high, "first_share": first, "method": method}
    best, _ = _ranks(means[None]) if known else (means[None], None)
    columns |= {"model": models, "value": means, "rank": best[0]}
    return measured(columns, here.measure, RANKS, source=source)[best_first(means)]


def _ranks(means: Floats) -> tuple[Floats, Floats]:
    """Best and worst rank of each model of each row; they differ where means are equal to 12 digits."""
    from scipy import stats

    fallen = -settled_means(means)
    return stats.rankdata(fallen, "min", axis=1), stats.rankdata(fallen, "max", axis=1)


def _interval(chunks: Iterator[Floats], confidence: float) -> tuple[Floats, Floats, Floats]:
    """Lowest and highest rank that the interval holds, and the share of draws with rank 1."""
    best, worst = [], []
    for means in chunks:
        one, other = _ranks(means)
        best.append(one.astype(np.int32))
        worst.append(other.astype(np.int32))
    low, high = np.concatenate(best), np.concatenate(worst)
    tail = (1 - confidence) / 2
    return (
        np.quantile(low, tail, axis=0, method="inverted_cdf"),
        np.quantile(high, 1 - tail, axis=0, method="inverted_cdf"),
        (low == 1).mean(axis=0),
    )

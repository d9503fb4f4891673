"""Rank models, with the effect of tie order and sampling on their scores, and their tiers and ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from retrieval_report.analysis.comparison import CORRECTIONS, compare, usual_correction
from retrieval_report.analysis.grid import Floats, Grid, asked_measures, measured
from retrieval_report.analysis.inputs import SCORE, check_fraction, check_scores
from retrieval_report.analysis.letters import compact_letters, letter_columns, letter_texts
from retrieval_report.analysis.rank_intervals import rank_intervals
from retrieval_report.analysis.summary import summarise
from retrieval_report.analysis.tukey import best_first, compare_many, complete_queries, range_draws, share_beyond
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.registry import in_contract, schema

LEADERBOARD = schema("leaderboard")
KEYS = [*SCORE, "model"]
TIERS = schema("leaderboard", *KEYS, "letters", "honest_difference")


def leaderboard(
    scores: object,
    *,
    policies: str | Sequence[str] | None = None,
    test: str | None = None,
    alpha: float = 0.05,
    confidence: float = 0.95,
    shuffled: object = None,
    resamples: int = 9_999,
    seed: int = 0,
) -> pl.DataFrame:
    """Rank the models and say how far to trust each rank, by tiers and by separate intervals for ties and queries.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`.
    policies
        By default all policies in the scores except best and worst.
    test
        One of {"holm", "tukey", "max-t"}: the test of differences. By default "holm" (the corrected permutation test of
        :func:`compare`) below ten models, otherwise "tukey" (see :func:`compare_many`). "max-t" finds more differences,
        but so unevenly that the letters of many models become unreadable.
    alpha
        Two models share no letter if the test finds a p below it.
    confidence
        Confidence level of the intervals of scores and ranks.
    shuffled
        The result of :func:`shuffled_means`, for ranks under tie order by counting; see :func:`rank_intervals`.
    resamples, seed
        Number and seed of the permutations and of the draws for ranks.

    Returns
    -------
    polars.DataFrame
        One row per ``metric``, ``cutoff`` and ``policy`` (in the order of the scores) and ``model``, best first:

        ``rank``, ``value``, ``letters`` (models that share one do not clearly differ; see :func:`compact_letters`);
        ``tie_std``, ``lowest``, ``highest``, ``ci_low``, ``ci_high`` (as from :func:`summarise`);
        ``tie_rank_low``, ``tie_rank_high`` (best and worst rank under random tie order alone), ``query_rank_low``,
        ``query_rank_high`` (the same under sampling of queries alone; see :func:`rank_intervals`);
        ``honest_difference`` (the largest difference that is not significant by Tukey's test, the same in every row;
        null for other tests), ``queries`` (those for which all models have a score; everything is computed on them) and
        ``unpaired`` (queries left out).

    Raises
    ------
    RetrievalReportError
        The scores break their contract, or there is an unknown test or policy.

    Examples
    --------
    In the sample of Python's docstrings, tie order alone can swap the first two models.

    >>> from retrieval_report import evaluate, read_judgements, read_rankings
    >>> from retrieval_report.samples import sample_folder
    >>> docs = sample_folder() / "docs"
    >>> scores = evaluate(read_rankings(docs / "runs"), judgements=read_judgements(docs / "qrels.txt"),
    ...                   metrics="ndcg", cutoffs=10, policies="expected", truncated="between_ties")
    >>> board = leaderboard(scores)
    >>> for row in board.select("rank", "model", "letters", "tie_rank_low", "tie_rank_high").rows():
    ...     print(*row)
    1 bm25 a 1 2
    2 bm25-1-digit a 1 2
    3 tf-idf b 3 3
    4 term-overlap c 4 4
    5 lsa-bfloat16 d 5 5
    6 simhash-64 e 6 6
    """
    alpha = check_fraction("alpha", alpha)
    given = check_scores(scores)
    frame = _complete(given)
    grid = Grid.of(frame)
    test = usual_correction(len(grid.models)) if test is None else test
    check_choice("test", test, CORRECTIONS)
    asked = list(dict.fromkeys(grid.measures[measure][2] for measure in asked_measures(grid, policies)))
    if not asked:
        return pl.DataFrame(schema=LEADERBOARD)
    ranks = rank_intervals(
        given, policies=asked, shuffled=shuffled, confidence=confidence, resamples=resamples, seed=seed
    )
    board = ranks.filter(source="ties").rename({"rank_low": "tie_rank_low", "rank_high": "tie_rank_high"})
    sampled = ranks.filter(source="queries").rename({"rank_low": "query_rank_low", "rank_high": "query_rank_high"})
    parts = (
        (KEYS, sampled.select(*KEYS, "query_rank_low", "query_rank_high")),
        (KEYS, summarise(frame, confidence=confidence).drop("value")),
        (KEYS, _letters(grid, frame, asked, test, alpha, resamples, seed)),
        (SCORE, _unpaired(grid)),
    )
    for keys, part in parts:
        board = board.join(part, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return in_contract(board, LEADERBOARD)


def rank_range(source: str, to: str = "–") -> pl.Expr:
    """Return an expression for the ranks under "tie" or "query" as text, such as 1 or 1–3."""
    low, high = (pl.col(f"{source}_rank_{end}").cast(pl.String) for end in ("low", "high"))
    return pl.when(low == high).then(low).otherwise(low + to + high)


def _complete(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of queries for which every model has a score."""
    models = frame["model"].n_unique()
    known = pl.col("value").is_not_null().sum().over("query", *SCORE)
    return frame.with_columns(pl.when(known == models).then("value").alias("value"))


def _letters(
    grid: Grid, frame: pl.DataFrame, policies: list[str], test: str, alpha: float, resamples: int, seed: int
) -> pl.DataFrame:
    """Return the letters of every model, and the smallest significant difference if it is the same for all."""
    if test == "tukey" or len(grid.models) == 1:
        measures = [number for number, (_, _, policy) in enumerate(grid.measures) if policy in policies]
        return pl.concat(_tiers(grid, measure, alpha, resamples, seed) for measure in measures)
    if test == "holm":
        pairs = compare(frame, policies=policies, correction="holm", seed=seed)
    else:
        pairs = compare_many(frame, test=test, policies=policies, resamples=resamples, seed=seed)
    letters = compact_letters(pairs, alpha=alpha).drop("value")
    return letters.with_columns(honest_difference=pl.lit(None, pl.Float64))


def _tiers(grid: Grid, measure: int, alpha: float, resamples: int, seed: int) -> pl.DataFrame:
    """Return the letters for one metric, cutoff and policy by Tukey's test, without a table of pairs."""
    value = grid.value[measure][:, complete_queries(grid.value[measure])]
    order = np.arange(len(value))
    different, honest = np.zeros((len(value), len(value)), np.bool_), None
    if value.size:
        means = value.mean(axis=1)
        order = best_first(means)
        draws = range_draws(value, resamples, seed)
        different = share_beyond(draws, np.abs(means[order][:, None] - means[order])) < alpha
        honest = _honest(draws, alpha) if len(value) > 1 else None
    letters = letter_texts(letter_columns(different), len(order))
    models = [grid.models[row] for row in order]
    columns = {"model": models, "letters": letters, "honest_difference": [honest] * len(models)}
    return measured(columns, grid.measures[measure], TIERS)


def _honest(draws: Floats, alpha: float) -> float | None:
    """Return the largest difference that is not significant; None if no p-value can be as small as alpha."""
    # p = (b + 1) / (B + 1) stays below alpha while at most `most` of the draws are as far apart.
    most = math.ceil(alpha * (draws.size + 1)) - 2
    return float(draws[draws.size - 1 - most]) if 0 <= most < draws.size else None


def _unpaired(grid: Grid) -> pl.DataFrame:
    """Return how many queries are left out for each measure."""
    left_out = [int((~complete_queries(value)).sum()) for value in grid.value]
    measures = pl.DataFrame(grid.measures, schema=schema("leaderboard", *SCORE), orient="row")
    return measures.with_columns(pl.Series("unpaired", left_out, dtype=pl.Int64))

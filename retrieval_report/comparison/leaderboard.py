"""Rank models, with the effect of tie order and sampling on their scores and on their ranks."""

from __future__ import annotations

import numpy as np
import polars as pl

from retrieval_report.comparison.clusters import clustered
from retrieval_report.comparison.corrections import (
    LEAST_RESAMPLES,
    check_correction,
    family_tests,
    resamples_for,
)
from retrieval_report.comparison.tie_ranks import tie_ranks
from retrieval_report.comparison.verdicts import significant
from retrieval_report.contracts.arguments import Names
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.contracts.significance_tests import MAX_T
from retrieval_report.engines.check_scores import (
    GROUP,
    SCORE,
    Checked,
    at_measure,
    check_fraction,
    check_result_frame,
    check_scores,
    join_left,
)
from retrieval_report.engines.score_grid import (
    Grid,
    Indices,
    Measure,
    Pairs,
    complete_queries,
    measured,
)
from retrieval_report.engines.summary import summarise
from retrieval_report.kernels.lists import Bools, Floats

LEADERBOARD = schema("leaderboard")
TESTED = schema("leaderboard", *GROUP, "query_rank_low", "query_rank_high", "unpaired")


def leaderboard(
    scores: object,
    *,
    policies: Names | None = None,
    correction: str = MAX_T,
    alpha: float = 0.05,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int = 0,
    queries: object = None,
    cluster: str | None = None,
    over_runs: object = None,
) -> pl.DataFrame:
    """Rank the models, and say how far tie order and queries leave each rank open.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`.
    policies
        By default all policies in the scores except best and worst.
    correction
        One of {"max-t", "holm", "skewed", "bh"}: how the tests of all pairs allow for their number;
        see :func:`compare`.
    alpha
        Two models differ significantly if the corrected p of their difference is below it.
    confidence
        Confidence level of the intervals of scores and of the ranks under tie order.
    resamples, seed
        Number and seed of the sign patterns or permutations, as for :func:`compare`, and of the
        draws for ranks.
    queries, cluster
        A frame of the queries, and the column that says which belong together, such as their topic.
        Tests and intervals then count its values, not single queries; see :func:`compare`.
    over_runs
        The result of :func:`replicate_pairs`, if the scores are means over runs: a difference then
        sets two models apart only if it is significant over their runs too.

    Returns
    -------
    polars.DataFrame
        One row per ``metric``, ``cutoff`` and ``policy`` (in the order of the scores) and
        ``model``, best first:

        ``rank``, ``value``; ``tie_std``, ``lowest``, ``highest``, ``ci_low``, ``ci_high`` (as from
        :func:`summarise`); ``tie_rank_low``, ``tie_rank_high`` (best and worst rank under random
        tie order alone; see :func:`tie_ranks`), ``query_rank_low``, ``query_rank_high`` (best and
        worst rank that the tests of all pairs leave open: 1 + the number of significantly better
        models, and the number of models − that of significantly worse ones); ``queries`` (those
        scored by every model; everything but the tests uses only these) and ``unpaired`` (queries
        left out).

    Raises
    ------
    RetrievalReportError
        The scores break their contract, or there is an unknown correction or policy.

    Notes
    -----
    If the tests control the chance of any false finding, as all but "bh" do, all true ranks lie in
    their ranges at once with probability 1 − ``alpha`` or more (Al Mohamad, Goeman and van Zwet,
    *Simultaneous Confidence Intervals for Ranks With Application to Ranking Institutions*,
    Biometrics 78, 2022; Mogstad, Romano, Shaikh and Wilhelm, *Inference for Ranks with Applications
    to Mobility across Neighbourhoods and Academic Achievement across Countries*, Review of Economic
    Studies 91, 2024). Each pair is tested on the queries that both models have.

    Examples
    --------
    In the sample of Python's docstrings, tie order alone can swap the first four models, and other
    queries the first seven.

    >>> from retrieval_report import evaluate, read_judgements, read_rankings
    >>> from retrieval_report.study.samples import sample_folder
    >>> docs = sample_folder() / "docs"
    >>> scores = evaluate(
    ...     read_rankings(docs / "runs"),
    ...     judgements=read_judgements(docs / "qrels.txt"),
    ...     metrics="ndcg",
    ...     cutoffs=10,
    ...     policies="expected",
    ...     truncated="between_ties",
    ... )
    >>> board = leaderboard(scores)
    >>> for row in board.select("model", "^(tie|query)_rank_.*$").head(8).rows():
    ...     print(*row)
    wordllama-float16 1 4 1 7
    wordllama-bfloat16 1 4 1 7
    wordllama-float32 1 4 1 7
    wordllama-2-digits 1 4 1 7
    wordllama-int4 5 5 1 7
    bm25 6 7 1 7
    wordllama-int8 6 7 1 7
    wordllama-binary-256 8 8 8 10
    """
    alpha = check_fraction("alpha", alpha)
    check_correction(correction)
    score_frame = check_scores(scores)
    grid = Grid.of(score_frame)
    requested = grid.asked(policies)
    of_runs = (
        None
        if over_runs is None
        else check_result_frame(
            over_runs, schema("replicate_pairs"), "over_runs", "replicate_pairs"
        )
    )
    pairs = clustered(grid.pairs(), grid, cluster, queries)
    board = tie_ranks(
        Checked(score_frame),
        policies=policies,
        confidence=confidence,
        resamples=LEAST_RESAMPLES if resamples is None else resamples,
        seed=seed,
    ).rename({"rank_low": "tie_rank_low", "rank_high": "tie_rank_high"})
    draws = resamples_for(correction, pairs) if resamples is None else resamples
    tested = [pl.DataFrame(schema=TESTED)]
    for part in requested:
        apart = significant(family_tests(part.value, pairs, correction, draws, seed), alpha)
        if of_runs is not None:
            apart &= _apart_over_runs(of_runs, grid.models, pairs, part.measure, alpha)
        left_out = ~complete_queries(part.value)
        ends = (None, None) if left_out.all() else open_ranks(part.value, pairs.part(apart))
        columns = {
            "model": grid.models,
            "query_rank_low": ends[0],
            "query_rank_high": ends[1],
            "unpaired": int(left_out.sum()),
        }
        tested.append(measured(columns, part.measure, TESTED))
    # Means over the queries for which every model has a score.
    judged_by_all = pl.count("value").over("query", *SCORE) == len(grid.models)
    complete = Checked(score_frame.with_columns(value=pl.when(judged_by_all).then("value")))
    summary = summarise(complete, queries=queries, confidence=confidence, cluster=cluster)
    for frame in (pl.concat(tested), summary.drop("value")):
        board = join_left(board, frame, GROUP)
    return in_contract(board, LEADERBOARD)


def _apart_over_runs(
    of_runs: pl.DataFrame, models: list[str], pairs: Pairs, measure: Measure, alpha: float
) -> Bools:
    """Return which pairs are not without significance
    over their runs; of single runs nothing is known.
    """
    level = of_runs.filter(at_measure(*measure[:2]), ~significant(pl.col("family_p"), alpha))
    open_pairs = {frozenset(pair) for pair in level.select("model_a", "model_b").rows()}
    rows = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    return np.array([{models[row] for row in pair} not in open_pairs for pair in rows], np.bool_)


def open_ranks(value: Floats, pairs: Pairs) -> tuple[Indices, Indices]:
    """Return the best and worst rank that pairs which differ significantly leave every model."""
    better = np.zeros((len(value), len(value)), np.bool_)
    for part in pairs.blocks(value.shape[1]):
        ahead = np.nansum(value[part.first] - value[part.second], axis=1) > 0
        winner = np.where(ahead, part.first, part.second)
        better[winner, part.first + part.second - winner] = True
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)

"""Compare two models: by how much one is better, and whether queries or tie order could explain it."""

from __future__ import annotations

from typing import TypedDict, Unpack

import numpy as np
import polars as pl

from retrieval_report.comparison.clusters import clustered
from retrieval_report.comparison.corrections import (
    OF_SINGLE_TESTS,
    check_correction,
    corrected,
    family_tests,
    resamples_for,
)
from retrieval_report.comparison.significance import paired_t, sign_flips, wilcoxon
from retrieval_report.comparison.tie_chance import CHANCES, Chances, read_lists
from retrieval_report.comparison.verdicts import equal_values
from retrieval_report.contracts.arguments import Named, Names, check_whole
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import MOST_SHUFFLES, ListOptions
from retrieval_report.contracts.registry import schema
from retrieval_report.contracts.significance_tests import MAX_T, TESTS
from retrieval_report.engines.check_scores import COUNTED, SCORE, check_fraction, check_scores
from retrieval_report.engines.score_grid import (
    Grid,
    Indices,
    Pairs,
    Scores,
    best_first,
    differences,
    divided,
    measured,
    paired_columns,
    paired_mean,
)
from retrieval_report.engines.summary import interval_of_equal
from retrieval_report.kernels.lists import Floats

COMPARISON = schema("comparison")
# What a verdict needs to know of a pair; means alone do not say all of it.
OF_QUERIES = ("unpaired", "family_p", "family", "family_method", "pooled", "p_equal")
OF_MEANS = schema(
    "comparison",
    *("model_a", "model_b", *SCORE, "value_a", "value_b", "difference", "tie_std"),
    *("p_tie", "p_tie_low", "p_tie_high", "p_tie_method", "tied_queries", *OF_QUERIES),
)
NEGATED = {
    "difference": "difference",
    "effect_size": "effect_size",
    "ci_low": "ci_high",
    "ci_high": "ci_low",
}


class PairOptions(TypedDict, total=False):
    """The options of ``compare`` that choose pairs and tests."""

    baseline: str | None
    policies: Names | None
    confidence: float
    adjust: str
    correction: str
    most_apart: int | None
    resamples: int | None
    cluster: str | None


class ComparisonOptions(ListOptions, PairOptions, total=False):
    """The options of ``compare`` except ``queries``."""

    seed: int
    rankings: object
    judgements: object


def compare(
    scores: object,
    *,
    baseline: str | None = None,
    policies: Names | None = None,
    confidence: float = 0.95,
    adjust: str = "permutation",
    correction: str = MAX_T,
    most_apart: int | None = None,
    resamples: int | None = None,
    seed: int = 0,
    rankings: object = None,
    judgements: object = None,
    queries: object = None,
    cluster: str | None = None,
    **options: Unpack[ListOptions],
) -> pl.DataFrame:
    r"""Compare every pair of models on the queries for which both have a score.

    Two questions are kept apart. Could another sample of queries reverse the difference? The
    interval and the p-values answer this, without regard to ties. Could another order inside the
    ties reverse it? ``p_tie`` answers this, without regard to sampling. It assumes orders drawn
    anew for every query; one order for all queries, such as that of a file or of item ids, can
    deviate further.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`.
    baseline
        Compare all models with this one alone; it is ``model_b``. Default: all pairs, ``model_a``
        before ``model_b`` by name.
    policies
        By default all policies in the scores except best and worst.
    confidence
        Confidence level of the interval.
    adjust
        One of {"permutation", "t", "wilcoxon"}: the p-value that "holm", "bh" and ``bh_p`` correct.
    correction
        One of {"max-t", "holm", "skewed", "bh"}: how ``family_p`` allows for the number of pairs.
        "max-t" flips the signs of all differences of a query together, and compares each pair with
        the largest studentised difference of the pairs that are not more significant (Westfall and
        Young's step-down); with a baseline, this is Dunnett's case. "holm" takes the p-values of
        single tests; "skewed" those of Student's t with one degree of freedom less than the queries
        that differ or of Hall's t, whichever is larger, with Holm's correction: the choice where a
        false finding costs much; "bh" (Benjamini–Hochberg) controls only the share of false
        findings. See ``docs/choosing-a-test.md``.
    most_apart
        Only pairs at most so many ranks apart, by the means of each measure, and those with the
        best model; ``family_p`` stays that of all pairs. Default: all pairs.
    resamples
        Number of random sign patterns or permutations. By default 9999, or with more than 200 000
        pairs as many as take some seconds. Holm's correction takes at least 100 times the number of
        pairs minus one: p is at least 1 / (resamples + 1), so with fewer, no pair of many could be
        significant. Where at most 13 queries differ, max-T tries all patterns, and its p is exact.
    seed
        Seed of the sign patterns. The result does not depend on the order of the rows.
    rankings, judgements, queries, **options
        The arguments of :func:`evaluate`, as frames. With them, ``p_tie`` is computed from the
        lists themselves if mean, standard deviation and bounds leave it open by more than 0.01.
        Frames or options that give other scores are refused.
    cluster
        A column of ``queries`` that says which belong together, such as their topic: what was drawn
        is then a cluster, not a query. The signs of a cluster change together, ``t_p`` and the
        interval are cluster-robust (Liang and Zeger, 1986, with Student's t of one degree less than
        clusters), and ``wilcoxon_p`` is null. One cluster has no p-value.

    Returns
    -------
    polars.DataFrame
        One row per metric, cutoff and policy (in the order of the scores) and pair:

        ``model_a``, ``model_b``, ``metric``, ``cutoff``, ``policy``; ``value_a``, ``value_b``
        (means over the paired queries), ``difference`` (a − b), ``ci_low``, ``ci_high`` (Student's
        t of the differences, with four imaginary queries more where all differ alike; null below
        two queries); ``t_p``, ``wilcoxon_p`` (zeros dropped; exact
        below 50 differences of distinct sizes, and up to 13 of any; else normal, corrected for ties
        and continuity), ``permutation_p`` (sign flips of the differences: all patterns,
        ``permutation_method`` "exact", up to 13 non-zero differences; "normal" from a thousand even
        ones on, whose flipped sum has that distribution; else "sampled": (b + 1) / (B + 1)), all
        two-sided; ``family_p`` (corrected by ``family_method``: below it, any false finding in the
        family is as rare as p says if the differences of equal models are symmetric, and more
        frequent if they are skewed; for "bh" the share of false findings) and ``bh_p``
        (Benjamini–Hochberg) over the ``family``: the pairs of the same metric, cutoff and policy
        that have a p-value, ``family`` of them; ``effect_size`` (Cohen's d_z: mean of the
        differences / their standard deviation; null where they are all equal and not 0); ``wins``,
        ``ties``, ``losses`` of a (queries; scores equal to 12 digits are a tie), ``queries``
        (paired), ``unpaired`` (queries with a score for only one of the two); ``tie_std`` (of the
        difference, under random tie order drawn for each model on its own; null for policies
        without one), ``tied_queries`` (paired queries whose score depends on tie order, or may);
        ``p_tie`` (policy expected only: the probability that random tie order, drawn for each model
        and query on its own, shows the pair strictly in the other order than the expected means;
        null where these are equal), ``p_tie_low``, ``p_tie_high`` (bounds of it that hold),
        ``p_equal`` (the probability that it shows equal means; null where that is not known) and
        ``p_tie_method``: "exact" (all sums of all orders; 0 too where no query is tied or the
        lowest mean of one reaches the highest of the other, for which best and worst must be in the
        scores), "convolved" (all orders of every list; their sum is bounded), "normal"
        (Φ(−\|difference\| / tie_std), within what Cantelli's, Hoeffding's, Bennett's and Berry's
        and Esseen's inequalities allow), "bounds" (they alone are known: a standard deviation is
        missing) or "truncated" (a cut list leaves it open: at most the bound ``p_tie_high`` is
        known, which holds whatever items are missing); ``truncated_queries`` (paired queries for
        which that is so), ``pooled`` (whether R of a paired query counts only
        what some model retrieved).

    Raises
    ------
    RetrievalReportError
        The scores break their contract, or there is an unknown baseline or policy.

    Examples
    --------
    Two models, four queries; the coarse one ties both items of every query.

    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "model": ["coarse"] * 8 + ["fine"] * 8,
    ...         "query": list("ppqqrrss") * 2,
    ...         "item": list("xy") * 8,
    ...         "distance": [1] * 8 + [1, 2] * 3 + [2, 1],
    ...         "relevance": [1, 0] * 8,
    ...     }
    ... )
    >>> scores = evaluate(
    ...     rankings, metrics="rr", cutoffs=None, policies=("expected", "best", "worst")
    ... )
    >>> comparison = compare(scores)
    >>> comparison.select(
    ...     "model_a", "model_b", "difference", "permutation_p", "wins", "losses"
    ... ).row(0)
    ('coarse', 'fine', -0.125, 0.625, 1, 3)
    >>> chance = ["p_tie", "p_tie_low", "p_tie_high", "p_tie_method"]
    >>> comparison.select("tie_std", pl.col(chance[:3]).round(4), "p_tie_method").row(0)
    (0.125, 0.1587, 0.0, 0.4387, 'normal')

    The coarse model wins only if all four ties fall its way: 1 / 16. Four coins are far from
    normal.

    >>> compare(scores, rankings=rankings).select(*chance, "p_equal").row(0)
    (0.0625, 0.0625, 0.0625, 'exact', 0.25)
    """
    check_fraction("confidence", confidence)
    check_choice("adjust", adjust, tuple(TESTS))
    check_whole("seed", seed, 0)
    for name, number in (("resamples", resamples), ("most_apart", most_apart)):
        if number is not None:
            check_whole(name, number, 1, MOST_SHUFFLES)
    check_correction(correction)
    if cluster is not None and adjust == "wilcoxon":
        raise ParameterError("adjust: 'wilcoxon' has no form for clusters; use permutation or t")
    grid = Grid.of(check_scores(scores))
    pairs = clustered(grid.pairs(baseline), grid, cluster, queries)
    requested = grid.asked(policies)
    if not pairs.first.size:
        return pl.DataFrame(schema=COMPARISON)
    call_options: Named = {"judgements": judgements, "queries": queries, **options}
    lone = [name for name, part in call_options.items() if part is not None]
    if rankings is None and lone != ["queries"] * (cluster is not None):
        raise ParameterError(f"{lone[0]}: given without rankings, to which it applies")
    draws = resamples_for(correction, pairs) if resamples is None else resamples
    frames: list[pl.DataFrame] = []
    chances: dict[int, Chances] = {}
    for part in requested:
        rows = _pairs_near_the_top(part.value, pairs, most_apart)
        selected_pairs = pairs.part(rows)
        columns = _tested(part, pairs, rows, adjust, correction, confidence, (draws, seed))
        if part.measure[2] == "expected":
            chances[len(frames)] = Chances(part, selected_pairs, columns)
        columns |= grid.names(selected_pairs)
        frames.append(measured(columns | dict.fromkeys(CHANCES), part.measure, COMPARISON))
    if rankings is not None:
        read_lists(grid, list(chances.values()), rankings, **call_options)
    for number, chance in chances.items():
        frames[number] = frames[number].with_columns(chance.frame().get_columns())
    return pl.concat(frames)


def turned(comparison: pl.DataFrame, where: pl.Expr) -> pl.DataFrame:
    """Exchange the models of some pairs, as if `compare`
    or `flips` had been given them the other way round.

    >>> comparison = compare(
    ...     {
    ...         "model": ["a", "b"],
    ...         "query": ["q"] * 2,
    ...         "metric": ["rr"] * 2,
    ...         "cutoff": [1] * 2,
    ...         "policy": ["naive"] * 2,
    ...         "value": [1.0, 0.25],
    ...         "std": [None] * 2,
    ...         "items": [3] * 2,
    ...         "n_relevant": [1] * 2,
    ...     }
    ... )
    >>> names = ["model_a", "model_b", "value_a", "difference", "wins", "losses"]
    >>> (
    ...     comparison.select(names).row(0),
    ...     turned(comparison, pl.col("model_a") == "a").select(names).row(0),
    ... )
    (('a', 'b', 1.0, 0.75, 1, 0), ('b', 'a', 0.25, -0.75, 0, 1))
    """
    values = {"wins": pl.col("losses"), "losses": pl.col("wins")}
    for name in comparison.columns:
        if name.endswith("_a"):
            other = f"{name[:-1]}b"
            values |= {name: pl.col(other), other: pl.col(name)}
    for name, other in NEGATED.items():
        values[name] = 0.0 - pl.col(other)  # 0.0 − 0.0 is not −0.0
    return comparison.with_columns(
        pl.when(where).then(value).otherwise(name).alias(name)
        for name, value in values.items()
        if name in comparison.columns
    )


def ahead_first(pairs: pl.DataFrame, behind: pl.Expr) -> pl.DataFrame:
    """Return pairs with the model that is ahead as A,
    where B is ahead now, and the best pairs first.
    """
    ahead = turned(pairs, behind)
    return ahead.sort("value_a", "value_b", descending=True, nulls_last=True, maintain_order=True)


def _pairs_near_the_top(value: Floats, pairs: Pairs, most_apart: int | None) -> Indices:
    """Return which pairs are at most so many ranks apart
    or hold the best model; all if there is no such limit.

    >>> _pairs_near_the_top(np.array([[0.1], [0.9], [0.5], [0.3]]), Pairs.every(4), 1).tolist()
    [0, 2, 3, 4, 5]
    """
    if most_apart is None:
        return np.arange(pairs.first.size)
    ranks = np.argsort(best_first(paired_mean(value, ~np.isnan(value))))
    first, second = ranks[pairs.first], ranks[pairs.second]
    return np.flatnonzero((np.abs(first - second) <= most_apart) | (np.minimum(first, second) == 0))


def _tested(
    scores: Scores,
    pairs: Pairs,
    rows: Indices,
    adjust: str,
    correction: str,
    confidence: float,
    draws: tuple[int, int],
) -> Named:
    """Return the tests of some pairs by one measure,
    with p-values that are corrected for all pairs.
    """
    value = scores.value
    of_single_tests = correction in OF_SINGLE_TESTS  # of all pairs, also those that are not shown
    tested = pairs if of_single_tests else pairs.part(rows)
    blocks = [_of_differences(scores, part, confidence) for part in tested.blocks(value.shape[1])]
    columns: Named = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    columns["permutation_p"], columns["permutation_method"] = sign_flips(value, tested, *draws)
    columns["bh_p"] = corrected(columns[f"{adjust}_p"], "bh")
    if of_single_tests:
        family = corrected(columns[f"{adjust}_p"], correction)
        columns = {name: column[rows] for name, column in columns.items()}
    else:
        family = family_tests(value, pairs, correction, *draws)
    size = int((~np.isnan(family)).sum())
    return {**columns, "family_p": family[rows], "family": size, "family_method": correction}


def _of_differences(scores: Scores, pairs: Pairs, confidence: float) -> Named:
    """Return all columns of one measure that need single differences."""
    means = _means(scores, pairs)
    difference = differences(scores.value, pairs)
    t = paired_t(difference, confidence, pairs.cluster)
    # Single differences are rounded to 12 digits of the largest score: their mean may have a rest
    # where the means are equal.
    gap = means["difference"]
    for row in np.flatnonzero((t.spread == 0) & (t.mean != 0)).tolist():
        ends = interval_of_equal(float(t.mean[row]), int(t.units[row]), confidence, signed=True)
        t.low[row], t.high[row] = ends
    return {
        **means,
        "wilcoxon_p": wilcoxon(difference) if pairs.cluster is None else np.full_like(t.p, np.nan),
        "difference": np.where(np.sign(t.mean) == np.sign(gap), t.mean, gap),
        "ci_low": t.low,
        "ci_high": t.high,
        "t_p": t.p,
        "effect_size": divided(t.mean, t.std, np.where(t.mean == 0, t.std, np.nan)),
        "wins": (difference > 0).sum(axis=1),
        "ties": (difference == 0).sum(axis=1),
        "losses": (difference < 0).sum(axis=1),
    }


def _means(scores: Scores, pairs: Pairs) -> Named:
    """Return the columns of one measure that need only means over the paired queries."""
    first, second = pairs.first, pairs.second
    paired_sums = paired_columns(scores.value, scores.std, pairs)
    value_a = paired_sums["value_a"]
    value_b = paired_sums["value_b"]
    scored = ~np.isnan(scores.value)
    paired = scored[first] & scored[second]
    moves = scores.std**2 != 0  # so does an unknown deviation
    moved = ((moves[first] | moves[second]) & paired).sum(axis=1)
    whole_numbers = (scores.measure[2] in COUNTED) & paired.any(axis=1)
    truncated, pooled = (
        (flag[first] | flag[second]) & paired for flag in (scores.truncated, scores.pooled)
    )
    return {
        **paired_sums,
        "difference": np.where(equal_values(value_a, value_b), 0.0, value_a - value_b),
        "tied_queries": np.where(whole_numbers, moved, np.nan),
        "truncated_queries": truncated.sum(axis=1),
        "pooled": pooled.any(axis=1),
    }


def pairs_of_means(summary: pl.DataFrame) -> pl.DataFrame:
    """Return what `compare` would say of the means of a summary if each were the score of a single
    query: null where that needs queries.
    """
    means = summary.select(
        "model",
        *SCORE,
        "value",
        query=pl.lit(0),
        std="tie_std",
        truncated=pl.col("truncated_share").fill_null(0.0) > 0,
        pooled=False,
    )
    grid = Grid.of(means)
    pairs = Pairs.every(len(grid.models))
    names = grid.names(pairs)
    frames = [pl.DataFrame(schema=OF_MEANS)]
    for part in grid.asked(None):
        means_and_stds = _means(part, pairs)
        columns = means_and_stds | names | dict.fromkeys((*CHANCES, *OF_QUERIES))
        if part.measure[2] == "expected":
            columns |= Chances(part, pairs, means_and_stds).frame().to_dict()
        frames.append(measured(columns, part.measure, OF_MEANS))
    return pl.concat(frames)

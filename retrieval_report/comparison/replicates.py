"""Models that were trained or split several times: their means over replicates, and what seeds or
folds, queries and tie order each add to the variance.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.comparison.corrections import corrected_column
from retrieval_report.comparison.loss_test import fewest
from retrieval_report.comparison.new_draws import enough_runs, new_runs
from retrieval_report.comparison.verdicts import (
    ALPHA,
    EQUAL,
    NO_WORSE,
    NOT_DECIDED,
    NOT_OVER_RUNS,
    NOTHING_TO_COMPARE,
    SAFE,
    TOO_FEW_RUNS,
    WORSE,
    depends,
    equal_means,
    equal_values,
    reworded,
    significant,
)
from retrieval_report.contracts.arguments import Named, check_pattern, grouped, is_name
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.registry import frame_of, in_contract, schema
from retrieval_report.engines.check_scores import (
    MEASURE,
    SCORE,
    check_fraction,
    check_scores,
    in_both_directions,
    join_left,
)
from retrieval_report.engines.score_grid import Grid, ranked
from retrieval_report.engines.summary import clipped, interval_of_equal
from retrieval_report.kernels.lists import Bools, Floats

REPLICATES = schema("replicates")
ONE_REPLICATE, ONE_QUERY = "one replicate", "one query"
POWER = 0.8  # with which numbers of queries decide
LEAST_LOG_P = -250.0  # of a p; below it is 0, since the square of its t is no number


class VariancePart(NamedTuple):
    """A variance that is estimated: of a mean, with its degrees of freedom (0: it is not known)."""

    variance: float
    freedom: int


def replicate_groups(names: list[str], groups: object) -> dict[str, str]:
    r"""Return the model of every run, by a pattern or as
    it is given; other runs are models of one replicate.

    >>> replicate_groups(["bge-seed1", "bge-seed2", "bm25"], r"-seed(?P<replicate>\d+)$")
    {'bge-seed1': 'bge', 'bge-seed2': 'bge', 'bm25': 'bm25'}
    """
    if isinstance(groups, Mapping):
        for name, model in groups.items():
            if not is_name(model):
                raise ParameterError(f"replicate: {model!r}, the model of {name!r}, is not a name")
            check_choice("replicate", name, names)
        return {name: groups.get(name, name) for name in names}
    expression = check_pattern("replicate", groups)
    if not {"model", "replicate"} & expression.groupindex.keys():
        raise ParameterError(
            f"replicate: '{groups}' has no group (?P<model>…) or (?P<replicate>…), and is not a "
            "column of the rankings"
        )
    if names and not any(map(expression.search, names)):
        raise ParameterError(
            f"replicate: '{groups}' matches none of the models, such as {names[0]!r}"
        )
    return {name: _model_of(name, expression) for name in names}


def _model_of(name: str, expression: re.Pattern[str]) -> str:
    """Return the group "model", else what a match leaves of the name."""
    match = expression.search(name)
    if match is None:
        return name
    if "model" in expression.groupindex:
        return match["model"] or name
    return name[: match.start()] + name[match.end() :] or name


def means_over_runs(scores: pl.DataFrame, of_run: Mapping[str, str]) -> pl.DataFrame:
    """Return checked scores of runs as scores of their models: the means over the runs of every
    query, under every policy; without a value where a run has none.

    ``std`` is that of the mean under random tie order, drawn for each run on its own; ``items`` is
    the length of the shortest list.

    >>> from retrieval_report.engines.evaluate import evaluate
    >>> rows = {"query": ["q"] * 4, "item": list("abab"), "distance": [1, 1, 1, 2]}
    >>> rows |= {"model": ["m-1"] * 2 + ["m-2"] * 2, "relevance": [1, 0] * 2}
    >>> asked = {"metrics": "rr@2", "policies": ("expected", "worst"), "truncated": "no"}
    >>> scores = evaluate(rows, **asked)
    >>> means_over_runs(scores, {"m-1": "m", "m-2": "m"}).select("model", "value", "std").rows()
    [('m', 0.875, 0.125), ('m', 0.75, None)]
    """
    open_score = pl.col("value").is_null() & pl.col("truncated")
    left_out = (pl.col("value").is_null() & ~pl.col("truncated")).any()
    flags = {
        "items": pl.min("items"),
        "n_relevant": pl.max("n_relevant"),
        "truncated": open_score.any() | (pl.col("truncated").any() & ~left_out),
        "pooled": pl.col("pooled").any(),
    }
    return _over_runs(scores, of_run, ["query", *SCORE], flags)


def draws_over_runs(shuffled: pl.DataFrame, of_run: Mapping[str, str]) -> pl.DataFrame:
    """Return the means of runs under every random order as means of their models."""
    return _over_runs(shuffled, of_run, [*MEASURE, "draw"], {})


def _over_runs(
    frame: pl.DataFrame, of_run: Mapping[str, str], keys: list[str], flags: Mapping[str, pl.Expr]
) -> pl.DataFrame:
    """Return the means of what all runs of a model have of the same keys, model by model."""
    if frame.is_empty():
        return frame
    models = pl.col("model").replace_strict(of_run, return_dtype=pl.String)
    rows = frame.with_columns(models).with_row_index("row")
    rows = rows.with_columns(first=pl.min("row").over("model", *keys))
    rows = rows.sort("model", "first", "row")  # sums in one order, so that they are the same bits
    starts = np.flatnonzero(np.diff(rows["first"].cast(pl.Int64).to_numpy(), prepend=-1))
    of_keys = rows.group_by("model", "first", maintain_order=True).agg(**flags)
    means = rows[starts].with_columns(of_keys[name] for name in flags)
    runs = means["model"].replace_strict(Counter(of_run.values()), return_dtype=pl.Int64).to_numpy()
    incomplete = np.diff(starts, append=rows.height) < runs
    powers = {name: power for name, power in (("value", 1), ("std", 2)) if name in frame.columns}
    for name, power in powers.items():
        column = rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy() ** power
        mean = np.add.reduceat(column, starts) ** (1 / power) / runs
        means = means.with_columns(pl.Series(name, np.where(incomplete, np.nan, mean)))
    return means.with_columns(pl.col(*powers).fill_nan(None)).select(frame.columns)


def replicate_table(scores: object, groups: object, *, confidence: float = 0.95) -> pl.DataFrame:
    r"""Average runs of the same model that differ by seed or fold, and split the variance of its
    scores into ties, replicates, queries and the rest.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`; its models are the runs, and the policy is expected.
    groups
        A regular expression that is searched in every name: its group ``model`` is the model;
        without one, the model is what is left of the name without the match, which then needs a
        group ``replicate``. Or a dictionary of run → model. A run that neither names is a model of
        one replicate.
    confidence
        Confidence level of the intervals.

    Returns
    -------
    polars.DataFrame
        One row per metric, cutoff and model, the best first: ``metric``, ``cutoff``, ``rank``,
        ``model``; ``value``, the mean over replicates of the queries that all of its replicates
        have; ``tie_std`` of this mean; ``std_error``, ``ci_low``, ``ci_high`` with replicates and
        queries as random samples; ``replicate_low``, ``replicate_high``, the lowest and highest
        mean of a replicate; ``replicates``, ``queries``, ``unpaired`` (queries left out because a
        replicate lacks them); the components of variance of a single score ``tie_var``,
        ``replicate_var``, ``query_var`` and ``residual_var``; ``note``, what cannot be said.

    Raises
    ------
    RetrievalReportError
        The scores break their contract or lack the policy expected, or the pattern is no regular
        expression, lacks a group or fits no name.

    Notes
    -----
    Replicates and queries are crossed. With mean squares MS of the two-way analysis of variance,
    ``residual_var`` = MS_residual (query × replicate), ``replicate_var`` = (MS_replicates −
    MS_residual) / queries and ``query_var`` = (MS_queries − MS_residual) / replicates, not below 0.
    ``tie_var`` is the mean variance of a score under random tie order. It is known exactly and not
    part of the residual: expected scores are means over all tie orders, and the analysis of scores
    of one random order has exactly ``tie_var`` more in its residual, in expectation.

    ``std_error`` squared is s²_queries / queries + s²_replicates / replicates, with the variances
    of the means by query and by replicate. The residual counts in both, so the error is somewhat
    too large. The interval is value ± √(Σ t² s² / n), where every part has its own quantile of
    Student's t (Banerjee, *Approximate confidence interval for linear functions of means of k
    populations*, Sankhyā 22, 1960). It holds its level with three replicates, where Satterthwaite's
    approximation covers 92% instead of 95%.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> ranks = {
    ...     "a-s1": (1, 2, 1, 1),
    ...     "a-s2": (1, 1, 2, 1),
    ...     "a-s3": (1, 1, 1, 2),
    ...     "b": (2, 2, 2, 1),
    ... }
    >>> rows = [
    ...     {
    ...         "model": run,
    ...         "query": query,
    ...         "item": item,
    ...         "distance": distance,
    ...         "relevance": relevant,
    ...     }
    ...     for run, own in ranks.items()
    ...     for query, rank in enumerate(own)
    ...     for item, distance, relevant in (("a", rank, 1), ("b", 1.5, 0))
    ... ]
    >>> scores = evaluate(pl.DataFrame(rows), metrics="rr@2")
    >>> table = replicate_table(scores, r"-s(?P<replicate>\d+)")
    >>> table.select(
    ...     "model", "value", "replicates", "query_var", pl.col("residual_var").round(4)
    ... ).rows()
    [('a', 0.875, 3, 0.0, 0.0833), ('b', 0.625, 1, None, None)]
    """
    check_fraction("confidence", confidence)
    rows = [
        {**measure, "model": name, **_summary(measure["metric"], *runs, confidence)}
        for measure, models in _of_models(scores, groups)
        for name, runs in models.items()
    ]
    return in_contract(ranked(frame_of(rows, REPLICATES), MEASURE), REPLICATES)


def replicate_pairs(scores: object, groups: object, *, confidence: float = 0.95) -> pl.DataFrame:
    r"""Compare models by their means over replicates such as seeds or folds, and say whose order
    depends on the replicate.

    Parameters
    ----------
    scores, groups, confidence
        As for :func:`replicate_table`.

    Returns
    -------
    polars.DataFrame
        One row per metric, cutoff and pair, where ``model_a`` has the higher mean: ``model_a``,
        ``model_b``, ``metric``, ``cutoff``, ``value_a``, ``value_b``, ``difference`` on the queries
        that all replicates of both have; ``std_error``, ``ci_low``, ``ci_high`` and ``p`` with
        replicates and queries as random samples; ``family_p``, corrected by Holm for all pairs;
        ``seed_reversal``, the share of pairs of replicates, one of each model, that have the means
        the other way round (those that have them level count half); ``reversal``, the chance that
        one new replicate of each model does; ``replicates_a``, ``replicates_b``, ``queries``,
        ``unpaired``; ``verdict``: "safe" where ``reversal`` is at most 0.05, else "depends on the
        seed"; "too few runs" where no permutation of the replicates could have p ≤ 0.05, as of
        fewer than 4 and 4; "equal" or "nothing to compare".

    Raises
    ------
    RetrievalReportError
        As for :func:`replicate_table`.

    Notes
    -----
    Queries are paired, and replicates of different models independent: ``std_error`` squared is
    s²_queries / queries + s²_a / replicates_a + s²_b / replicates_b, where s²_queries is the
    variance of the differences by query. Interval and p are those of :func:`replicate_table`: p is
    1 minus the confidence of the interval that ends at 0. Without a second replicate of both they
    are null, because nothing shows how much another would differ.

    ``reversal`` is that of Student's t below −|D| / √(s_a² (1 + 1/a) + s_b² (1 + 1/b)), with
    Satterthwaite's degrees of freedom: the means of a and b replicates, of standard deviations s_a
    and s_b, and those of one new replicate each miss the true means.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> ranks = {
    ...     "a-s1": (1, 1, 2, 1),
    ...     "a-s2": (2, 2, 2, 1),
    ...     "b-s1": (1, 2, 2, 2),
    ...     "b-s2": (2, 2, 2, 2),
    ... }
    >>> rows = [
    ...     {
    ...         "model": run,
    ...         "query": query,
    ...         "item": item,
    ...         "distance": distance,
    ...         "relevance": relevant,
    ...     }
    ...     for run, own in ranks.items()
    ...     for query, rank in enumerate(own)
    ...     for item, distance, relevant in (("a", rank, 1), ("b", 1.5, 0))
    ... ]
    >>> scores = evaluate(pl.DataFrame(rows), metrics="rr@2")
    >>> pairs = replicate_pairs(scores, r"(?P<model>.+)-s\d+")
    >>> pairs.select("model_a", "model_b", "difference", "seed_reversal", "verdict").row(0)
    ('a', 'b', 0.1875, 0.125, 'too few runs')
    """
    check_fraction("confidence", confidence)
    rows = [
        {**measure, **_compared(first, second, models, confidence)}
        for measure, models in _of_models(scores, groups)
        for first, second in combinations(models, 2)
    ]
    family_p = corrected_column(pl.col("p"), "holm", MEASURE)
    return frame_of(rows, schema("replicate_pairs")).with_columns(family_p=family_p)


Runs = tuple[Floats, Floats]  # scores and variances under tie order, (replicates, queries)


def _of_models(scores: object, groups: object) -> Iterator[tuple[Named, dict[str, Runs]]]:
    """Yield every measure with the scores of each model."""
    grid = Grid.of(check_scores(scores))
    of_run = replicate_groups(grid.models, groups)
    for part in grid.asked("expected"):
        variance = np.where(part.truncated, np.nan, part.std) ** 2
        rows = grouped((of_run[run], row) for row, run in enumerate(grid.models))
        metric, cutoff, _ = part.measure
        models = {name: (part.value[rows[name]], variance[rows[name]]) for name in sorted(rows)}
        yield {"metric": metric, "cutoff": cutoff}, models


def _shared(value: Floats) -> tuple[Bools, int]:
    """Return which queries every replicate has, and how many only some have."""
    has_value = ~np.isnan(value)
    shared_by_all = np.logical_and.reduce(has_value, axis=0)
    return shared_by_all, int((has_value.any(axis=0) & ~shared_by_all).sum())


def _summary(metric: str, value: Floats, variance: Floats, confidence: float) -> Named:
    """Return the row of a model."""
    shared, unpaired = _shared(value)
    value, variance = value[:, shared], variance[:, shared]
    replicates, queries = value.shape
    row = {"replicates": replicates, "queries": queries, "unpaired": unpaired}
    if not queries:
        return {**row, "value": None, "note": NOTHING_TO_COMPARE}
    mean = _mean(value)
    means = value.mean(axis=1)
    interval = interval_of(mean, [mean_part(value.mean(axis=0)), mean_part(means)], confidence)
    ends = interval["ci_low"], interval["ci_high"]
    if min(value.shape) > 1 and value.min() == value.max():
        ends = interval_of_equal(mean, queries, confidence)
    interval["ci_low"], interval["ci_high"] = clipped(metric, mean, *ends)
    return {
        **row,
        "value": mean,
        "tie_std": math.sqrt(math.fsum(variance.flat)) / value.size,
        "tie_var": _mean(variance),
        "replicate_low": means.min(),
        "replicate_high": means.max(),
        "note": ONE_REPLICATE if replicates == 1 else ONE_QUERY if queries == 1 else "",
        **components(value),
        **interval,
    }


def components(value: Floats) -> dict[str, float]:
    """Return the components of variance of scores (replicates, queries): of two or more of each.

    >>> components(np.array([[0.0, 1.0], [0.5, 1.0]]))
    {'replicate_var': 0.0, 'query_var': 0.25, 'residual_var': 0.0625}
    """
    replicates, queries = value.shape
    if min(value.shape) < 2:
        return {}
    by_replicate = value.mean(axis=1)
    by_query = value.mean(axis=0)
    rest = value - by_replicate[:, None] - by_query + value.mean()
    residual = math.fsum((rest**2).flat) / ((replicates - 1) * (queries - 1))
    return {
        "replicate_var": max(0.0, float(by_replicate.var(ddof=1)) - residual / queries),
        "query_var": max(0.0, float(by_query.var(ddof=1)) - residual / replicates),
        "residual_var": residual,
    }


def _mean(values: Floats) -> float:
    return math.fsum(values.flat) / values.size


def mean_part(means: Floats) -> VariancePart:
    """Return the variance of the mean of these means; nothing of one."""
    if means.size < 2:
        return VariancePart(math.nan, 0)
    return VariancePart(float(means.var(ddof=1)) / means.size, means.size - 1)


def _reach(parts: list[VariancePart], p: float) -> float:
    """Return the square of the half-width of the interval at confidence 1 − p."""
    # What `scipy.stats.t.ppf` calls, without the half second of its import.
    from scipy.special import stdtrit

    return math.fsum(
        part.variance * float(stdtrit(part.freedom, p / 2)) ** 2 for part in parts if part.variance
    )


def interval_of(value: float, parts: list[VariancePart], confidence: float) -> dict[str, float]:
    """Return the standard error and the interval; NaN where a part is not known."""
    reach = math.sqrt(_reach(parts, 1 - confidence))
    error = math.sqrt(math.fsum(part.variance for part in parts))
    return {"std_error": error, "ci_low": value - reach, "ci_high": value + reach}


def p_value(difference: float, parts: list[VariancePart]) -> float:
    """Return the p at which the interval ends at 0; NaN where a part is not known.

    >>> round(p_value(0.3, [VariancePart(0.01, 9)]), 4)  # Student's t of one sample, t = 3
    0.015
    """
    if any(part.freedom == 0 for part in parts):
        return math.nan
    if difference == 0:
        return 1.0

    def beyond(log_p: float) -> float:
        return _reach(parts, math.exp(log_p)) - difference**2

    if beyond(LEAST_LOG_P) <= 0:
        return 0.0
    from scipy.optimize import brentq

    return math.exp(brentq(beyond, LEAST_LOG_P, 0.0))


def _compared(better: str, worse: str, models: Mapping[str, Runs], confidence: float) -> Named:
    """Return the row of a pair, the better model first."""
    first, second, unpaired = _on_shared_queries(models[better][0], models[worse][0])
    if first.size and _mean(first) < _mean(second):
        better, worse, first, second = worse, better, second, first
    row = {
        "model_a": better,
        "model_b": worse,
        "replicates_a": len(first),
        "replicates_b": len(second),
        "queries": first.shape[1],
        "unpaired": unpaired,
        "p": None,
    }
    if not first.size:
        return {**row, "verdict": NOTHING_TO_COMPARE}
    values = _mean(first), _mean(second)
    difference = 0.0 if equal_means(*values) else values[0] - values[1]
    means = (first.mean(axis=1), second.mean(axis=1))
    parts = _parts(first, second)
    level = difference == 0
    enough = enough_runs(len(first), len(second))
    reversal = None if level else new_runs(*means)
    verdict = depends("the seed", reversal, enough=enough, few=TOO_FEW_RUNS)
    return {
        **row,
        "value_a": values[0],
        "value_b": values[1],
        "difference": difference,
        **interval_of(difference, parts, confidence),
        "p": p_value(difference, parts),
        "seed_reversal": None if level else seed_reversal(*means),
        "reversal": reversal,
        "verdict": EQUAL if level else verdict,
    }


def over_runs_too(flips: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the result of `flips` where a difference that is significant over the queries of these
    runs alone, but not in the result of `replicate_pairs`, is said not to be over runs.

    >>> one = {"model_a": ["b"], "model_b": ["a"], "metric": ["ap"], "cutoff": [1]}
    >>> flips = pl.DataFrame({**one, "model_a": ["a"], "model_b": ["b"], "verdict": ["safe"]})
    >>> over_runs_too(flips, pl.DataFrame({**one, "family_p": [0.5]}))["verdict"].item()
    'not significant over runs'
    """
    keys = ["model_a", "model_b", *MEASURE]
    run_tests = in_both_directions(pairs.select(*keys, over_runs="family_p"))
    accident = (pl.col("verdict") == SAFE) & ~significant(pl.col("over_runs"))
    return reworded(join_left(flips, run_tests, keys), accident, NOT_OVER_RUNS).drop("over_runs")


def margins_over_runs(no_worse: pl.DataFrame, scores: object, groups: object) -> pl.DataFrame:
    """Return the result of `no_worse`, of means over runs, where its tests hold for other
    runs too: the larger p-values and the wider interval of the two tests, over queries alone
    and over runs and queries as in `replicate_pairs`. A verdict that other runs might not
    give is "not significant over runs". Pairs of which a model has one run, and no_worse by
    the same lists, stay. Numbers of queries allow for the runs; where no number would do, the
    verdict is "not significant over runs", too.
    """
    models = {(row["metric"], row["cutoff"]): runs for row, runs in _of_models(scores, groups)}
    rows = list(no_worse.iter_rows(named=True))
    for row in rows:
        runs = models[row["metric"], row["cutoff"]]
        first, second, _ = _on_shared_queries(runs[row["model"]][0], runs[row["baseline"]][0])
        if row["same_lists"] or not first.size:
            continue
        lead, parts = _mean(first) - _mean(second), _parts(first, second)
        if all(part.freedom for part in parts):
            reach = math.sqrt(_reach(parts, 2 * ALPHA))
            half = p_value(lead + row["margin"], parts) / 2
            above, below = (half, 1 - half) if lead + row["margin"] > 0 else (1 - half, half)
            row["bound_low"] = _outer(min, row["bound_low"], lead - reach)
            row["bound_high"] = _outer(max, row["bound_high"], lead + reach)
            for name, p, word in (("no_worse_p", above, NO_WORSE), ("worse_p", below, WORSE)):
                row[name] = _outer(max, row[name], p)
                if row["verdict"] == word and not significant(p):
                    row["verdict"] = NOT_OVER_RUNS
            needed = row["queries_needed"]
            for name, loss in (("queries_needed", 0.0), ("queries_if_observed", -lead)):
                row[name] = _queries_over_runs(
                    row[name], row["margin"] - loss, first.shape[1], parts
                )
            if row["verdict"] == NOT_DECIDED and needed and row["queries_needed"] is None:
                row["verdict"] = NOT_OVER_RUNS
    return pl.DataFrame(rows, schema=no_worse.schema)


def _queries_over_runs(
    needed: int | None, lead: float, queries: int, parts: list[VariancePart]
) -> int | None:
    """Return how many queries show with probability 0.8 that a mean is ahead by a true ``lead``,
    where of the queries alone some are ``needed``; None if these runs are too few or too far apart
    for any number. ``parts`` are of so many ``queries``, and of runs.

    >>> of_queries, of_runs = VariancePart(0.1**2 / 50, 49), VariancePart(0.005**2, 4)
    >>> [_queries_over_runs(156, 0.02, 50, [of_queries, part]) for part in (of_queries, of_runs)]
    [None, 350]
    """
    from scipy.special import ndtri, stdtrit

    of_queries, *of_runs = parts
    far = _reach(of_runs, 2 * ALPHA)
    spread = math.fsum(part.variance for part in of_runs)

    def passes(number: int) -> bool:
        variance = of_queries.variance * queries / number
        reach = math.sqrt(variance * float(stdtrit(number - 1, ALPHA)) ** 2 + far)
        return lead >= reach + float(ndtri(POWER)) * math.sqrt(variance + spread)

    over_runs = fewest(passes) if needed else None
    return over_runs and max(over_runs, needed or 0)


def _outer(
    end: Callable[[float, float], float], first: float | None, second: float
) -> float | None:
    """Return the smaller or larger of two numbers; none where the first is not known."""
    return None if first is None else end(first, second)


def _on_shared_queries(first: Floats, second: Floats) -> tuple[Floats, Floats, int]:
    """Return the scores of two models (replicates, queries) for the queries that all their runs
    have, and how many queries only some have.
    """
    shared, unpaired = _shared(np.concatenate([first, second]))
    return first[:, shared], second[:, shared], unpaired


def _parts(first: Floats, second: Floats) -> list[VariancePart]:
    """Return the parts of the variance of the difference of two models' means: queries, and the
    runs of each.
    """
    by_query = mean_part(first.mean(axis=0) - second.mean(axis=0))
    return [by_query, *(mean_part(runs.mean(axis=1)) for runs in (first, second))]


def seed_reversal(first: Floats, second: Floats) -> float:
    """Return the share of pairs of replicates that have
    the second model ahead; a level pair counts half.

    >>> seed_reversal(np.array([0.5, 0.7]), np.array([0.6, 0.4, 0.3, 0.5]))
    0.1875
    """
    column = first[:, None]
    level = equal_values(column, second)
    return float(((column < second) & ~level).mean() + level.mean() / 2)

"""Average over data sets, each of which counts the same: leaderboards of many collections."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import polars as pl

from retrieval_report.comparison.corrections import corrected
from retrieval_report.comparison.segments import segments_of
from retrieval_report.comparison.significance import paired_t
from retrieval_report.comparison.verdicts import ALPHA, equal_means, is_significant
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.registry import frame_of, in_contract, schema
from retrieval_report.engines.check_scores import (
    MEAN,
    MEASURE,
    beside,
    check_fraction,
    check_scores,
    hold,
)
from retrieval_report.engines.summary import Mean, clipped, summarise, t_interval
from retrieval_report.kernels.lists import Floats

DATASETS, OF_DATASET = schema("datasets"), schema("dataset_scores")


def dataset_scores(scores: object, queries: object, by: str = "dataset") -> pl.DataFrame:
    """Average the scores of every model in every data set.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`; the policy is expected.
    queries
        A frame with ``query`` and the column that names the data set.
    by
        This column.

    Returns
    -------
    polars.DataFrame
        One row per data set, metric, cutoff and model, the best first: ``metric``, ``cutoff``,
        ``dataset``, ``rank``, ``model``, ``value``, ``tie_std``, ``ci_low``, ``ci_high`` and
        ``queries`` as from :func:`summarise`. A model without a list for any query of a data set
        lacks it: its ``value``, ``tie_std``, interval and ``rank`` are null.

    Raises
    ------
    RetrievalReportError
        The scores break their contract or lack the policy expected, there is no such column, or the
        frame lacks queries of the scores.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> ranks = {"one": {"q1": 1, "q2": 2, "q3": 1}, "two": {"q1": 1, "q2": 1}}
    >>> rows = [
    ...     {"model": model, "query": query, "item": item, "distance": near, "relevance": relevant}
    ...     for model, own in ranks.items()
    ...     for query, rank in own.items()
    ...     for item, near, relevant in (("a", rank, 1), ("b", 1.5, 0))
    ... ]
    >>> queries = pl.DataFrame({"query": ["q1", "q2", "q3"], "dataset": ["law", "law", "news"]})
    >>> scores = evaluate(pl.DataFrame(rows), queries=queries, metrics="rr@2")
    >>> found = dataset_scores(scores, queries)
    >>> found.select("dataset", "model", "value").rows()
    [('law', 'two', 1.0), ('law', 'one', 0.75), ('news', 'one', 1.0), ('news', 'two', None)]
    """
    given = check_scores(scores)
    expected = given.filter(policy="expected")
    if expected.is_empty() and given.height:
        raise ParameterError("scores: no policy 'expected', by which data sets are averaged")
    every = expected.select(MEAN).unique(maintain_order=True)
    parts = [pl.DataFrame(schema=OF_DATASET)]
    for name, part in segments_of(expected, queries, by):
        held = part.filter((pl.col("items") > 0).any().over("model"))
        rows = beside(every, summarise(held), MEAN)
        rows = rows.with_columns(pl.col("queries").fill_null(0), dataset=pl.lit(name))
        for of_measure in rows.partition_by(MEASURE, maintain_order=True):
            best = of_measure.sort("value", "model", descending=[True, False], nulls_last=True)
            ranks = pl.Series(ranks_of(best["value"].to_list()), dtype=pl.Int64)
            parts.append(in_contract(best.with_columns(rank=ranks), OF_DATASET))
    return pl.concat(parts)


def ranks_of(values: list[float | None]) -> list[int | None]:
    """Return the rank of every mean, 1 for the highest; equal ones share theirs.

    >>> ranks_of([0.5, None, 0.1 + 0.2, 0.3])
    [1, None, 2, 2]
    """
    known = [value for value in values if value is not None]
    return [
        None
        if value is None
        else 1 + sum(other > value and not equal_means(other, value) for other in known)
        for value in values
    ]


def ranked(rows: list[Named], measure: Named) -> list[Named]:
    """Return rows of models by one measure with their ranks, the best first."""
    rows.sort(key=lambda row: (row["value"] is None, -(row["value"] or 0), row["model"]))
    for row, rank in zip(rows, ranks_of([row["value"] for row in rows]), strict=True):
        row |= {**measure, "rank": rank}
    return rows


def dataset_table(
    of_datasets: object, *, alpha: float = ALPHA, confidence: float = 0.95
) -> pl.DataFrame:
    """Rank models by the mean over data sets of their mean over the queries of each.

    Parameters
    ----------
    of_datasets
        The result of :func:`dataset_scores`.
    alpha
        Two models differ significantly if the corrected p of their difference is below it.
    confidence
        Confidence level of the intervals of means.

    Returns
    -------
    polars.DataFrame
        One row per metric, cutoff and model, the best first: ``metric``, ``cutoff``, ``rank``,
        ``model``; ``value``, the mean over the data sets, and its ``tie_std``; ``ci_low``,
        ``ci_high`` with data sets and queries as random samples; ``rank_low``, ``rank_high``, the
        best and worst rank that the tests of all pairs leave open; ``datasets``, in which the model
        has lists; ``lacks``, the names of the others. A model that lacks a data set has no value,
        rank or interval: a mean over other data sets is not comparable.

    Raises
    ------
    RetrievalReportError
        The frame breaks its contract.

    Notes
    -----
    The interval is Student's t over the means of the data sets, and pairs are tested by Student's t
    of their differences by data set, corrected by Holm. A mean over the queries drawn for a data
    set varies with both, so that the spread of these means is that of both levels, and no second
    level is needed. With the data sets fixed and only their queries random, ``summarise(…,
    average="macro")`` has the same means, with narrower intervals.

    Examples
    --------
    >>> import polars as pl
    >>> means = {"one": (0.5, 0.6, 0.7), "two": (0.4, 0.6, 0.65), "part": (0.9, None, 0.9)}
    >>> rows = [
    ...     {"metric": "ap", "cutoff": None, "dataset": f"d{number}", "rank": None, "model": model}
    ...     | {"value": value, "tie_std": 0.0, "ci_low": None, "ci_high": None, "queries": 9}
    ...     for model, own in means.items()
    ...     for number, value in enumerate(own)
    ... ]
    >>> table = dataset_table(pl.DataFrame(rows))
    >>> table.select("rank", "model", pl.col("value").round(4), "datasets", "lacks").rows()
    [(1, 'one', 0.6, 3, ''), (2, 'two', 0.55, 3, ''), (None, 'part', None, 2, 'd1')]
    """
    check_fraction("alpha", alpha)
    check_fraction("confidence", confidence)
    given = hold(of_datasets, OF_DATASET, "of_datasets", "dataset_scores")
    rows = []
    for (metric, cutoff), part in given.group_by(MEASURE, maintain_order=True):
        models = [_row(model, confidence) for model in part.partition_by("model")]
        models = ranked(models, {"metric": metric, "cutoff": cutoff})
        whole = [row["model"] for row in models if row["value"] is not None]
        by_model = [part.filter(model=name).sort("dataset")["value"].to_numpy() for name in whole]
        for row, (low, high) in zip(models, rank_ranges(np.array(by_model), alpha), strict=False):
            row |= {"rank_low": low, "rank_high": high}
        rows += models
    return frame_of(rows, DATASETS)


def _row(means: pl.DataFrame, confidence: float) -> Named:
    """Return the mean of a model over its data sets, and those that it lacks."""
    lacking = means.filter(pl.col("value").is_null())["dataset"].to_list()
    count = means.height - len(lacking)
    row = {
        "model": means["model"][0],
        "value": None,
        "datasets": count,
        "lacks": ", ".join(lacking),
    }
    if lacking:
        return row
    values, spread = means["value"].to_numpy(), means["tie_std"].to_numpy()
    value = math.fsum(values) / count
    tie_std = math.sqrt(math.fsum(spread**2)) / count
    error = float(values.std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan
    low, high = t_interval(Mean(value, tie_std, error, count - 1), confidence)
    low, high = clipped(means["metric"][0], value, low, high)
    return {**row, "value": value, "tie_std": tie_std, "ci_low": low, "ci_high": high}


def rank_ranges(means: Floats, alpha: float) -> list[tuple[int, int]]:
    """Return the best and worst rank of every model that the tests of all pairs leave open, from
    means (models, data sets).
    """
    models = len(means)
    pairs = list(combinations(range(models), 2))
    if not pairs:
        return [(1, models)] * models
    tests = paired_t(np.array([means[one] - means[other] for one, other in pairs]), 0.95)
    low, high = [1] * models, [models] * models
    for (one, other), mean, p in zip(pairs, tests.mean, corrected(tests.p, "holm"), strict=True):
        if is_significant(p, alpha):
            winner, loser = (one, other) if mean > 0 else (other, one)
            high[winner] -= 1
            low[loser] += 1
    return list(zip(low, high, strict=True))

"""Average over data sets, each of which counts the same: leaderboards of many collections."""

from __future__ import annotations

import numpy as np
import polars as pl

from retrieval_report.comparison.corrections import corrected
from retrieval_report.comparison.leaderboard import open_ranks
from retrieval_report.comparison.segments import segments_of
from retrieval_report.comparison.significance import paired_t
from retrieval_report.comparison.verdicts import significant
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.engines.check_scores import (
    MEAN,
    MEASURE,
    Checked,
    check_result_frame,
    check_scores,
    join_left,
)
from retrieval_report.engines.score_grid import (
    Grid,
    Pairs,
    differences,
    measured,
    ranked,
)
from retrieval_report.engines.summary import summarise
from retrieval_report.kernels.lists import Floats

DATASETS, OF_DATASET = schema("datasets"), schema("dataset_scores")
RANGES = schema("datasets", *MEAN, "rank_low", "rank_high")


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
    score_frame = check_scores(scores)
    expected = score_frame.filter(policy="expected")
    if expected.is_empty() and score_frame.height:
        raise ParameterError("scores: no policy 'expected', by which data sets are averaged")
    measures = expected.select(MEAN).unique(maintain_order=True)
    parts = [pl.DataFrame(schema=OF_DATASET)]
    for name, part in segments_of(expected, queries, by):
        with_items = part.filter((pl.col("items") > 0).any().over("model"))
        rows = join_left(measures, summarise(with_items), MEAN)
        rows = rows.with_columns(pl.col("queries").fill_null(0), dataset=pl.lit(name))
        parts.append(in_contract(ranked(rows, MEASURE), OF_DATASET))
    return pl.concat(parts)


def dataset_table(of_datasets: object) -> pl.DataFrame:
    """Rank models by the mean over data sets of their mean over the queries of each.

    Parameters
    ----------
    of_datasets
        The result of :func:`dataset_scores`.

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
    checked_frame = check_result_frame(of_datasets, OF_DATASET, "of_datasets", "dataset_scores")
    scores = _as_scores(checked_frame)
    means = summarise(Checked(scores)).rename({"queries": "datasets"})
    without = pl.col("dataset").filter(pl.col("value").is_null()).sort()
    lacks = checked_frame.group_by(MEAN).agg(lacks=without.str.join(", "))
    numbers = pl.col("value", "tie_std", "ci_low", "ci_high")
    rows = join_left(means, lacks, MEAN).with_columns(pl.when(lacks="").then(numbers))
    parts = [pl.DataFrame(schema=RANGES)]
    for part in _of_every_set(scores).partition_by(MEASURE, maintain_order=True):
        grid = Grid.of(part)
        value = grid.arrays["value"][0]
        pairs = Pairs.every(len(value))
        low, high = open_ranks(value, pairs.part(significant(pair_p(value, pairs))))
        columns = {"model": grid.models, "rank_low": low, "rank_high": high}
        parts.append(measured(columns, grid.measures[0], RANGES))
    return in_contract(ranked(join_left(rows, pl.concat(parts), MEAN), MEASURE), DATASETS)


def _as_scores(of_datasets: pl.DataFrame) -> pl.DataFrame:
    """Return the means of data sets as scores of queries."""
    return of_datasets.rename({"dataset": "query", "tie_std": "std"}).with_columns(
        policy=pl.lit("expected"), items=1, n_relevant=1, truncated=False, pooled=False
    )


def _of_every_set(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of models that have a mean for every data set."""
    return scores.filter(pl.col("value").is_not_null().all().over(MEAN))


def dataset_p(of_datasets: pl.DataFrame, model_a: str, model_b: str) -> float | None:
    """Return the p-value of two models by which `dataset_table` ranks them, of one measure; None
    where one lacks a data set, or there is one alone.
    """
    grid = Grid.of(_of_every_set(_as_scores(of_datasets)))
    if not {model_a, model_b} <= {*grid.models}:
        return None
    pairs = grid.pairs()
    p = pair_p(grid.arrays["value"][0], pairs)
    first, second = sorted(map(grid.models.index, (model_a, model_b)))
    p_of_pair = float(p[(pairs.first == first) & (pairs.second == second)][0])
    return None if np.isnan(p_of_pair) else p_of_pair


def pair_p(means: Floats, pairs: Pairs) -> Floats:
    """Return the p of Student's t of pairs over data sets, corrected by Holm."""
    return corrected(paired_t(differences(means, pairs), 0.95).p, "holm")

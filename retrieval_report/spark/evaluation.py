"""Score rankings on a cluster: ``evaluate`` on Apache Spark."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from typing import Any, Unpack

import polars as pl
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from retrieval_report.contracts.arguments import check_whole, listed
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import EvaluateOptions, Options, options_with
from retrieval_report.engines.stream import score_stream, scores_schema
from retrieval_report.metrics.parsing import Cutoffs, Metrics, Requests, parse_metrics
from retrieval_report.metrics.terms import check_judged_only
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.known_items import KEYS
from retrieval_report.scoring.run import score_lists
from retrieval_report.spark.failures import our_errors
from retrieval_report.spark.known import Beside, join_beside, known_lists, missing_lists
from retrieval_report.spark.plans import PLANS, choose_plan, with_counts
from retrieval_report.spark.sources import Source, open_rows
from retrieval_report.spark.truncation import decide_on_cluster, pooled_items

ELSEWHERE = {
    "threads": "an executor uses one thread per task; set spark.task.cpus and the number of "
    "executors",
    "progress": "Spark's own web page and log show the progress",
}


def evaluate(
    rankings: DataFrame,
    *,
    judgements: object = None,
    queries: object = None,
    metrics: Metrics = None,
    cutoffs: Cutoffs = None,
    plan: str = "auto",
    clustered: bool = False,
    partitions: int | None = None,
    **options: Unpack[EvaluateOptions],
) -> DataFrame:
    """Score rankings on a cluster; return what :func:`retrieval_report.evaluate` returns, as a
    Spark frame.

    Items are counted by model, query, distance and relevance if that reduces their number, grouped
    by model and query, sorted, and scored by the same code as on one machine, so every score is
    equal to the last bit. One pass over two columns finds the models and the grades immediately;
    everything else is computed by actions on the returned frame. Executors need this package,
    pandas and PyArrow. Wrap actions in :func:`our_errors`, which turns errors of executors into
    this package's errors.

    Parameters
    ----------
    rankings
        Rankings or counts, with the columns of :func:`retrieval_report.evaluate`, or those that
        :func:`retrieval_report.read_rankings` knows; a column with our own name takes precedence,
        whatever the value of ``spark.sql.caseSensitive``.
    judgements, queries
        As for :func:`retrieval_report.evaluate`; Spark frames, or local ones, which are sent to the
        cluster.
    metrics, cutoffs
        As for :func:`retrieval_report.evaluate`.
    plan
        "ties" counts equal items before they are sent, "rows" sends every item, and "auto" samples
        the first rows and counts if ties are long (if the rows of a list are scattered over files,
        the sample shows too few of them, so choose "ties" yourself). Naive scores need "rows". The
        scores do not depend on the plan.
    clustered
        Whether the rows of every list are already in one partition of the frame (buckets, or files
        of whole queries that ``spark.sql.files.maxPartitionBytes`` does not split), so that nothing
        is sent. :func:`summarise` checks this afterwards: it refuses a list that occurs twice.
    partitions
        Number of partitions over which lists are spread; by default
        ``spark.sql.shuffle.partitions`` and adaptive execution decide.
    **options
        All other options of :func:`retrieval_report.evaluate`, except ``threads`` and ``progress``,
        which are refused. Naive scores take rows in the order of ``row``, or in the order of file
        paths and rows if the frame was just read from Parquet; otherwise they are refused.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns of :func:`retrieval_report.evaluate`, in no particular order.

    Raises
    ------
    RetrievalReportError
        Immediately for arguments, columns and grades; during actions for values in the data. Items
        that occur twice in a list are not detected here; use :func:`check_items`.
    """
    checked = _options(options)
    asked = {"metrics": _kept(metrics), "cutoffs": _kept(cutoffs)}
    requests = parse_metrics(**asked)
    check_judged_only([metric for metric, _ in requests], judgements is not None, checked.unjudged)
    check_choice("plan", plan, PLANS)
    partitions = None if partitions is None else check_whole("partitions", partitions, 1)
    _check_plan(plan, clustered, partitions, checked, beside=(judgements, queries))
    source = open_rows(rankings, checked, judged=judgements is not None)
    source, beside = join_beside(source, judgements, queries)
    with our_errors():
        models, grades = _facts(source.rows, beside, checked)
        decisions = decide_on_cluster(source, beside, models, checked)
        if plan == "auto":
            plan = "rows" if source.naive else choose_plan(source)
    if models:
        _try(grades, requests, checked, beside)
    words = {
        model: decision.truncated for model, decision in decisions.items()
    } or checked.truncated
    rows = with_counts(source, plan)
    pool = None if beside.judgements is not None else _pool(source, models, clustered, checked)
    score = partial(
        score_stream,
        **asked,
        **asdict(checked) | {"threads": 1, "truncated": words},
        grades=grades,
        pooled=pool is not None,
        judged=beside.judgements is not None,
        complete=beside.queries is not None,
    )
    if clustered:
        scores, missing = _scored(rows, source, score, checked), missing_lists(source.rows, models)
        if missing is None:
            return scores
        return scores.unionAll(_scored(_spread(_like(missing, rows), None), source, score, checked))
    known = known_lists(source.rows, beside, models, pool)
    if known is not None:
        rows = rows.unionByName(_like(known, rows), allowMissingColumns=True)
    return _scored(_spread(rows, partitions), source, score, checked)


def _kept(given: Any) -> Any:
    """Return what may be an iterator as a list, which can be read again."""
    return given if given is None else listed(given)


def _options(options: EvaluateOptions) -> Options:
    for name, reason in ELSEWHERE.items():
        if options.get(name):
            raise ParameterError(f"{name}: has no meaning on Spark; {reason}")
    return options_with(options)


def _check_plan(
    plan: str,
    clustered: bool,
    partitions: int | None,
    options: Options,
    beside: tuple[object, object],
) -> None:
    if plan == "ties" and "naive" in options.policies:
        raise ParameterError(
            "plan: 'naive' needs the order of the items, which plan='ties' gives up; use "
            "plan='rows'"
        )
    if clustered and partitions is not None:
        raise ParameterError("partitions: with clustered=True the input's own partitions are kept")
    if clustered and any(frame is not None for frame in beside):
        raise ParameterError(
            "clustered=True: judgements and queries frames have to be joined to the lists, which "
            "is the exchange that "
            "it should avoid; leave clustered out, or join the relevance to the rankings first"
        )


def _facts(
    rows: DataFrame, beside: Beside, options: Options
) -> tuple[list[str], tuple[float, ...]]:
    """Find the models, and the lowest, lowest relevant and highest relevance above 0, in one pass
    over two columns.
    """
    grade = F.col("relevance").cast("double")
    grade = F.when((grade > 0) & (grade < float("inf")), grade)
    relevant = F.when(grade >= (options.relevant_from or 0), grade)
    extremes = [
        F.min(grade).alias("lowest"),
        F.min(relevant).alias("relevant"),
        F.max(grade).alias("highest"),
    ]
    if beside.judgements is None:
        found = rows.groupBy("model").agg(*extremes).collect()
    else:
        found = [(row[0], None, None, None) for row in rows.select("model").distinct().collect()]
        found += [(None, *beside.judgements.agg(*extremes).head())]
    models = sorted(row[0] for row in found if row[0] is not None)
    grades = {grade for row in found for grade in row[1:] if grade is not None}
    return models, tuple(sorted(grades))


def _pool(source: Source, models: list[str], clustered: bool, options: Options) -> DataFrame | None:
    """Return the relevant items of all models, if there are several models."""
    pool = pooled_items(source, options) if len(models) > 1 else None
    if clustered and pool is not None:
        raise ParameterError(
            "clustered=True: to pool the relevant items of a query over models, lists have to be "
            "brought together, "
            "which is the exchange that it should avoid; use relevant_items='own', or leave "
            "clustered out"
        )
    return pool


def _try(grades: tuple[float, ...], requests: Requests, options: Options, beside: Beside) -> None:
    """Score one list of all known grades, so that errors and warnings about arguments appear before
    hours of work.
    """
    relevance = list(grades) or [0.0]
    ties = {"query": "q", "distance": 0, "relevance": relevance, "count": 1}
    small = replace(options, policies=("expected",), no_relevant="zero", distance_threshold=None)
    small = replace(small, truncated="no", unjudged=None)
    named = None
    if (
        beside.judgements is None
        and beside.queries is not None
        and "n_relevant" in beside.queries.columns
    ):
        # Avoids a warning that no item is relevant.
        named = pl.DataFrame({"query": ["q"], "n_relevant": [len(relevance)]})
    score_lists(judge(pl.DataFrame(ties), None, named, small), requests, small)


def _like(known: DataFrame, rows: DataFrame) -> DataFrame:
    """Return known facts as rows with all columns and types of ``rows``, and their own columns."""
    columns = [
        (F.col(field.name) if field.name in known.columns else F.lit(None))
        .cast(field.dataType)
        .alias(field.name)
        for field in rows.schema.fields
    ]
    return known.select(*columns, *(name for name in known.columns if name not in rows.columns))


def _spread(rows: DataFrame, partitions: int | None) -> DataFrame:
    return rows.repartition(*KEYS) if partitions is None else rows.repartition(partitions, *KEYS)


def _scored(rows: DataFrame, source: Source, score: partial[Any], options: Options) -> DataFrame:
    """Sort each partition and score it as a stream."""
    order = F.col(source.order)
    near_first = order.desc_nulls_first() if source.order == "score" else order.asc_nulls_first()
    falling = options.naive_order == "item_descending"
    naive = [F.col(name).desc() if falling else F.col(name).asc() for name in source.naive]
    query = to_arrow_schema(source.rows.select("query").schema).field("query").type
    schema = from_arrow_schema(scores_schema(query))
    return rows.sortWithinPartitions(*KEYS, near_first, *naive).mapInArrow(score, schema)

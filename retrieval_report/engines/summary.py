"""Average each model's scores, with the uncertainty from ties and from queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import compress
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Named, check_text, quoted
from retrieval_report.contracts.checks import check_choice, check_unique, refuse
from retrieval_report.contracts.errors import ColumnError, ParameterError
from retrieval_report.contracts.frames import SUMMARY, check_table
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.contracts.wording import setting
from retrieval_report.engines.check_scores import (
    GROUP,
    LIMITS,
    MEAN,
    MEASURE,
    Checked,
    check_fraction,
    check_result_frame,
    check_scores,
    join_left,
)
from retrieval_report.kernels.lists import Floats
from retrieval_report.metrics.parsing import is_share
from retrieval_report.reading.convert import in_kind_of
from retrieval_report.reading.frames import to_polars
from retrieval_report.writing.numbers import ROUNDING

WEIGHTS = schema("query_weights")
TABULATED = 1000  # degrees of freedom in student_t.npy
# Beyond them, the same quantile as a polynomial in their inverse (Abramowitz and Stegun, 26.7.5).
BEYOND = (1.959963984540054, 2.372271230298562, 2.822498615739611, 2.555849679507722, 1.58953405339)
NUMBERS = schema("summary", "value", "tie_std", "query_se", "ci_low", "ci_high")


class SummaryOptions(TypedDict, total=False):
    """The options of ``summarise``."""

    average: str
    confidence: float
    cluster: str | None


def summarise(
    scores: object,
    *,
    queries: object = None,
    average: str = "micro",
    confidence: float = 0.95,
    cluster: str | None = None,
) -> pl.DataFrame:
    """Average the scores of each model, metric, cutoff and policy over the queries.

    Two uncertainties are kept apart: ``tie_std`` is the exact standard deviation of the mean under
    random tie order (an accident of measurement), ``query_se`` its standard error under sampling of
    queries. What a cut list leaves open is neither: ``lowest`` and ``highest`` allow for it,
    ``tie_std`` is null, and ``truncated_share`` is the share of queries affected.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`.
    queries
        ``query`` with ``label`` (for ``macro``) or ``weight`` (for ``weighted``); the result of
        :func:`query_weights` (weights by model, query and metric) is accepted too.
    average
        One of {"micro", "macro", "weighted"}: the plain mean over queries; the plain mean of the
        labels' means; or Σ w·x / Σ w.
    confidence
        Share of samples of queries whose interval holds the true mean. Intervals are Student's t
        over queries; for macro, labels are strata and queries vary within them. For metrics whose
        scores lie between 0 and 1 (all except acg, dcg, wap and num_rel_ret) they are clipped
        there, which keeps their coverage. Where all scores are the same, as where every query is a
        hit, four imaginary queries keep the interval from having no width.
    cluster
        A column of the queries that says which belong together, such as their topic. Standard
        errors and intervals then count its values, not single queries (Liang and Zeger, 1986); for
        micro and weighted.

    Returns
    -------
    polars.DataFrame
        ``model``, ``metric``, ``cutoff``, ``policy``, ``value`` (null if a score in the mean has no
        bound, or no query has a weight), ``tie_std`` (null if a score in the mean has no standard
        deviation, like a truncated one), ``lowest`` and ``highest`` (the means under the worst and
        the best tie order; truncated: over all completions; null unless those policies are in the
        scores), ``query_se``, ``ci_low``, ``ci_high`` (null below two queries, or two of a label),
        ``queries`` (in the mean), and how many of the model's queries have ``no_relevant`` item,
        are ``missing`` (no rows) or ``unjudged``; ``truncated_share`` (share of the queries in the
        mean whose score depends on what truncation of its list leaves open) and ``pooled`` (whether
        R of any of them counts only what the models retrieved). Groups keep the order of the
        scores.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q", "q", "r", "r"],
    ...         "item": ["a", "b", "a", "b"],
    ...         "distance": [1, 1, 1, 2],
    ...         "relevance": [1, 0, 1, 0],
    ...     }
    ... )
    >>> scores = evaluate(rankings, metrics="rr", cutoffs=1, policies=("expected", "best", "worst"))
    >>> summarise(scores).select(
    ...     "value", "tie_std", "lowest", "highest", "query_se", "queries"
    ... ).row(0)
    (0.75, 0.25, 0.5, 1.0, 0.25, 2)
    """
    check_choice("average", average, ("micro", "macro", "weighted"))
    confidence = check_fraction("confidence", confidence)
    check_cluster(cluster, average)
    frame = _with_weights(check_scores(scores), queries, average)
    if cluster is not None:
        frame = with_clusters(frame, queries, cluster)
    order = frame.select(GROUP).unique(maintain_order=True).with_row_index("group")
    frame = join_left(frame, order, GROUP)
    unbounded = pl.col("truncated") & pl.col("value").is_null()
    inside = unbounded | pl.col("value").is_not_null()
    counts = frame.group_by("group", maintain_order=True).agg(
        queries=inside.sum(),
        no_relevant=(pl.col("n_relevant") == 0).sum(),
        missing=(pl.col("items") == 0).sum(),
        unjudged=pl.col("n_relevant").is_null().sum(),
        truncated_share=pl.col("truncated").filter(inside).mean(),
        pooled=pl.col("pooled").filter(inside).any(),
    )
    exact = pl.when(~pl.col("truncated")).then("std")
    frame = frame.filter(~unbounded.any().over("group")).with_columns(std=exact)
    scored = frame.drop_nulls("value").sort("group", maintain_order=True)
    sizes = scored.group_by("group", maintain_order=True).agg(pl.first("metric"), pl.len())
    ends = sizes.with_columns(end=pl.col("len").cum_sum())
    columns = _mean_columns(scored, average)
    numbers = [
        (group, *_mean(metric, columns, slice(end - size, end), average, confidence))
        for group, metric, size, end in ends.iter_rows()
    ]
    contract = {"group": order.schema["group"], **NUMBERS}
    means = pl.DataFrame(numbers, schema=contract, orient="row").fill_nan(None)
    return with_bounds(join_left(join_left(order, counts, "group"), means, "group"))


def _average(average: str) -> str:
    """Return the average as the reader chooses it."""
    return setting("average", average) or f"the average {average}"


def check_average(average: str, queries: object) -> str:
    """Return the column of the queries that an average other than "micro" needs; refuse queries
    without it.
    """
    column = "label" if average == "macro" else "weight"
    if queries is None:
        raise ColumnError(f"{_average(average)}: needs queries with a column {column!r}")
    if column not in to_polars(queries, "queries").columns:
        raise ColumnError(f"queries: no column {column!r}, which {_average(average)} needs")
    return column


def _with_weights(frame: pl.DataFrame, queries: object, average: str) -> pl.DataFrame:
    """Add the label or the weight that the average needs."""
    if average == "micro":
        return frame
    column = check_average(average, queries)
    query_rows = to_polars(queries, "queries")
    of_lists = average == "weighted" and {"model", "metric"} <= set(query_rows.columns)
    keys = ["model", "query", "metric"] if of_lists else ["query"]
    if of_lists:
        query_rows = check_result_frame(query_rows, WEIGHTS, "queries", "query_weights")
        bad = pl.col("weight").is_null() | pl.col("weight").is_infinite() | (pl.col("weight") < 0)
        refuse(query_rows, bad, "weight", "not a finite number of at least 0")
    else:
        query_rows = check_table(query_rows, "queries")
    frame = _joined(frame, query_rows, keys, column)
    refuse(
        frame,
        pl.col(column).is_null(),
        column,
        f"scores without {column}",
        "; the queries frame lacks them",
    )
    return frame


def weighed(scores: pl.DataFrame, queries: object, average: str) -> pl.DataFrame:
    """Return scores and deviations times the ``weight`` of their query, so that plain means over
    the queries are the means of :func:`summarise`; weights are 1 on average. Only queries for which
    all models have a score count: by each measure, ``left_out`` queries do not. ``alone`` is a
    label of a single query, or the query that has all weight: nothing shows how others would vary.
    It is null if there is none.

    >>> scores = pl.DataFrame(
    ...     {"model": ["m"] * 3, "query": list("pqr"), "metric": ["rr"] * 3, "cutoff": [1] * 3}
    ... ).with_columns(policy=pl.lit("expected"), value=pl.Series([1.0, 0.5, 0.25]), std=0.1)
    >>> queries = pl.DataFrame({"query": list("pqr"), "label": list("xxy")})
    >>> weighed(scores, queries, "macro").select("value", "weight", "left_out").rows()
    [(0.75, 0.75, 0), (0.375, 0.75, 0), (0.375, 1.5, 0)]
    """
    frame = _with_weights(scores, queries, average)
    rows = frame.select("model", "policy").n_unique()
    known = pl.col("value").is_not_null()
    shared = known.sum().over("query", *MEASURE) == rows
    frame = frame.with_columns(
        value=pl.when(shared).then("value"),
        left_out=pl.col("query").filter(known & ~shared).n_unique().over(MEASURE),
    )
    is_macro = average == "macro"
    strata = [*GROUP, "label"] if is_macro else GROUP
    share = 1 / pl.count("value").over(strata) if is_macro else pl.col("weight")
    share = pl.when(known).then(share)
    has_weight = share > 0
    is_alone = has_weight & (has_weight.sum().over(strata) == 1)
    name = pl.col("label" if is_macro else "query").cast(pl.String)
    return frame.with_columns(
        weight=share / share.mean().over(GROUP), alone=name.filter(is_alone).first()
    ).with_columns(pl.col("value", "std") * pl.col("weight"))


def with_left_out(result: pl.DataFrame, scores: Checked) -> pl.DataFrame:
    """Return a result of `weighed` scores with the ``unpaired`` queries that these leave out."""
    if "left_out" not in scores.frame.columns:
        return result
    left_out = scores.frame.group_by(MEASURE).agg(unpaired=pl.first("left_out"))
    return join_left(result.drop("unpaired"), left_out, MEASURE).select(
        pl.col(name).cast(dtype) for name, dtype in result.schema.items()
    )


def check_cluster(cluster: str | None, average: str) -> None:
    """Refuse clusters for an average that has strata.

    >>> check_cluster("topic", "macro")
    Traceback (most recent call last):
    retrieval_report.ParameterError: cluster: average='macro' already takes labels as strata, so it
    cannot have clusters; use micro or weighted
    """
    if cluster is not None and average == "macro":
        raise ParameterError(
            f"cluster: {_average('macro')} already takes labels as strata, so it cannot have "
            "clusters; use micro or weighted"
        )


def with_clusters(frame: pl.DataFrame, queries: object, cluster: str) -> pl.DataFrame:
    """Return rows of queries with a further column,
    ``cluster``: the value of a column of the queries frame.

    >>> ids = pl.DataFrame({"query": ["p", "q"]})
    >>> with_clusters(ids, {"query": ["p", "q"], "topic": [7, None]}, "topic")
    Traceback (most recent call last):
    retrieval_report.DataError: column 'topic': 1 queries without a cluster, first in query 'q' (row
    1)
    """
    if queries is None:
        raise ColumnError(
            f"{setting('cluster', cluster) or 'clusters'}: needs queries with a column {cluster!r}"
        )
    frame = with_column(frame, to_polars(queries, "queries"), "cluster", cluster)
    refuse(frame, pl.col("cluster").is_null(), cluster, "queries without a cluster")
    return frame


def with_column(
    frame: pl.DataFrame, queries: pl.DataFrame, argument: str, column: str
) -> pl.DataFrame:
    """Return rows of queries with a column of the queries frame, named after the argument that asks
    for it; null where the frame lacks the query.
    """
    for name in ("query", check_text(argument, column)):
        if name not in queries.columns:
            raise ColumnError(
                f"{argument}: no column {name!r} in the queries; found {quoted(queries.columns)}"
            )
    values = queries.select("query", pl.col(column).alias(argument))
    return _joined(frame, values, ["query"], argument)


def _joined(
    frame: pl.DataFrame, query_rows: pl.DataFrame, keys: list[str], column: str
) -> pl.DataFrame:
    """Return rows with a column of the queries that they are about, null where these lack it."""
    ids = frame.schema["query"]
    if pl.Null not in (ids, query_rows.schema["query"]):
        query_rows = query_rows.with_columns(
            in_kind_of(frame["query"], query_rows["query"], "scores", "queries")
        )
    check_unique(query_rows, keys, "queries")
    matching = query_rows.with_columns(pl.col("query").cast(ids, strict=False)).select(
        *keys, column
    )
    # no score has the ids that do not fit
    return join_left(frame, matching.drop_nulls("query"), keys)


def _mean_columns(scored: pl.DataFrame, average: str) -> Named:
    """Return the columns of scores that a mean reads, once for all means."""
    columns: Named = {name: scored[name].to_numpy() for name in ("value", "std")}
    if average == "macro":
        columns["stratum"] = scored["label"].rank("dense").to_numpy()
    elif average == "weighted":
        columns["weight"] = scored["weight"].cast(pl.Float64).to_numpy()
    if "cluster" in scored.columns:
        columns["cluster"] = scored["cluster"].to_list()
    return columns


def _mean(
    metric: str, columns: Named, rows: slice, average: str, confidence: float
) -> tuple[float, ...]:
    """Mean, its two spreads and its interval, of one model, metric, cutoff and policy."""
    part_columns = {name: values[rows] for name, values in columns.items()}
    values, spread = part_columns["value"], part_columns["std"]
    parts = [slice(None)]  # the plain mean has one stratum
    weight = np.ones(values.size)
    clusters = part_columns.get("cluster")
    if average == "macro":
        strata = part_columns["stratum"]
        parts = [strata == stratum for stratum in np.unique(strata)]
    elif average == "weighted":
        weight = part_columns["weight"]
        # in units of a power of two, so that sums and squares stay finite
        weight = np.ldexp(weight, -math.frexp(weight.max(initial=0.0))[1])
    mean = stratified_mean(
        [weighted_mean(values[part], spread[part], weight[part], clusters) for part in parts]
    )
    low, high = t_interval(mean, confidence)
    if mean.freedom and np.ptp(values[weight > 0]) <= ROUNDING * max(1.0, abs(mean.value)):
        low, high = interval_of_equal(mean.value, mean.freedom + len(parts), confidence)
    return *mean[:3], *clipped(metric, mean.value, low, high)


def clipped(metric: str, mean: float, low: float, high: float) -> tuple[float, float]:
    """Return the interval of a mean within 0 and 1 if
    scores lie there, which does not change its coverage.

    >>> clipped("ap", 0.9, 0.75, 1.05), clipped("dcg", 0.9, 0.75, 1.05)
    ((0.75, 1.0), (0.75, 1.05))

    The ndcg of perfect lists may be above 1 in the last digit.

    >>> clipped("ndcg", 1.0 + 2.0**-52, 0.75, 1.05)
    (0.75, 1.0000000000000002)
    """
    if is_share(metric) and 0 <= mean <= 1 + ROUNDING and low <= high:
        return max(low, 0.0), min(high, max(mean, 1.0))
    return low, high


def with_bounds(result: pl.DataFrame) -> pl.DataFrame:
    """The summary of means, with those of the policies worst and best beside all of their model,
    metric and cutoff.
    """
    for name, policy in LIMITS.items():
        bound = result.filter(policy=policy).select(*MEAN, pl.col("value").alias(name))
        result = join_left(result, bound, MEAN)
    return in_contract(result, SUMMARY)


class Mean(NamedTuple):
    """A mean, its standard deviation over tie orders,
    its standard error over queries, degrees of freedom.
    """

    value: float
    tie_std: float
    query_se: float
    freedom: int


def weighted_mean(
    values: Floats, spread: Floats, weight: Floats, clusters: Sequence[object] | None
) -> Mean:
    """Return Σ w·x / Σ w; sums are exact, so the order of the queries does not matter. What was
    drawn are queries, or clusters of them; clusters exist in a single stratum only.
    """
    total = math.fsum(weight.tolist())
    units_drawn = clusters if clusters is not None else range(values.size)
    size = len(set(compress(units_drawn, weight.tolist())))
    if total == 0:
        return Mean(math.nan, math.nan, math.nan, 0)
    value = math.fsum((weight * values).tolist()) / total
    tie_std = math.sqrt(math.fsum(((weight * spread) ** 2).tolist())) / total
    if size < 2:
        return Mean(value, tie_std, math.nan, 0)
    rest = weight * (values - value)
    if clusters is not None and size < rest.size:
        parts: dict[object, list[float]] = {}
        for cluster, number in zip(clusters, rest.tolist(), strict=True):
            parts.setdefault(cluster, []).append(number)
        rest = np.array([math.fsum(part) for part in parts.values()])
    error = math.sqrt(math.fsum((rest**2).tolist()) * size / (size - 1)) / total
    return Mean(value, tie_std, error, size - 1)


def stratified_mean(means: Sequence[Mean]) -> Mean:
    """Return the plain mean of the strata's means;
    strata are fixed, and only the queries in them vary.
    """
    value = math.fsum(mean.value for mean in means) / len(means)
    tie_std = math.sqrt(math.fsum(mean.tie_std**2 for mean in means)) / len(means)
    if any(mean.freedom == 0 for mean in means):
        return Mean(value, tie_std, math.nan, 0)
    error = math.sqrt(math.fsum(mean.query_se**2 for mean in means)) / len(means)
    return Mean(value, tie_std, error, sum(mean.freedom for mean in means))


def t_interval(mean: Mean, confidence: float) -> tuple[float, float]:
    """Return the interval by Student's t over the queries; NaN where there are too few."""
    if mean.freedom == 0:
        return math.nan, math.nan
    reach = _quantile(mean.freedom, 0.5 + confidence / 2) * mean.query_se
    return mean.value - reach, mean.value + reach


def interval_of_equal(
    value: float, units: int, confidence: float, *, signed: bool = False
) -> tuple[float, float]:
    """Return the interval of scores that are all the same, such as hits of every query: that of
    Student's t with four imaginary queries more, two that score 0 and two that score 1 (or the
    value, if that is larger); it includes the value. Of ``signed`` differences, −1 takes the place
    of 0.

    Without them it would have no width, though ten hits of ten queries do not show that there are
    no misses (Agresti and Coull, *Approximate Is Better than "Exact" for Interval Estimation of
    Binomial Proportions*, The American Statistician 52, 1998).

    >>> [round(end, 3) for end in interval_of_equal(1.0, 10, 0.95)]
    [0.647, 1.067]
    """
    step, size = max(1.0, abs(value)), units + 4
    least = -step if signed else 0.0
    mean = (units * value + 2 * (least + step)) / size
    square = units * (value - mean) ** 2 + 2 * (least - mean) ** 2 + 2 * (step - mean) ** 2
    reach = _quantile(size - 1, 0.5 + confidence / 2) * math.sqrt(square / (size - 1) / size)
    return min(value, mean - reach), max(value, mean + reach)


@cache
def _quantile(freedom: int, chance: float) -> float:
    """Return the quantile of Student's t; those of 95 % intervals without SciPy, whose import takes
    as long as everything else on small data.
    """
    if chance == 0.975:
        if freedom > TABULATED:
            return math.fsum(part / freedom**power for power, part in enumerate(BEYOND))
        return float(np.load(Path(__file__).with_name("student_t.npy"))[freedom - 1])
    # What `scipy.stats.t.ppf` calls, without the half second of its import.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, chance))

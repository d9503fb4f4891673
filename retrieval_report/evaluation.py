"""Frames in, scores out: ``evaluate`` and ``shuffled_means``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from tqdm import tqdm

from retrieval_report.arrays import Integers, Lists, keys_of
from retrieval_report.errors import DataError, RetrievalReportWarning
from retrieval_report.joining import Prepared, prepare
from retrieval_report.kernels import shuffling
from retrieval_report.metrics import Metric
from retrieval_report.needs import warn_steep
from retrieval_report.options import Options
from retrieval_report.parsing import Requests, parse_metrics
from retrieval_report.schema import SCORES
from retrieval_report.scoring import Arrangement, Scorer, Scores, arrange

__all__ = ["DEFAULT_CUTOFFS", "DEFAULT_METRICS", "evaluate", "shuffled_means"]

DEFAULT_METRICS = ("precision", "recall", "ap", "rr", "ndcg")
DEFAULT_CUTOFFS = (1, 5, 10, None)
Floats = NDArray[np.float64]


@dataclass
class _Run:
    """One evaluation: the prepared lists, what is asked of them, and the scorers that answer."""

    prepared: Prepared
    requests: Requests
    options: Options

    def __post_init__(self) -> None:
        cutoffs = [k for metric, own in self.requests if not metric.own_depth for k in own]
        self.plain = [metric for metric, _ in self.requests if not metric.own_depth]
        self.deep = [metric for metric, _ in self.requests if metric.own_depth]
        workers = self.options.workers
        self.scorer = Scorer(self.prepared, tuple(dict.fromkeys(cutoffs)) or (None,), workers)
        self.deep_scorer = Scorer(self.prepared, (), workers)
        self.scorer.check(self.plain)

    def score(self, arrangement: Arrangement) -> Scores:
        """Values and standard deviations of every metric and cutoff asked, (lists, columns)."""
        scores = {
            **self.scorer.score(self.plain, arrangement),
            **self.deep_scorer.score(self.deep, arrangement),
        }
        values, spreads = [], []
        for metric, cutoffs in self.requests:
            columns = [0] if metric.own_depth else [self.scorer.column(k) for k in cutoffs]
            values.append(scores[metric].value[:, columns])
            spreads.append(scores[metric].std[:, columns])
        return Scores(np.concatenate(values, axis=1), np.concatenate(spreads, axis=1))

    def undefined(self) -> NDArray[np.bool_]:
        """Where nothing is relevant and the metric has no meaning, (lists, columns)."""
        lists = self.prepared.length.size
        parts = []
        for metric, cutoffs in self.requests:
            scorer = self.deep_scorer if metric.own_depth else self.scorer
            width = scorer.asked.shape[1]
            mask = np.broadcast_to(metric.undefined(scorer), (lists, width))
            parts.append(np.repeat(mask[:, -1:], len(cutoffs), axis=1))
        return np.concatenate(parts, axis=1)

    def left_out(self) -> NDArray[np.bool_]:
        """Lists without a value: their query has no judgements, nothing relevant, or no rows, and is to be skipped."""
        nobody = self.prepared.relevant < 0
        if self.options.no_relevant == "skip":
            nobody = nobody | (self.prepared.relevant == 0)
        if self.options.missing_query == "skip":
            nobody = nobody | self.prepared.missing
        return nobody


def evaluate(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    metrics: str | Metric | Sequence[str | Metric] = DEFAULT_METRICS,
    cutoffs: int | str | Sequence[int | str | None] | None = DEFAULT_CUTOFFS,
    policies: str | Sequence[str] = ("expected", "naive", "shuffled"),
    shuffles: int = 100,
    seed: int = 0,
    no_relevant: str = "zero",
    relevant_from: float | None = None,
    distance_threshold: float | None = None,
    naive_order: str = "row",
    decimals: int | None = None,
    missing_query: str = "zero",
    unjudged: str | None = None,
    unjudged_query: str = "error",
    null_distance: str = "error",
    threads: int | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Score every ranked list: exact means over the orders inside ties, what a naive evaluator prints, and bounds.

    Parameters
    ----------
    rankings
        A rankings frame (one row an item: ``model``, ``query``, ``item``, ``distance`` or ``score``, ``relevance``)
        or a counts frame from :func:`count_ties`; Polars eager or lazy, pandas, PyArrow, DuckDB.
    judgements
        ``query``, ``item``, ``relevance`` of all judged items. They replace the rankings' relevance, and items judged
        but not retrieved count in R and in the ideal. Retrieved items without judgement have relevance 0.
    queries
        ``query`` and optional ``n_relevant`` (relevant items, retrieved or not; with binary relevance they count in
        the ideal too).
    metrics
        Records (``AP(denominator="retrieved")``) or text (``"ap(denominator=retrieved)"``, ``"ndcg@10"``).
    cutoffs
        Positive whole numbers; None or ``"all"`` is the whole list.
    policies
        ``expected`` (exact mean and standard deviation over all orders), ``naive`` (ties in the order received),
        ``shuffled`` (mean and standard deviation of ``shuffles`` random orders), ``best`` and ``worst`` (bounds).
    shuffles, seed
        Number of random orders and their seed; the draws depend on (seed, model, query, draw) alone.
    no_relevant
        "zero", "skip", "one" or "error": what a query without relevant item scores where the metric is undefined;
        ``skip`` leaves it out everywhere.
    relevant_from
        Grades from here on count as relevant; default: every grade above 0.
    distance_threshold
        Items farther away count as relevance 0 and keep their place.
    naive_order
        "row", "item" or "item_descending": the naive order inside ties is file order, or item ids ascending or
        descending (trec_eval).
    decimals
        Round distances first.
    missing_query
        "zero", "skip" or "error": what a query that a model has no rows for scores.
    unjudged
        "non_relevant", "drop" or "error": what happens to rows without relevance; by default they are an error, or
        not relevant when judgements are given.
    unjudged_query
        "error" or "skip": what happens to queries without any judgement.
    null_distance
        "error" or "not_retrieved": whether rows without distance are errors, or items known but not retrieved.
    threads
        Default: all processors. The result does not depend on it.
    progress
        Show a progress bar.

    Returns
    -------
    polars.DataFrame
        ``model``, ``query``, ``metric``, ``cutoff`` (null: whole list), ``policy``, ``value``, ``std`` (of the value
        under random tie order; null for naive, best and worst, and where no exact value is feasible), ``items``,
        ``n_relevant``; sorted by model and query. A value is null where the query was skipped.

    Raises
    ------
    RetrievalReportError
        A ValueError that names the rule, the place and the value.

    Examples
    --------
    Four items, the middle two tied; the naive score depends on which of them comes first.

    >>> import polars as pl
    >>> rankings = pl.DataFrame({
    ...     "query": ["q"] * 4, "item": list("abcd"), "distance": [0, 2, 2, 5], "relevance": [0, 1, 0, 1]})
    >>> scores = evaluate(rankings, metrics="rr", cutoffs=None, policies=("naive", "expected", "best", "worst"))
    >>> scores.select("policy", pl.col("value").round(4), pl.col("std").round(4))
    shape: (4, 3)
    ┌──────────┬────────┬────────┐
    │ policy   ┆ value  ┆ std    │
    │ ---      ┆ ---    ┆ ---    │
    │ str      ┆ f64    ┆ f64    │
    ╞══════════╪════════╪════════╡
    │ naive    ┆ 0.5    ┆ null   │
    │ expected ┆ 0.4167 ┆ 0.0833 │
    │ best     ┆ 0.5    ┆ null   │
    │ worst    ┆ 0.3333 ┆ null   │
    └──────────┴────────┴────────┘
    """
    options = Options(
        policies=policies,
        shuffles=shuffles,
        seed=seed,
        no_relevant=no_relevant,
        relevant_from=relevant_from,
        distance_threshold=distance_threshold,
        naive_order=naive_order,
        decimals=decimals,
        missing_query=missing_query,
        unjudged=unjudged,
        unjudged_query=unjudged_query,
        null_distance=null_distance,
        threads=threads,
        progress=progress,
    )
    run = _start(rankings, judgements, queries, metrics, cutoffs, options)
    values, spreads = [], []
    for policy in run.options.policies:
        if policy == "shuffled":
            scores = _shuffled_scores(run)
        else:
            scores = run.score(arrange(run.prepared, policy))
            if policy != "expected":
                scores = Scores(scores.value, np.full_like(scores.value, np.nan))
        values.append(scores.value)
        spreads.append(scores.std)
    return _scores_frame(run, np.stack(values, axis=2), np.stack(spreads, axis=2))


def shuffled_means(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    metrics: str | Metric | Sequence[str | Metric] = DEFAULT_METRICS,
    cutoffs: int | str | Sequence[int | str | None] | None = DEFAULT_CUTOFFS,
    **options: Any,
) -> pl.DataFrame:
    """Mean over the queries under every single random order of the ties: what repeated naive runs would print.

    Takes the arguments of :func:`evaluate`; ``policies`` has no effect.

    Returns
    -------
    polars.DataFrame
        ``model``, ``metric``, ``cutoff``, ``draw`` (from 0), ``value`` (plain mean over the model's queries).

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame({
    ...     "query": ["q"] * 4, "item": list("abcd"), "distance": [0, 2, 2, 5], "relevance": [0, 1, 0, 1]})
    >>> means = shuffled_means(rankings, metrics="rr", cutoffs=None, shuffles=4)
    >>> means["value"].round(4).to_list()
    [0.5, 0.3333, 0.5, 0.3333]
    """
    options["policies"] = ("shuffled",)
    run = _start(rankings, judgements, queries, metrics, cutoffs, Options(**options))
    models, code = np.unique(run.prepared.names["model"].to_numpy(), return_inverse=True)
    kept = ~run.left_out()
    size = np.bincount(code[kept], minlength=models.size)
    labels = [(str(metric), cutoff) for metric, own in run.requests for cutoff in own]
    means = np.zeros((models.size, len(labels), run.options.shuffles))
    undefined = run.undefined() if run.options.no_relevant == "one" else None
    for draw, values in _draws(run):
        if undefined is not None:
            values[undefined] = 1.0
        for model in range(models.size):
            mine = values[kept & (code == model)]
            means[model, :, draw] = mine.sum(axis=0) / size[model] if size[model] else np.nan
    draws = run.options.shuffles
    frame = pl.DataFrame(
        {
            "model": np.repeat(models, len(labels) * draws).tolist(),
            "metric": [name for name, _ in labels for _ in range(draws)] * models.size,
            "cutoff": [cutoff for _, cutoff in labels for _ in range(draws)] * models.size,
            "draw": np.tile(np.arange(draws), models.size * len(labels)),
            "value": means.ravel(),
        },
        schema={
            "model": pl.String,
            "metric": pl.String,
            "cutoff": pl.Int64,
            "draw": pl.Int64,
            "value": pl.Float64,
        },
    )
    return frame.with_columns(pl.col("value").fill_nan(None))


def _start(
    rankings: object, judgements: object, queries: object, metrics: object, cutoffs: object, options: Options
) -> _Run:
    """Check the arguments, then the data, before anything is computed."""
    requests = parse_metrics(metrics, cutoffs)
    prepared = prepare(rankings, judgements, queries, options)
    without = np.flatnonzero(prepared.relevant == 0)
    if without.size and options.no_relevant == "error":
        model, query = prepared.names.row(int(without[0]))
        raise DataError(
            f"{without.size} (model, query) pairs have no relevant item, first query {query!r} of model {model!r}; "
            "no_relevant='zero', 'skip' or 'one' says what they score"
        )
    if without.size and without.size == (prepared.relevant >= 0).sum():
        warnings.warn("no query has a relevant item", RetrievalReportWarning, stacklevel=3)
    run = _Run(prepared, requests, options)
    warn_steep([metric for metric, _ in requests], prepared.grades, stacklevel=4)
    return run


def _draws(run: _Run) -> Iterator[tuple[int, Floats]]:
    """Scores (lists, columns) under every drawn order."""
    prepared, options = run.prepared, run.options
    limit = np.maximum(run.scorer.depths.max(axis=1, initial=0), run.deep_scorer.depths[:, 0] if run.deep else 0)
    keys = _list_keys(prepared, options.seed)
    drawn = _drawn_lists(prepared.ties, limit)
    arrangement = Arrangement(drawn, drawn, None, False)
    steps = tqdm(range(options.shuffles), desc="shuffles", disable=not options.progress, leave=False)
    for draw in steps:
        shuffling.draw_orders(0, limit.size, prepared.ties, limit, keys, draw, drawn.start, drawn.grade)
        yield draw, run.score(arrangement).value


def _list_keys(prepared: Prepared, seed: int) -> NDArray[np.uint64]:
    keys = np.empty(prepared.names.height, np.uint64)
    names = prepared.names
    shuffling.list_keys(np.uint64(int(seed) % 2**64), keys_of(names["model"]), keys_of(names["query"]), keys)
    return keys


def _drawn_lists(ties: Lists, limit: Integers) -> Lists:
    """Lists whose mixed ties are laid out slot by slot, up to the deepest cutoff; draws fill in the grades."""
    start = np.zeros(ties.start.size, np.int64)
    cells = shuffling.draw_layout(ties, limit, start, np.empty(0, np.int32), np.empty(0, np.int64), False)
    grade, count = np.empty(cells, np.int32), np.empty(cells, np.int64)
    shuffling.draw_layout(ties, limit, start, grade, count, True)
    return Lists(start, np.arange(cells + 1), grade, count)


def _shuffled_scores(run: _Run) -> Scores:
    """Mean and sample standard deviation of the drawn scores, summed as differences from the first draw."""
    first = total = square = np.zeros((0, 0))
    for draw, values in _draws(run):
        if draw == 0:
            first, total, square = values, np.zeros_like(values), np.zeros_like(values)
        total = total + (values - first)
        square = square + (values - first) ** 2
    draws = run.options.shuffles
    if draws == 1:
        return Scores(first, np.full_like(first, np.nan))
    variance = np.maximum(square - total**2 / draws, 0.0) / (draws - 1)
    return Scores(first + total / draws, np.sqrt(variance))


def _scores_frame(run: _Run, values: Floats, spreads: Floats) -> pl.DataFrame:
    """The long frame: a row for every list, metric, cutoff and policy."""
    prepared, policies = run.prepared, run.options.policies
    labels = [(str(metric), cutoff) for metric, own in run.requests for cutoff in own]
    undefined = run.undefined() if run.options.no_relevant == "one" else None
    if undefined is not None:
        values[undefined] = 1.0
        spreads[undefined] = np.where(np.isnan(spreads[undefined]), np.nan, 0.0)
    left_out = run.left_out()
    values[left_out], spreads[left_out] = np.nan, np.nan
    lists, width = prepared.names.height, len(labels) * len(policies)
    columns = pl.DataFrame(
        {
            "metric": [name for name, _ in labels for _ in policies],
            "cutoff": [cutoff for _, cutoff in labels for _ in policies],
            "policy": list(policies) * len(labels),
        },
        schema={name: SCORES[name] for name in ("metric", "cutoff", "policy")},
    )
    facts = prepared.names.with_columns(
        items=pl.Series(prepared.length, dtype=pl.Int64),
        n_relevant=pl.Series(prepared.relevant, dtype=pl.Int64),
    ).with_columns(pl.when(pl.col("n_relevant") >= 0).then(pl.col("n_relevant")))
    which = np.repeat(np.arange(lists), width)
    frame = pl.concat(
        [
            facts.select("model", "query")[which],
            columns[np.tile(np.arange(width), lists)],
            pl.DataFrame({"value": values.ravel(), "std": spreads.ravel()}).fill_nan(None),
            facts.select("items", "n_relevant")[which],
        ],
        how="horizontal",
    )
    return frame.select(list(SCORES))

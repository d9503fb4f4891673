"""Score or count rankings, with the engine that suits them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import polars as pl

from retrieval_report.contracts.arguments import Names, quoted
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import (
    EvaluateOptions,
    Options,
    ScoringOptions,
    answering_other_words,
    options_with,
)
from retrieval_report.contracts.wording import Without, speaking_to
from retrieval_report.engines.disk import collect_counts, collect_scores
from retrieval_report.engines.score_parts import score_part
from retrieval_report.metrics.parsing import Cutoffs, Metrics, parse_metrics
from retrieval_report.reading.finding import is_streamed
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.run import score_with_means, start
from retrieval_report.scoring.scorer import Scored
from retrieval_report.scoring.ties import count_rows


@answering_other_words
def evaluate(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    measures: Metrics = None,
    cutoffs: Cutoffs = None,
    policies: Names = ("expected", "shuffled", "naive"),
    shuffles: int = 10,
    seed: int = 0,
    no_relevant: str = "zero",
    relevant_from: float | None = None,
    distance_threshold: float | None = None,
    naive_order: str = "row",
    decimals: int | None = None,
    missing_query: str = "zero",
    unjudged: str | None = None,
    unjudged_query: str = "error",
    repeated_judgements: str = "error",
    null_distance: str = "error",
    exclude_self: bool = False,
    truncated: str | Mapping[str, str] = "auto",
    relevant_items: str = "pooled",
    threads: int | None = None,
    progress: bool = False,
    metrics: Metrics = None,
) -> pl.DataFrame:
    """Score every ranked list: the exact mean over all tie orders, the value a naive evaluator
    prints, and bounds.

    Parameters
    ----------
    rankings
        A rankings frame (one row per item: ``model``, ``query``, ``item``, ``distance`` or
        ``score``, ``relevance``) or a counts frame from :func:`count_ties`, from Polars, pandas,
        PyArrow or DuckDB. Or files (a path, a glob, a folder, or a list of them) in any format of
        :func:`read_rankings`. If all of them are Parquet or Arrow, they need not fit in memory, nor
        does a Polars LazyFrame.
    judgements
        ``query``, ``item``, ``relevance`` of all judged items. They replace the rankings'
        relevance, and items judged but not retrieved count in R and in the ideal. Retrieved items
        without judgement have relevance 0.
    queries
        ``query`` and optionally ``n_relevant`` (relevant items, retrieved or not). In the ideal of
        graded lists, those not retrieved have the lowest relevant grade of their list. With
        judgements, which determine R themselves, ``n_relevant`` has no effect. It counts at the
        level of relevance asked for; or, with a column ``n_relevant_from``, from that relevance on:
        at other levels, R is that of the items known.
    measures
        Records (``AP(denominator="retrieved")``) or text (``"ap(denominator=retrieved)"``,
        ``"ndcg@10"``); by default ndcg@10, precision@10, recall@10 and ap.
    cutoffs
        Cutoffs of metrics that are given without one: positive whole numbers; None in a list, or
        ``"all"``, means the whole list. By default, a metric without a cutoff is that of the whole
        list. Without ``measures``, the default measures at these cutoffs.
    policies
        ``expected`` (exact mean and standard deviation over all orders), ``naive`` (ties in the
        order received), ``shuffled`` (mean and standard deviation of ``shuffles`` random orders,
        which take the time of as many evaluations), ``best`` and ``worst`` (bounds).
    shuffles, seed
        Number of random orders and their seed; draws depend only on (seed, model, query, draw).
    no_relevant
        "zero", "skip", "one" or "error": the score of a query without relevant items if the metric
        is undefined for it; ``skip`` leaves it out of all metrics. A query for which a model has no
        rows counts as ``missing_query`` says, unless judgements or ``n_relevant`` show that nothing
        is relevant.
    relevant_from
        Smallest grade that counts as relevant; by default every grade above 0.
    distance_threshold
        Items farther away keep their rank but have relevance 0; without judgements they do not
        count in R either.
    naive_order
        "row", "item" or "item_descending": the naive order inside ties is file order, or ascending
        or descending item ids (trec_eval's order, for text ids).
    decimals
        Number of decimals to which distances are rounded first.
    missing_query
        "zero", "skip" or "error": the score of a query for which a model has no rows.
    unjudged
        "non_relevant", "drop" or "error": what happens to rows without relevance; by default they
        are an error, or not relevant when judgements are given.
    unjudged_query
        "error" or "skip": what happens to queries without any judgement.
    repeated_judgements
        Different grades of one item of a query: ``error`` refuses them, ``highest`` and ``mean``
        take the highest or the mean. The same grade twice is one judgement.
    null_distance
        "error" or "not_retrieved": whether rows without distance are errors, or items known but not
        retrieved.
    exclude_self
        Whether items whose id is that of the query leave its list and its judgements, as BEIR's
        ``ignore_identical_ids`` does, for data in which every query is a document too. What
        follows moves up one rank.
    truncated
        Whether lists were cut, as top-k lists are: "no" (they hold all items, or all candidates
        that were to be ranked), "between_ties" (items may follow the last tie), "within_tie" (items
        of the last tie may be missing too), or "auto": "no" where counts say so, or where all lists
        of a model (two or more) hold the same items, each perhaps without its own query, and no
        other item is known (relevant, or retrieved by another model); else "within_tie". A mapping
        of models to these words is accepted too.
    relevant_items
        "pooled", "own" or "error": without judgements and ``n_relevant``, the relevant items of a
        query are those that any model retrieved, or those in the model's own list, or they are
        unknown, which is an error.
    threads
        Number of threads; by default all processors. The result does not depend on it.
    progress
        Whether to show a progress bar.
    metrics
        Another name for ``measures``.

    Returns
    -------
    polars.DataFrame
        ``model``, ``query``, ``metric``, ``cutoff`` (null: whole list), ``policy``, ``value``,
        ``std`` (of the value under random tie order; null for naive, best and worst, and where no
        exact value is feasible), ``items``, ``n_relevant``, ``truncated`` (the score depends on
        what truncation of its list leaves open) and ``pooled`` (``n_relevant`` counts what models
        retrieved in cut lists; the true number may be larger); sorted by model and query. A value
        is null if the query was skipped.

    Raises
    ------
    RetrievalReportError
        A ValueError that names the rule, the location and the value.

    Notes
    -----
    If a list was cut, a score whose cutoff ends before the last tie begins is exact, whatever
    follows. One that reaches further is ``truncated``: ``worst`` and ``best`` are then the extremes
    over every completion of the list (any number of further items at its last distance, of any
    relevance that the judgements, ``n_relevant`` or the grades seen still allow, in every order;
    null if nothing bounds them), ``std`` is null, and ``expected`` is the mean over the orders of
    the given rows. That is an estimate: unbiased for sums over positions (precision, recall, DCG)
    if the engine broke the cut tie at random, of unknown bias otherwise, and too low at a cutoff of
    null, which reaches beyond the list, if relevant items are missing.

    For files and a LazyFrame, only about two million rows (and the rows of the largest query) are
    in memory at a time, so only the scores must fit, at about 100 bytes each. :func:`evaluate_to`
    writes them to a file instead. A LazyFrame is computed once. From two million rows on, rows are
    first copied to a temporary folder ($TMPDIR), query by query, unless those of a query already
    stand together. Errors in rows are then found part by part, and their counts refer to one part.
    Files without a column ``model`` are one model each, named after the file;
    ``pl.scan_parquet("folder/*.parquet")`` treats them as shards of one.

    Examples
    --------
    Of four items the middle two are tied; the naive score depends on which of them comes first.

    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> scores = evaluate(
    ...     rankings, measures="rr", cutoffs=None, policies=("naive", "expected", "best", "worst")
    ... )
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
        repeated_judgements=repeated_judgements,
        null_distance=null_distance,
        exclude_self=exclude_self,
        truncated=truncated,
        relevant_items=relevant_items,
        threads=threads,
        progress=progress,
    )
    requests = parse_metrics(measures, cutoffs, metrics)
    if is_streamed(rankings):
        return collect_scores(rankings, judgements, queries, requests, options).frame()
    return score_part(rankings, judgements, queries, requests, options).frame()


@answering_other_words
def shuffled_means(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    measures: Metrics = None,
    cutoffs: Cutoffs = None,
    metrics: Metrics = None,
    **options: Unpack[EvaluateOptions],
) -> pl.DataFrame:
    """Return the mean over queries under every single random tie order, as repeated naive runs
    would print it.

    The arguments are those of :func:`evaluate`, except files; ``policies`` has no effect.

    Returns
    -------
    polars.DataFrame
        ``model``, ``metric``, ``cutoff``, ``draw`` (from 0), ``value`` (plain mean over the model's
        queries).

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> means = shuffled_means(rankings, measures="rr", cutoffs=None, shuffles=4)
    >>> means["value"].round(4).to_list()
    [0.3333, 0.5, 0.3333, 0.5]
    """
    draw_options = options_with(options, policies="shuffled")
    judged = judge(rankings, judgements, queries, draw_options)
    requests = parse_metrics(measures, cutoffs, metrics)
    return score_with_means(start(judged, requests, draw_options), requests)[1]


def evaluate_with_draws(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    measures: Metrics = None,
    cutoffs: Cutoffs = None,
    policies: Names = ("expected", "naive", "shuffled"),
    metrics: Metrics = None,
    **options: Unpack[ScoringOptions],
) -> Scored:
    """Return :func:`evaluate` and :func:`shuffled_means` of the same drawn orders.

    The arguments are those of :func:`evaluate`; the policies must include "shuffled". A lazy frame
    is read into memory; files are not accepted, but :func:`read_rankings` reads them.

    Raises
    ------
    RetrievalReportError
        As for :func:`evaluate`, and for policies without "shuffled".

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> scores, means = evaluate_with_draws(
    ...     rankings, measures="rr", cutoffs=None, policies="shuffled", shuffles=4
    ... )
    >>> scores["value"].round(4).to_list(), means["value"].round(4).to_list()
    ([0.4167], [0.3333, 0.5, 0.3333, 0.5])
    """
    settings = Options(policies=policies, **options)
    if "shuffled" not in settings.policies:
        raise ParameterError(
            f"policies: 'shuffled' is needed, not {quoted(settings.policies)} alone"
        )
    judged = judge(rankings, judgements, queries, settings)
    return score_with_draws(
        judged, measures=measures, cutoffs=cutoffs, metrics=metrics, policies=policies, **options
    )


def score_with_draws(
    judged: Judged,
    *,
    measures: Metrics = None,
    cutoffs: Cutoffs = None,
    metrics: Metrics = None,
    weights: pl.DataFrame | None = None,
    **options: Any,
) -> Scored:
    """Return what :func:`evaluate_with_draws` does of judged rankings; with ``weights`` (``model``,
    ``query``, ``metric``, ``cutoff``, ``weight``) means are weighted.
    """
    requests = parse_metrics(measures, cutoffs, metrics)
    scores, means = score_with_means(start(judged, requests, Options(**options)), requests, weights)
    return scores.frame(), means


def count_ties(rankings: object) -> pl.DataFrame:
    """Count items by model, query, distance and relevance.

    All policies except naive need nothing else. Counts of parts of the items add up to the counts
    of the whole, so lists may be scored from shards. Rankings of several models must be counted
    together: only then do the counts tell R of every query, by what each model lacks of the
    relevant items that the others retrieved.

    Parameters
    ----------
    rankings
        A rankings frame, or a counts frame whose equal rows are to be added up; or files or a
        Polars LazyFrame, as for :func:`evaluate`.

    Returns
    -------
    polars.DataFrame
        ``model``, ``query``, ``distance`` or ``score``, ``relevance``, ``count``, sorted by the
        first four; of several models also ``retrieved``: true, or false for relevant items of the
        query that other models retrieved and this one did not, without distance.

    Examples
    --------
    >>> import polars as pl
    >>> count_ties(
    ...     pl.DataFrame(
    ...         {
    ...             "query": ["q"] * 4,
    ...             "item": list("abcd"),
    ...             "distance": [0, 2, 2, 2],
    ...             "relevance": [0, 1, 0, 1],
    ...         }
    ...     )
    ... )
    shape: (3, 5)
    ┌───────┬───────┬──────────┬───────────┬───────┐
    │ model ┆ query ┆ distance ┆ relevance ┆ count │
    │ ---   ┆ ---   ┆ ---      ┆ ---       ┆ ---   │
    │ str   ┆ str   ┆ i64      ┆ i64       ┆ i64   │
    ╞═══════╪═══════╪══════════╪═══════════╪═══════╡
    │ model ┆ q     ┆ 0        ┆ 0         ┆ 1     │
    │ model ┆ q     ┆ 2        ┆ 0         ┆ 1     │
    │ model ┆ q     ┆ 2        ┆ 1         ┆ 2     │
    └───────┴───────┴──────────┴───────────┴───────┘
    """
    with speaking_to(Without("judgements")):
        return collect_counts(rankings) if is_streamed(rankings) else count_rows(rankings)

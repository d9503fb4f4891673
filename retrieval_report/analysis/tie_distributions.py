"""What few tied lists score under every tie order, where that decides which of two models is shown first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import polars as pl

from retrieval_report.analysis.inputs import Grid, check_scores
from retrieval_report.analysis.rows import told_once
from retrieval_report.analysis.tie_chance import DISTRIBUTIONS, undecided
from retrieval_report.arguments import check_whole
from retrieval_report.every_order import OrderScores, score_orders
from retrieval_report.metrics import Metric
from retrieval_report.needs import FirstRelevant, Need, Relevant, Sum, Unit
from retrieval_report.options import Options
from retrieval_report.parsing import DEFAULT_CUTOFFS, DEFAULT_METRICS, Requests, parse_metrics
from retrieval_report.reading.frames import to_polars
from retrieval_report.schema import with_model

__all__ = ["tie_distributions"]

DRAWS = 1_000  # they tell a chance of a half to about 0.01


def tie_distributions(
    scores: object,
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    metrics: str | Metric | Sequence[str | Metric] = DEFAULT_METRICS,
    cutoffs: int | str | Sequence[int | str | None] | None = DEFAULT_CUTOFFS,
    seed: int = 0,
    draws: int = DRAWS,
    **options: Any,
) -> pl.DataFrame:
    """Tell what each list scores under every tie order, for the pairs of models that few tied queries decide.

    A mean over many tied queries is nearly normal, so that its exact standard deviation tells how probable a reversal
    is. Where under 30 queries of a pair are tied :func:`compare` needs the distributions themselves, which these are.
    Pairs that no order can reverse need none (best and worst have to be among the scores for that to be known).

    Parameters
    ----------
    scores
        What :func:`evaluate` returned, with policy expected.
    rankings, judgements, queries, metrics, cutoffs, **options
        What it was given.
    seed, draws
        Of the orders drawn, those of :func:`shuffled_means`, for lists with more than 2000 orders that differ.

    Returns
    -------
    polars.DataFrame
        A row for each ``model``, ``query``, ``metric``, ``cutoff`` and ``value``: its ``probability``, and ``method``
        ("exact" or "draws"). No rows where no pair needs them.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import compare, evaluate
    >>> rankings = pl.DataFrame({
    ...     "model": ["coarse"] * 3 + ["fine"] * 3, "query": ["q"] * 6, "item": list("abc") * 2,
    ...     "distance": [1, 1, 1, 2, 1, 3], "relevance": [1, 0, 0] * 2})
    >>> asked = {"metrics": "rr", "cutoffs": None}
    >>> scores = evaluate(rankings, **asked, policies="expected")
    >>> orders = tie_distributions(scores, rankings, **asked)
    >>> orders.select("model", "query", pl.col("value", "probability").round(4)).rows()
    [('coarse', 'q', 0.3333, 0.3333), ('coarse', 'q', 0.5, 0.3333), ('coarse', 'q', 1.0, 0.3333)]
    >>> compare(scores, distributions=orders).select(pl.col("p_tie").round(4), "p_tie_method").row(0)
    (0.3333, 'exact')
    """
    check_whole("draws", draws, 1)
    # Lists that no pair needs are not there, which is no fault of the rankings.
    checked = Options(seed=seed, **{**options, "policies": ("expected",), "missing_query": "zero"})
    grid = Grid.of(check_scores(scores))
    wanted = {
        (metric, cutoff): set(undecided(grid, place))
        for place, (metric, cutoff, policy) in enumerate(grid.places)
        if policy == "expected"
    }
    frame = with_model(to_polars(rankings, "rankings"))
    told = {"judgements": judgements, "queries": queries}
    others = {name: None if part is None else to_polars(part, name) for name, part in told.items()}
    schema = {**DISTRIBUTIONS, "query": frame.schema.get("query", pl.String)}
    parts = [pl.DataFrame(schema=schema)]
    for requests in _alike(parse_metrics(metrics, cutoffs)):
        asked = [(str(metric), cutoff) for metric, own in requests for cutoff in own]
        lists = set().union(*(wanted.get(place, set()) for place in asked))
        if not lists:
            continue
        own = pl.DataFrame(list(lists), schema={"model": pl.String, "query": schema["query"]}, orient="row")
        given = {
            name: None if part is None else part.join(own, on="query", how="semi") for name, part in others.items()
        }
        with told_once():
            rows = frame.join(own, on=["model", "query"], how="semi", maintain_order="left")
            found = score_orders(rows, given["judgements"], given["queries"], requests, checked, draws)
        for one in found:
            parts += [
                _rows(one, number, place, schema)
                for number, place in enumerate(asked)
                if (one.model, one.query) in wanted.get(place, ())
            ]
    return pl.concat(parts).sort("metric", "cutoff", "model", "query", "value")


def _alike(requests: Requests) -> list[Requests]:
    """Metrics that are made of the same sums of the same places, and so tell the same orders apart, together."""
    groups: defaultdict[tuple[object, bool, int | None], Requests] = defaultdict(list)
    for metric, cutoffs in requests:
        for cutoff in cutoffs:
            groups[_kind(metric.need), metric.own_depth, None if metric.own_depth else cutoff].append(
                (metric, (cutoff,))
            )
    return list(groups.values())


def _kind(need: Need) -> object:
    """What sets metrics apart whose distributions have closed forms; all others share their orders."""
    hits = isinstance(need, Sum) and isinstance(need.values, Relevant) and isinstance(need.weights, Unit)
    return need if hits or isinstance(need, FirstRelevant) else None


def _rows(scores: OrderScores, column: int, place: tuple[str, int | None], schema: dict[str, Any]) -> pl.DataFrame:
    """The distribution of one list's score, in the columns of all."""
    metric, cutoff = place
    told = {"model": scores.model, "query": scores.query, "metric": metric, "cutoff": cutoff}
    told["draws"] = None if scores.exact else scores.chance.size
    found = scores.distribution(column).with_columns(pl.lit(value).alias(name) for name, value in told.items())
    return found.select(pl.col(name).cast(dtype) for name, dtype in schema.items())

"""What all orders that the ties of one list allow score, and how probable each score is."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.analysis.inputs import DIGITS
from retrieval_report.analysis.orders import list_ties, one_list
from retrieval_report.analysis.rows import told_once
from retrieval_report.arguments import check_whole
from retrieval_report.evaluation import evaluate, shuffled_means
from retrieval_report.metrics import Metric
from retrieval_report.parsing import parse_metrics

__all__ = ["DISTRIBUTION", "order_scores"]

DISTRIBUTION = {"value": pl.Float64, "probability": pl.Float64, "method": pl.String, "orders": pl.Int64}
MOST_ORDERS = 2_000  # told apart one by one; beyond that orders are drawn
MOST_ROWS = 400_000  # of all those lists together
DRAWS = 2_000
OWN_OPTIONS = ("shuffles", "policies", "progress")  # that the way of computing decides
Whole = NDArray[np.intp]
Floats = NDArray[np.float64]


def order_scores(
    rankings: object,
    *,
    model: str,
    query: object,
    metric: str | Metric,
    cutoff: int | None = None,
    judgements: object = None,
    queries: object = None,
    seed: int = 0,
    draws: int = DRAWS,
    **options: Any,
) -> pl.DataFrame:
    """Tell which scores the tie order can give one list, and how probable each is.

    Where at most 2000 orders differ in the relevances that the metric sees, all are scored and weighted by the share
    of orders that they stand for; else so many orders are drawn, those of :func:`shuffled_means`.

    Parameters
    ----------
    rankings, judgements, queries
        As for :func:`evaluate`; counts frames are refused.
    model, query
        Whose list.
    metric, cutoff
        One metric; None is the whole list.
    seed, draws
        Of the drawn orders, where there are too many.
    **options
        Those of :func:`evaluate`.

    Returns
    -------
    polars.DataFrame
        A row for every score (equal to 12 digits), rising: ``value``, ``probability``, ``method`` ("exact" or
        "draws"), ``orders`` (told apart, or drawn). No rows where the query is left out or has no list.

    Examples
    --------
    One relevant item among four that tie: it is as probable in each of the places.

    >>> rankings = {"query": ["q"] * 4, "item": list("abcd"), "distance": [1] * 4, "relevance": [1, 0, 0, 0]}
    >>> scores = order_scores(rankings, model="model", query="q", metric="rr", cutoff=2)
    >>> scores.rows()
    [(0.0, 0.5, 'exact', 3), (0.5, 0.25, 'exact', 3), (1.0, 0.25, 'exact', 3)]
    """
    check_whole("draws", draws, 1)
    asked: dict[str, Any] = {"metrics": metric, "cutoffs": cutoff}
    parsed, (depth,) = parse_metrics(metric, cutoff)[0]
    frame, given = one_list(rankings, model, query, judgements, queries)
    if not frame.height:
        return pl.DataFrame(schema=DISTRIBUTION)
    rows = list_ties(frame, model=model, query=query, **given, **options)
    options = {name: value for name, value in options.items() if name not in OWN_OPTIONS}
    asked |= {**given, **options}
    with told_once():
        if not rows.height:  # no item of the list is ranked: there is one order of none
            return _distribution(evaluate(frame, **asked, policies="expected")["value"], np.ones(1), "exact")
        known = _every_order(rows, None if parsed.own_depth else depth)
        if known is None:
            means = shuffled_means(frame, **asked, seed=seed, shuffles=draws)
            return _distribution(means["value"], np.full(draws, 1 / draws), "draws")
        places, chance = known
        values = _scored(frame, rows, places, {**asked, "naive_order": "row"})
    return _distribution(values, chance, "exact")


def _every_order(rows: pl.DataFrame, depth: int | None) -> tuple[Whole, Floats] | None:
    """The place of every row in all orders that a metric down to ``depth`` tells apart, and their probabilities.

    None where there are too many. Rows of one tie and one relevance are interchangeable and keep their order.
    """
    places = (rows["tie_start"].to_numpy() - 1 + _numbers_within(rows, "tie"))[None, :].astype(np.intp)
    chance = np.ones(1)
    most = min(MOST_ORDERS, max(1, MOST_ROWS // rows.height))
    for (start,), tie in rows.with_row_index("at").group_by("tie_start", maintain_order=True):
        slots = tie.height if depth is None else min(tie.height, depth - int(start) + 1)
        if slots < 1 or tie["relevance"].n_unique() == 1:
            continue
        tie = tie.sort("relevance", maintain_order=True)
        found = _arrangements(tie.group_by("relevance", maintain_order=True).len()["len"].to_numpy(), slots, most)
        if found is None or found[1].size * chance.size > most:
            return None
        taken, share = found
        places = np.repeat(places, share.size, axis=0)
        # The rows by rising relevance go, one after the other, to the next slot that wants their relevance.
        own = np.argsort(taken, axis=1, kind="stable") + int(start) - 1
        places[:, tie["at"].to_numpy()] = np.tile(own, (chance.size, 1))
        chance = np.repeat(chance, share.size) * np.tile(share, chance.size)
    return places, chance


def _numbers_within(rows: pl.DataFrame, group: str) -> NDArray[np.int64]:
    return rows.select(pl.int_range(pl.len()).over(group)).to_series().to_numpy()


def _arrangements(count: Whole, slots: int, most: int) -> tuple[Whole, Floats] | None:
    """Ways to deal kinds of which there are ``count`` each, that differ in the first ``slots``, and their probability.

    >>> _arrangements(np.array([2, 1]), 1, 10)
    (array([[0, 0, 1],
           [1, 0, 0]]), array([0.66666667, 0.33333333]))
    """
    left, chance = count[None, :].astype(np.intp), np.ones(1)
    taken = np.empty((1, int(count.sum())), np.intp)
    for slot in range(slots):
        parent, kind = np.nonzero(left)
        if parent.size > most:
            return None
        chance = chance[parent] * left[parent, kind] / left[parent].sum(axis=1)
        taken, left = taken[parent], left[parent]
        taken[:, slot] = kind
        left[np.arange(kind.size), kind] -= 1
    for number, rest in enumerate(left):
        taken[number, slots:] = np.repeat(np.arange(count.size), rest)
    return taken, chance


def _scored(frame: pl.DataFrame, rows: pl.DataFrame, places: Whole, asked: dict[str, Any]) -> pl.Series:
    """The score of the list in each of some orders: as many models of the same items."""
    orders = places.shape[0]
    at = pl.DataFrame({"item": rows["item"], "at": pl.int_range(rows.height, eager=True)})
    listed = frame.drop("row", strict=False).join(at, on="item", how="left", maintain_order="left")
    known = listed["at"].fill_null(0).to_numpy()
    place = np.where(listed["at"].is_null().to_numpy(), rows.height, places[:, known])
    width = len(str(orders))
    names = pl.Series([str(number).zfill(width) for number in range(orders)])
    copies = pl.concat([listed.drop("at", "model")] * orders).with_columns(
        model=names.gather(np.repeat(np.arange(orders), listed.height)), row=pl.Series(place.ravel())
    )
    return evaluate(copies, **{**asked, "policies": "naive"}).sort("model")["value"]


def _distribution(values: pl.Series, chance: Floats, method: str) -> pl.DataFrame:
    """Equal scores put together."""
    frame = pl.DataFrame({"value": values.round(DIGITS), "probability": chance}).drop_nulls()
    grouped = frame.sort("value").group_by("value", maintain_order=True).agg(pl.col("probability").sum())
    return grouped.with_columns(method=pl.lit(method), orders=pl.lit(len(values), dtype=pl.Int64))

"""Numbers that no study holds, by the same rules: single lists and cut ties."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import polars as pl

import retrieval_report as rr
from cached import remember
from records import SIDEBAR, Choice, Data
from retrieval_report.ties.distributions import score_distribution
from retrieval_report.ties.orders import drawn_order, lists_of_query, ranking_ties
from retrieval_report.ties.profile import ties_at_cutoff

Id = str | int


class Drawn(NamedTuple):
    """One list in the order of one draw, and the score that an evaluator would print for this
    order.
    """

    rows: pl.DataFrame
    score: float | None


@remember(64)
def ranked(data: Data, choice: Choice, model: str, query: Id) -> pl.DataFrame:
    """Return one list as from `ranking_ties`, in the order received."""
    return ranking_ties(**data.frames, model=model, query=query, **choice.rules.of(SIDEBAR))


@remember(64)
def drawn(data: Data, choice: Choice, model: str, query: Id, draw: int) -> Drawn:
    """Return one list in the order of draw number ``draw`` of the chosen seed, and its score."""
    rows = drawn_order(ranked(data, choice, model, query), draw=draw, seed=choice.draws.seed)
    if rows.is_empty():
        return Drawn(rows, None)
    # Scored as received except for the order: rows that a rule leaves out of the list still count
    # in R. The lists of other models may determine what is relevant.
    received, given = lists_of_query(**data.frames, query=query)
    places = rows.select("item", "row", model=pl.lit(model))
    listed = received.drop("row", strict=False).join(places, on=["model", "item"], how="left")
    listed = listed.with_columns(pl.col("row").fill_null(rows.height))
    asked: dict[str, Any] = {
        "metrics": choice.metric,
        "cutoffs": [choice.cutoff],
        "policies": "naive",
    }
    scores = rr.evaluate(listed, **given, **asked, **choice.rules.of(SIDEBAR)).filter(model=model)
    return Drawn(rows, scores["value"][0])


@remember(64)
def distribution(data: Data, choice: Choice, model: str, query: Id) -> pl.DataFrame:
    """Return the result of `score_distribution` for one list and the chosen measure."""
    asked: dict[str, Any] = {**choice.at, "seed": choice.draws.seed, **choice.rules.of(SIDEBAR)}
    return score_distribution(**data.frames, model=model, query=query, **asked)


def of_models(function: Callable[..., pl.DataFrame]) -> Callable[..., pl.DataFrame]:
    """Cache a frame for all models, whichever are chosen, and return the rows of the chosen
    ones.
    """
    whole = remember(32)(function)

    @wraps(function)
    def chosen(data: Data, choice: Choice, *given: Any) -> pl.DataFrame:
        return whole(data, choice.of_list, *given).filter(pl.col("model").is_in(choice.models))

    return chosen


@of_models
def cuts(data: Data, choice: Choice) -> pl.DataFrame:
    """Return the result of `ties_at_cutoff`; the choice has a cutoff."""
    asked: dict[str, Any] = {"cutoff": choice.cutoff, **choice.rules.of(SIDEBAR)}
    return ties_at_cutoff(**data.frames, **asked)

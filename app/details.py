"""Numbers that no study holds, by the same rules: single lists, cut ties and rounded distances."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

import retrieval_report as rr
from cached import at_cutoff, remember, study_of
from records import Choice, Data, Rules
from retrieval_report.analysis.orders import drawn_order, lists_of_query, ranking_ties
from retrieval_report.analysis.profile import tie_profile
from retrieval_report.analysis.rounding import rounding_effect
from retrieval_report.analysis.score_distribution import score_distribution
from retrieval_report.analysis.ties_at_cutoff import ties_at_cutoff

Id = str | int
Measure = tuple[str, int | None]


class Drawn(NamedTuple):
    """One list in the order of one draw, and the score that an evaluator would print for this order."""

    rows: pl.DataFrame
    score: float | None


@remember(64)
def ranked(data: Data, choice: Choice, model: str, query: Id) -> pl.DataFrame:
    """Return one list as from `ranking_ties`, in the order received."""
    return ranking_ties(**data.frames, model=model, query=query, **choice.rules._asdict())


@remember(64)
def drawn(data: Data, choice: Choice, model: str, query: Id, draw: int) -> Drawn:
    """Return one list in the order of draw number ``draw`` of the chosen seed, and its score."""
    rows = drawn_order(ranked(data, choice, model, query), draw=draw, seed=choice.draws.seed)
    if rows.is_empty():
        return Drawn(rows, None)
    # Scored as received except for the order: rows that a rule leaves out of the list still count in R.
    # The lists of other models may determine what is relevant.
    received, given = lists_of_query(**data.frames, query=query)
    places = rows.select("item", "row", model=pl.lit(model))
    listed = received.drop("row", strict=False).join(places, on=["model", "item"], how="left")
    listed = listed.with_columns(pl.col("row").fill_null(rows.height))
    asked: dict[str, Any] = {"metrics": choice.metric, "cutoffs": [choice.cutoff], "policies": "naive"}
    scores = rr.evaluate(listed, **given, **asked, **choice.rules._asdict()).filter(model=model)
    return Drawn(rows, scores["value"][0])


@remember(64)
def distribution(data: Data, choice: Choice, model: str, query: Id) -> pl.DataFrame:
    """Return the result of `score_distribution` for one list and the chosen measure."""
    asked: dict[str, Any] = {**choice.at, "seed": choice.draws.seed, **choice.rules._asdict()}
    return score_distribution(**data.frames, model=model, query=query, **asked)


@remember(16)
def _cuts(data: Data, rules: Rules, cutoff: int) -> pl.DataFrame:
    return ties_at_cutoff(**data.frames, cutoff=cutoff, relevant_from=rules.relevant_from, **rules.of_rows)


def cuts(data: Data, choice: Choice) -> pl.DataFrame:
    """Return the result of `ties_at_cutoff` for the chosen models; no rows for whole lists."""
    if choice.cutoff is None:
        return pl.DataFrame()
    return _cuts(data, choice.rules, choice.cutoff).filter(pl.col("model").is_in(choice.models))


@remember(32)
def _rounded(data: Data, rules: Rules, measure: Measure, decimals: int, average: str) -> pl.DataFrame:
    metric, cutoff = measure
    asked: dict[str, Any] = {"metrics": metric, "cutoffs": [cutoff], "policies": "expected", **rules._asdict()}
    return rr.summarise(rr.evaluate(**data.frames, decimals=decimals, **asked), queries=data.queries, average=average)


def rounding(data: Data, choice: Choice, decimals: int) -> pl.DataFrame:
    """Return the result of `rounding_effect` for the chosen models and measure."""
    rounded = _rounded(data, choice.rules, (choice.metric, choice.cutoff), decimals, choice.average)
    received = study_of(data, choice).at(choice.measure).under("expected").summary
    return rounding_effect(received, rounded.filter(pl.col("model").is_in(choice.models)))


@remember(16)
def _rounded_ties(data: Data, rules: Rules, cutoff: int | None, decimals: int) -> pl.DataFrame:
    return tie_profile(**data.frames, cutoffs=[cutoff], decimals=decimals, **rules.of_rows)


def rounded_ties(data: Data, choice: Choice, decimals: int) -> pl.DataFrame:
    """Return the result of `tie_profile` for the chosen models, rounded distances and the chosen cutoff."""
    found = _rounded_ties(data, choice.rules, choice.cutoff, decimals)
    return at_cutoff(found.filter(pl.col("model").is_in(choice.models)), choice)


def whole_distances(data: Data) -> bool:
    """Return whether distances or scores have an integer type, which rounding does not change."""
    order = "distance" if "distance" in data.rankings.columns else "score"
    return data.rankings.schema[order].is_integer()

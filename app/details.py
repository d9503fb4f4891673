"""Numbers for single lists, cut ties and rounded distances, remembered like those of `loading`, by the same rules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

import retrieval_report as rr
from cached import Data, Rules, remember, summary
from retrieval_report.analysis.orders import drawn_order, lists_of_query, ranking_ties
from retrieval_report.analysis.rounding import rounding_effect
from retrieval_report.analysis.score_distribution import score_distribution
from retrieval_report.analysis.ties_at_cutoff import ties_at_cutoff

if TYPE_CHECKING:
    from controls import Choice

__all__ = ["Drawn", "cuts", "distribution", "drawn", "ranked", "rounding", "whole_distances"]

Id = str | int


class Drawn(NamedTuple):
    """One list in the order of one draw, and what an evaluator that had it so would print."""

    rows: pl.DataFrame
    score: float | None


@remember(64)
def _ranked(digest: str, model: str, query: Id, rules: Rules, _data: Data) -> pl.DataFrame:
    return ranking_ties(**_data.frames, model=model, query=query, **rules._asdict())


def ranked(data: Data, choice: Choice, model: str, query: Id) -> pl.DataFrame:
    """One list as `ranking_ties` gives it, in the order received."""
    return _ranked(data.digest, model, query, choice.rules, data)


@remember(64)
def _drawn(
    digest: str, measure: tuple[str, int | None], model: str, query: Id, rules: Rules, draw: int, seed: int, _data: Data
) -> Drawn:
    rows = drawn_order(_ranked(digest, model, query, rules, _data), draw=draw, seed=seed)
    if rows.is_empty():
        return Drawn(rows, None)
    # Scored as it was received but for the order: rows that a rule leaves out of the list still count in R.
    # The lists of other models may tell what is relevant.
    received, given = lists_of_query(**_data.frames, query=query)
    measures = rows.select("item", "row", model=pl.lit(model))
    listed = received.drop("row", strict=False).join(measures, on=["model", "item"], how="left")
    listed = listed.with_columns(pl.col("row").fill_null(rows.height))
    metric, cutoff = measure
    asked: dict[str, Any] = {"metrics": metric, "cutoffs": [cutoff], "policies": "naive"}
    scores = rr.evaluate(listed, **given, **asked, **rules._asdict()).filter(model=model)
    return Drawn(rows, scores["value"][0])


def drawn(data: Data, choice: Choice, model: str, query: Id, draw: int) -> Drawn:
    """One list in the order that draw number ``draw`` of the chosen seed gives it, and its score."""
    measure = (choice.metric, choice.cutoff)
    return _drawn(data.digest, measure, model, query, choice.rules, draw, choice.draws.seed, data)


@remember(64)
def _distribution(
    digest: str, measure: tuple[str, int | None], model: str, query: Id, rules: Rules, seed: int, _data: Data
) -> pl.DataFrame:
    metric, cutoff = measure
    asked: dict[str, Any] = {"metric": metric, "cutoff": cutoff, "seed": seed, **rules._asdict()}
    return score_distribution(**_data.frames, model=model, query=query, **asked)


def distribution(data: Data, choice: Choice, model: str, query: Id) -> pl.DataFrame:
    """What `score_distribution` returns for one list at the chosen measure."""
    measure = (choice.metric, choice.cutoff)
    return _distribution(data.digest, measure, model, query, choice.rules, choice.draws.seed, data)


@remember(16)
def _cuts(digest: str, cutoff: int, rules: Rules, _data: Data) -> pl.DataFrame:
    return ties_at_cutoff(**_data.frames, cutoff=cutoff, relevant_from=rules.relevant_from, **rules.of_rows)


def cuts(data: Data, choice: Choice) -> pl.DataFrame:
    """What `ties_at_cutoff` returns for the chosen models; no rows for whole lists, which nothing cuts."""
    if choice.cutoff is None:
        return pl.DataFrame()
    found = _cuts(data.digest, choice.cutoff, choice.rules, data)
    return found.filter(pl.col("model").is_in(choice.models))


@remember(32)
def _rounded(
    digest: str, measure: tuple[str, int | None], decimals: int, rules: Rules, average: str, _data: Data
) -> pl.DataFrame:
    metric, cutoff = measure
    asked: dict[str, Any] = {"metrics": metric, "cutoffs": [cutoff], "policies": "expected", **rules._asdict()}
    return rr.summarise(rr.evaluate(**_data.frames, decimals=decimals, **asked), queries=_data.queries, average=average)


def rounding(data: Data, choice: Choice, decimals: int) -> pl.DataFrame:
    """What `rounding_effect` returns for the chosen models at the chosen measure."""
    rounded = _rounded(data.digest, (choice.metric, choice.cutoff), decimals, choice.rules, choice.average, data)
    here = pl.col("cutoff").eq_missing(pl.lit(choice.cutoff, dtype=pl.Int64))
    received = summary(data, replace(choice, policies=("expected",)))
    return rounding_effect(received.filter(here), rounded.filter(pl.col("model").is_in(choice.models)))


def whole_distances(data: Data) -> bool:
    """Whether distances or scores are whole numbers by type, which rounding leaves alone."""
    order = "distance" if "distance" in data.rankings.columns else "score"
    return data.rankings.schema[order].is_integer()

"""Which relevant items R counts, and lists with rows that do not count."""

from __future__ import annotations

import warnings
from typing import Any

import polars as pl
import pytest

from made_cuts import marked, ranked, said, top
from retrieval_report import (
    ParameterError,
    evaluate,
)

TWO = pl.DataFrame(
    {
        "model": ["a", "a", "b", "b"],
        "query": ["q"] * 4,
        "item": ["x", "y", "y", "z"],
        "distance": [1, 2, 1, 2],
        "relevance": [1, 2, 2, 3],
    }
)


@pytest.mark.parametrize(
    ("words", "pooled"), [("no", False), ("within_tie", True), ({"a": "no"}, False)]
)
def test_pooled_marks_where_r_may_be_larger(words: Any, pooled: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = evaluate(TWO, metrics="recall", truncated=words)
    assert scores["pooled"].unique().to_list() == [
        pooled
    ]  # where one model ranks all items, R is known
    told = pl.DataFrame({"query": ["q"], "n_relevant": [9]})
    scores, _ = said(TWO, metrics="recall", truncated="within_tie", queries=told)
    assert not scores["pooled"].any()
    assert scores["n_relevant"].unique().to_list() == [9]


def test_r_unknown_is_refused_on_request() -> None:
    options: dict[str, Any] = {"relevant_items": "error", "truncated": "no"}
    message = "relevant_items: neither judgements nor a column 'n_relevant' .* instead of 'error'"
    for queries in (None, pl.DataFrame({"query": ["q"], "label": ["l"]})):
        with pytest.raises(ParameterError, match=message):
            said(TWO, queries=queries, **options)
    said(TWO, queries=pl.DataFrame({"query": ["q"], "n_relevant": [3]}), **options)
    judged = TWO.select("query", "item", "relevance").unique()
    said(TWO.drop("relevance"), judgements=judged, **options)


# Beside other options
# ----------------------------------------------------------------------------------


def test_behind_a_distance_threshold_nothing_counts() -> None:
    """A list that goes beyond the threshold has shown all that is near enough."""
    rankings = ranked(1)
    near = top(rankings, 80)
    threshold = near.filter(pl.int_range(pl.len()).over("query") == 79)["distance"].min() - 1  # type: ignore[operator]
    asked: dict[str, Any] = {
        "metrics": ("precision", "rr", "ap"),
        "cutoffs": (10, 100),
        "distance_threshold": threshold,
    }
    relevant = (
        rankings.filter(pl.col("distance") <= threshold)
        .group_by("query")
        .agg(n_relevant=pl.col("relevance").sum())
    )
    whole, _ = said(rankings, queries=relevant, truncated="no", **asked)
    cut, warned = said(near, queries=relevant, truncated="within_tie", **asked)
    assert not warned
    assert not marked(cut)
    assert cut.drop("items").equals(whole.drop("items"))


def test_rounded_distances_may_join_what_follows_to_the_last_tie() -> None:
    rankings = ranked(1, 900).with_columns(pl.col("distance") / 100.0)
    between = rankings.filter(pl.col("distance") <= pl.col("distance").get(9).over("query"))
    exact, _ = said(between, truncated="between_ties")
    assert not marked(exact)
    rounded, _ = said(between, truncated="between_ties", decimals=1)
    assert marked(rounded) == {"model"}
    truth, _ = said(rankings, truncated="no", decimals=1)
    keys = ["query", "cutoff"]
    low, high = (
        rounded.filter(policy=name).select(*keys, limit="value") for name in ("worst", "best")
    )
    value = truth.filter(policy="expected")
    assert value.join(low, on=keys).select((pl.col("value") >= pl.col("limit")).all()).item()
    assert value.join(high, on=keys).select((pl.col("value") <= pl.col("limit")).all()).item()

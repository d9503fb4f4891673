"""Which relevant items R counts, and lists with rows that do not count."""

from typing import Any

import polars as pl

from made_cuts import marked, ranked, said, top

# Beside other options
# ----------------------------------------------------------------------------------


def test_behind_a_distance_threshold_nothing_counts():
    """A list that goes beyond the threshold has shown all that is near enough."""
    rankings = ranked(1)
    near = top(rankings, 80)
    threshold = near.filter(pl.int_range(pl.len()).over("query") == 79)["distance"].min() - 1  # type: ignore[operator]
    asked: Any = {
        "metrics": ("precision", "rr", "ap"),
        "cutoffs": (10, 100),
        "distance_threshold": threshold,
    }
    relevant = (
        rankings.filter(pl.col("distance") <= threshold)
        .group_by("query")
        .agg(n_relevant=pl.sum("relevance"))
    )
    whole, _ = said(rankings, queries=relevant, truncated="no", **asked)
    cut, warned = said(near, queries=relevant, truncated="within_tie", **asked)
    assert not warned
    assert not marked(cut)
    assert cut.drop("items").equals(whole.drop("items"))


def test_rounded_distances_may_join_what_follows_to_the_last_tie():
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

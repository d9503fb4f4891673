"""A level of relevance of a metric's own gives what `relevant_from` gives, beside metrics of other
levels.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.parsing import CATALOGUE, parse_metric

LEVELS = [name for name, record in CATALOGUE.items() if hasattr(record(), "rel")]
KEYS = ["model", "query", "metric", "cutoff", "policy"]


def frames(ties: int = 8) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw, queries = np.random.default_rng(1), [f"q{number}" for number in range(8)]
    items = [f"d{number}" for number in range(30)]
    rankings = pl.DataFrame(
        {
            "model": ["a"] * 160 + ["b"] * 160,
            "query": [query for query in queries for _ in range(20)] * 2,
            "item": items[:20] * 16,
            "distance": draw.integers(0, ties, 320) if ties else range(320),
        }
    )
    judgements = pl.DataFrame(
        {
            "query": [query for query in queries for _ in items],
            "item": items * 8,
            "relevance": draw.choice(4, 240, p=(0.6, 0.2, 0.1, 0.1)),
        }
    )
    return rankings, judgements.filter(pl.Series(draw.random(240) < 0.9))


def at_level(name: str, level: int | None) -> str:
    return name if level is None else f"{name}(rel={level})"


def test_these_metrics_take_a_level():
    assert {"acg", "dcg", "err", "ndcg"}.isdisjoint(LEVELS)  # of grades, not of relevant items
    assert {"ap", "precision", "rr"} <= {*LEVELS}
    for name in LEVELS:
        assert parse_metric(f"{name}(rel=2)")[0].level == 2.0
        assert str(parse_metric(f"{name}(rel=2)")[0]) == f"{name}(rel=2)"


@pytest.mark.parametrize(
    ("truncated", "unjudged", "no_relevant"),
    [
        *(("no", "drop", "zero"), ("within_tie", "non_relevant", "zero")),
        *(("no", "non_relevant", "one"), ("within_tie", "drop", "skip")),
    ],
)
def test_scores_are_to_the_bit_those_of_relevant_from(
    truncated: str, unjudged: str, no_relevant: str
):
    rankings, judgements = frames()
    rules: Any = {
        "judgements": judgements,
        "truncated": truncated,
        "unjudged": unjudged,
        "no_relevant": no_relevant,
        "policies": ("expected", "naive", "best", "worst", "shuffled"),
        "shuffles": 3,
    }
    measures = [at_level(name, level) for level in (2, None, 3) for name in LEVELS]
    together = rr.evaluate(rankings, metrics=["ndcg", *measures], cutoffs=5, **rules)
    for level in (None, 2, 3):
        apart = rr.evaluate(rankings, metrics=[*LEVELS], cutoffs=5, relevant_from=level, **rules)
        wanted = apart.with_columns(metric=pl.col("metric") + at_level("", level))
        found = together.filter(pl.col("metric").is_in(wanted["metric"].unique().to_list()))
        assert found.sort(KEYS).equals(wanted.sort(KEYS))


def test_engines_counts_and_one_level_alone():
    rankings, judgements = frames()
    asked = "ndcg@10, ap(rel=2), rr(rel=2), recall(rel=2)@100"
    judged = rankings.join(judgements, on=["query", "item"])
    counted = rr.evaluate(rr.count_ties(judged), metrics=asked, policies="expected")
    rows = rr.evaluate(judged, metrics=asked, policies="expected")
    assert counted.sort(KEYS).equals(rows.sort(KEYS))
    queries = pl.DataFrame({"query": judged["query"].unique().sort(), "n_relevant": 9})
    alone = rr.evaluate(judged, queries=queries, metrics="recall(rel=2)@5")
    same = rr.evaluate(judged, queries=queries, metrics="recall@5", relevant_from=2)
    assert alone.drop("metric").equals(same.drop("metric"))
    with pytest.raises(ParameterError, match="n_relevant of the queries frame counts"):
        rr.evaluate(judged, queries=queries, metrics=asked)


@pytest.mark.parametrize("call", [rr.AP, rr.RR, rr.Recall])
def test_expressions_have_levels(call: Callable[..., Any]):
    rows = frames()[0].join(frames()[1], on=["query", "item"]).filter(model="a", query="q1")
    one, other = (
        rows.select(metric.expr("relevance", distance="distance", **more)).item()
        for metric, more in ((call(rel=2), {}), (call(), {"relevant_from": 2}))
    )
    assert one == other


@pytest.mark.parametrize("truncated", ["no", "within_tie"])
def test_judged_items_alone_for_one_metric_are_what_unjudged_drop_gives(truncated: str):
    rankings, judgements = frames()
    rules: Any = {
        "judgements": judgements,
        "truncated": truncated,
        "policies": ("expected", "naive", "best", "worst", "shuffled"),
        "shuffles": 3,
    }
    names = [name for name in CATALOGUE if name != "bpref"]
    measures = [f"{name}(judged_only=True)" for name in names]
    together = rr.evaluate(rankings, metrics=["ndcg", *measures, "bpref"], cutoffs=5, **rules)
    others = rr.evaluate(rankings, metrics="ndcg@5", **rules)
    assert together.filter(metric="ndcg").equals(others)
    own = pl.when(metric="bpref").then("metric")
    apart = rr.evaluate(
        rankings, metrics=[*names, "bpref"], cutoffs=5, unjudged="drop", **rules
    ).with_columns(metric=own.otherwise(pl.col("metric") + "(judged_only=True)"))
    found = together.filter(pl.col("metric") != "ndcg")
    seen = ["items", "n_relevant", "pooled"]  # of the whole lists
    assert found.drop(seen).sort(KEYS).equals(apart.drop(seen).sort(KEYS))
    assert str(parse_metric("ndcg(gain=exp2,judged_only=True)")[0]) == (
        "ndcg(judged_only=True,gain=exp2)"
    )


def test_judged_items_alone_have_no_expression():
    with pytest.raises(ParameterError, match="Polars expression"):
        rr.AP(judged_only=True).expr("relevance", distance="distance")

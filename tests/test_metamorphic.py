"""Relations between whole results that need no oracle; each also has a planted fault,
which it finds.

A relation takes the function under test, so that the same lines judge the package and
its broken copy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr

Scores = Callable[..., pl.DataFrame]
MEASURES = "ap, ndcg@5, precision@3, rr, recall@5, bpref"
KEYS = ("model", "query", "metric", "cutoff", "policy")
MIRROR = {"ci_low": "ci_high", "wins": "losses"}  # of a pair the other way round


def rankings(seed: int, models: str = "ab", queries: int = 6) -> pl.DataFrame:
    """Lists of twelve items with many ties; every item has one grade, whatever the model."""
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, 3, (queries, 12))
    rows = [
        (model, f"q{query}", f"d{item}", int(rng.integers(0, 5)), int(grades[query, item]))
        for model in models
        for query in range(queries)
        for item in rng.permutation(12).tolist()
    ]
    columns = ["model", "query", "item", "distance", "relevance"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def judgements_of(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select("query", "item", "relevance").unique(maintain_order=True)


def evaluate(frame: pl.DataFrame, **how: Any) -> pl.DataFrame:
    given = {"truncated": "no", "policies": ("expected", "best", "worst"), **how}
    return rr.evaluate(frame, metrics=MEASURES, **given)


def same(found: pl.DataFrame, wanted: pl.DataFrame):
    assert_frame_equal(found.sort(KEYS), wanted.sort(KEYS), check_exact=True)


# The relations.
# -----------------------------------------------------------------------------


def one_more_model(score: Scores):
    more = rankings(4, models="abc")
    judged = judgements_of(more)
    found = score(more.drop("relevance"), judgements=judged)
    wanted = score(more.filter(pl.col("model") != "c").drop("relevance"), judgements=judged)
    same(found.filter(pl.col("model") != "c"), wanted)


def pairs_turned_round(compare: Scores):
    scores = evaluate(rankings(6))
    turned = scores.with_columns(pl.col("model").replace_strict({"a": "b", "b": "a"}))
    one, other = compare(scores), compare(turned)
    for name in ("difference", "ci_low", "permutation_p", "family_p", "wins", "queries"):
        opposite = -1 if name in ("difference", "ci_low") else 1
        mirrored = other[MIRROR.get(name, name)] * opposite
        np.testing.assert_allclose(one[name], mirrored, rtol=0, atol=1e-12)


def verdict_turned_round(verdict: Callable[..., Any]):
    frame = rankings(7, queries=20)
    assert verdict(frame, "a", "b") == verdict(frame, "b", "a")


def gate_with_larger_margins(gate: Callable[..., Any]):
    frame = rankings(8, queries=30)
    runs = [frame.filter(model=model).drop("model") for model in "ab"]
    passed = [
        gate(*runs, measure="ndcg@5", margin=margin, truncated="no").status == "passed"
        for margin in (0.01, 0.03, 0.1, 0.2, 0.3, 0.5)
    ]
    assert passed == sorted(passed)
    assert len(set(passed)) == 2


def masked_and_permuted_bits(count: Callable[..., Any]):
    rng = np.random.default_rng(9)
    queries, items = rng.integers(0, 2, (5, 16)), rng.integers(0, 2, (40, 16))
    mask, order = rng.integers(0, 2, 16), rng.permutation(16)
    wanted = count(queries, items)
    assert_frame_equal(count(queries ^ mask, items ^ mask), wanted)
    assert_frame_equal(count(queries[:, order], items[:, order]), wanted)


# The package, and a broken copy of it, for every relation.
# -----------------------------------------------------------------------------


def compare(scores: pl.DataFrame) -> pl.DataFrame:
    return rr.compare(scores, policies="expected")


def verdict(frame: pl.DataFrame, *models: str) -> str:
    return str(rr.Study(frame, "ndcg@5", truncated="no").pair(*models).verdict)


def count(queries: Any, items: Any) -> pl.DataFrame:
    return rr.codes.count_codes(
        queries, items, query_labels=np.arange(5) % 2, item_labels=np.arange(40) % 2
    )


def with_pooled_relevance(frame: pl.DataFrame, *, judgements: pl.DataFrame) -> pl.DataFrame:
    retrieved = frame.filter(pl.col("distance") < 2)
    return evaluate(retrieved.join(judgements, on=["query", "item"]), relevant_items="pooled")


def first_by_name(scores: pl.DataFrame) -> pl.DataFrame:
    bonus = pl.when(pl.col("model") == "a").then(0.01).otherwise(0.0)
    return compare(scores.with_columns(pl.col("value") + bonus))


def named_first(frame: pl.DataFrame, *models: str) -> str:
    return f"{models[0]}: {verdict(frame, *models)}"


def strict_when_lenient(*runs: pl.DataFrame, margin: float, **how: Any) -> rr.stats.Gate:
    return rr.gate(*runs, margin=0.001 if margin > 0.4 else margin, **how)


def blind_in_one_bit(queries: Any, items: Any) -> pl.DataFrame:
    seen = np.array(queries)
    seen[:, 0] = 1
    return count(seen, items)


RELATIONS: list[tuple[Callable[..., None], Callable[..., Any], Callable[..., Any]]] = [
    (one_more_model, evaluate, with_pooled_relevance),
    (pairs_turned_round, compare, first_by_name),
    (verdict_turned_round, verdict, named_first),
    (gate_with_larger_margins, rr.gate, strict_when_lenient),
    (masked_and_permuted_bits, count, blind_in_one_bit),
]
NAMES = [relation.__name__ for relation, _, _ in RELATIONS]


@pytest.mark.parametrize(("relation", "ours", "_broken"), RELATIONS, ids=NAMES)
def test_the_relation_holds(relation: Callable[..., None], ours: Any, _broken: Any):
    relation(ours)


@pytest.mark.parametrize(("relation", "_ours", "broken"), RELATIONS, ids=NAMES)
def test_a_planted_fault_breaks_the_relation(
    relation: Callable[..., None], _ours: Any, broken: Any
):
    with pytest.raises(AssertionError):
        relation(broken)

"""Dictionaries give the scores, errors and warnings that frames of the same rows give."""

import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from retrieval_report import evaluate
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.engines import score_parts
from retrieval_report.scoring import judged_dictionaries
from retrieval_report.scoring.judged_dictionaries import judge_dictionaries

MEASURES = "ndcg@5,ndcg,ap,rr,recall@10,precision@3,err@10,bpref"
ORDERS = ("naive", "expected", "best", "worst", "shuffled")


def made(seed: int, queries: int = 30, kinds: int = 4) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run with some ties and some empty lists, and judgements of some of its items and of others."""
    random = np.random.default_rng(seed)
    run: Any = {}
    qrels: Any = {}
    for query in random.permutation(queries).tolist():
        items = random.permutation(40)[: int(random.integers(0, 30))].tolist()
        scores = random.normal(size=len(items)).round(int(random.integers(0, 4)) * 5).tolist()
        run[f"q{query}"] = {f"d{i}": s for i, s in zip(items, scores, strict=True)}
        judged = random.permutation(60)[:20].tolist()
        qrels[f"q{query}"] = {f"d{i}": int(random.integers(0, kinds)) for i in judged}
    qrels["judged"] = {"d1": 1}
    return run, qrels


def outcome(*given: Any, **options: Any):
    """Return the scores and all warnings, or the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scores = evaluate(given[0], judgements=given[1], shuffles=3, **options)
        except RetrievalReportError as error:
            return type(error), str(error)
    return scores, [str(one.message) for one in caught]


def same(monkeypatch: pytest.MonkeyPatch, *given: Any, **options: Any) -> bool:
    """Check that a call gives the same with and without frames; return whether it needed none."""
    options = {"measures": MEASURES.removesuffix(",bpref"), "policies": ORDERS} | options
    found = []

    def kept(*arguments: Any):
        found.append(judge_dictionaries(*arguments))
        return found[-1]

    with monkeypatch.context() as patch:
        patch.setattr(score_parts, "judge_dictionaries", kept)
        one = outcome(*given, **options)
        patch.setattr(score_parts, "judge_dictionaries", lambda *_: None)
        two = outcome(*given, **options)
    if isinstance(one[0], pl.DataFrame) and isinstance(two[0], pl.DataFrame):
        assert_frame_equal(one[0], two[0], check_exact=True)
        assert one[1] == two[1]
    else:
        assert one == two
    return found != [] and found[0] is not None


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"truncated": "no"},
        {"truncated": "between_ties", "decimals": 1},
        {"relevant_from": 2.0, "no_relevant": "skip", "missing_query": "skip"},
        {"measures": "ap(rel=2),ndcg@10,ap_at_r", "policies": "naive"},
        {"unjudged": "non_relevant", "policies": ("naive", "expected")},
    ],
)
def test_scores_are_those_of_frames(
    monkeypatch: pytest.MonkeyPatch, seed: int, options: dict[str, Any]
):
    assert same(monkeypatch, *made(seed), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"measures": MEASURES},
        {"naive_order": "item"},
        {"exclude_self": True},
        {"unjudged": "drop"},
        {"unjudged": "error"},
        {"queries": {"query": ["q1"]}},
    ],
)
def test_what_asks_for_ids_gets_frames(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]):
    assert not same(monkeypatch, *made(1), **options)


def test_an_option_that_the_short_way_does_not_name_gets_frames(
    monkeypatch: pytest.MonkeyPatch,
):
    given = made(3)
    assert same(monkeypatch, *given, relevant_from=2.0)
    unnamed = judged_dictionaries.OBEYED_OPTIONS - {"relevant_from"}
    monkeypatch.setattr(judged_dictionaries, "OBEYED_OPTIONS", unnamed)
    assert not same(monkeypatch, *given, relevant_from=2.0)
    assert same(monkeypatch, *given)


def test_a_query_without_judgements_is_an_error_or_skipped(
    monkeypatch: pytest.MonkeyPatch,
):
    run, qrels = made(6)
    del qrels["q3"]
    assert not same(monkeypatch, run, qrels)
    assert same(monkeypatch, run, qrels, unjudged_query="skip")
    assert not same(monkeypatch, run, {"other": {"d1": 1}})
    assert not same(monkeypatch, run, {query: {"other": 1} for query in run})


ODD: list[Any] = [
    *(0.5, 1, -1.0, None, True, "0.5", float("nan"), float("inf"), 2**53 + 1, 10**400),
    *(Decimal("0.5"), Decimal("NaN"), np.float32(0.1), np.int64(3), [1], 1j),
]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_odd_numbers_get_the_same_answer(monkeypatch: pytest.MonkeyPatch, odd: Any, first: bool):
    for place in (0, 1):
        given = made(7, queries=8)
        items = next(items for items in given[place].values() if len(items) > 2)
        items[next(iter(items)) if first else [*items][-1]] = odd
        same(monkeypatch, *given)


@pytest.mark.parametrize(
    "item",
    [7, None, "", "d 1", " d1", "é", "e\u0301", "\ud800", b"d1", Decimal("NaN"), ("a", 1)],
    ids=repr,
)
def test_odd_ids_get_the_same_answer(monkeypatch: pytest.MonkeyPatch, item: Any):
    for place in (0, 1):
        given = made(8, queries=8)
        next(items for items in given[place].values() if len(items) > 2)[item] = 1 if place else 0.5
        same(monkeypatch, *given)
        given = made(8, queries=8)
        given[place][item] = dict(given[place]["q1"])
        same(monkeypatch, *given)


@pytest.mark.parametrize(
    "given",
    [
        ({}, {"q": {"a": 1}}),
        ({"q": {}}, {"q": {"a": 1}}),
        ({"q": {"a": 1.0}}, {}),
        ({"q": {"a": 1.0}}, {"q": {}}),
        ({"q": {"a": 1.0}}, {"q": {"a": 0}}),
        ({"bm25": {"q": {"a": 1.0}}}, {"q": {"a": 1}}),
        (
            {"query": {"0": 1, "1": 1}, "item": {"0": 5, "1": 5}, "score": {"0": 1, "1": 2}},
            {1: {5: 1}},
        ),
        ({"q": {"a": 1.0}}, {"relevant_docs": {"q": {"a": 1}}}),
        ({"q": {"a": 1.0}}, {"relevant_docs": {"a": 1}}),
    ],
    ids=repr,
)
def test_odd_dictionaries_get_the_same_answer(monkeypatch: pytest.MonkeyPatch, given: Any):
    same(monkeypatch, *given)

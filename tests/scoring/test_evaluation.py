"""Every catalogue entry × policy × denominator against exact enumeration of all orders, through the
public API.
"""

import math
from fractions import Fraction
from functools import partial
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from catalogue_texts import TEXTS
from retrieval_report import DCG, NDCG, evaluate
from retrieval_report.metrics.parsing import CATALOGUE
from retrieval_report.metrics.record import Metric

POLICIES = ("expected", "best", "worst", "naive")
WHOLE: Any = {"policies": POLICIES, "truncated": "no"}


def ranked(ties: list[list[int]], query: str = "q", model: str = "m") -> list[dict[str, Any]]:
    """Rows of one list; the distance of a tie is its number, rows come in the order written."""
    items = [(number, grade) for number, tie in enumerate(ties) for grade in tie]
    return [
        {
            "model": model,
            "query": query,
            "item": f"i{index}",
            "distance": number,
            "relevance": grade,
        }
        for index, (number, grade) in enumerate(items)
    ]


def close(value: float | None, exact: Fraction, tolerance: float) -> bool:
    assert value is not None
    return math.isclose(value, float(exact), rel_tol=tolerance, abs_tol=1e-300)


def check(scores: pl.DataFrame, ties: list[list[int]], **query: Any):
    """Compare every row of one query's scores with the enumeration."""
    order = tuple(grade for tie in ties for grade in tie)
    for text, cutoff, policy, value, std in scores.select(
        "metric", "cutoff", "policy", "value", "std"
    ).iter_rows():
        moments = oracles.moments(ties, text, cutoff, **query)
        where = f"{text}@{cutoff} {policy} of {ties} {query}: {value} ± {std}, exact {moments}"
        if policy == "expected":
            assert close(value, moments.mean, 1e-12), where
            assert std == pytest.approx(moments.std, rel=1e-9, abs=1e-14), where
        else:
            exact = {
                "best": moments.maximum,
                "worst": moments.minimum,
                "naive": oracles.score(order, text, cutoff, **query),
            }[policy]
            assert close(value, exact, 1e-12), where
            assert std is None, where


grades = st.integers(0, 3)
ties_of_a_list = st.lists(st.lists(grades, min_size=1, max_size=5), min_size=1, max_size=4).filter(
    lambda ties: sum(map(len, ties)) <= 7
)


def test_every_catalogue_entry_is_in_the_list():
    assert {text.partition("(")[0] for text in TEXTS} == set(CATALOGUE)


@pytest.mark.filterwarnings("ignore:no query has a relevant item")
@given(
    ties=ties_of_a_list,
    texts=st.lists(st.sampled_from(TEXTS), min_size=6, max_size=6, unique=True),
    cutoffs=st.lists(st.one_of(st.none(), st.integers(1, 9)), min_size=1, max_size=3, unique=True),
    relevant_from=st.sampled_from([None, 2]),
)
def test_policies_equal_the_enumeration(
    ties: list[list[int]], texts: list[str], cutoffs: list[int | None], relevant_from: int | None
):
    frame = pl.DataFrame(ranked(ties))
    scores = evaluate(frame, metrics=texts, cutoffs=cutoffs, relevant_from=relevant_from, **WHOLE)
    if oracles.count_relevant([grade for tie in ties for grade in tie], relevant_from):
        check(scores, ties, relevant_from=relevant_from)
    elif relevant_from is None:
        assert (scores["value"] == 0).all()


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6, None])
def test_own_ideal_is_exact_for_binary_relevance(k: int | None):
    for ties in ([[0, 1, 1]], [[1], [0, 0, 1], [1, 0]], [[0, 1], [0, 1], [1, 1]], [[0, 0], [1]]):
        scores = evaluate(
            pl.DataFrame(ranked(ties)), metrics="ndcg(ideal=cutoff)", cutoffs=k, **WHOLE
        )
        check(scores, ties)


def test_gain_tables_and_functions():
    ties = [[0, 1], [2, 0, 1], [3]]
    frame = pl.DataFrame(ranked(ties))
    table, function = (
        {0: 0, 1: 1, 2: 5, 3: 5},
        DCG(gain=lambda rel: rel**2, discount=lambda rank: 1 / (rank + 1)),
    )

    def textbook(order: tuple[Any, ...], metric: str, k: int):
        if metric.startswith("ndcg"):
            return oracles.ndcg(order, k, gain=table)
        return oracles.dcg(
            order, k, gain=lambda rel: rel**2, discount=lambda rank: Fraction(1, int(rank) + 1)
        )

    scores = evaluate(frame, metrics=[NDCG(gain=table), function], cutoffs=[2, 4], **WHOLE)
    for row in scores.iter_rows(named=True):
        exact = oracles.enumerate_metric(
            ties, partial(textbook, metric=row["metric"], k=row["cutoff"])
        )
        wanted = {"expected": exact.mean, "best": exact.maximum, "worst": exact.minimum}.get(
            row["policy"]
        )
        if wanted is not None:
            assert close(row["value"], wanted, 1e-12), row
        if row["policy"] == "expected":
            assert row["std"] == pytest.approx(exact.std, rel=1e-9)


def test_metric_base_asks_for_a_need():
    with pytest.raises(NotImplementedError):
        _ = Metric().term

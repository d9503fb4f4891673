"""Interpolated precision: against every order of the ties in fractions, and what pytrec_eval
prints.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import retrieval_report as rr
from cut_lists import frame
from retrieval_report.ties.recall_curve import recall_curve

LEVELS = (0.0, 0.25, 0.5, 0.8, 1.0)
POLICIES = ("expected", "naive", "best", "worst")


def by_definition(order: Sequence[Any], relevant: int, level: float) -> Fraction:
    """The best precision at any rank with so many hits."""
    needed = max(int(level * relevant + 0.9), 1)
    precisions = [
        Fraction(sum(order[:rank]), rank)
        for rank in range(1, len(order) + 1)
        if sum(order[:rank]) >= needed
    ]
    return max(precisions, default=Fraction(0))


@given(
    ties=st.lists(
        st.lists(st.integers(0, 1), min_size=1, max_size=4), min_size=1, max_size=4
    ).filter(lambda ties: sum(map(len, ties)) <= 8),
    missed=st.integers(0, 2),
)
def test_every_policy_is_that_of_all_orders(ties: list[list[int]], missed: int):
    relevant = sum(map(sum, ties)) + missed
    if not relevant:
        return
    queries = pl.DataFrame({"query": ["q"], "n_relevant": [relevant]})
    scores = recall_curve(frame(ties), queries=queries, levels=LEVELS, policies=POLICIES)
    received = [grade for tie in ties for grade in tie]
    for level in LEVELS:
        precision = partial(by_definition, relevant=relevant, level=level)
        mean, _, worst, best = every = oracles.enumerate_metric(ties, precision)
        own = scores.filter(metric=f"iprec(recall={level:g})")
        wanted = {"expected": mean, "naive": precision(received), "best": best, "worst": worst}
        assert dict(own.select("policy", "value").iter_rows()) == pytest.approx(
            {policy: float(value) for policy, value in wanted.items()}, rel=1e-12, abs=1e-15
        )
        assert own.filter(policy="expected")["std"][0] == pytest.approx(
            every.std, rel=1e-7, abs=1e-8
        )


def test_pytrec_eval_prints_the_same():
    pytrec_eval = pytest.importorskip(
        "pytrec_eval", reason="pytrec_eval-terrier, of the extra `dev`, is not installed"
    )
    generator = np.random.default_rng(3)
    qrels = {
        str(q): {f"d{n:02}": int(generator.random() < 0.2) for n in range(40)} for q in range(30)
    }
    for own in qrels.values():
        own["far"] = 1
    run = {
        str(q): {f"d{n:02}": float(generator.integers(0, 8)) for n in range(40)} for q in range(30)
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)
    scores = recall_curve(
        rr.read_rankings(run),
        judgements=rr.read_judgements(qrels),
        naive_order="item_descending",
        policies="naive",
    )
    assert scores.height == 30 * 11
    for query, metric, value in scores.select("query", "metric", "value").iter_rows():
        level = float(metric.removeprefix("iprec(recall=").removesuffix(")"))
        assert value == pytest.approx(theirs[query][f"iprec_at_recall_{level:.2f}"], rel=1e-12), (
            query,
            metric,
        )


def test_large_ties_have_the_mean_of_random_orders_and_the_largest_none():
    grades = np.zeros(60, np.int64)
    grades[:9] = 1
    rows: Any = {
        "query": ["q"] * 60,
        "item": list(range(60)),
        "distance": [1] * 60,
        "relevance": grades,
    }
    exact = recall_curve(rows, levels=(0.3,), policies="expected").row(0, named=True)
    generator = np.random.default_rng(0)
    drawn = [
        float(by_definition(generator.permutation(grades).tolist(), 9, 0.3)) for _ in range(3000)
    ]
    assert exact["value"] == pytest.approx(np.mean(drawn), abs=4 * exact["std"] / 3000**0.5)
    assert exact["std"] == pytest.approx(np.std(drawn), rel=0.1)
    many = {name: np.tile(part, 50) for name, part in rows.items()} | {"item": np.arange(3000)}
    scores = recall_curve(many, levels=(0.5,), policies=("expected", "best"))
    assert [value is None for value in scores["value"]] == [True, False]

"""Similarity of rankings: against every order of the ties in fractions, SciPy, and published
numbers.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import retrieval_report as rr

Ties = list[list[str]]
P = Fraction(4, 5)


def orders(ties: Ties) -> Iterator[list[str]]:
    for parts in itertools.product(*(itertools.permutations(tie) for tie in ties)):
        yield [item for part in parts for item in part]


def rbo(a: Sequence[str], b: Sequence[str], p: Fraction = P) -> Fraction:
    """Webber, Moffat and Zobel's extrapolated overlap of two lists without ties, as their equation
    32 has it.
    """
    short, long = sorted((a, b), key=len)
    s, n = len(short), len(long)
    common = [len(set(short[:d]) & set(long[:d])) for d in range(1, n + 1)]
    total = sum((Fraction(common[d - 1], d) * p**d for d in range(1, n + 1)), Fraction(0))
    total += sum(
        (Fraction(common[s - 1] * (d - s), s * d) * p**d for d in range(s + 1, n + 1)), Fraction(0)
    )
    return (1 - p) / p * total + (
        Fraction(common[-1] - common[s - 1], n) + Fraction(common[s - 1], s)
    ) * p**n


def frame(ties: Ties, **more: Any) -> pl.DataFrame:
    rows = [(item, index) for index, tie in enumerate(ties) for item in tie]
    schema = {"item": pl.String, "distance": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(query=pl.lit("q"), **more)


def one(a: Ties, b: Ties, **options: Any) -> dict[str, Any]:
    return rr.lists.ranking_similarity(frame(a), frame(b), **options).queries.row(0, named=True)


@st.composite
def tied(draw: st.DrawFn, items: str = "abcdefg", most: int = 5) -> Ties:
    chosen = draw(st.permutations(items))[: draw(st.integers(1, most))]
    cuts = draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen)))
    ties: Ties = []
    for item, new in zip(chosen, cuts, strict=True):
        if new or not ties:
            ties.append([])
        ties[-1].append(item)
    return ties


@given(a=tied(), b=tied())
def test_least_and_most_overlap_are_those_of_all_orders(a: Ties, b: Ties):
    found = one(a, b, p=0.8)
    every = [rbo(left, right) for left in orders(a) for right in orders(b)]
    assert found["rbo_low"] == pytest.approx(float(min(every)), rel=1e-12, abs=1e-15)
    assert found["rbo_high"] == pytest.approx(float(max(every)), rel=1e-12, abs=1e-15)
    assert found["rbo_a"] == pytest.approx(float(sum(every) / len(every)), rel=1e-12, abs=1e-15)
    same = any(left == right for left in orders(a) for right in orders(b))
    items = {item for tie in a for item in tie} == {item for tie in b for item in tie}
    wanted = (
        "none"
        if list(map(set, a)) == list(map(set, b))
        else "ties"
        if same
        else "order"
        if items
        else "items"
    )
    assert found["change"] == wanted


@given(a=tied("abcde"), b=tied("abcde"))
def test_tau_is_that_of_the_shared_items(a: Ties, b: Ties):
    found = one(a, b)
    shared = {item for tie in a for item in tie} & {item for tie in b for item in tie}
    a, b = (
        [kept for tie in ties if (kept := [item for item in tie if item in shared])]
        for ties in (a, b)
    )
    assume(len(shared) > 1)
    ranks = [{item: index for index, tie in enumerate(ties) for item in tie} for ties in (a, b)]
    theirs = stats.kendalltau(
        *([rank[item] for item in sorted(shared)] for rank in ranks)
    ).statistic
    assert (found["tau_b"] is None) == math.isnan(theirs)
    if not math.isnan(theirs):
        assert found["tau_b"] == pytest.approx(theirs, rel=1e-12, abs=1e-15)


@pytest.mark.slow
def test_lists_longer_than_a_block_and_scores_instead_of_distances():
    generator = np.random.default_rng(1)
    rows = pl.DataFrame(
        {"query": "q", "item": np.arange(3000), "score": generator.integers(0, 40, 3000)}
    )
    other = rows.with_columns(score=pl.col("score") + pl.Series(generator.integers(0, 9, 3000)))
    [found] = rr.lists.ranking_similarity(rows, other).queries.rows(named=True)
    theirs = stats.kendalltau(rows["score"].to_numpy(), other["score"].to_numpy()).statistic
    assert found["tau_b"] == pytest.approx(theirs, rel=1e-12)
    turned = rows.select("query", "item", distance=-pl.col("score"))
    assert (
        rr.lists.ranking_similarity(turned, other)
        .queries.drop("query")
        .equals(rr.lists.ranking_similarity(rows, other).queries.drop("query"))
    )

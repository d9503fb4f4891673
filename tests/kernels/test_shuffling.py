"""Random orders are keyed by (seed, model, query, draw), never change, and shuffle only mixed
ties.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal

from made_reports import grid
from retrieval_report import DCG, ParameterError, evaluate, shuffled_means
from retrieval_report.contracts.options import POLICIES
from retrieval_report.kernels import shuffling
from retrieval_report.kernels.lists import Lists
from retrieval_report.scoring import arrays, run
from retrieval_report.stats import evaluate_with_draws

FRAME = pl.DataFrame(
    {
        "model": ["a"] * 6 + ["b"] * 6,
        "query": ["q", "q", "q", "r", "r", "r"] * 2,
        "item": [1, 2, 3] * 4,
        "distance": [1, 1, 1, 1, 2, 2] * 2,
        "relevance": [0, 1, 2, 1, 0, 1] * 2,
    }
)


def test_the_draws_of_a_seed_never_change():
    """Reports that were published hang on these numbers."""
    draws = shuffled_means(FRAME, metrics="dcg", cutoffs=2, shuffles=6, seed=7)
    assert draws.filter(model="a")["value"].round(6).to_list() == GOLDEN_A
    assert draws.filter(model="b")["value"].round(6).to_list() == GOLDEN_B


GOLDEN_A = [1.315465, 1.63093, 1.63093, 1.815465, 1.63093, 1.13093]
GOLDEN_B = [1.13093, 1.946395, 1.946395, 1.13093, 1.446395, 1.315465]


def test_seed_model_and_query_each_change_the_draws():
    def values(frame: pl.DataFrame, seed: int = 0):
        return shuffled_means(frame, metrics="dcg", cutoffs=2, shuffles=40, seed=seed)[
            "value"
        ].to_list()

    one = FRAME.filter(model="a", query="q")
    assert values(one) == values(one)
    assert values(one, seed=1) == values(one, seed=2**64 + 1)
    others = [
        values(one, seed=1),
        values(one.with_columns(model=pl.lit("b"))),
        values(one.with_columns(query=pl.lit("r"))),
    ]
    assert all(other != values(one) for other in others)


@pytest.mark.parametrize("most", [1, 4, 7])
def test_lists_laid_out_some_at_a_time_have_the_same_scores_and_draws(
    monkeypatch: pytest.MonkeyPatch, most: int
):
    asked: Any = {"metrics": "ndcg, ap, rr@2", "policies": POLICIES, "shuffles": 5}
    asked["truncated"] = "within_tie"
    together = evaluate_with_draws(FRAME, **asked)
    monkeypatch.setattr(run, "MOST_SLOTS", most)
    for parts, whole in zip(evaluate_with_draws(FRAME, **asked), together, strict=True):
        assert_frame_equal(parts, whole, check_exact=True)


@pytest.mark.parametrize("no_relevant", ["zero", "skip", "one"])
def test_scores_and_means_of_the_same_draws_are_those_of_two_calls(no_relevant: str):
    lonely = FRAME.filter(query="q").with_columns(
        query=pl.lit("nothing relevant"), relevance=pl.lit(0, pl.Int64)
    )
    asked: Any = {
        "metrics": ("ap", "ndcg", "precision"),
        "cutoffs": (1, None),
        "shuffles": 5,
        "no_relevant": no_relevant,
    }
    rankings, policies = pl.concat([FRAME, lonely]), ("naive", "shuffled", "expected")
    scores, means = evaluate_with_draws(rankings, policies=policies, **asked)
    assert_frame_equal(scores, evaluate(rankings, policies=policies, **asked), check_exact=True)
    assert_frame_equal(means, shuffled_means(rankings, **asked), check_exact=True)


def orders_drawn(cells: list[tuple[int, int]], orders: int, seed: int) -> NDArray[np.int32]:
    """The grades at every slot of one tie of (grade, items), an order a row."""
    grades, items = np.array(cells).T
    one = np.arange(orders + 1)
    ties = Lists(
        one, one * len(cells), np.tile(grades, orders).astype(np.int32), np.tile(items, orders)
    )
    limit = np.full(orders, items.sum())
    new = arrays.drawn_lists(ties, limit)
    keys = shuffling.draw_keys(np.full(orders, seed, np.uint64), np.arange(orders))
    shuffling.draw_orders(0, orders, ties, (limit, keys, False), new)
    assert new.items.tolist() == [1] * int(limit.sum())
    return new.grade.reshape(orders, -1)


@pytest.mark.parametrize(
    "cells",
    [
        [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)],
        [(0, 4), (1, 2)],
        [(0, 1), (1, 2), (3, 4)],  # the lowest grade is not the most frequent one
        [(1, 3), (2, 3)],  # nothing is of the lowest grade of all
        [(0, 150), (2, 30)],  # longer than a word
        [(0, 20), (1, 100), (2, 80)],
    ],
)
def test_orders_of_a_tie_are_those_of_an_oracle(
    cells: list[tuple[int, int]],
):
    """Items of all grades but the most frequent take their slots one after the other, each any of
    those that are left, as dictionaries and Python's whole numbers say it.
    """
    drawn = orders_drawn(cells, 20, 11)
    common, size = max(cells, key=lambda cell: cell[1])[0], sum(items for _, items in cells)
    for order, grades in enumerate(drawn.tolist()):
        key = scrambled_by_python(11 + order * int(shuffling.NEXT_DRAW))
        slots = dict(enumerate(range(size)))
        expected = [common] * size
        rarer = [grade for grade, items in cells if grade != common for _ in range(items)]
        for index, grade in enumerate(rarer):
            bits = scrambled_by_python(key + (index + 1) * 0x9E3779B97F4A7C15) >> 11
            chosen = index + int(bits / 2**53 * (size - index))
            expected[slots[chosen]] = grade
            slots[chosen] = slots[index]
        assert grades == expected


def scrambled_by_python(value: int) -> int:
    """SplitMix64's finaliser."""
    value %= 2**64
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
    return value ^ value >> 31


def test_stretches_of_the_lowest_grade_score_as_its_items_do():
    """A gain that is not 0 for the lowest grade forbids stretches; scores by others stay."""
    generator = np.random.default_rng(2)
    distance = generator.integers(0, 4, (6, 30))
    frame = grid(distance=distance, relevance=generator.choice([0, 0, 0, 1, 2], distance.shape))
    asked: Any = {"policies": "shuffled", "shuffles": 4, "truncated": "no"}
    usual: list[Any] = ["ap", "ndcg@7", "rr", "err", "bpref", "rbp", "recall@5", "wap"]
    odd = DCG(gain=lambda grades: grades + 1.0)
    alone = evaluate(frame, metrics=usual, **asked)
    beside = evaluate(frame, metrics=[*usual, odd], **asked)
    same = beside.filter(pl.col("metric").is_in(alone["metric"].implode()))
    assert_frame_equal(same, alone, check_exact=True)
    shallow = evaluate(frame, metrics="ndcg@7", **asked)  # what is drawn depends on no cutoff
    assert_frame_equal(shallow, alone.filter(metric="ndcg"), check_exact=True)


def test_lists_that_no_order_changes_are_not_drawn(monkeypatch: pytest.MonkeyPatch):
    """A tie of several grades below the deepest cutoff changes nothing, nor one of a single one."""
    rows = FRAME.with_columns(distance=pl.Series([1, 2, 2] * 4), relevance=pl.Series([1, 0, 2] * 4))
    asked: Any = {"policies": ("shuffled", "expected"), "truncated": "no"}
    monkeypatch.setattr(run, "draw_together", lambda _: pytest.fail("drawn"))
    scores = evaluate(rows, metrics="precision@1", **asked)
    assert scores.filter(policy="shuffled")["std"].to_list() == [0.0] * 4
    assert shuffled_means(rows, metrics="precision@1")["value"].n_unique() == 1
    with pytest.raises(pytest.fail.Exception, match="drawn"):
        evaluate(rows, metrics="precision@2", **asked)


def test_draws_have_to_be_asked_for():
    with pytest.raises(
        ParameterError, match="policies: 'shuffled' is needed, not 'expected', 'best' alone"
    ):
        evaluate_with_draws(FRAME, policies=("expected", "best"))

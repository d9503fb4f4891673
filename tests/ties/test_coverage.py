"""The judged share of the top k and RBP's residual, against plain recounts over all orders."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from cut_lists import frame
from oracles import enumerate_metric
from retrieval_report.lists import judgement_coverage


def share(order: Sequence[Any], k: int) -> Fraction:
    return Fraction(sum(order[:k]), len(order[:k]))


def residual(order: Sequence[Any], k: int) -> Fraction:
    p = Fraction(3, 5)
    return 1 - sum(((1 - p) * p**at for at, flag in enumerate(order[:k]) if flag), Fraction())


@pytest.mark.parametrize("k", [1, 3, 4, 9])
def test_share_and_residual_are_those_of_all_orders(k: int):
    ties = [[1, 0], [0, 1, 1], [0]]
    rows = frame(ties)
    judged = rows.filter(relevance=1).select("query", "item", relevance=0)
    scores = judgement_coverage(rows.drop("relevance"), judged, cutoffs=k, p=0.6, truncated="no")
    assert scores["policy"].to_list() == ["expected", "naive", "best", "worst"] * 2
    for metric, of_order in (("judged", share), ("rbp_residual(p=0.6)", residual)):
        every = enumerate_metric(ties, partial(of_order, k=k))
        wanted = every.mean, of_order([1, 0, 0, 1, 1, 0], k), every.maximum, every.minimum
        own = scores.filter(metric=metric)
        assert own["value"].to_list() == pytest.approx(list(map(float, wanted)), rel=1e-12)
        assert own["std"][0] == pytest.approx(every.std, rel=1e-9, abs=1e-15)

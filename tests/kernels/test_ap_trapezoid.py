"""AP by the trapezoidal rule: the code of Oxford Buildings under every order, and ties far down."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import retrieval_report as rr
from retrieval_report.kernels.ap_trapezoid import tie_moments
from retrieval_report.kernels.lists import Tie
from retrieval_report.metrics.parsing import parse_metric


def oxford(hits: tuple[int, ...], relevant: int) -> float:
    """What compute_ap of the Oxford Buildings data set sums up, in its own words."""
    ap, old_recall, old_precision, found = 0.0, 0.0, 1.0, 0
    for rank, hit in enumerate(hits, start=1):
        found += hit
        recall, precision = found / relevant, found / rank
        ap += (recall - old_recall) * ((old_precision + precision) / 2.0)
        old_recall, old_precision = recall, precision
    return ap


@pytest.mark.parametrize("hits", list(itertools.product((0, 1), repeat=6))[1:])
def test_a_list_without_ties_has_the_value_of_oxford(hits: tuple[int, ...]) -> None:
    rows = {"query": ["q"] * 6, "item": range(6), "distance": range(6), "relevance": hits}
    scores = rr.evaluate(rows, measures="ap(interpolation=trapezoid)", truncated="no")
    wanted = oxford(hits, sum(hits))
    assert scores["value"].to_list() == pytest.approx([wanted] * scores.height, rel=1e-14)


def moments_of_pairs(
    start: int, size: int, relevant: int, before: int, slots: int
) -> tuple[Fraction, Fraction]:
    """Mean and variance over all sets of slots that relevant items may take, in fractions."""
    values = []
    for places in itertools.combinations(range(1, size + 1), relevant):
        total = Fraction(0)
        for number, place in enumerate(places):
            rank, found = start + place, before + number
            if place <= slots:
                earlier = Fraction(found, rank - 1) if rank > 1 else 1
                total += (Fraction(found + 1, rank) + earlier) / 2
        values.append(total)
    mean = Fraction(sum(values), len(values))
    return mean, sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)


@pytest.mark.parametrize("start", [0, 1, 5, 1_000, 10_000_000])
@pytest.mark.parametrize(("size", "relevant"), [(1, 1), (2, 1), (3, 2), (4, 3), (7, 4), (9, 2)])
def test_moments_of_a_tie_wherever_it_lies(start: int, size: int, relevant: int) -> None:
    for before in {0, min(start, 3), start // 2}:
        for slots in {1, size // 2 + 1, size}:
            mean, variance = moments_of_pairs(start, size, relevant, before, slots)
            found = tie_moments(Tie(start, size, relevant), slots, float(before))
            assert found[0] == pytest.approx(float(mean), rel=1e-14)
            assert found[1] == pytest.approx(float(variance), rel=1e-11, abs=1e-300)


def test_a_long_tie_has_the_moments_of_drawn_orders() -> None:
    size, relevant, start, before = 400, 90, 50, 20
    draw = np.random.default_rng(5)
    hit = np.zeros(size, bool)
    hit[:relevant] = True
    orders = draw.permuted(np.tile(hit, (20_000, 1)), axis=1)
    rank = start + np.arange(1, size + 1)
    found = before + orders.cumsum(axis=1)
    values = (orders * (found / rank + (found - 1) / (rank - 1)) / 2).sum(axis=1)
    mean, variance = tie_moments(Tie(start, size, relevant), size, float(before))
    assert abs(values.mean() - mean) < 4 * values.std() / np.sqrt(len(values))
    assert values.std() == pytest.approx(np.sqrt(variance), rel=0.02)


@pytest.mark.parametrize(
    "text",
    ["wap(interpolation=trapezoid)", "ap(denominator=retrieved,interpolation=trapezoid)"],
)
def test_other_sums_are_not_interpolated(text: str) -> None:
    with pytest.raises(rr.ParameterError, match="interpolation works only for ap"):
        parse_metric(text)
    with pytest.raises(rr.ParameterError, match="interpolation: 'simpson' is not one of"):
        rr.AP(interpolation="simpson")

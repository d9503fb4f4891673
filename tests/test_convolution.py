from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from retrieval_report.analysis import convolution
from retrieval_report.analysis.convolution import Spread, chance_below


def made(sizes: list[int], seed: int) -> list[Spread]:
    random = np.random.default_rng(seed)
    shares = [random.random(size) for size in sizes]
    return [Spread(random.random(share.size) - 0.5, share / share.sum()) for share in shares]


def by_trying(parts: list[Spread], bound: float) -> float:
    """Sum of the probabilities of all combinations below the bound."""
    chosen = product(*(zip(part.value, part.chance, strict=True) for part in parts))
    return sum(float(np.prod([share for _, share in one])) for one in chosen if sum(value for value, _ in one) < bound)


@pytest.mark.parametrize("sizes", [[1], [3], [2, 5], [4, 4, 4], [2, 3, 4, 5, 2]])
def test_all_sums_are_formed(sizes: list[int]) -> None:
    parts = made(sizes, len(sizes))
    for bound in (-0.4, 0.0, 0.3):
        chance, exact = chance_below(parts, bound, 1e-12)
        assert exact
        assert chance == pytest.approx(by_trying(parts, bound), abs=1e-12)


def test_nothing_is_certain_of_nothing() -> None:
    assert chance_below([], 0.1, 0.0) == (1.0, True)
    assert chance_below([], -0.1, 0.0) == (0.0, True)


def test_sums_on_the_bound_are_not_below_it() -> None:
    thirds = Spread(np.array([0.1, 0.2, 0.3]), np.array([0.25, 0.5, 0.25]))
    chance, _ = chance_below([thirds] * 3, 0.6 - 1e-9, 1e-12)
    assert chance == pytest.approx(sum(np.convolve(np.convolve([1, 2, 1], [1, 2, 1]), [1, 2, 1])[:3]) / 64)


@pytest.mark.parametrize("sizes", [[9] * 8, [40, 3, 3, 200], [500, 500]])
def test_the_grid_agrees_where_all_sums_can_be_formed(sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    parts = made(sizes, 7)
    bounds = np.linspace(-1.5, 1.5, 13)
    exact = [chance_below(parts, bound, 1e-12) for bound in bounds]
    monkeypatch.setattr(convolution, "MOST_SUMS", 1)
    grid = [chance_below(parts, bound, 1e-12) for bound in bounds]
    assert {formed for _, formed in exact} == {True}
    assert {formed for _, formed in grid} == {False}
    np.testing.assert_allclose([p for p, _ in grid], [p for p, _ in exact], atol=1e-4)
    assert 0.01 < exact[6][0] < 0.99


def test_the_grid_knows_its_ends() -> None:
    parts = made([60] * 30, 2)
    chances = [chance_below(parts, bound, 1e-12) for bound in (-100.0, 100.0)]
    assert chances == [(0.0, False), (pytest.approx(1.0), False)]

"""The sums behind the variance of AP, and the spread of weights, against exact fractions and
mpmath.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest

from retrieval_report.kernels import ranks, sums, tables
from retrieval_report.kernels.compile import kernel

# Start, counted slots, size: short and long ties, cut and whole, near and far down the list.
PLACES = [
    *[
        (0, 1, 1),
        (0, 1, 4),
        (0, 2, 2),
        (3, 3, 3),
        (7, 2, 5),
        (40, 31, 31),
        (40, 31, 60),
        (5000, 40, 40),
    ],
    *[
        (0, 32, 32),
        (0, 100, 150),
        (1000, 32, 32),
        (1000, 40, 90),
        (2048, 32, 33),
        (2048, 32, 64),
        (500, 200, 200),
    ],
]

CALLED: dict[Any, Any] = {}


def called(function: Any, *arguments: Any) -> Any:
    """What kernels get from a function that they alone can call."""
    if function not in CALLED:
        through: Any = kernel(lambda *arguments: function(*arguments))
        CALLED[function] = through.compiled
    return CALLED[function](*arguments)


def exact_sums(t: int, slots: int, size: int) -> list[Fraction]:
    """The four double sums over places u and v as the documentation writes them."""
    weight = [Fraction(1, t + u) for u in range(1, slots + 1)]
    step = [now - later for now, later in zip(weight, [*weight[1:], Fraction(0)], strict=True)]
    alone = mixed = paired = more = Fraction(0)
    for u in range(1, min(slots, size) + 1):
        for v in range(u, min(slots, size) + 1):
            both = step[u - 1] * step[v - 1] * (size - v)
            times = 1 if u == v else 2
            alone += times * both * u
            mixed += both * u * (v - 1) + (0 if u == v else both * u * (u - 1))
            couples = times * both * Fraction(u * (u - 1), 2)
            paired += couples * (size - 1 + v)
            more += couples * (v * (2 * size - 3) - 3 * (size - 1))
    return [alone, mixed, paired, more]


@pytest.mark.parametrize(("t", "slots", "size"), PLACES)
@pytest.mark.slow
def test_sums_are_those_of_the_definition(t: int, slots: int, size: int) -> None:
    sums = called(ranks.place_sums, t, slots, size, tables.reciprocal_weights(8192))
    expected = [float(value) for value in exact_sums(t, slots, size)]
    assert list(sums) == pytest.approx(expected, rel=2e-13, abs=0.0)


@pytest.mark.parametrize(
    ("t", "slots", "size"),
    [position for position in PLACES if position[1] >= ranks.CLOSED_FORM_FROM],
)
def test_closed_form_and_walk_agree(t: int, slots: int, size: int) -> None:
    harmonics = tables.reciprocal_weights(8192)
    walked = called(ranks._walked_sums, t, slots, size, harmonics)
    closed = called(ranks._closed_sums, t, slots, size, harmonics)
    assert list(closed) == pytest.approx(list(walked), rel=1e-11, abs=0.0)


def test_closed_form_keeps_its_digits_at_the_edge_of_its_use() -> None:
    slots, harmonics = 1000, tables.reciprocal_weights(1 << 17)
    t = ranks.PRECISE_UP_TO * slots
    walked = called(ranks._walked_sums, t, slots, slots, harmonics)
    assert list(called(ranks.place_sums, t, slots, slots, harmonics)) == pytest.approx(
        list(walked), rel=1e-11, abs=0.0
    )


@pytest.mark.parametrize(
    ("name", "t", "slots", "size"),
    [
        *[("log2", 0, 8, 8), ("log2", 100, 40, 40), ("log2", 3000, 9, 20), ("log2", 100_000, 8, 8)],
        *[("log2", 0, 5000, 9000), ("reciprocal", 200, 300, 300), ("reciprocal", 100_000, 7, 9)],
        *[("geometric", 0, 200, 200), ("geometric", 150, 60, 90), ("geometric", 400, 50, 50)],
    ],
)
def test_spread_of_weights_keeps_its_digits(name: str, t: int, slots: int, size: int) -> None:
    with mpmath.workdps(60):
        if name == "log2":
            table, own = (
                tables.log2_weights(1 << 17),
                [1 / mpmath.log(1 + t + u, 2) for u in range(1, slots + 1)],
            )
        elif name == "reciprocal":
            table, own = (
                tables.reciprocal_weights(1 << 17),
                [mpmath.mpf(1) / (t + u) for u in range(1, slots + 1)],
            )
        else:
            persistence = mpmath.mpf(0.8)
            table = tables.geometric_weights(1 << 10, 0.8)
            own = [(1 - persistence) * persistence ** (t + u - 1) for u in range(1, slots + 1)]
        expected = float(sum(weight**2 for weight in own) - sum(own) ** 2 / size)
    assert called(sums.slot_spread, table, t, t + slots, size) == pytest.approx(
        expected, rel=1e-12, abs=0.0
    )


def test_products_of_pairs_are_exact() -> None:
    for a, b in np.random.default_rng(0).standard_normal((50, 2)):
        high, low = called(tables.exact_product, a, b)
        assert Fraction(high) + Fraction(low) == Fraction(a) * Fraction(b)

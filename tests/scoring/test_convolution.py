"""Sums of independent lists: all of them, and bounds by Fourier series."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_report.kernels.lists import Floats
from retrieval_report.kernels.waves import Complex
from retrieval_report.scoring import convolution
from retrieval_report.scoring.convolution import (
    Spread,
    every_sum,
    merged,
    series_below,
)
from retrieval_report.scoring.waves import TiedList, characteristic


def test_thousands_of_lists_have_too_many_sums_and_nothing_overflows():
    part = Spread(np.array([0.0, 0.1, np.pi]), np.array([0.25, 0.25, 0.5]))
    assert every_sum([part] * 3000, 1e-9) is None


def made(sizes: list[int], seed: int, *, unit: float | None = None) -> list[Spread]:
    random = np.random.default_rng(seed)
    parts = []
    for size in sizes:
        share = random.random(size) ** 3
        value: Floats = random.random(size)
        if unit is not None:
            value = unit * np.floor(12 * value)
        parts.append(merged(value, share / share.sum(), 1e-12))
    return parts


def test_the_sum_of_nothing_is_zero():
    sums = every_sum([], 0.0)
    assert sums is not None
    assert sums.below(np.array([-0.1, 0.1])).tolist() == [0.0, 1.0]


def test_too_many_sums_are_not_formed(monkeypatch: pytest.MonkeyPatch):
    assert every_sum(made([40] * 8, 3), 1e-12) is None
    monkeypatch.setattr(convolution, "MOST_VALUES", 10)
    assert every_sum(made([4] * 3, 3), 1e-12) is None


def tied(part: Spread) -> TiedList:
    def wave(step: float, terms: int) -> Complex:
        return np.asarray(np.exp(1j * step * np.outer(np.arange(terms), part.value)) @ part.chance)

    mean = float(part.chance @ part.value)
    variance = float(part.chance @ (part.value - mean) ** 2)
    return TiedList(mean, variance, part.value[0], part.value[-1], part, part.value.size, wave)


def series(parts: list[Spread], bound: float, terms: int) -> tuple[float, float, float]:
    lists = [tied(part) for part in parts]
    least, most = sum(one.least for one in lists), sum(one.most for one in lists)
    period = max(most - bound, bound - least) * 1.001
    mean = sum(one.mean for one in lists)
    return series_below(characteristic(lists, period, terms), mean, bound, period)


@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=5),
    seed=st.integers(0, 10_000),
    share=st.floats(0.05, 0.95),
    unit=st.sampled_from([None, 0.25, 1 / 3]),
)
def test_series_hold_for_any_parts(sizes: list[int], seed: int, share: float, unit: float | None):
    parts = made(sizes, seed, unit=unit)
    exact = every_sum(parts, 1e-12)
    assert exact is not None
    bound = float(exact.value[0] + share * (exact.value[-1] - exact.value[0])) + 1e-6
    truth = exact.below(np.array([bound]))[0]
    low, _, high = series(parts, bound, 64)
    assert low - 1e-9 <= truth <= high + 1e-9


def test_series_are_narrow_where_many_parts_are_added():
    low, _, high = series(made([30] * 60, 2), 30.0, 2000)
    assert high - low < 0.01

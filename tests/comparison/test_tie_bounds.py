"""Bounds from moments and ranges alone, against all sums."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrieval_report.comparison.tie_bounds import Ranges, tail_bounds
from retrieval_report.engines.score_grid import Pairs
from retrieval_report.kernels.lists import Floats
from retrieval_report.scoring.convolution import Spread, every_sum, merged

PAIR = Pairs(np.array([0]), np.array([1]))


def made(queries: int, seed: int, heavy: float) -> list[list[Spread]]:
    """Scores of two models: few values each, one list with a rare high value."""
    random = np.random.default_rng(seed)
    models = []
    for _ in range(2):
        parts = []
        for _ in range(queries):
            share = random.random(3) ** 4
            parts.append(merged(np.round(random.random(3), 1), share / share.sum(), 1e-12))
        models.append(parts)
    models[0][0] = Spread(np.array([0.0, 1.0]), np.array([1 - heavy, heavy]))
    return models


def ranges_of(models: list[list[Spread]]) -> Ranges:
    def table(of: Callable[[Spread], Any]) -> Floats:
        return np.array([[of(part) for part in parts] for parts in models])

    mean = table(lambda part: part.chance @ part.value)
    variance = table(lambda part: part.chance @ (part.value - part.chance @ part.value) ** 2)
    return Ranges(
        mean,
        variance,
        mean - table(lambda part: part.value[0]),
        table(lambda part: part.value[-1]) - mean,
    )


@given(
    queries=st.integers(1, 6),
    seed=st.integers(0, 100_000),
    heavy=st.sampled_from([1e-3, 0.05, 0.5]),
)
def test_the_truth_lies_between_the_bounds(queries: int, seed: int, heavy: float):
    models = made(queries, seed, heavy)
    known = ranges_of(models)
    lead = float(known.value[0].sum() - known.value[1].sum())
    ahead, behind = models if lead > 0 else models[::-1]
    turned = [Spread(-part.value[::-1], part.chance[::-1]) for part in behind]
    sums = every_sum([*ahead, *turned], 1e-12)
    assert sums is not None
    truth = float(sums.below(np.array([-1e-9]))[0])
    low, high = tail_bounds(known, PAIR, np.array([lead]))
    assert low[0] - 1e-9 <= truth <= high[0] + 1e-9
    unbounded = Ranges(known.value, known.variance, known.value, np.full_like(known.rise, np.inf))
    low, high = tail_bounds(unbounded, PAIR, np.array([lead]))
    assert low[0] - 1e-9 <= truth <= high[0] + 1e-9


def test_unknown_deviations_leave_all_open_but_what_the_ranges_tell():
    mean = np.array([[0.6], [0.4]])
    endless = np.full((2, 1), np.inf)
    assert tail_bounds(Ranges(mean, endless, mean, endless), PAIR, np.array([0.2]))[1].tolist() == [
        1.0
    ]

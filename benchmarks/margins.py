"""Losses at the margin of a gate: how often "no worse" is said of them, for `calibration.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from retrieval_report.comparison.loss_test import loss_test
from retrieval_report.comparison.noninferiority import one_sided
from retrieval_report.comparison.significance import paired_t

Floats = NDArray[np.float64]
ALPHA = 0.05
LOSS = 0.02  # the true loss, and the margin, of the table of margins
LOSS_QUERIES = (10, 20, 50, 100, 150, 200, 300, 500)
LOSS_TRIALS = 10_000


def no_worse_p(difference: Floats, margin: float) -> Floats:
    """Return the p of "no worse", as `no_worse` computes it for measures between 0 and 1."""
    ones = np.ones(len(difference))
    return loss_test(difference, None, paired_t(difference, 0.9), margin * ones, ALPHA, ones)[0]


Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


def losers(share: float, loss: float, gain: float = 0.0, noise: float = 0.0) -> Draw:
    """Return differences of which a share loses so much and the others gain, under noise."""

    def draw(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
        value = np.where(generator.random(shape) < share, -loss, gain)
        return value + generator.normal(0, noise, shape) if noise else value

    return draw


def hits(lost: float, won: float) -> Draw:
    """Return differences of hits and misses."""

    def draw(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
        chance = generator.random(shape)
        return np.where(chance < lost, -1.0, np.where(chance < lost + won, 1.0, 0.0))

    return draw


def beta(share: float, one: float, other: float, sign: float = -1.0) -> Draw:
    """Return differences of which a share loses by a beta distribution (sign 0: loses or gains)."""

    def draw(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
        signs = sign or generator.choice([-1.0, 1.0], shape)
        return signs * (generator.random(shape) < share) * generator.beta(one, other, shape)

    return draw


AT_THE_MARGIN: dict[str, Draw] = {  # differences with a mean of -LOSS
    "normal, sd 0.1": lambda generator, shape: generator.normal(-LOSS, 0.1, shape),
    "hits: 2% lost": hits(0.02, 0.0),
    "hits: 5% lost, 3% won": hits(0.05, 0.03),
    "hits: 12% lost, 10% won": hits(0.12, 0.10),
    "hits: 30% lost, 28% won": hits(0.30, 0.28),
    "10% lose Beta(2, 8)": beta(0.1, 2, 8),
    "30% lose Beta(1, 14)": beta(0.3, 1, 14),
    "3% lose Beta(2, 1)": beta(0.03, 2, 1),
    "90% gain 0.005, 10% lose 0.245": losers(0.1, 0.245, gain=0.005),
    "95% gain 0.01, 5% lose 0.59": losers(0.05, 0.59, gain=0.01),
    "2% lost, noise of 0.02": losers(0.02, 1.0, noise=0.02),
    "10% lose 0.2, noise of 0.005": losers(0.1, 0.2, noise=0.005),
    "4% lose 0.5, noise of 0.05": losers(0.04, 0.5, noise=0.05),
    "5% lose 0.4, noise of 0.1": losers(0.05, 0.4, noise=0.1),
    "3% lost, gain of 0.01 with noise of 0.03": losers(0.03, 0.99, gain=0.01, noise=0.03),
    "exponential": lambda generator, shape: -generator.exponential(LOSS, shape),
    "lognormal, sd of logs 1.5": lambda generator, shape: (
        -LOSS * generator.lognormal(-(1.5**2) / 2, 1.5, shape)
    ),
}
WITHOUT_LOSS: dict[str, Draw] = {  # differences with a mean of 0
    "no query differs": lambda _, shape: np.zeros(shape),
    "5% differ by ±Beta(2, 8)": beta(0.05, 2, 8, sign=0.0),
    "normal, sd 0.02": lambda generator, shape: generator.normal(0, 0.02, shape),
    "normal, sd 0.1": lambda generator, shape: generator.normal(0, 0.1, shape),
}


def loss_table(generator: np.random.Generator, draws: dict[str, Draw]) -> Iterator[str]:
    """Yield how often "no worse" is said, beside Student's t alone."""
    yield f"| differences | test | {' | '.join(map(str, LOSS_QUERIES))} |"
    yield f"| --- | --- | {' | '.join(['---:'] * len(LOSS_QUERIES))} |"
    for name, draw in draws.items():
        passed: dict[str, list[str]] = {"no worse": [], "t alone": []}
        for queries in LOSS_QUERIES:
            difference = draw(generator, (LOSS_TRIALS, queries))
            t = paired_t(difference, 0.9)
            alone = one_sided(t.mean, t.std, np.full(LOSS_TRIALS, queries), -LOSS)
            for test, p in (("no worse", no_worse_p(difference, LOSS)), ("t alone", alone)):
                passed[test].append(f"{(p < ALPHA).mean():.1%}")
        for test, shares in passed.items():
            yield f"| {name} | {test} | {' | '.join(shares)} |"


def parts_of_margins(generator: np.random.Generator) -> list[str]:
    """Return the tables of losses at the margin, and of no loss."""
    return [
        (
            f'"No worse" by a margin of {LOSS} where the true loss is {LOSS}, by the number of queries, '
            f"{LOSS_TRIALS} trials each (5.0% has a standard error of 0.2%):"
        ),
        "\n".join(loss_table(generator, AT_THE_MARGIN)),
        "The same where nothing is lost:",
        "\n".join(loss_table(generator, WITHOUT_LOSS)),
    ]

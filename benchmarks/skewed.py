"""Families of models of equal means whose differences are skewed: what each test of all pairs finds
by mistake, and what it finds in real runs. Part of ``calibration.py``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval_report.comparison.corrections import of_skewed, resamples_for
from retrieval_report.comparison.max_t import step_down
from retrieval_report.comparison.significance import holm, paired_t, sign_flips
from retrieval_report.engines.score_grid import Pairs, differences

Floats = NDArray[np.float64]
ALPHA, SKEWED, FAMILIES, FEW = 0.05, 1_000, 400, 999
APART = 0.05  # the least standard deviation of differences of runs that differ
TRACKS = ("adhoc5", "adhoc6", "adhoc7", "adhoc8")


def tracks(measure: str) -> list[Floats]:
    """Return the scores (runs, topics) of each track."""
    root = os.environ.get("RETRIEVAL_REPORT_REAL")
    if not root:
        raise SystemExit("RETRIEVAL_REPORT_REAL is not set; it names a folder with adhoc/")
    return [
        np.loadtxt(Path(root) / "adhoc" / f"{track}_{measure}.csv", delimiter=",", skiprows=1).T
        for track in TRACKS
    ]


def max_t(scores: Floats, seed: int) -> Floats:
    """Return the corrected p of all pairs."""
    return step_down(scores, Pairs.every(len(scores)), FEW, seed)


def differences_of(scores: Floats) -> Floats:
    return differences(scores, Pairs.every(len(scores)))


def single(scores: Floats, seed: int) -> Floats:
    """Return the p of each pair by the t-test, not corrected."""
    return paired_t(differences_of(scores), 0.95).p


def holm_t(scores: Floats, seed: int) -> Floats:
    """Return the p of all pairs corrected by Holm, from the t-test, whose p has no smallest
    value.
    """
    return holm(single(scores, seed))


def neighbours(measure: str, models: int) -> list[Floats]:
    """Return the scores, (models, topics), of every group of real runs next to each other by their
    means, shifted to one mean, that differ: the difference of any two has a standard deviation of
    at least APART, and three topics in ten at most are level.
    """
    first, second = np.triu_indices(models, 1)
    groups = []
    for runs in tracks(measure):
        in_order = runs[np.argsort(runs.mean(axis=1))]
        for start in range(len(runs) - models + 1):
            part = in_order[start : start + models]
            difference = part[first] - part[second]
            level = (difference == 0).mean(axis=1)
            if difference.std(axis=1).min() >= APART and level.max() < 0.3:
                groups.append(part - part.mean(axis=1, keepdims=True))
    return groups


def exponential(generator: np.random.Generator, models: int, topics: int) -> Floats:
    """Return scores (models, topics) of mean 0 with long tails, upwards for every second model."""
    tails = generator.exponential(0.1, (models, topics)) - 0.1
    return tails * np.where(np.arange(models) % 2, -1.0, 1.0)[:, None]


def skewed_draws(
    generator: np.random.Generator, data: str, models: int, topics: int
) -> Iterator[Floats]:
    """Yield the scores of models of equal means, SKEWED times, on topics drawn with replacement."""
    groups = None if data == "exponential" else neighbours(data, models)
    for _ in range(SKEWED):
        if groups is None:
            yield exponential(generator, models, topics)
        else:
            runs = groups[generator.integers(len(groups))]
            yield runs[:, generator.integers(0, runs.shape[1], topics)]


def sign_flips_holm(scores: Floats, seed: int) -> Floats:
    """Return the p of all pairs by Holm's correction of the sign-flip test, as `compare` does."""
    pairs = Pairs.every(len(scores))
    return holm(sign_flips(scores, pairs, resamples_for("holm", pairs), seed)[0])


def skewed_holm(scores: Floats, seed: int) -> Floats:
    """Return the p of all pairs by the tests that allow for skewed differences."""
    return of_skewed(scores, Pairs.every(len(scores)))


SKEWED_TESTS = {
    "max-T": max_t,
    "Holm": sign_flips_holm,
    "Holm of t": holm_t,
    "skewed": skewed_holm,
    "not corrected": single,
}


def skewed_table(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of the probability of any false finding among models of equal means whose
    differences are skewed, and of covering all true ranks, which fails in the same trials.
    """
    yield f"| data | models | topics | {' | '.join(SKEWED_TESTS)} |"
    yield f"| --- | ---: | ---: |{' ---: |' * len(SKEWED_TESTS)}"
    for data, models in product(("ap", "p10", "exponential"), (5, 13)):
        if data == "p10" and models > 5:
            continue  # no thirteen neighbours differ in so many topics
        for topics in (8, 15, 25, 50) if models == 5 else (15, 50):
            false = np.zeros(len(SKEWED_TESTS))
            for trial, scores in enumerate(skewed_draws(generator, data, models, topics)):
                false += [
                    np.nanmin(test(scores, trial), initial=1.0) < ALPHA
                    for test in SKEWED_TESTS.values()
                ]
            shares = " | ".join(f"{share:.1%}" for share in false / SKEWED)
            yield f"| {data} | {models} | {topics} | {shares} |"


def skewed_power_table(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of the share of trials in which each test finds some pair of real runs, drawn
    at random with topics drawn again, to differ.
    """
    names = [name for name in SKEWED_TESTS if name != "not corrected"]
    yield f"| models | topics | {' | '.join(names)} |"
    yield f"| ---: | ---: |{' ---: |' * len(names)}"
    data = tracks("ap")
    for models, topics in ((5, 15), (5, 50), (13, 15), (13, 50)):
        found = np.zeros(len(names))
        for trial in range(FAMILIES):
            runs = data[trial % len(data)]
            drawn = runs[generator.choice(len(runs), models, replace=False)]
            drawn = drawn[:, generator.integers(0, runs.shape[1], topics)]
            found += [np.nanmin(SKEWED_TESTS[name](drawn, trial)) < ALPHA for name in names]
        shares = " | ".join(f"{share:.0%}" for share in found / FAMILIES)
        yield f"| {models} | {topics} | {shares} |"


def parts_of_skewed(generator: np.random.Generator) -> list[str]:
    """Return the table of skewed families."""
    return [
        (
            f"Any false finding among models of equal means and skewed differences, {SKEWED} "
            "trials each (5.0% has a standard error of 0.7%):"
        ),
        "\n".join(skewed_table(generator)),
        f"Trials in which some pair of real runs is found to differ (AP), {FAMILIES} each:",
        "\n".join(skewed_power_table(generator)),
    ]

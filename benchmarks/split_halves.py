"""Topics split in halves: what one half states of its first two runs, and what the other half does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval_report.comparison.new_draws import new_queries

Floats = NDArray[np.float64]
BINS = 10
LEVEL = 1e-12  # means this close are level: half a reversal


class Halves(NamedTuple):
    """What one half of the topics states of its first two runs, and whether the other half agrees."""

    stated: Floats
    reversed: Floats  # 1, 0, or 1/2 where the other half has them level


def split_halves(data: list[Floats], runs: int, draws: int, seed: int = 0) -> Halves:
    """Return both halves of draws of so many runs; draws without a lead are left out."""
    draw = np.random.default_rng(seed)
    stated, turned = [], []
    for number in range(draws):
        values = data[number % len(data)]
        chosen = values[draw.choice(len(values), runs, replace=False)]
        topics = draw.permutation(chosen.shape[1])
        half = chosen.shape[1] // 2
        first, second = chosen[:, topics[:half]], chosen[:, topics[half : 2 * half]]
        best, next_best = np.argsort(-first.mean(axis=1), kind="stable")[:2]
        difference = first[best] - first[next_best]
        chance = new_queries(difference)
        if abs(difference.mean()) <= LEVEL or chance is None:
            continue
        again = float((second[best] - second[next_best]).mean())
        stated.append(chance)
        turned.append(0.5 if abs(again) <= LEVEL else float(again < 0))
    return Halves(np.array(stated), np.array(turned))


def in_bins(halves: Halves) -> list[tuple[float, float, int]]:
    """Return the mean chance stated, the share reversed and the number of draws of ten bins of the
    same size.
    """
    order = np.argsort(halves.stated, kind="stable")
    return [
        (float(halves.stated[part].mean()), float(halves.reversed[part].mean()), part.size)
        for part in np.array_split(order, BINS)
    ]

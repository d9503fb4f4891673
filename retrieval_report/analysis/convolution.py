"""The sum of independent numbers of which each has few values: how probable it is that it stays below a bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from retrieval_report.analysis.inputs import Floats

__all__ = ["Spread", "chance_below"]

MOST_VALUES = 1 << 16  # of half of a sum; beyond that the values are put on a grid
MOST_SUMS = 1 << 20  # formed at a time
CELLS = 1 << 14  # of the grid


class Spread(NamedTuple):
    """Values and their probabilities."""

    value: Floats
    chance: Floats


def chance_below(parts: Sequence[Spread], bound: float, near: float) -> tuple[float, bool]:
    """Probability that the sum of the parts is below the bound, and whether that is exact.

    Sums that differ by less than ``near`` are the same. While there are few different ones all are formed, half of
    the parts against the other half. Else each part is put on a grid of 16 384 cells over the whole span, every value
    shared between two cells so that means stay, and the parts are convolved by Fourier transform: good to some 1e-4.

    >>> coin = Spread(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    >>> chance_below([coin] * 4, 1.5, 1e-9)
    (0.3125, True)
    """
    halves = [Spread(np.zeros(1), np.ones(1))] * 2
    for part in sorted((_merged(part, near) for part in parts), key=lambda part: part.value.size):
        halves.sort(key=lambda half: half.value.size)
        if halves[0].value.size * part.value.size > MOST_SUMS:
            return _on_grid(parts, bound), False
        value = np.add.outer(halves[0].value, part.value).ravel()
        halves[0] = _merged(Spread(value, np.outer(halves[0].chance, part.chance).ravel()), near)
        if halves[0].value.size > MOST_VALUES:
            return _on_grid(parts, bound), False
    first, second = halves
    below = np.concatenate([[0.0], np.cumsum(second.chance)])
    return float(first.chance @ below[np.searchsorted(second.value, bound - first.value)]), True


def _merged(spread: Spread, near: float) -> Spread:
    """Rising values, those that are the same put together."""
    order = np.argsort(spread.value, kind="stable")
    value, chance = spread.value[order], spread.chance[order]
    first = np.flatnonzero(np.concatenate([[True], np.diff(value) > near]))
    return Spread(value[first], np.add.reduceat(chance, first))


def _on_grid(parts: Sequence[Spread], bound: float) -> float:
    low = sum(float(part.value.min()) for part in parts)
    step = (sum(float(part.value.max()) for part in parts) - low) / CELLS
    size = 2 * CELLS  # no sum reaches the end, so nothing comes round to the beginning
    product = np.ones(size // 2 + 1, np.complex128)
    for part in parts:
        place = (part.value - part.value.min()) / step
        cell = place.astype(np.int64)
        cells = np.bincount(cell, part.chance * (cell + 1 - place), size)
        cells += np.bincount(cell + 1, part.chance * (place - cell), size)
        product *= np.fft.rfft(cells)
    chance = np.fft.irfft(product, size)
    # Each cell's share is spread over its width.
    whole, rest = divmod(float(np.clip((bound - low) / step + 0.5, 0, size - 1)), 1.0)
    below = int(whole)
    return float(np.clip(chance[:below].sum() + rest * chance[below], 0.0, 1.0))

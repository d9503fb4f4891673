"""The probability that a sum of independent scores, each with few values, is below a bound.

There are two methods: all sums (on a lattice, or merged if equal), and a Fourier series between
Vaaler's majorant and minorant of a step (J. D. Vaaler, *Some extremal functions in Fourier
analysis*, Bull. AMS 12, 1985), which rounds no value at all.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.lists import Floats, running
from retrieval_report.kernels.products import dot
from retrieval_report.kernels.waves import Complex

MOST_SUMS = 1 << 20  # sums formed at a time
MOST_VALUES = 1 << 16  # values that a sum may have
MOST_CELLS = 1 << 18  # cells of a lattice
MOST_STEPS = 1 << 28  # additions on a lattice, a fifth of a second
LATTICE = 1e-12  # how far a value may be from a lattice, relative to the largest
FLOAT = 1e-7  # effect that rounding may have on a series


class Spread(NamedTuple):
    """Distinct values, ascending, and their probabilities."""

    value: Floats
    chance: Floats

    def below(self, bounds: Floats) -> Floats:
        """Return the probability of a value below each bound, among the values."""
        return running(self.chance)[np.searchsorted(self.value, bounds)]


POINT_MASS = Spread(np.zeros(1), np.ones(1))


def every_sum(parts: Sequence[Spread], near: float) -> Spread | None:
    """Return all sums of the parts with their probabilities; None if there are too many.

    Sums that differ by less than ``near`` are merged.

    >>> coin = Spread(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    >>> every_sum([coin] * 3, 1e-9)
    Spread(value=array([0., 1., 2., 3.]), chance=array([0.125, 0.375, 0.375, 0.125]))
    """
    on_lattice = _lattice_sums(parts)
    if on_lattice is None and math.prod(part.value.size for part in parts) <= MOST_SUMS:
        return _merged_sums(parts, near)
    return on_lattice


def merged(value: Floats, chance: Floats, near: float) -> Spread:
    """Merge equal values in ascending values.

    >>> merged(np.array([1.0, 0.0, 1.0]), np.array([0.25, 0.5, 0.25]), 1e-9)
    Spread(value=array([0., 1.]), chance=array([0.5, 0.5]))
    """
    order = np.argsort(value, kind="stable")
    value = value[order]
    chance = chance[order]
    first = np.flatnonzero(np.concatenate([[True], np.diff(value) > near]))
    return Spread(value[first], np.add.reduceat(chance, first))


def _lattice_sums(parts: Sequence[Spread]) -> Spread | None:
    """Return all sums if every value is a whole number of units above its part's lowest, else None."""
    offsets = [part.value - part.value[0] for part in parts]
    base = sum(float(part.value[0]) for part in parts)
    span = float(sum(steps[-1] for steps in offsets))
    if span == 0:
        return Spread(np.array([base]), np.ones(1))
    unit = common_unit(np.concatenate(offsets), span / MOST_CELLS)
    if unit is None:
        return None
    cells = [np.rint(steps / unit).astype(np.int64) for steps in offsets]
    sizes = np.cumsum([steps[-1] for steps in cells]) + 1
    if float(sizes @ np.array([steps.size for steps in cells])) > MOST_STEPS:
        return None
    chance = np.ones(1)
    for part, steps in zip(parts, cells, strict=True):
        longer = np.zeros(chance.size + int(steps[-1]))
        for cell, share in zip(steps.tolist(), part.chance.tolist(), strict=True):
            longer[cell : cell + chance.size] += share * chance
        chance = longer
    possible = np.flatnonzero(chance)
    return Spread(base + unit * possible.astype(np.float64), chance[possible])


def common_unit(offsets: Floats, least: float) -> float | None:
    """Return the greatest common divisor of all offsets,
    or None if it is below ``least`` (Euclid's algorithm).
    """
    different = np.unique(offsets)
    different = different[different > 0]
    margin = LATTICE * float(different[-1])
    unit = float(different[0])
    while True:
        rest = np.abs(different - unit * np.rint(different / unit))
        rest = rest[rest > margin]
        if not rest.size:
            break
        unit = float(rest.min())
        if unit < least or unit < 1e4 * margin:
            return None
    return float(different[-1] / np.rint(different[-1] / unit)) if unit >= least else None


def _merged_sums(parts: Sequence[Spread], near: float) -> Spread | None:
    """Form sums part by part, merging equal ones; None if there are too many."""
    whole = POINT_MASS
    for part in sorted(parts, key=lambda part: part.value.size):
        value = np.add.outer(whole.value, part.value).ravel()
        whole = merged(value, np.outer(whole.chance, part.chance).ravel(), near)
        if whole.value.size > MOST_VALUES:
            return None
    return whole


def series_below(
    values: Complex, mean: float, bound: float, period: float
) -> tuple[float, float, float]:
    """Return a lower bound, an estimate and an upper
    bound of the probability that a sum is below a bound.

    ``values`` are E exp(i·n·2π/period·sum) for n = 0, 1, …; sums are less than ``period`` away from
    the bound. There 1{sum < bound} = ½ + (bound − sum)/period + ψ((sum − bound)/period) with the
    sawtooth ψ, and Vaaler's trigonometric polynomial is nowhere farther from ψ than Fejér's kernel
    over 2·terms + 2.
    """
    terms = values.size - 1
    n = np.arange(1, terms + 1)
    share = n / (terms + 1)
    turned = values[1:] * np.exp(-2j * np.pi / period * n * bound)
    weight = np.pi * share * (1 - share) / np.tan(np.pi * share) + share
    middle = 0.5 + (bound - mean) / period - dot(weight / (np.pi * n), turned.imag)
    reach = (1 + 2 * dot(1 - share, turned.real)) / (2 * terms + 2) + FLOAT
    return max(middle - reach, 0.0), float(np.clip(middle, 0.0, 1.0)), min(middle + reach, 1.0)

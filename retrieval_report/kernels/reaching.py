"""Count the patterns of signs in which the sum of each pair of models is as far from 0 as it was.

NumPy writes and reads each sum several times. The kernel keeps sums in registers, and takes a
seventh of the time; for less than some hundred million sums the compiler is not worth loading.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import LOADING, ZERO, Kernel, costs, kernel
from retrieval_report.kernels.lists import Floats, Integers

Indices = NDArray[np.intp]
Sums = Callable[[Indices, Indices], Floats]  # of pairs, in patterns of signs
ROWS = 256  # pairs whose flipped sums NumPy holds at a time
PAYING = 2.1e8  # sums from which on it pays to load the compiler: 0.6 s as NumPy


class Family(NamedTuple):
    """Pairs of models; if each is compared with the largest so far, the least significant first."""

    first: Indices
    second: Indices
    seen: Floats  # how far from 0 the sum of a pair was, times its scale if there is one
    scale: Floats  # of sums that are compared with those of other pairs


def count_in_blocks(sums: Sums, family: Family, self_only: bool, reached: Integers) -> None:
    """Do with NumPy what `count_reached` does, with sums of pairs that a function returns."""
    largest = np.zeros(sums(family.first[:0], family.second[:0]).shape[1])
    for start in range(0, reached.size, ROWS):
        rows = slice(start, start + ROWS)
        flipped, observed = sums(family.first[rows], family.second[rows]), family.seen[rows]
        np.abs(flipped, out=flipped)
        if self_only:
            reached[rows] += np.count_nonzero(flipped >= observed[:, None], axis=1)
        else:
            flipped *= family.scale[rows, None]
            reached[rows] += _rising(flipped, observed, largest)


def _rising(flipped: Floats, observed: Floats, largest: Floats) -> Integers:
    """Return how many patterns reach each pair of a block, and raise the ``largest`` statistic of
    each pattern so far.

    In most patterns no pair of a block exceeds the largest so far: these are counted together, by
    bisection.

    >>> largest = np.array([0.0, 5.0])
    >>> (
    ...     _rising(np.array([[1.0, 1.0], [3.0, 2.0]]), np.array([1.5, 4.0]), largest).tolist(),
    ...     largest.tolist(),
    ... )
    ([1, 1], [3.0, 5.0])
    """
    grown = flipped.max(axis=0, initial=0.0) > largest
    still = np.sort(largest[~grown])
    reaching = still.size - np.searchsorted(still, observed, side="left")
    if grown.any():
        rising = np.ascontiguousarray(flipped[:, grown].T)
        rising[:, 0] = np.maximum(rising[:, 0], largest[grown])
        np.maximum.accumulate(rising, axis=1, out=rising)
        reaching += np.count_nonzero(rising >= observed, axis=0)
        largest[grown] = rising[:, -1]
    return reaching


def _apart(sums: Floats, first: Indices, second: Indices) -> Floats:
    differences = sums[first]
    differences -= sums[second]
    return differences


@costs(lambda sums, family, *_: LOADING * sums.shape[1] * family.first.size / PAYING)
@kernel
def count_reached(
    sums: Floats, family: Family, largest: Floats, self_only: bool, reached: Integers
) -> None:
    """Add to ``reached`` in how many patterns each pair is as far from 0 as it was, or, if not
    ``self_only``, it or a pair before it.

    The sum of a pair is the difference of the ``sums`` of its models (models, patterns).
    ``largest`` (patterns) is scratch memory, at first 0.
    """
    for pair in range(reached.size):
        first_sum = sums[family.first[pair]]
        second_sum = sums[family.second[pair]]
        observed = family.seen[pair]
        scale = family.scale[pair]
        count = ZERO
        for pattern in range(largest.size):  # without branches: many patterns at a time
            far = abs(first_sum[pattern] - second_sum[pattern])
            if not self_only:
                far *= scale
                far = far if far > largest[pattern] else largest[pattern]
                largest[pattern] = far
            count += int(far >= observed)
        reached[pair] += count


# A walk in Python would take hundreds of times as long.
cast(Kernel, count_reached).python = lambda sums, family, _, *counts: count_in_blocks(
    partial(_apart, sums), family, *counts
)

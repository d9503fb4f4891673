"""Weights of the positions and their prefix sums, each as an unevaluated pair high + low.

A float64 prefix sum alone loses the digits that a difference far down the list needs; a pair of
float64 keeps about 32 digits (Dekker 1971, "A floating-point technique for extending the available
precision").
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from retrieval_report.kernels.compile import inlined, kernel, product_rest
from retrieval_report.kernels.lists import Floats, Integers, all_frozen

Pair = tuple[float, float]  # high and low part of a number


class Weights(NamedTuple):
    """Weight of position i at index i (index 0 holds 0), and the sums of the first i and of their
    squares, as pairs; and as one number what position i adds to the sum, with the same bits as a
    difference of sums over several.
    """

    weight: Floats
    weight_low: Floats
    total: Floats
    total_low: Floats
    square: Floats
    square_low: Floats
    added: Floats


NO_WEIGHTS = all_frozen(Weights(*np.zeros((7, 1))))


class Given(NamedTuple):
    """What a sum is given beside lists and depths; each reads what it needs."""

    values: Floats  # what an item of each grade brings, 0 exactly for those that do not count
    weights: Weights  # of the positions; one alone where none is needed
    fades: bool  # whether an item counts less, the further down it is
    by_ideal: bool  # whether a ratio is that to the ideal, not to the number of relevant items
    best: bool  # whether the highest ratio is wanted, not the lowest
    want_variance: bool
    most: Integers  # of each list, how many judged others may count against a relevant item


@inlined
def pair_sum(left: Pair, right: Pair) -> Pair:
    """Add two pairs."""
    a, a_low = left
    b, b_low = right
    high = a + b
    back = high - a
    low = ((a - (high - back)) + (b - back)) + (a_low + b_low)
    result = high + low
    return result, low - (result - high)


@inlined
def add(high: float, low: float, part: float) -> Pair:
    """Add to a running sum, collecting the rounding error in ``low`` (Neumaier 1974)."""
    result = high + part
    back = result - high
    return result, low + ((high - (result - back)) + (part - back))


@inlined
def exact_product(a: float, b: float) -> Pair:
    """Multiply two numbers exactly."""
    high = a * b
    return high, product_rest(a, b, high)


@inlined
def pair_product(left: Pair, right: Pair) -> Pair:
    """Multiply two pairs."""
    a, a_low = left
    b, b_low = right
    high, low = exact_product(a, b)
    low += a * b_low + a_low * b
    result = high + low
    return result, low - (result - high)


@inlined
def pair_quotient(left: Pair, right: Pair) -> Pair:
    """Divide two pairs: one Newton step from the float64 quotient."""
    a, a_low = left
    b, b_low = right
    first = a / b
    high, low = exact_product(first, b)
    rest = ((a - high) - low) + (a_low - first * b_low)
    second = rest / b
    result = first + second
    return result, second - (result - first)


@inlined
def pair_between(high: Floats, low: Floats, t: int, e: int) -> Pair:
    """Return what the positions t + 1 … e add to a prefix sum, as a pair."""
    return pair_sum((high[e], low[e]), (-high[t], -low[t]))


@kernel
def fill_log2(weight: Floats, low: Floats) -> None:
    """Fill in 1 / log2(1 + i), by log(m + 1) = log(m) + 2
    artanh(1 / (2m + 1)) instead of a library's logarithm.
    """
    log = two = 0.0, 0.0
    for m in range(1, weight.size):
        step = power = pair_quotient((1.0, 0.0), (2.0 * m + 1.0, 0.0))
        square = pair_product(step, step)
        odd = 1.0
        while power[0] > 1e-28 * step[0]:
            part = pair_quotient((2.0 * power[0], 2.0 * power[1]), (odd, 0.0))
            log = pair_sum(log, part)
            power = pair_product(power, square)
            odd += 2.0
        if m == 1:
            two = log
        weight[m], low[m] = pair_quotient(two, log)


@kernel
def fill_reciprocal(weight: Floats, low: Floats) -> None:
    """Fill in 1 / i."""
    for i in range(1, weight.size):
        weight[i], low[i] = pair_quotient((1.0, 0.0), (float(i), 0.0))


@kernel
def fill_geometric(weight: Floats, low: Floats, persistence: float) -> None:
    """Fill in (1 - p) p^(i - 1)."""
    part = pair_sum((1.0, 0.0), (-persistence, 0.0))
    for i in range(1, weight.size):
        weight[i], low[i] = part
        part = pair_product(part, (persistence, 0.0))
        if (
            part[0] < 1e-280
        ):  # below this the low part would be denormal; such weights change no sum
            part = 0.0, 0.0


@kernel
def fill_totals(weights: Weights) -> None:
    """Fill in the prefix sums."""
    weight, low, total, total_low, square, square_low, added = weights
    for i in range(1, weight.size):
        part = weight[i], low[i]
        total[i], total_low[i] = pair_sum((total[i - 1], total_low[i - 1]), part)
        squared = pair_product(part, part)
        square[i], square_low[i] = pair_sum((square[i - 1], square_low[i - 1]), squared)
        added[i] = pair_between(total, total_low, i - 1, i)[0]


def _finish(weight: Floats, low: Floats) -> Weights:
    result = Weights(weight, low, *np.zeros((5, weight.size)))
    fill_totals(result)
    for part in result:
        part.setflags(write=False)
    return result


@lru_cache(maxsize=24)
def _filled(fill: Callable[..., None], longest: int, *parameters: float) -> Weights:
    """Return the table of the ranks up to ``longest``, filled in by a kernel.

    >>> log2_weights(3).weight
    array([0.        , 1.        , 0.63092975, 0.5       ])
    """
    weight = np.zeros(longest + 1)
    low = np.zeros(longest + 1)
    fill(weight, low, *parameters)
    return _finish(weight, low)


# 1 / log2(1 + i) at position i.
log2_weights = partial(_filled, fill_log2)
# 1 / i at position i; the totals are the harmonic numbers.
reciprocal_weights = partial(_filled, fill_reciprocal)
# (1 - p) p^(i - 1) at position i, the weights of rank-biased precision.
geometric_weights = partial(_filled, fill_geometric)


def given_weights(values: Floats) -> Weights:
    """Return a table of given float64 weights for the positions from 1 on."""
    weight = np.concatenate([[0.0], values])
    return _finish(weight, np.zeros_like(weight))

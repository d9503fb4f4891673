"""Numbers of 256 binary places, for references at a million items where fractions would take
minutes.

A fixed-point number is a plain int that stands for itself times 2**-256. An operation rounds down
once, by less than 2**-256 = 1e-77, so that sums over 10**6 positions keep more than 60 decimals; a
variance that is 1e-13 of the squared mean it comes from still has more than 40 digits.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath  # type: ignore[import-untyped]

BITS = 256
UNIT = 1 << BITS
GUARD = 64
NOISE = 1 << (BITS - 166)


def fixed(value: Fraction) -> int:
    return (value.numerator << BITS) // value.denominator


def fraction(value: int) -> Fraction:
    return Fraction(value, UNIT)


def times(left: int, right: int) -> int:
    return left * right >> BITS


def variance_of(first: int, second: int) -> int:
    """Second moment minus squared mean; what is left of rounding where nothing is random (1e-50)
    becomes 0.
    """
    difference = second - times(first, first)
    return difference if difference > NOISE else 0


# Weights of positions 1..length; entry 0 is unused
# ----------------------------------------------------


@lru_cache(maxsize=2)
def reciprocals(length: int) -> list[int]:
    return [0] + [UNIT // position for position in range(1, length + 1)]


@lru_cache(maxsize=2)
def log2_discounts(length: int) -> list[int]:
    """1 / log2(1 + position). Only primes need mpmath: the logarithm of a product is a sum."""
    logarithms = [0] * (length + 2)
    factors = smallest_prime_factors(length + 1)
    with mpmath.workprec(BITS + GUARD):
        log_of_two = mpmath.log(2)
        for number in range(2, length + 2):
            prime = factors[number]
            if prime == number:
                logarithms[number] = int(mpmath.ldexp(mpmath.log(number) / log_of_two, BITS))
            else:
                logarithms[number] = logarithms[prime] + logarithms[number // prime]
    return [0] + [(UNIT << BITS) // logarithms[1 + position] for position in range(1, length + 1)]


def smallest_prime_factors(largest: int) -> list[int]:
    factors = list(range(largest + 1))
    for prime in range(2, int(largest**0.5) + 1):
        if factors[prime] == prime:
            for multiple in range(prime * prime, largest + 1, prime):
                if factors[multiple] == multiple:
                    factors[multiple] = prime
    return factors


@lru_cache(maxsize=2)
def powers(ratio: Fraction, length: int) -> list[int]:
    """(1 - p) * p**(position - 1): the weights of rbp. Terms below 2**-256 are 0."""
    weights, weight = [0], fixed(1 - ratio)
    for _ in range(length):
        weights.append(weight)
        weight = weight * ratio.numerator // ratio.denominator
    return weights


def discounts(discount: str | Callable[[Any], Any], length: int) -> list[int]:
    if discount == "log2":
        return log2_discounts(length)
    if discount == "reciprocal":
        return reciprocals(length)
    assert callable(discount), f"discount {discount!r}"
    return [0] + [fixed(Fraction(float(discount(position)))) for position in range(1, length + 1)]


# Chances
# ----------------------------------------------------------------------------------------------


def hypergeometric(size: int, relevant: int, draws: int) -> dict[int, int]:
    """Chance of x relevant among `draws` items taken from `size`, for every x whose chance is not 0
    here.

    Goes outward from the most likely x by the ratio of neighbours, then divides by the sum.
    """

    def ratio(x: int) -> tuple[int, int]:  # chance(x + 1) / chance(x)
        return (relevant - x) * (draws - x), (x + 1) * (size - relevant - draws + x + 1)

    mode = (relevant + 1) * (draws + 1) // (size + 2)
    chances = {mode: UNIT << GUARD}
    x = mode
    while x < min(relevant, draws) and chances[x]:
        up, down = ratio(x)
        chances[x + 1] = chances[x] * up // down
        x += 1
    x = mode
    while x > max(0, draws + relevant - size) and chances[x]:
        up, down = ratio(x - 1)
        chances[x - 1] = chances[x] * down // up
        x -= 1
    total = sum(chances.values())
    return {x: (chance << BITS) // total for x, chance in chances.items() if chance}


def survival(size: int, relevant: int, draws: int) -> Fraction:
    """Chance that none of `draws` items is relevant, with 60 digits however small; 0 below
    exp(-2000).
    """
    if draws > size - relevant:
        return Fraction(0)
    with mpmath.workprec(BITS):
        kept, away = size - relevant + 1, size - draws + 1
        logarithm = mpmath.loggamma(kept) + mpmath.loggamma(away)
        logarithm -= mpmath.loggamma(kept - draws) + mpmath.loggamma(size + 1)
        if logarithm < -2000:
            return Fraction(0)
        mantissa, exponent = mpmath.exp(logarithm).man_exp
        return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)

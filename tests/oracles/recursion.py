"""Exact moments on lists of up to some hundred items, one position after the other.

What an item adds to a metric depends on which items stand before it, not on their order. So the
state is how many items of each grade were drawn, and the moments of the running sum follow from
state to state (law of total expectation), weighted by the number of orderings that pass through. No
formula for any metric's expectation is used. Ties are grade histograms, nearest first: `[{0: 3, 2:
1}, {1: 2}]`.

>>> by_states([{0: 1, 1: 1}], "rr")
MeanVariance(mean=Fraction(3, 4), variance=Fraction(1, 16))
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import oracles
from oracles import ONE, ZERO, Grade, discount_at, discounted_sum, exp2, gain_of, is_relevant

Histogram = Mapping[Any, int]
Increment = Callable[[int, Any, Histogram], Fraction]
Divisor = Callable[[Histogram], Fraction]
State = tuple[int, ...]
BITS = 256
NOISE = Fraction(1, 1 << 166)  # 1e-50: rounding, where nothing is random


class MeanVariance(NamedTuple):
    """Mean and variance over all orderings; the variance is None where only the mean is known."""

    mean: Fraction
    variance: Fraction | None

    @property
    def std(self) -> float:
        assert self.variance is not None, "no reference for this variance"
        return oracles.square_root(self.variance)

    def over(self, divisor: Fraction | int) -> MeanVariance:
        """The moments of the quantity divided by a constant."""
        variance = None if self.variance is None else self.variance / divisor**2
        return MeanVariance(self.mean / divisor, variance)


def histograms(ties: Sequence[Sequence[Grade]]) -> list[dict[Grade, int]]:
    """Ties as lists of grades, as grade histograms."""
    return [{grade: list(tie).count(grade) for grade in sorted(set(tie))} for tie in ties]


def with_repeats(ties: Sequence[Histogram]) -> Iterator[tuple[Histogram, int]]:
    """Each tie once, with how often it is there: a million ties are written as a few, repeated."""
    once = {id(tie): tie for tie in ties}
    for name, repeats in Counter(map(id, ties)).items():
        yield once[name], repeats


def items_in(ties: Sequence[Histogram]) -> int:
    return sum(sum(tie.values()) * repeats for tie, repeats in with_repeats(ties))


def relevant_in(tie: Histogram, relevant_from: Grade | None = None) -> int:
    return sum(count for grade, count in tie.items() if is_relevant(grade, relevant_from))


def total_relevant(ties: Sequence[Histogram], options: Mapping[str, Any]) -> int:
    """R: as given, else counted in the judged items, else in the list."""
    if options.get("n_relevant") is not None:
        return int(options["n_relevant"])
    known = ties if options.get("judged") is None else [options["judged"]]
    return sum(
        relevant_in(tie, options.get("relevant_from")) * repeats
        for tie, repeats in with_repeats(known)
    )


def walk(ties: Sequence[Histogram], k: int | None) -> Iterator[tuple[int, int, int, Histogram]]:
    """Items before the tie, last position of it that counts, its size, and the tie."""
    start = 0
    for tie in ties:
        if k is not None and start >= k:
            return
        size = sum(tie.values())
        yield start, start + size if k is None else min(start + size, k), size, tie
        start += size


def number_of_states(ties: Sequence[Histogram]) -> int:
    return sum(math.prod(count + 1 for count in tie.values()) for tie in ties)


def by_states(
    ties: Sequence[Histogram], text: str, k: int | None = None, **options: Any
) -> MeanVariance:
    """Moments of the metric named by `text`; options as for `oracles.moments`, `judged` as a
    histogram.
    """
    name, written, cutoff = oracles.parse(text)
    options = {**written, **options}
    cutoff = k if cutoff is None else cutoff
    total = total_relevant(ties, options)
    if name in ("r_precision", "ap_at_r"):
        name, cutoff = {"r_precision": "precision", "ap_at_r": "ap"}[name], total
    if total == 0 or not ties:
        return MeanVariance(ZERO, ZERO)
    last = items_in(ties) if cutoff is None else cutoff
    return expected_sum(ties, last, increment(name, options), divisor(name, ties, cutoff, options))


def expected_sum(
    ties: Sequence[Histogram], k: int, increment: Increment, divisor: Divisor
) -> MeanVariance:
    """Moments of (sum of increments at positions up to k) / (divisor of what was drawn up to
    there).

    A state holds the number of orderings that reach it and the sums of Y and Y**2 over them, as
    integers that stand for multiples of 2**-256 and 2**-512.
    """
    grades = sorted({grade for tie in ties for grade in tie})
    states: dict[State, tuple[int, int, int]] = {(0,) * len(grades): (1, 0, 0)}
    position = 0
    for tie in ties:
        (earlier,) = states  # between two ties all that came before is drawn
        end = tuple(drawn + tie.get(grade, 0) for drawn, grade in zip(earlier, grades, strict=True))
        while position < min(k, sum(end)):
            position += 1
            states = next_states(
                states, grades, end, lambda *where, at=position: increment(at, *where)
            )
        if position == k:
            break
    orders = sum(count for count, _, _ in states.values())
    mean = square = ZERO
    for state, (_, first, second) in states.items():
        share = divisor(dict(zip(grades, state, strict=True)))
        if share:
            mean += Fraction(first, orders << BITS) / share
            square += Fraction(second, orders << 2 * BITS) / share**2
    variance = square - mean**2
    return MeanVariance(mean, variance if variance > NOISE else ZERO)


def next_states(
    states: dict[State, tuple[int, int, int]],
    grades: Sequence[Any],
    end: State,
    increment: Callable[[Any, Histogram], Fraction],
) -> dict[State, tuple[int, int, int]]:
    """Draw one more item of the tie in every way; `end` is the state when the whole tie is
    drawn.
    """
    following: dict[State, tuple[int, int, int]] = {}
    for drawn, (orders, first, second) in states.items():
        before = dict(zip(grades, drawn, strict=True))
        for index, grade in enumerate(grades):
            left = end[index] - drawn[index]
            if left == 0:
                continue
            added = increment(grade, before)
            step = (added.numerator << BITS) // added.denominator
            state = (*drawn[:index], drawn[index] + 1, *drawn[index + 1 :])
            count, total, squares = following.get(state, (0, 0, 0))
            following[state] = (
                count + left * orders,
                total + left * (first + step * orders),
                squares + left * (second + 2 * step * first + step * step * orders),
            )
    return following


def increment(name: str, options: Mapping[str, Any]) -> Increment:
    """What the item at a position adds, given the grades drawn before it."""
    relevant_from = options.get("relevant_from")

    def relevant(grade: Grade) -> bool:
        return is_relevant(grade, relevant_from)

    def hits(drawn: Histogram) -> int:
        return relevant_in(drawn, relevant_from)

    def worth(drawn: Histogram) -> Fraction:
        return sum(
            (Fraction(grade) * count for grade, count in drawn.items() if relevant(grade)), ZERO
        )

    gain, discount = options.get("gain", "linear"), options.get("discount", "log2")
    p, top = oracles.parameter(options.get("p", 0.8)), options.get("max_grade")

    def scaled(grade: Grade) -> Fraction:
        return Fraction(relevant(grade)) if top is None else Fraction(grade) / Fraction(top)

    @cache
    def stop(grade: Grade) -> Fraction:
        return gain_of(grade, "exp2") / exp2(Fraction(4 if top is None else top))

    def reading(drawn: Histogram) -> Fraction:
        return math.prod(((1 - stop(grade)) ** count for grade, count in drawn.items()), start=ONE)

    def count(at: int, grade: Grade, drawn: Histogram) -> Fraction:
        return Fraction(relevant(grade))

    def discounted(at: int, grade: Grade, drawn: Histogram) -> Fraction:
        return gain_of(grade, gain) * discount_at(at, discount)

    rules: dict[str, Increment] = {
        **dict.fromkeys(("precision", "recall", "f1"), count),
        **dict.fromkeys(("dcg", "ndcg"), discounted),
        "hit_rate": lambda at, grade, drawn: Fraction(relevant(grade) and hits(drawn) == 0),
        "rr": lambda at, grade, drawn: Fraction(relevant(grade) and hits(drawn) == 0) / at,
        "ap": lambda at, grade, drawn: Fraction(hits(drawn) + 1, at) * relevant(grade),
        "wap": lambda at, grade, drawn: (worth(drawn) + Fraction(grade)) / at * relevant(grade),
        "acg": lambda at, grade, drawn: Fraction(grade),
        "rbp": lambda at, grade, drawn: (1 - p) * p ** (at - 1) * scaled(grade),
        "err": lambda at, grade, drawn: reading(drawn) * stop(grade) / at,
    }
    return rules[name]


def divisor(
    name: str, ties: Sequence[Histogram], k: int | None, options: Mapping[str, Any]
) -> Divisor:
    """What the sum is divided by, given the grades among the first k."""
    total, length = total_relevant(ties, options), items_in(ties)
    cutoff = length if k is None else k

    def retrieved(drawn: Histogram) -> Fraction:
        return Fraction(relevant_in(drawn, options.get("relevant_from")))

    constants: dict[str, int | Fraction] = {
        "precision": min(cutoff, length) if options.get("denominator") == "retrieved" else cutoff,
        "recall": total,
        "f1": Fraction(cutoff + total, 2),
        "acg": cutoff,
    }
    if name in ("ap", "wap"):
        denominator = options.get("denominator", "total")
        if denominator == "retrieved":
            return retrieved
        constants[name] = {"total": total, "min": min(cutoff, total), "k": cutoff}[denominator]
    if name == "ndcg":
        return ideal(ties, k, options)
    return lambda drawn: Fraction(constants.get(name, 1))


def ideal(ties: Sequence[Histogram], k: int | None, options: Mapping[str, Any]) -> Divisor:
    """The ideal DCG: of all judged items, of the list, or of the first k ("cutoff")."""
    pool = options.get("judged") if options.get("ideal", "judged") == "judged" else None
    gain, discount = options.get("gain", "linear"), options.get("discount", "log2")

    def best_sum(counted: Sequence[Histogram]) -> Fraction:
        gains = (
            gain_of(grade, gain)
            for tie in counted
            for grade, count in tie.items()
            for _ in range(count)
        )
        return discounted_sum(sorted(gains, reverse=True)[:k], discount)

    if options.get("ideal") == "cutoff":
        return lambda drawn: best_sum([drawn])
    constant = best_sum(ties if pool is None else [pool])
    return lambda drawn: constant

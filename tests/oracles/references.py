"""Reference moments for lists of up to a million items, from textbook probabilities, position by
position.

Ties are grade histograms, nearest first: one tie of a million items with 1000 relevant ones is
`[{0: 999_000, 1: 1000}]`. Which probabilities are used:

- additive metrics: mean and covariance of two draws without replacement from a tie;
- ap, wap: chances that one, two, three or four given slots of a tie are all relevant, so the mean
  is E = sum over i of 1/i * (P(i relevant) + sum over j < i of P(i and j relevant)) and the second
  moment the double sum over pairs of positions; denominators that depend on the order: given the
  number of relevant items among the slots that count (law of total expectation);
- rr, hit_rate, err: the chance that nothing stopped the reader before position i.

Arithmetic is fixed-point with 256 binary places (`fixed_point.py`): more than 40 digits in all
results, far below the 1e-12 and 1e-9 they are compared with. Absolute, not relative: a score below
1e-60 has fewer. Tested against `recursion.py` and enumeration, neither of which knows these
formulas.

>>> float(reference([{0: 999_999, 1: 1}], "precision", 10).mean)
1e-06
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import oracles
from fixed_point import (
    BITS,
    UNIT,
    discounts,
    fixed,
    fraction,
    hypergeometric,
    powers,
    times,
    variance_of,
)
from oracles import ZERO, Gain, Grade, gain_of, is_relevant
from recursion import (
    Histogram,
    MeanVariance,
    divisor,
    items_in,
    total_relevant,
    walk,
)
from reference_cascade import reference_err, reference_hit_rate, reference_rr

NOTHING = MeanVariance(ZERO, ZERO)
UNWEIGHTED = ("precision", "recall", "f1", "acg")


def reference(
    ties: Sequence[Histogram], text: str, k: int | None = None, **options: Any
) -> MeanVariance:
    """Mean and variance of the metric named by `text` at cutoff k (None: the whole list).

    Options as for `oracles.moments`, except that `judged` is a histogram. The variance of err is
    None for lists of more than some hundred items.
    """
    name, written, cutoff = oracles.parse(text)
    options = {**written, **options}
    cutoff = k if cutoff is None else cutoff
    total, relevant_from = total_relevant(ties, options), options.get("relevant_from")
    if name in ("r_precision", "ap_at_r"):
        name, cutoff = {"r_precision": "precision", "ap_at_r": "ap"}[name], total
    if total == 0 or not ties:
        return NOTHING
    if name in ("dcg", "ndcg"):
        return reference_ndcg(ties, cutoff, normalised=name == "ndcg", **options)
    if name in ("ap", "wap"):
        graded, denominator = name == "wap", options.get("denominator", "total")
        if denominator == "retrieved":
            return reference_pairwise(
                ties, cutoff, graded=graded, relevant_from=relevant_from, by_hits=True
            )
        moments = reference_pairwise(ties, cutoff, graded=graded, relevant_from=relevant_from)
    elif name == "hit_rate":
        moments = reference_hit_rate(ties, cutoff, relevant_from=relevant_from)
    elif name == "rr":
        moments = reference_rr(ties, cutoff, relevant_from=relevant_from)
    elif name == "err":
        moments = reference_err(ties, cutoff, max_grade=options.get("max_grade", 4))
    else:
        moments = reference_additive(
            ties, *weights_and_value(name, items_in(ties), options), cutoff
        )
    return moments.over(divisor(name, ties, cutoff, options)({}))


def weights_and_value(
    name: str, length: int, options: dict[str, Any]
) -> tuple[Sequence[int], Callable[[Grade], Fraction]]:
    """Fixed-point weight of every position, and the value of a grade."""
    top, relevant_from = options.get("max_grade"), options.get("relevant_from")

    def value(grade: Grade) -> Fraction:
        if name == "acg" or (name == "rbp" and top is not None):
            return Fraction(grade) / Fraction(1 if top is None else top)
        return Fraction(is_relevant(grade, relevant_from))

    if name == "rbp":
        return powers(oracles.parameter(options.get("p", 0.8)), length), value
    if name not in UNWEIGHTED:
        raise KeyError(f"{name}: weights_and_value does not say what its ranks are worth")
    return [UNIT] * (length + 1), value


# Additive: sum of weight(i) * value(i)
# ----------------------------------------------------------------


def reference_additive(
    ties: Sequence[Histogram],
    weights: Sequence[int],
    value: Callable[[Grade], Fraction],
    k: int | None = None,
) -> MeanVariance:
    """Moments of the sum over i <= k of weights[i] (fixed-point; entry 0 unused) times value(grade
    at i).
    """

    @lru_cache(maxsize=10_000)
    def one_draw(tie: tuple[tuple[Grade, int], ...]) -> tuple[Fraction, Fraction]:
        size = sum(count for _, count in tie)
        mean = sum((count * value(grade) for grade, count in tie), ZERO) / size
        return mean, sum((count * (value(grade) - mean) ** 2 for grade, count in tie), ZERO) / size

    total = variance = 0
    for start, end, size, tie in walk(ties, k):
        mean, spread = one_draw(tuple(tie.items()))
        slots = weights[start + 1 : end + 1]
        weight_sum = sum(slots)
        total += mean.numerator * weight_sum // mean.denominator
        if spread:
            squares = sum(weight * weight for weight in slots)
            variance += spread_over_slots(spread, size, weight_sum, squares)
    return MeanVariance(fraction(total), Fraction(variance, UNIT * UNIT))


def spread_over_slots(spread: Fraction, size: int, weight_sum: int, squares: int) -> int:
    """Variance of a weighted sum of draws: any two of a tie's draws have covariance -spread / (size
    - 1).
    """
    combined = (size - 1) * squares - (weight_sum * weight_sum - squares)
    return spread.numerator * combined // (spread.denominator * (size - 1))


def reference_ndcg(
    ties: Sequence[Histogram],
    k: int | None,
    *,
    normalised: bool = True,
    gain: Gain = "linear",
    discount: oracles.Discount = "log2",
    ideal: str = "judged",
    **query: Any,
) -> MeanVariance:
    """Moments of dcg, or of ndcg."""
    judged = query.get("judged")
    pool = [judged] if ideal == "judged" and judged is not None else ties
    longest = max(items_in(ties), items_in(pool))
    weights = discounts(discount, longest if k is None else min(k, longest))

    def value(grade: Grade) -> Fraction:
        return gain_of(grade, gain)

    if not normalised:
        return reference_additive(ties, weights, value, k)
    if ideal == "cutoff":
        cut = [
            tie for start, end, size, tie in walk(ties, k) if end - start < size and len(tie) > 1
        ]
        if cut:
            return ndcg_of_the_cut(ties, k or 0, weights, value)
        pool = [
            tie if end - start == size else dict.fromkeys(tie, end - start)
            for start, end, size, tie in walk(ties, k)
        ]
    best = ideal_sum(gain_counts(pool, value), list(accumulate(weights)))
    return reference_additive(ties, weights, value, k).over(fraction(best)) if best else NOTHING


def gain_counts(ties: Sequence[Histogram], value: Callable[[Grade], Fraction]) -> Counter[Fraction]:
    counts: Counter[Fraction] = Counter()
    for tie, repeats in Counter(tuple(tie.items()) for tie in ties).items():
        for grade, count in tie:
            counts[value(grade)] += count * repeats
    return counts


def ideal_sum(gains: Mapping[Fraction, int], weight_sums: list[int]) -> int:
    """Fixed-point sum of gain * weight, highest gain first, over as many positions as there are
    weights.
    """
    total = start = 0
    for gain in sorted(gains, reverse=True):
        end = min(start + gains[gain], len(weight_sums) - 1)
        total += gain.numerator * (weight_sums[end] - weight_sums[start]) // gain.denominator
        start = end
    return total


def ndcg_of_the_cut(
    ties: Sequence[Histogram], k: int, weights: Sequence[int], value: Callable[[Grade], Fraction]
) -> MeanVariance:
    """The ideal of the first k: given x relevant items among the slots before the cut, they are a
    tie.

    For a cut tie of grades 0 and one other; with more grades, the recursion over states must do.
    """
    (start, tie), *_ = [
        (start, tie) for start, end, size, tie in walk(ties, k) if end - start < size
    ]
    if len(tie) > 2:
        raise NotImplementedError(
            f"no reference for ndcg(ideal=cutoff) when a tie of grades {set(tie)} is cut"
        )
    whole = [tie for start, end, size, tie in walk(ties, k) if end - start == size]
    before, counts = reference_additive(whole, weights, value), gain_counts(whole, value)
    slots, low, high, slot_weights = k - start, min(tie), max(tie), weights[start + 1 :]
    weight_sum, squares = sum(slot_weights), sum(weight * weight for weight in slot_weights)
    weight_sums, step = list(accumulate(weights)), value(high) - value(low)
    first = second = 0
    for x, chance in hypergeometric(sum(tie.values()), tie[high], slots).items():
        best = ideal_sum(counts + Counter({value(high): x, value(low): slots - x}), weight_sums)
        if best == 0:
            continue
        share = Fraction(x, slots)
        mean = fixed(before.mean) + times(fixed(value(low) + step * share), weight_sum)
        variance = fixed(before.variance or ZERO)
        if 0 < x < slots:
            spread = step**2 * share * (1 - share)
            variance += spread_over_slots(spread, slots, weight_sum, squares) >> BITS
        first += chance * mean // best
        second += chance * (times(mean, mean) + variance) // times(best, best)
    return MeanVariance(fraction(first), fraction(variance_of(first, second)))


# Pairwise: sum over relevant i of (worth of the relevant items up to i) / i
# ---------------------------


class SlotSums(NamedTuple):
    """Fixed-point sums over the counted slots u = 0, 1, ... of a tie and over pairs v < u; w =
    1/i.
    """

    w: int
    w_u: int
    w2: int
    w2_u: int
    w2_uu: int
    ww: int
    ww_u: int
    ww_v: int
    ww_uv: int


@lru_cache(maxsize=200_000)  # asked for by every metric and cutoff alike
def slot_sums(start: int, end: int) -> SlotSums:
    w1 = w_u = w2 = w2_u = w2_uu = ww = ww_u = ww_v = ww_uv = 0
    earlier = earlier_v = 0  # sums of w and of w * v over the slots before u
    for u in range(end - start):
        w = UNIT // (start + u + 1)
        square, pair, pair_v = w * w, w * earlier, w * earlier_v
        w1, w_u = w1 + w, w_u + w * u
        w2, w2_u, w2_uu = w2 + square, w2_u + square * u, w2_uu + square * (u * (u - 1))
        ww, ww_u = ww + pair, ww_u + pair * (u - 1)
        ww_v, ww_uv = ww_v + pair_v, ww_uv + pair_v * (u - 2)
        earlier, earlier_v = earlier + w, earlier_v + w * u
    doubled = (w2, w2_u, w2_uu, ww, ww_u, ww_v, ww_uv)
    return SlotSums(w1, w_u, *(total >> BITS for total in doubled))


class Worth(NamedTuple):
    """Relevant items of a tie, and fixed-point means of their worth: g, g**2, g * h of two
    different ones.
    """

    number: int
    mean: int
    square: int
    pair: int


@lru_cache(maxsize=10_000)
def worth_of(
    tie: tuple[tuple[Grade, int], ...], graded: bool, relevant_from: Grade | None
) -> Worth:
    relevant = [
        (Fraction(grade) if graded else Fraction(1), count)
        for grade, count in tie
        if is_relevant(grade, relevant_from)
    ]
    number = sum(count for _, count in relevant)
    total = sum((grade * count for grade, count in relevant), ZERO)
    squares = sum((grade**2 * count for grade, count in relevant), ZERO)
    pair = (total**2 - squares) / (number * (number - 1)) if number > 1 else ZERO
    return Worth(
        number, *(fixed(x) for x in (total / max(number, 1), squares / max(number, 1), pair))
    )


@lru_cache(maxsize=10_000)
def all_relevant(relevant: int, size: int) -> tuple[int, int, int, int]:
    """Chance that 1, 2, 3 and 4 given slots of a tie are all relevant."""
    chances, numerator, denominator = [], 1, 1
    for drawn in range(4):
        numerator, denominator = numerator * (relevant - drawn), denominator * max(size - drawn, 1)
        chances.append(numerator * UNIT // denominator if numerator > 0 else 0)
        numerator = max(numerator, 0)
    return chances[0], chances[1], chances[2], chances[3]


def tie_moments(
    sums: SlotSums, before: int, relevant: int, size: int, worth: Worth
) -> tuple[int, int]:
    """First and second moment of what the counted slots of one tie add; `before` is the worth
    before the tie.

    The second moment is the sum over pairs v < u (twice) and over v = u of the mean product,
    multiplied out: y_v (S + g_v + X) * y_u (S + X + g_v + M + g_u), with X and M the worth in the
    tie before v and between.
    """
    p1, p2, p3, p4 = all_relevant(relevant, size)
    g, gg, gh = worth.mean, worth.square, worth.pair
    s_g, s_s = times(before, g), times(before, before)
    first = times(times(p1, before + g), sums.w) + times(times(p2, g), sums.w_u)
    same = (
        times(times(p1, sums.w2), s_s + 2 * s_g + gg)
        + times(times(p2, sums.w2_u), 2 * (s_g + gh) + gg)
        + times(times(p3, sums.w2_uu), gh)
    )
    pairs = (
        times(times(p2, sums.ww), s_s + 3 * s_g + gh + gg)
        + times(times(p3, sums.ww_u), s_g + gh)
        + times(times(p3, sums.ww_v), s_g + 2 * gh + gg)
        + times(times(p4, sums.ww_uv), gh)
    )
    return first, same + 2 * pairs


def reference_pairwise(
    ties: Sequence[Histogram],
    k: int | None = None,
    *,
    graded: bool = False,
    relevant_from: Grade | None = None,
    by_hits: bool = False,
) -> MeanVariance:
    """Moments of the numerator of ap (graded: of wap), or of its quotient with the hits among the
    first k.
    """
    mean = variance = before = hits = 0
    for start, end, size, tie in walk(ties, k):
        if not any(is_relevant(grade, relevant_from) for grade in tie):
            continue
        worth = worth_of(tuple(tie.items()), graded, relevant_from)
        sums = slot_sums(start, end)
        if by_hits and end - start < size:
            chances = hypergeometric(size, worth.number, end - start)
            given = [tie_moments(sums, before, x, end - start, worth) for x in chances]
            return over_hits(
                mean, variance, [hits + x for x in chances], list(chances.values()), given
            )
        first, second = tie_moments(sums, before, worth.number, size, worth)
        spread = variance_of(first, second)
        mean, variance = mean + first, variance + spread
        before, hits = before + worth.number * worth.mean, hits + worth.number
    moments = MeanVariance(fraction(mean), fraction(variance))
    if by_hits:
        return moments.over(hits) if hits else NOTHING
    return moments


def over_hits(
    mean: int, variance: int, hits: list[int], chances: list[int], given: list[tuple[int, int]]
) -> MeanVariance:
    """Moments of (earlier + cut tie) / hits, from the moments of the cut tie given each number of
    hits.
    """
    first = second = 0
    for number, chance, (tie_mean, tie_square) in zip(hits, chances, given, strict=True):
        if number:
            square = variance + times(mean, mean) + 2 * times(mean, tie_mean) + tie_square
            first += times(chance, mean + tie_mean) // number
            second += times(chance, square) // number**2
    return MeanVariance(fraction(first), fraction(variance_of(first, second)))

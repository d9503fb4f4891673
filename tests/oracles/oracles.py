"""Textbook metrics on one ordered list, and their exact moments over all orderings inside ties.

Nothing here knows a closed form: a metric is the sum over positions that a textbook prints, and an
expectation is the mean over the orderings. Everything is a `Fraction`. Where a value is irrational
(log2 discount, exp2 gain of a fractional grade) mpmath computes it once, it is rounded to a
multiple of 2**-200 (60 decimals), and all that follows is exact: equal scores are equal, a list
without ties has variance 0.

The package under test is never imported. Of lists too long to enumerate, `data/` has the numbers.

>>> precision([1, 0, 1], 2), ap([1, 0, 1]), rr([0, 0, 1])
(Fraction(1, 2), Fraction(5, 6), Fraction(1, 3))
>>> moments([[1, 0]], "rr")
Moments(mean=Fraction(3, 4), variance=Fraction(1, 16), minimum=Fraction(1, 2), maximum=Fraction(1,
1))
"""

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypedDict, Unpack

import mpmath  # type: ignore[import-untyped]

Grade = int | float | Fraction
Ties = Sequence[Sequence[Grade]]
Gain = str | Mapping[Any, Grade] | Callable[[Any], Any]
Discount = str | Callable[[Any], Any]

ZERO = Fraction(0)
ONE = Fraction(1)
BITS = 200


class Query(TypedDict, total=False):
    """What every metric may be told about the query.

    n_relevant: R, may exceed what the list holds; default: the relevant grades of `judged`, else of
    the list. judged: grades of all judged items, retrieved or not; default: the list.
    relevant_from: least relevant grade; default: every grade above 0.
    """

    n_relevant: int | None
    judged: Sequence[Grade] | None
    relevant_from: Grade | None


class Moments(NamedTuple):
    """Exact moments and extremes of a metric over all orderings."""

    mean: Fraction
    variance: Fraction
    minimum: Fraction
    maximum: Fraction

    @property
    def std(self) -> float:
        return square_root(self.variance)


# Numbers
# ----------------------------------------------------------------------------------------------


def rounded(value: Any) -> Fraction:
    """An mpmath number as a multiple of 2**-BITS."""
    return Fraction(int(mpmath.nint(mpmath.ldexp(value, BITS))), 1 << BITS)


def square_root(value: Fraction) -> float:
    """The float64 nearest to the square root of a fraction, also for fractions far below float64's
    range.
    """
    with mpmath.workprec(BITS):
        return float(mpmath.sqrt(mpmath.mpf(value.numerator) / value.denominator))


@cache
def log2(number: int) -> Fraction:
    with mpmath.workprec(BITS + 60):
        return rounded(mpmath.log(number, 2))


@cache
def exp2(exponent: Fraction) -> Fraction:
    if exponent.denominator == 1:
        return Fraction(2) ** exponent.numerator
    with mpmath.workprec(BITS + 60 + math.ceil(exponent)):
        return rounded(mpmath.mpf(2) ** (mpmath.mpf(exponent.numerator) / exponent.denominator))


def parameter(value: Grade | str) -> Fraction:
    """A parameter as written: 0.8 is 4/5, not the float next to it."""
    return Fraction(str(value))


# The list
# ---------------------------------------------------------------------------------------------


def is_relevant(grade: Grade, relevant_from: Grade | None = None) -> bool:
    return grade > 0 if relevant_from is None else grade >= relevant_from


def count_relevant(grades: Sequence[Grade], relevant_from: Grade | None = None) -> int:
    return sum(is_relevant(grade, relevant_from) for grade in grades)


def total_relevant(grades: Sequence[Grade], **query: Unpack[Query]) -> int:
    """R: the relevant items of the query."""
    n_relevant, judged = query.get("n_relevant"), query.get("judged")
    if n_relevant is not None:
        return n_relevant
    return count_relevant(grades if judged is None else judged, query.get("relevant_from"))


def hits(grades: Sequence[Grade], k: int | None, query: Query) -> int:
    """Relevant items among the first k."""
    return count_relevant(grades[:k], query.get("relevant_from"))


def gain_of(grade: Grade, gain: Gain) -> Fraction:
    """The gain of a grade: "exp2", "linear", a table, or a function of the grade as a float."""
    if gain == "exp2":
        return exp2(Fraction(grade)) - 1
    if gain == "linear":
        return Fraction(grade)
    if isinstance(gain, Mapping):
        return Fraction(gain[grade])
    assert callable(gain), f"gain {gain!r}"
    return Fraction(float(gain(float(grade))))


def discount_at(position: int, discount: Discount) -> Fraction:
    """The discount at a position (from 1): "log2", "reciprocal", or a function of the position."""
    if discount == "log2":
        return 1 / log2(1 + position)
    if discount == "reciprocal":
        return Fraction(1, position)
    assert callable(discount), f"discount {discount!r}"
    return Fraction(float(discount(position)))


# Metrics of one ordered list. Each is 0 when the query has no relevant item
# ---------------------------


def precision(
    grades: Sequence[Grade], k: int | None = None, *, denominator: str = "k", **query: Unpack[Query]
) -> Fraction:
    """Hits among the first k, over k ("k") or over the items that are there ("retrieved")."""
    cutoff = len(grades) if k is None else k
    if denominator == "retrieved":
        cutoff = len(grades[:k])
    if cutoff == 0 or total_relevant(grades, **query) == 0:
        return ZERO
    return Fraction(hits(grades, k, query), cutoff)


def recall(
    grades: Sequence[Grade],
    k: int | None = None,
    *,
    denominator: str = "total",
    **query: Unpack[Query],
) -> Fraction:
    """Hits among the first k, over R ("total") or min(k, R) ("min")."""
    total = total_relevant(grades, **query)
    if denominator == "min":
        total = min(total, len(grades) if k is None else k)
    return Fraction(hits(grades, k, query), total) if total else ZERO


def f1(grades: Sequence[Grade], k: int | None = None, **query: Unpack[Query]) -> Fraction:
    """Harmonic mean of precision and recall."""
    p, r = precision(grades, k, **query), recall(grades, k, **query)
    return 2 * p * r / (p + r) if p + r else ZERO


def hit_rate(grades: Sequence[Grade], k: int | None = None, **query: Unpack[Query]) -> Fraction:
    """1 when a relevant item is among the first k."""
    return ONE if total_relevant(grades, **query) and hits(grades, k, query) else ZERO


def r_precision(grades: Sequence[Grade], k: int | None = None, **query: Unpack[Query]) -> Fraction:
    """Precision at R; the cutoff is ignored."""
    del k
    return precision(grades, total_relevant(grades, **query), **query)


def over_denominator(
    score: Fraction, grades: Sequence[Grade], k: int | None, denominator: str, query: Query
) -> Fraction:
    """The sum of an average precision over R ("total"), min(k, R), the hits at k ("retrieved"), or
    k.
    """
    total, cutoff = total_relevant(grades, **query), len(grades) if k is None else k
    retrieved = hits(grades, k, query)
    divisor = {"total": total, "min": min(cutoff, total), "retrieved": retrieved, "k": cutoff}[
        denominator
    ]
    return score / divisor if total and divisor else ZERO


def ap(
    grades: Sequence[Grade],
    k: int | None = None,
    *,
    denominator: str = "total",
    interpolation: str = "none",
    **query: Unpack[Query],
) -> Fraction:
    """Sum over relevant positions i <= k of the precision at i; "trapezoid": of the mean of it and
    of the precision at i - 1, which is 1 at 0.
    """
    score, hits_so_far, last_precision = ZERO, 0, ONE
    for position, grade in enumerate(grades[:k], start=1):
        hit = is_relevant(grade, query.get("relevant_from"))
        hits_so_far += hit
        precision_here = Fraction(hits_so_far, position)
        if hit:
            trapezoid = (precision_here + last_precision) / 2
            score += precision_here if interpolation == "none" else trapezoid
        last_precision = precision_here
    return over_denominator(score, grades, k, denominator, query)


def wap(
    grades: Sequence[Grade],
    k: int | None = None,
    *,
    denominator: str = "total",
    **query: Unpack[Query],
) -> Fraction:
    """Sum over relevant positions i <= k of the mean grade up to i, grades below `relevant_from`
    being 0.
    """
    score, grades_so_far = ZERO, ZERO
    for position, grade in enumerate(grades[:k], start=1):
        if is_relevant(grade, query.get("relevant_from")):
            grades_so_far += Fraction(grade)
            score += grades_so_far / position
    return over_denominator(score, grades, k, denominator, query)


def ap_at_r(grades: Sequence[Grade], k: int | None = None, **query: Unpack[Query]) -> Fraction:
    """AP at R (MAP@R of metric learning); the cutoff is ignored."""
    del k
    return ap(grades, total_relevant(grades, **query), **query)


def rr(grades: Sequence[Grade], k: int | None = None, **query: Unpack[Query]) -> Fraction:
    """One over the position of the first relevant item among the first k."""
    if total_relevant(grades, **query) == 0:
        return ZERO
    for position, grade in enumerate(grades[:k], start=1):
        if is_relevant(grade, query.get("relevant_from")):
            return Fraction(1, position)
    return ZERO


def bpref(grades: Sequence[Grade], k: int | None = None, **query: Unpack[Query]) -> Fraction:
    """trec_eval's binary preference over a list all of which is judged; the cutoff is ignored."""
    level, total, score = query.get("relevant_from"), total_relevant(grades, **query), ZERO
    judged = query.get("judged") or grades
    others = len(judged) - count_relevant(judged, level)
    for index in (index for index, grade in enumerate(grades) if is_relevant(grade, level)):
        before = index - count_relevant(grades[:index], level)
        score += 1 - Fraction(min(before, total), min(others, total)) if before else ONE
    return score / total if total else ZERO


def discounted_sum(gains: Sequence[Fraction], discount: Discount) -> Fraction:
    terms = (
        gain * discount_at(position, discount)
        for position, gain in enumerate(gains, start=1)
        if gain
    )
    return sum(terms, ZERO)


def dcg(
    grades: Sequence[Grade],
    k: int | None = None,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    **query: Unpack[Query],
) -> Fraction:
    if total_relevant(grades, **query) == 0:
        return ZERO
    return discounted_sum([gain_of(grade, gain) for grade in grades[:k]], discount)


def ndcg(
    grades: Sequence[Grade],
    k: int | None = None,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    ideal: str = "judged",
    **query: Unpack[Query],
) -> Fraction:
    """DCG over the ideal DCG at k of all judged items, of the list, or of the first k only
    ("cutoff").

    Without a cutoff the ideal of all judged items is not cut, even when more were judged than
    retrieved.
    """
    judged = query.get("judged")
    pool = {"judged": grades if judged is None else judged, "list": grades, "cutoff": grades[:k]}[
        ideal
    ]
    best = sorted((gain_of(grade, gain) for grade in pool), reverse=True)[:k]
    best_sum = discounted_sum(best, discount)
    return dcg(grades, k, gain=gain, discount=discount, **query) / best_sum if best_sum else ZERO


def acg(grades: Sequence[Grade], k: int | None = None, **query: Unpack[Query]) -> Fraction:
    """Sum of the first k grades over k."""
    cutoff = len(grades) if k is None else k
    if cutoff == 0 or total_relevant(grades, **query) == 0:
        return ZERO
    return sum((Fraction(grade) for grade in grades[:k]), ZERO) / cutoff


def rbp(
    grades: Sequence[Grade],
    k: int | None = None,
    *,
    p: Grade | str = 0.8,
    max_grade: Grade | None = None,
    **query: Unpack[Query],
) -> Fraction:
    """(1 - p) times the sum of p**(i-1) * relevance: 0 or 1, or grade / max_grade when that is
    given.
    """
    if total_relevant(grades, **query) == 0:
        return ZERO
    persistence = parameter(p)
    score = ZERO
    for position, grade in enumerate(grades[:k], start=1):
        relevance = Fraction(is_relevant(grade, query.get("relevant_from")))
        if max_grade is not None:
            relevance = Fraction(grade) / Fraction(max_grade)
        score += (1 - persistence) * persistence ** (position - 1) * relevance
    return score


def err(
    grades: Sequence[Grade], k: int | None = None, *, max_grade: Grade = 4, **query: Unpack[Query]
) -> Fraction:
    """Sum of 1/i times the probability that the reader stops at i; stop = (2**grade - 1) /
    2**max_grade.
    """
    if total_relevant(grades, **query) == 0:
        return ZERO
    score, still_reading = ZERO, ONE
    for position, grade in enumerate(grades[:k], start=1):
        stop = gain_of(grade, "exp2") / exp2(Fraction(max_grade))
        score += still_reading * stop / position
        still_reading *= 1 - stop
    return score


METRICS: dict[str, Callable[..., Fraction]] = {
    function.__name__: function
    for function in (
        *(precision, recall, f1, hit_rate, r_precision, ap, ap_at_r, rr),
        *(dcg, ndcg, acg, wap, rbp, err, bpref),
    )
} | {"num_rel_ret": lambda grades, k=None, **query: Fraction(hits(grades, k, query))}
ALIASES = {"hit": "hit_rate", "success": "hit_rate", "map": "ap", "mrr": "rr"}


# All orderings
# ----------------------------------------------------------------------------------------


def arrangements(counts: Mapping[Grade, int]) -> Iterator[tuple[Grade, ...]]:
    """Every distinct sequence that holds each grade as often as counted."""
    if not any(counts.values()):
        yield ()
    for grade, count in counts.items():
        if count:
            for rest in arrangements({**counts, grade: count - 1}):
                yield (grade, *rest)


def orderings(ties: Ties) -> Iterator[tuple[tuple[Grade, ...], Fraction]]:
    """Every distinct grade sequence the ties allow, with its probability.

    Each distinct sequence of a tie stands for equally many orderings of its items, so all are
    equally likely.

    >>> list(orderings([[1], [0, 1]]))
    [((1, 0, 1), Fraction(1, 2)), ((1, 1, 0), Fraction(1, 2))]
    """
    per_tie = [list(arrangements(Counter(tie))) for tie in ties]
    probability = Fraction(1, math.prod(len(sequences) for sequences in per_tie))
    for parts in itertools.product(*per_tie):
        yield tuple(itertools.chain.from_iterable(parts)), probability


@lru_cache(maxsize=256)
def all_orderings(ties: tuple[tuple[Grade, ...], ...]) -> list[tuple[tuple[Grade, ...], Fraction]]:
    return list(orderings(ties))


def enumerate_metric(ties: Ties, metric: Callable[[tuple[Grade, ...]], Fraction]) -> Moments:
    """Exact moments of any function of the ordered grades, over all orderings inside ties."""
    probabilities: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
    for sequence, probability in all_orderings(tuple(tuple(tie) for tie in ties)):
        probabilities[metric(sequence)] += probability
    mean = sum((value * weight for value, weight in probabilities.items()), ZERO)
    variance = sum(((value - mean) ** 2 * weight for value, weight in probabilities.items()), ZERO)
    return Moments(mean, variance, min(probabilities), max(probabilities))


def parse(text: str) -> tuple[str, dict[str, Any], int | None]:
    """Name, options and cutoff of a metric's text form.

    >>> parse("ndcg(gain=linear, ideal=list)@10")
    ('ndcg', {'gain': 'linear', 'ideal': 'list'}, 10)
    """
    match = re.fullmatch(r"(\w+)(?:\((.*)\))?(?:@(\d+))?", text.strip())
    assert match, f"metric {text!r}"
    name, inside, cutoff = match.groups()
    pairs = [pair.split("=") for pair in (inside or "").split(",") if pair.strip()]
    options = {key.strip(): read_option(value.strip()) for key, value in pairs}
    return ALIASES.get(name, name), options, int(cutoff) if cutoff else None


def read_option(value: str) -> str | Fraction:
    return Fraction(value) if re.fullmatch(r"[\d.]+", value) else value


def score(grades: Sequence[Grade], text: str, k: int | None = None, **options: Any) -> Fraction:
    """The metric named by `text` on one ordered list; options are the metric's own and those of
    `Query`.
    """
    name, written, cutoff = parse(text)
    return METRICS[name](grades, k if cutoff is None else cutoff, **written, **options)


def moments(ties: Ties, text: str, k: int | None = None, **options: Any) -> Moments:
    """Exact moments over all orderings of the metric named by `text`, at cutoff k (None: the whole
    list).
    """
    return enumerate_metric(ties, lambda grades: score(grades, text, k, **options))

"""What a metric asks of the kernels: the values of
items, the weights of positions, and the sums it needs.

These are plain frozen records, so two metrics that need the same sum share one run of a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from retrieval_report.contracts.arguments import number_text
from retrieval_report.contracts.errors import DataError, ParameterError
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import advice, in_python, setting
from retrieval_report.kernels import ap, ap_retrieved, ap_trapezoid, bpref, rr, sums, tables
from retrieval_report.kernels.lists import Bools, Floats

if TYPE_CHECKING:
    from retrieval_report.metrics.record import Metric

Rule = Callable[[Floats], object]  # a user's function of grades or ranks
GainTable = tuple[tuple[float, float], ...]
GAINS = {"linear": "g", "exp2": "2^g − 1"}
DISCOUNTS = {"log2": "1/log2(1 + i)", "reciprocal": "1/i"}
STEEP_GRADE = 20  # 2**20: one item of this grade outweighs a million of grade 1


@dataclass(frozen=True)
class Relevant:
    """An item counts 1, or its grade, if it is relevant, else 0."""

    largest_grade: ClassVar[float | None] = None
    graded: bool = False

    def of(self, grades: Floats, relevant: Bools) -> Floats:
        """Return the value of each grade."""
        return np.where(relevant, grades, 0.0) if self.graded else relevant.astype(np.float64)


@dataclass(frozen=True)
class Stop:
    """An item of grade g counts the chance (2^g − 1)/2^largest_grade that it ends a search."""

    largest_grade: float

    def of(self, grades: Floats, relevant: Bools) -> Floats:
        """Return the value of each grade."""
        check_largest("err", grades, self.largest_grade)
        stop: Floats = exponential(grades) / np.exp2(self.largest_grade)
        return stop


@dataclass(frozen=True)
class Gain:
    """An item counts the gain of its grade: ``linear`` (the grade), ``exp2`` (2^rel − 1), its share
    of a largest grade, a table or a function; or 1 above 0, if there is a ``single`` such grade.
    """

    rule: str | float | GainTable | Rule

    @property
    def largest_grade(self) -> float | None:
        """The largest grade an item may have, None if there is no limit."""
        rule = self.rule
        return rule if isinstance(rule, float) else rule[-1][0] if isinstance(rule, tuple) else None

    def of(self, grades: Floats, relevant: Bools) -> Floats:
        """Return the value of each grade; raise unless the
        values are finite, at least 0 and do not decrease.
        """
        if self.rule == "exp2":
            if grades.size and grades[-1] > 1023:
                raise DataError(
                    f"gain 'exp2': 2^{number_text(grades[-1])} is not finite; use gain='linear' or "
                    "smaller grades"
                )
            return exponential(grades)
        if self.rule == "linear":
            return grades.copy()
        if self.rule == "single":
            positive = grades[grades > 0]
            if positive.size > 1:
                raise ParameterError(
                    "ndcg(ideal=cutoff): the ideal of the top k itself is random, and is exact for "
                    f"binary relevance only; found grades {_some(positive)}; use ndcg(ideal=judged) "
                    "or make the relevances 0 and 1"
                )
            return (grades > 0).astype(np.float64)
        if isinstance(self.rule, float):
            check_largest("rbp", grades, self.rule)
            return grades / self.rule
        if isinstance(self.rule, tuple):
            values = _looked_up(dict(self.rule), grades)
        else:
            assert callable(self.rule)
            values = _returned("gain", self.rule, grades, "grades")
        _check_values("gain", values, grades, np.diff(values), "decrease as the grade rises")
        return values


@dataclass(frozen=True)
class Discount:
    """Position i has weight 1/log2(1 + i) (``log2``), 1/i (``reciprocal``), 1 (``none``),
    (1 − p) p^(i − 1) for a number p, the value of a function of the ranks, or one that the kernel
    computes itself (``own``).
    """

    rule: str | float | Rule = "log2"

    def table(self, longest: int) -> tables.Weights:
        """Return weights and prefix sums up to position
        ``longest``; raise if any is negative or they increase.
        """
        if self.rule == "log2":
            return tables.log2_weights(longest)
        if self.rule == "reciprocal":
            return tables.reciprocal_weights(longest)
        if self.rule == "own":
            return tables.NO_WEIGHTS
        if self.rule == "none":
            return tables.given_weights(np.ones(longest))
        if isinstance(self.rule, float):
            return tables.geometric_weights(longest, self.rule)
        assert callable(self.rule)
        ranks = np.arange(1, longest + 1, dtype=np.float64)
        values = _returned("discount", self.rule, ranks, "ranks")
        _check_values("discount", values, ranks, -np.diff(values), "increase with the rank")
        return tables.given_weights(values)


@dataclass(frozen=True)
class Sum:
    """Σ weight(i) · value(item at i) over the first k positions; a ``kernel`` of its own may count
    what precedes an item as well. Bounds and marks of cut lists read the facts after it.
    """

    values: Relevant | Gain | Stop
    weights: Discount
    kernel: Any = sums.additive_moments
    first_only: bool = False  # nothing after the first relevant item counts
    judged_only: bool = False  # considers the judged items alone, down to the end of the list
    ratio: str = ""  # what the same positions hold and it is divided by: "hits" or their "ideal"
    has_extremes: bool = True  # its lowest and highest values over tie orders are known

    @property
    def fades(self) -> bool:
        """Whether an item counts nothing infinitely far down."""
        return self.weights != UNIT

    @property
    def largest_grade(self) -> float | None:
        """The largest grade an item may have, None if there is no limit."""
        return self.values.largest_grade

    def position_weights(self, longest: int) -> Floats | None:
        """Return the weight of position i at index i, by which a plain sum of gains multiplies;
        None if the sum is another.
        """
        is_plain = self.kernel is sums.additive_moments
        return self.weights.table(longest).weight if is_plain else None

    def kernel_for(self, extreme: bool) -> Any:
        """Return the kernel for ties in all orders, or in those of the lowest and highest values."""
        if extreme and not self.has_extremes:
            raise ParameterError(
                "ap with item weights: its lowest and highest values over tie orders are not "
                "computed; use the policies expected, shuffled and naive"
            )
        return ap_retrieved.ratio_extremes if extreme and self.ratio else self.kernel


UNIT = Discount("none")
HARMONIC = Discount("reciprocal")
OWN = Discount("own")
HITS = Sum(Relevant(), UNIT)
FIRST_HIT = Sum(Relevant(), UNIT, rr.first_relevant_moments, first_only=True)
RECIPROCAL_RANK = Sum(Relevant(), OWN, rr.first_relevant_moments, first_only=True)
# Σ over the relevant items of 1 − (judged others before it) / min(R, judged others).
PREFERENCES = Sum(Relevant(), OWN, bpref.preference_moments, judged_only=True)
# Σ (1/i)·[relevant]·(values of the relevant items so far).
PRECISIONS = Sum(Relevant(), HARMONIC, ap.ap_moments)
# Σ over the relevant items of the mean of the precisions at and before their ranks.
TRAPEZOIDS = Sum(Relevant(), OWN, ap_trapezoid.trapezoid_moments)
# Σ (weight of the item at i)·(relevant items so far)/i, where grades are weights.
WEIGHED_PRECISIONS = Sum(Relevant(graded=True), HARMONIC, ap.weighed_ap_moments, has_extremes=False)


@dataclass(frozen=True)
class Ideal:
    """The largest weighed sum of gains that the judged items (for ``list`` the items of the list)
    allow at each cutoff.
    """

    gain: Gain
    weights: Discount
    over: str

    @property
    def sum(self) -> Sum:
        """The sum of which this is the largest value."""
        return Sum(self.gain, self.weights)


def gain_rule(gain: object) -> str | GainTable | Rule:
    """Return the hashable form of a gain given as a name, a mapping or a function.

    >>> gain_rule({2: 3, 1: 1})
    ((1.0, 1.0), (2.0, 3.0))
    """
    if isinstance(gain, Mapping | tuple):
        try:
            pairs = gain.items() if isinstance(gain, Mapping) else gain
            return tuple(sorted((float(grade), float(value)) for grade, value in pairs))
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(
                f"gain: {gain!r} is not a table of numbers, grade → gain"
            ) from None
    if isinstance(gain, str) and gain in GAINS:
        return gain
    if callable(gain) and isinstance(gain, Hashable):
        return gain
    raise ParameterError(
        f"gain: {gain!r} is not 'linear' or 'exp2'"
        + in_python(", a mapping grade → gain, or a function of an array")
    )


def _looked_up(table: dict[float, float], grades: Floats) -> Floats:
    """Return the gains of grades in a table."""
    try:
        return np.array([table[grade] for grade in grades.tolist()], dtype=np.float64)
    except KeyError as error:
        raise ParameterError(
            f"gain: the table has no entry for grade {number_text(error.args[0])}; it has "
            f"{sorted(table)}"
        ) from None


def _returned(name: str, rule: Rule, array: Floats, what: str) -> Floats:
    """Call a user's function on a copy of an array and return its result, checked."""
    result = rule(array.copy())
    try:
        values = np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(())
    if values.shape != array.shape:
        raise ParameterError(
            f"{name}: the function gave {result!r}, which is not an array of numbers, one for "
            f"each of the {array.size} {what}"
        )
    return values


def _check_values(name: str, values: Floats, array: Floats, steps: Floats, change: str) -> None:
    """Raise unless the values are finite, at least 0 and change in the way that steps rise."""
    if not (np.isfinite(values).all() and (values >= 0).all() and (steps >= 0).all()):
        raise ParameterError(
            f"{name}: must be finite, at least 0 and not {change}; {_some(array)} gave "
            f"{_some(values)}"
        )


def exponential(grades: Floats) -> Floats:
    """Return 2^grade − 1, exact for whole grades and precise for small fractions.

    >>> exponential(np.array([0.0, 1e-18, 1.0, 3.0])).tolist()
    [0.0, 6.931471805599453e-19, 1.0, 7.0]
    """
    fractions = np.expm1(
        np.minimum(grades, 1.0) * np.log(2.0)
    )  # 2^g − 1 itself would lose digits if g is small
    return np.where(grades < 1.0, fractions, np.exp2(grades) - 1.0)


def warn_steep(
    metrics: Iterable[Metric], grades: Floats, warn: Callable[[str], None] = warn
) -> None:
    """Warn if a metric uses the gain ``exp2`` with
    grades so large that a single item decides the score.
    """
    largest = grades.max(initial=0.0)
    if largest < STEEP_GRADE or Gain("exp2") not in [
        getattr(metric.term, "values", None) for metric in metrics
    ]:
        return
    warn(
        f"gain 'exp2' with grades up to {largest:g}: one item decides the score; consider "
        "gain='linear'"
    )


def check_judged_only(metrics: Iterable[Metric], by_judgements: bool, unjudged: str | None) -> None:
    """Raise if nothing says which items are judged, for a metric that considers judged items only."""
    if by_judgements or unjudged != "non_relevant":
        return
    for metric in metrics:
        if metric.condensed:
            raise ParameterError(
                f"{metric}: considers judged items only, and items without judgement would count "
                "as not relevant"
                + advice("; {} removes them from the lists", setting("unjudged", "drop"))
                + advice(", {} makes sure that there are none", setting("unjudged", "error"))
            )


def check_largest(metric: str, grades: Floats, largest: float) -> None:
    """Raise if a grade exceeds the metric's ``max_grade``."""
    if grades.size and grades[-1] > largest:
        raise ParameterError(
            f"{metric}: the data have grade {number_text(grades[-1])}, "
            f"above max_grade={number_text(largest)}; ask for "
            f"{metric}(max_grade={number_text(grades[-1])})"
        )


def _some(values: Floats) -> str:
    first_values = ", ".join(map(number_text, values[:6]))
    return f"[{first_values}{', …' if values.size > 6 else ''}]"

"""What a metric asks of the kernels: the values of
items, the weights of positions, and the sums it needs.

These are plain frozen records, so two metrics that need the same sum share one run of a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from retrieval_report.contracts.arguments import number_text
from retrieval_report.contracts.errors import DataError, ParameterError
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import advice, setting
from retrieval_report.kernels import ap, ap_retrieved, ap_trapezoid, bpref, err, rr, sums, tables
from retrieval_report.kernels.lists import Bools, Floats, Integers, Lists

if TYPE_CHECKING:
    from retrieval_report.metrics.record import Metric

Call = tuple[Callable[..., None], NamedTuple]  # a kernel, and what it needs beside lists and depths
Rule = Callable[[Floats], object]  # a user's function of grades or ranks
GainTable = tuple[tuple[float, float], ...]
GAINS = {"linear": "g", "exp2": "2^g − 1"}
DISCOUNTS = {"log2": "1/log2(1 + i)", "reciprocal": "1/i"}
STEEP_GRADE = 20  # 2**20: one item of this grade outweighs a million of grade 1


@dataclass(frozen=True)
class Relevant:
    """An item counts 1 if it is relevant, else 0."""

    largest_grade: ClassVar[float | None] = None

    def of(self, grades: Floats, relevant: Bools) -> Floats:
        """Return the value of each grade."""
        return relevant.astype(np.float64)


@dataclass(frozen=True)
class Scaled:
    """An item counts its grade divided by ``largest_grade``, which no grade may exceed."""

    largest_grade: float

    def of(self, grades: Floats, relevant: Bools) -> Floats:
        """Return the value of each grade."""
        check_largest("rbp", grades, self.largest_grade)
        return grades / self.largest_grade


@dataclass(frozen=True)
class Gain:
    """An item counts the gain of its grade: ``linear`` (the grade), ``exp2`` (2^rel − 1), a table
    or a function.
    """

    rule: str | GainTable | Rule

    @property
    def largest_grade(self) -> float | None:
        """The largest grade an item may have, None if there is no limit."""
        return self.rule[-1][0] if isinstance(self.rule, tuple) else None

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
        if isinstance(self.rule, tuple):
            values = _looked_up(dict(self.rule), grades)
        else:
            assert callable(self.rule)
            values = _returned("gain", self.rule, grades, "grades")
        _check_values("gain", values, grades, np.diff(values), "decrease as the grade rises")
        return values


@dataclass(frozen=True)
class Unit:
    """Every position has weight 1."""

    def table(self, longest: int) -> tables.Weights:
        """Return weights and their prefix sums for positions up to ``longest``."""
        return tables.given_weights(np.ones(longest))


@dataclass(frozen=True)
class Geometric:
    """Position i has weight (1 − p) p^(i − 1)."""

    persistence: float

    def table(self, longest: int) -> tables.Weights:
        """Return weights and their prefix sums for positions up to ``longest``."""
        return tables.geometric_weights(longest, self.persistence)


@dataclass(frozen=True)
class Discount:
    """Position i has weight 1/log2(1 + i) (``log2``), 1/i (``reciprocal``), or the value of a
    function of the ranks.
    """

    rule: str | Rule = "log2"

    def table(self, longest: int) -> tables.Weights:
        """Return weights and prefix sums up to position
        ``longest``; raise if any is negative or they increase.
        """
        if self.rule == "log2":
            return tables.log2_weights(longest)
        if self.rule == "reciprocal":
            return tables.reciprocal_weights(longest)
        assert callable(self.rule)
        ranks = np.arange(1, longest + 1, dtype=np.float64)
        values = _returned("discount", self.rule, ranks, "ranks")
        _check_values("discount", values, ranks, -np.diff(values), "increase with the rank")
        return tables.given_weights(values)


class KernelFacts(NamedTuple):
    """What a sum may tell its kernel beside lists and depths."""

    gains: Floats  # what an item of each grade brings
    relevant_grade: Bools
    longest: int  # the deepest rank that counts
    extreme: str | None  # best or worst, if ties are in that order
    want_variance: bool
    n_relevant: Integers  # R of each list
    judged: Lists


@dataclass(frozen=True)
class Term:
    """Base of the sums; what is not said of one holds as it stands here."""

    judged_only: ClassVar[bool] = (
        False  # considers the judged items alone, down to the end of the list
    )
    first_only: ClassVar[bool] = False  # nothing after the first relevant item counts
    has_extremes: ClassVar[bool] = True  # its lowest and highest values over tie orders are known
    ratio = False  # is divided by what the same positions hold

    @property
    def fades(self) -> bool:
        """Whether an item counts nothing infinitely far down."""
        return True

    @property
    def counts_relevant(self) -> bool:
        """Whether the sum is the number of relevant items among the top k."""
        return False

    @property
    def largest_grade(self) -> float | None:
        """The largest grade an item may have, None if there is no limit."""
        return None

    def gains(self, grades: Floats, relevant: Bools) -> Floats:
        """Return what an item of each grade (ascending) brings, whatever its rank; raise an error
        for grades that the sum does not accept.
        """
        return relevant.astype(np.float64)

    def position_weights(self, longest: int) -> Floats | None:
        """Return the weight of position i at index i, by which a plain sum of gains multiplies;
        None if the sum is another.
        """
        return None

    def kernel(self, facts: KernelFacts) -> Call:
        """Return the kernel that computes the sum, and what it needs beside lists and depths."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sum(Term):
    """Σ weight(i) · value(item at i) over the first k positions."""

    values: Relevant | Scaled | Gain
    weights: Unit | Geometric | Discount

    @property
    def fades(self) -> bool:
        """Whether an item counts nothing infinitely far down."""
        return self.weights != Unit()

    @property
    def counts_relevant(self) -> bool:
        """Whether the sum is the number of relevant items among the top k."""
        return self == Sum(Relevant(), Unit())

    @property
    def largest_grade(self) -> float | None:
        """The largest grade an item may have, None if there is no limit."""
        return self.values.largest_grade

    def gains(self, grades: Floats, relevant: Bools) -> Floats:
        """Return what an item of each grade brings, whatever its rank."""
        return self.values.of(grades, relevant)

    def position_weights(self, longest: int) -> Floats:
        """Return the weight of position i at index i."""
        return self.weights.table(longest).weight

    def kernel(self, facts: KernelFacts) -> Call:
        """Return the kernel of a weighted sum."""
        unit = not self.fades
        weights = self.weights.table(1 if unit else facts.longest)
        return sums.additive_moments, sums.Summed(facts.gains, unit, weights)


@dataclass(frozen=True)
class PrecisionSum(Term):
    """Σ (1/i)·[relevant]·(values of the relevant items
    so far), as a ``ratio`` divided by those found.
    """

    graded: bool
    ratio: bool

    def gains(self, grades: Floats, relevant: Bools) -> Floats:
        """Return what an item of each grade brings, whatever its rank."""
        return np.where(relevant, grades, 0.0) if self.graded else super().gains(grades, relevant)

    def kernel(self, facts: KernelFacts) -> Call:
        """Return the kernel of average precision."""
        values = facts.gains
        harmonics = tables.reciprocal_weights(facts.longest)
        if self.ratio and facts.extreme:
            return ap_retrieved.ratio_extremes, ap_retrieved.Ratio(
                values, values > 0, harmonics, False, facts.extreme == "best"
            )
        kernel = ap.retrieved_moments if self.ratio else ap.ap_moments
        return kernel, ap_retrieved.Paired(values, harmonics)


@dataclass(frozen=True)
class WeighedPrecisions(Term):
    """Σ (weight of the item at i)·(relevant items so far)/i, where grades are weights."""

    has_extremes: ClassVar[bool] = False

    def gains(self, grades: Floats, relevant: Bools) -> Floats:
        """Return what an item of each grade brings, whatever its rank."""
        return np.where(relevant, grades, 0.0)

    def kernel(self, facts: KernelFacts) -> Call:
        """Return the kernel of average precision with item weights."""
        if facts.extreme:
            raise ParameterError(
                "ap with item weights: its lowest and highest values over tie orders are not "
                "computed; use the policies expected, shuffled and naive"
            )
        arguments = ap_retrieved.Paired(facts.gains, tables.reciprocal_weights(facts.longest))
        return ap.weighed_ap_moments, arguments


@dataclass(frozen=True)
class Trapezoids(Term):
    """Σ over the relevant items of the mean of the precisions at and before their ranks."""

    def kernel(self, facts: KernelFacts) -> Call:
        """Return the kernel of average precision by the trapezoidal rule."""
        return ap_trapezoid.trapezoid_moments, ap_trapezoid.Hits(facts.relevant_grade)


@dataclass(frozen=True)
class FirstRelevant(Term):
    """1 / (rank of the first relevant item), or just whether there is one."""

    first_only: ClassVar[bool] = True
    reciprocal: bool

    @property
    def fades(self) -> bool:
        """Whether an item counts nothing infinitely far down."""
        return self.reciprocal

    def kernel(self, facts: KernelFacts) -> Call:
        """Return the kernel of the first relevant item."""
        return rr.first_relevant_moments, rr.First(facts.relevant_grade, self.reciprocal)


@dataclass(frozen=True)
class Stops(Term):
    """Σ 1/i · P(search ends at i), where an item of grade
    g ends it with probability (2^g − 1)/2^max_grade.
    """

    max_grade: float

    @property
    def largest_grade(self) -> float | None:
        """The largest grade an item may have."""
        return self.max_grade

    def gains(self, grades: Floats, relevant: Bools) -> Floats:
        """Return the chance of each grade to end the search."""
        check_largest("err", grades, self.max_grade)
        stop: Floats = exponential(grades) / np.exp2(self.max_grade)
        return stop

    def kernel(self, facts: KernelFacts) -> Call:
        """Return the kernel of a search that may end at every item."""
        return err.err_moments, err.StopChances(facts.gains, facts.want_variance)


@dataclass(frozen=True)
class OwnIdeal(Term):
    """DCG divided by the ideal DCG of the same top k, for binary relevance only."""

    ratio = True
    discount: Discount

    def gains(self, grades: Floats, relevant: Bools) -> Floats:
        """Return 1 for the grade above 0; raise if there are several."""
        positive = grades[grades > 0]
        if positive.size > 1:
            raise ParameterError(
                "ndcg(ideal=cutoff): the ideal of the top k itself is random, and is exact for "
                "binary relevance only; "
                f"found grades {_some(positive)}; use ideal='judged' or make the relevances 0 and 1"
            )
        return (grades > 0).astype(np.float64)

    def kernel(self, facts: KernelFacts) -> Call:
        """Return the kernel of DCG divided by that of the same items in their best order."""
        values = facts.gains
        discounts = self.discount.table(facts.longest)
        if facts.extreme:
            return ap_retrieved.ratio_extremes, ap_retrieved.Ratio(
                values, values > 0, discounts, True, facts.extreme == "best"
            )
        return ap_retrieved.own_ideal_moments, ap_retrieved.IdealInputs(values > 0, discounts)


@dataclass(frozen=True)
class Ideal:
    """The largest weighed sum of gains that the judged items (for ``list`` the items of the list)
    allow at each cutoff.
    """

    gain: Gain
    weights: Unit | Geometric | Discount
    over: str

    @property
    def sum(self) -> Sum:
        """The sum of which this is the largest value."""
        return Sum(self.gain, self.weights)


@dataclass(frozen=True)
class Preferences(Term):
    """Σ over the relevant items of 1 − (judged non-relevant
    items before it) / min(R, judged non-relevant items).
    """

    judged_only: ClassVar[bool] = True

    def kernel(self, facts: KernelFacts) -> Call:
        """Return the kernel of preferences among judged items."""
        relevant = facts.relevant_grade
        most = np.minimum(np.maximum(facts.n_relevant, 0), facts.judged.total(~relevant))
        return bpref.preference_moments, bpref.BprefInputs(relevant, most)


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
        f"gain: {gain!r} is not 'linear', 'exp2', a mapping grade → gain, or a function of an array"
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
            f"{metric}: the data have grade {number_text(grades[-1])}, above "
            f"max_grade={number_text(largest)}; "
            f"ask for {metric}(max_grade={number_text(grades[-1])})"
        )


def _some(values: Floats) -> str:
    first_values = ", ".join(map(number_text, values[:6]))
    return f"[{first_values}{', …' if values.size > 6 else ''}]"

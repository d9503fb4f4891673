"""Metrics as Polars expressions over the rows of one list: what `rr.expr` and `Metric.expr` return.

The formulas are those of the kernels (docs/metrics.md), written for whole columns: a score is a sum
over the ties of a group, to which every tie brings its mean over the orders of its items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from retrieval_report.contracts.arguments import check_flag, check_whole, is_number
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.kernels.ap import ap_moments
from retrieval_report.kernels.ap_trapezoid import trapezoid_moments
from retrieval_report.kernels.rr import first_relevant_moments
from retrieval_report.kernels.sums import additive_moments
from retrieval_report.metrics import terms

if TYPE_CHECKING:
    from retrieval_report.metrics.record import Metric

ORDERS = ("expected", "best", "worst", "received")
EXTREMES = ("expected", "best", "worst")
UNDEFINED = {"zero": 0.0, "one": 1.0, "skip": None}  # without a relevant item
Column = str | pl.Expr


@dataclass(frozen=True)
class List:
    """The list of a group: its rows' relevance and what orders them; also what divisors ask for."""

    relevance: Column
    order: pl.Expr
    falling: bool
    policy: str
    relevant_from: float | None
    stated: Column | float | None = None
    largest_grade: float | None = None
    judged: Column | None = None
    depth: pl.Expr | None = None

    @cached_property
    def grade(self) -> pl.Expr:
        """The grade of each row."""
        return _column(self.relevance)

    @cached_property
    def least(self) -> float | None:
        """The smallest relevant grade, None for any above 0."""
        return Options(relevant_from=self.relevant_from).relevant_from

    @cached_property
    def length(self) -> pl.Expr:
        """The number of items: of the rows that a filter in the columns has left."""
        return self.order.len().cast(pl.Int64)

    @cached_property
    def ranks(self) -> pl.Expr:
        """The ranks from 1 on."""
        return pl.int_range(1, self.length + 1)

    @cached_property
    def cutoff(self) -> pl.Expr:
        """k, or the list's own length."""
        return self.length if self.depth is None else self.depth

    @cached_property
    def seen(self) -> pl.Expr:
        """The number of relevant items in the list."""
        return self.hit_received.sum().cast(pl.Int64)

    @cached_property
    def relevant(self) -> pl.Expr:
        """R, the number of relevant items of the query."""
        if self.stated is not None:
            return self.given.cast(pl.Int64, strict=False)
        if self.judged is None:
            return self.seen
        relevant = is_relevant(pl.element(), self.least).cast(pl.Int64)
        return self.judged_grades.list.eval(relevant).list.sum().cast(pl.Int64)

    @cached_property
    def judged_grades(self) -> pl.Expr:
        """The grades of all judged items of the query, highest first."""
        assert self.judged is not None
        return _column(self.judged).first().list.sort(descending=True)

    @cached_property
    def given(self) -> pl.Expr:
        """R as it was given, -1 where it is not known."""
        if is_number(self.stated):
            return pl.lit(self.stated)
        return _column(self.stated).first().fill_null(-1)

    @cached_property
    def hit_received(self) -> pl.Expr:
        """Whether each row is relevant."""
        relevant: pl.Expr = is_relevant(self.grade, self.least)
        return relevant

    @cached_property
    def usable(self) -> pl.Expr:
        """Whether every row has an order and a grade from 0 on, and R is at least what is seen."""
        ordered = self.order.is_not_null() & ~self.order.to_physical().is_nan()
        graded = (self.grade >= 0).fill_null(False) & self.grade.cast(pl.Float64).is_finite()
        enough = self.relevant >= self.seen
        if self.stated is not None:
            enough &= self.relevant == self.given  # a whole number
        if self.judged is not None:
            enough &= (self.judged_grades.list.min() >= 0).fill_null(True)
        if self.largest_grade is not None:
            graded &= self.grade <= self.largest_grade
        return (ordered & graded).all() & enough.fill_null(False) & (self.length > 0)

    def arranged(self, values: pl.Expr) -> pl.Expr:
        """Return values of the rows in the order that is scored, if it is one order."""
        if self.policy == "expected":
            return values.sort_by(self.order, descending=self.falling)
        if self.policy == "received":
            return values.sort_by(self.order, descending=self.falling, maintain_order=True)
        return values.sort_by(
            self.order, self.grade, descending=[self.falling, self.policy == "best"]
        )

    @cached_property
    def size(self) -> pl.Expr:
        """The number of items in each tie; in one order, every item is a tie of its own."""
        if self.policy != "expected":
            return self.ranks * 0 + 1
        return self.order.sort(descending=self.falling).rle().struct.field("len").cast(pl.Int64)

    @cached_property
    def end(self) -> pl.Expr:
        """The last rank of each tie."""
        return self.size.cum_sum()

    @cached_property
    def before(self) -> pl.Expr:
        """The number of items before each tie."""
        return self.end - self.size

    def in_tie(self, values: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
        """Return the sums of values before each tie, and in it."""
        running = self.arranged(values).cum_sum().gather(self.end - 1)
        before = running.shift(1, fill_value=0)
        return before, running - before

    @cached_property
    def hits(self) -> tuple[pl.Expr, pl.Expr]:
        """The number of relevant items before each tie, and in it."""
        return self.in_tie(self.hit_received.cast(pl.Int64))

    @property
    def first_tie(self) -> Iterator[pl.Expr]:
        """The number of items before the first tie that holds a relevant item, the size of that
        tie, and how many it holds; 0 without one.

        To compare all items with the nearest relevant one takes a tenth of the time of laying out
        all ties (benchmarks/expressions.md).
        """
        if self.policy == "expected":
            hit, order, falling = self.hit_received, self.order, self.falling
        else:
            hit, order, falling = self.arranged(self.hit_received), self.ranks, False
        relevant = order.filter(hit)
        nearest = relevant.max() if falling else relevant.min()
        nearer = order > nearest if falling else order < nearest
        parts = nearer, order == nearest, (order == nearest) & hit
        return (part.sum().cast(pl.Int64) for part in parts)

    def within(self, rank: pl.Expr) -> pl.Expr:
        """Return a rank, or the depth behind which nothing counts."""
        return rank if self.depth is None else pl.min_horizontal(rank, self.depth)

    def weights(self, rule: terms.Discount, power: int = 1) -> pl.Expr:
        """Return the sum of the weights of the ranks that the tie of each item has within the
        depth, or of their squares.
        """
        before = self.within(self.before)
        end = self.within(self.end)
        if rule == terms.UNIT:
            return end - before
        single = _weight(rule, pl.max_horizontal(end, pl.lit(1))) ** power * (end > before)
        running = (_weight(rule, self.ranks) ** power).cum_sum()
        # A difference of long sums loses the last digits, so single items go without.
        several = _at(running, end) - _at(running, before)
        # No when-then here: Polars 2.1 panics in `select` if its condition is shorter than the
        # frame.
        return _sum_of(several * (self.size > 1), single * (self.size == 1))

    def ideal(self, term: terms.Ideal) -> pl.Expr:
        """Return the ideal DCG; relevant items that are only known by number have the lowest grade."""
        if self.judged is not None and term.over == "judged":
            return self._judged_ideal(term)
        gain = _values(term.gain, self.grade.sort(descending=True), self.least)
        rank = self.ranks
        counted_only = self.stated is not None and term.over == "judged"
        if counted_only:
            rank += (self.relevant - self.seen) * (rank > self.seen)
        weight = _weight(term.weights, rank)
        ideal_sum = (gain * weight * (True if self.depth is None else rank <= self.depth)).sum()
        if not counted_only:
            return ideal_sum
        last = self.within(self.relevant)
        behind = pl.int_range(self.within(self.seen) + 1, last + 1)
        lowest = _values(term.gain, self.grade, self.least).filter(self.hit_received).min()
        ideal_values = _values(
            term.gain, pl.lit(1.0 if self.least is None else self.least), self.least
        )
        return ideal_sum + pl.coalesce(lowest, ideal_values) * _weight(term.weights, behind).sum()

    def _judged_ideal(self, term: terms.Ideal) -> pl.Expr:
        """Return the ideal DCG of all judged items."""
        best = self.judged_grades
        best = best if self.depth is None else best.list.head(self.depth)
        gain = _values(term.gain, pl.element(), self.least)
        weight = _weight(term.weights, pl.element().cum_count())
        return best.list.eval((gain * weight).cast(pl.Float64)).list.sum()


def _weight(rule: terms.Discount, rank: pl.Expr) -> pl.Expr:
    """Return the weight of ranks."""
    if isinstance(rule.rule, float):
        return (1 - rule.rule) * pl.lit(rule.rule).pow(rank - 1)
    if rule == terms.UNIT:
        return (rank > 0).cast(pl.Int64)  # one for each rank, which a literal would not be
    if not isinstance(rule.rule, str):
        raise _only_evaluate("discount: a function")
    return 1 / (rank if rule.rule == "reciprocal" else (rank + 1).log(2))


def _at(running: pl.Expr, rank: pl.Expr) -> pl.Expr:
    """Return the value at a rank, 0 before the first."""
    return running.gather(rank.replace(0, None) - 1).fill_null(0)


def _sum_of(*terms: pl.Expr) -> pl.Expr:
    """Return a sum of products. Polars 2.1 fuses ``a * b + c`` into one operation, which panics on
    a group_by of no rows.
    """
    return pl.sum_horizontal(terms)


def _values(rule: Any, grade: pl.Expr, least: float | None) -> pl.Expr:
    """Return what an item of each grade brings."""
    if isinstance(rule, terms.Relevant):
        relevant: pl.Expr = is_relevant(grade, least).cast(pl.Int64)
        return relevant * grade if rule.graded else relevant
    gain, number = rule.rule, grade.cast(pl.Float64)
    if isinstance(gain, float):
        return number / gain
    if isinstance(gain, tuple):
        return number.replace_strict(dict(gain), return_dtype=pl.Float64)
    if not isinstance(gain, str):
        raise _only_evaluate("gain: a function")
    return number if gain == "linear" else pl.lit(2.0).pow(number) - 1


def _only_evaluate(what: str) -> ParameterError:
    return ParameterError(f"{what} cannot be written as a Polars expression; use evaluate")


def _sum(rows: List, term: terms.Sum) -> tuple[pl.Expr, pl.Expr]:
    """Return the mean and the variance of a weighted sum over ranks."""
    value = _values(term.values, rows.grade, rows.least).cast(pl.Float64)
    (_, sums), (_, squares) = rows.in_tie(value), rows.in_tie(value**2)
    total = rows.weights(term.weights)
    spread = rows.weights(term.weights, power=2) - total**2 / rows.size
    others_in_tie = rows.size - (rows.size > 1)
    variance = (spread * (squares - sums**2 / rows.size) / others_in_tie).sum()
    return (total / rows.size * sums).sum(), pl.max_horizontal(variance, pl.lit(0.0))


def _pairs(rows: List, term: terms.Sum) -> tuple[pl.Expr, None]:
    """Return the mean of the sum behind AP and WAP."""
    grades = _values(term.values, rows.grade, rows.least)
    (_, hits), (gained, gain) = rows.hits, rows.in_tie(grades.cast(pl.Float64))
    size = rows.size
    slots = rows.weights(terms.UNIT)
    harmonic = rows.weights(terms.HARMONIC)
    pair_share = gain * (hits - 1) / (size * (size - (size > 1)))
    first = _sum_of(_sum_of(hits * gained, gain) / size, -(rows.before + 1) * pair_share)
    return _sum_of(first * harmonic, slots * pair_share).sum(), None


def _trapezoids(rows: List, _: terms.Sum) -> tuple[pl.Expr, None]:
    """Return the mean of the sum behind AP by the trapezoidal rule."""
    earlier, hits = rows.hits
    before, size, slots = rows.before, rows.size, rows.weights(terms.UNIT)
    at = rows.weights(terms.HARMONIC)
    first = (before == 0) & (slots > 0)
    # Σ 1/(i − 1) over the same ranks from 2 on
    ahead = at - (slots > 0) / pl.max_horizontal(before + slots, pl.lit(1))
    ahead += ((before > 0) & (slots > 0)) / pl.max_horizontal(before, pl.lit(1))
    share = (hits - 1) / (size - (size > 1))
    climbed = (slots - (before + 1) * at) + (slots - first - before * ahead)
    tie = at + first + earlier * (at + ahead) + share * climbed
    return (hits / size * tie / 2).sum(), None


def _first(rows: List, term: terms.Sum) -> tuple[pl.Expr, pl.Expr]:
    """Return the mean and the variance of what the first relevant item brings."""
    before, size, hits = rows.first_tie
    tried = pl.int_range(0, rows.within(rows.length))
    remaining = pl.max_horizontal(size - tried, pl.lit(1))
    none = (pl.max_horizontal(size - hits - tried, pl.lit(0)) / remaining).cum_prod()
    relevant_before = tried < rows.within(before + size) - before
    chance = none.shift(1, fill_value=1.0) * hits / remaining * relevant_before
    value = 1 / (before + 1 + tried) if term.fades else tried * 0.0 + 1.0
    never = none.filter(relevant_before).last().fill_null(1.0)
    mean = (chance * value).sum() if term.fades else 1.0 - never
    return mean, (chance * (value - mean) ** 2).sum() + never * mean**2


FORMS: Mapping[object, Callable[..., tuple[pl.Expr, pl.Expr | None]]] = {
    additive_moments: _sum,
    ap_moments: _pairs,
    trapezoid_moments: _trapezoids,
    first_relevant_moments: _first,
}


def has_expression(metric: Metric) -> bool:
    """Return whether a metric can be written as an expression, whatever its gains and discounts."""
    return metric.term.kernel in FORMS and not metric.judged_only


def expression(metric: Any, rows: List, k: int | None, no_relevant: str, *, std: bool) -> pl.Expr:
    """Return a metric of a list as an expression; `Metric.expr` explains the parameters."""
    check_choice("order", rows.policy, ORDERS)
    check_choice("no_relevant", no_relevant, list(UNDEFINED))
    check_flag("std", std)
    if k is not None:
        check_whole("k", k, 1)
    term = metric.term
    if not has_expression(metric):
        raise _only_evaluate(str(metric))
    if metric.own_depth or k is not None:
        rows = replace(rows, depth=rows.relevant if metric.own_depth else pl.lit(k))
    mean, variance = FORMS[term.kernel](rows, term)
    if std and (variance is None or rows.policy != "expected"):
        raise _only_evaluate(f"{metric}: the standard deviation")
    value = variance.sqrt() if std and variance is not None else mean
    divisor = metric.divisor(rows)
    divisor = divisor if isinstance(divisor, pl.Expr) else pl.lit(1.0)
    scored = pl.when(divisor != 0).then(value / divisor).otherwise(0.0)
    nothing = metric.undefined(rows)
    if isinstance(nothing, pl.Expr):
        undefined = UNDEFINED[no_relevant]
        if std and undefined is not None:
            undefined = 0.0
        scored = pl.when(nothing).then(pl.lit(undefined)).otherwise(scored)
    name = str(metric) if metric.own_depth else f"{metric}@{'all' if k is None else k}"
    return pl.when(rows.usable).then(scored).alias(f"{name} std" if std else name)


def _column(value: object) -> pl.Expr:
    if not isinstance(value, str | pl.Expr):
        raise ParameterError(f"{value!r} is neither the name of a column nor an expression")
    return pl.col(value) if isinstance(value, str) else value


def ordering(distance: Column | None, score: Column | None) -> tuple[pl.Expr, bool]:
    """Return what orders a list, and whether it falls; every expression asks, also in a fork."""
    refuse_fork()
    if (distance is None) == (score is None):
        raise ParameterError("distance, score: give one of them, which orders the list")
    return _column(distance if score is None else score), score is not None


def tie(distance: Column | None = None, *, score: Column | None = None) -> pl.Expr:
    """Return the number of the tie of each row, from 1, nearest first.

    >>> pl.DataFrame({"distance": [5, 0, 5]}).select(tie("distance"))["tie"].to_list()
    [2, 1, 2]
    """
    return _rank("dense", distance, score).alias("tie")


def tie_start(distance: Column | None = None, *, score: Column | None = None) -> pl.Expr:
    """Return the first rank of the tie of each row, from 1.

    >>> frame = pl.DataFrame({"query": ["p", "q", "q"], "score": [1, 9, 9]})
    >>> frame.select(tie_start(score="score").over("query"))["tie_start"].to_list()
    [1, 1, 1]
    """
    return _rank("min", distance, score).alias("tie_start")


def tie_size(distance: Column | None = None, *, score: Column | None = None) -> pl.Expr:
    """Return the number of items in the tie of each row.

    >>> pl.DataFrame({"distance": [5, 0, 5]}).select(tie_size("distance"))["tie_size"].to_list()
    [2, 1, 2]
    """
    size = _rank("max", distance, score) - _rank("min", distance, score) + 1
    return size.alias("tie_size")


def tie_relevant(
    relevance: Column,
    distance: Column | None = None,
    *,
    score: Column | None = None,
    relevant_from: float | None = None,
) -> pl.Expr:
    """Return the number of relevant items in the tie of each row.

    >>> frame = pl.DataFrame({"distance": [5, 0, 5], "relevance": [1, 0, 1]})
    >>> frame.select(tie_relevant("relevance", "distance"))["tie_relevant"].to_list()
    [2, 0, 2]
    """
    order, falling = ordering(distance, score)
    least = Options(relevant_from=relevant_from).relevant_from
    hit = is_relevant(_column(relevance), least).cast(pl.Int64)
    running = hit.sort_by(order, descending=falling).cum_sum()
    last = _rank("max", distance, score)
    first = _rank("min", distance, score)
    return (_at(running, last) - _at(running, first - 1)).alias("tie_relevant")


def first_rank(
    relevance: Column,
    distance: Column | None = None,
    *,
    score: Column | None = None,
    order: str = "expected",
    relevant_from: float | None = None,
) -> pl.Expr:
    """Return the rank of the first relevant item of a list: its mean over all orders of ties, or
    its ``best`` or ``worst``.

    Its mean over queries is what link prediction and search by images call the mean rank, its
    median MedR. It is no measure of `evaluate`, where larger is better. Of r relevant items in a
    tie of n that b items precede, the first has the expected rank b + (n + 1)/(r + 1). The value is
    null where nothing is relevant, and where `Metric.expr` has null.

    >>> frame = pl.DataFrame({"distance": [0, 5, 5, 5], "relevance": [0, 1, 0, 0]})
    >>> orders = "expected", "best", "worst"
    >>> ranks = [first_rank("relevance", "distance", order=order) for order in orders]
    >>> frame.select(pl.concat_list(ranks)).item().to_list()
    [3.0, 2.0, 4.0]
    """
    check_choice("order", order, EXTREMES)
    rows = List(relevance, *ordering(distance, score), "expected", relevant_from)
    before, size, hits = rows.first_tie
    within: Mapping[str, float | pl.Expr] = {
        "best": 1.0,
        "worst": size - hits + 1.0,
        "expected": (size + 1) / (hits + 1),
    }
    return pl.when(rows.usable & (hits > 0)).then(before + within[order]).alias("first_rank")


def _rank(
    method: Literal["min", "max", "dense"], distance: Column | None, score: Column | None
) -> pl.Expr:
    order, falling = ordering(distance, score)
    return order.rank(method, descending=falling).cast(pl.Int64)

"""The record of a metric, from which scores, bounds, marks, notices and texts are made.

A record says which sum it needs from the kernels (``term``), how the sum becomes the score
(``divisor``), and the largest score there is (``largest``). Bounds and marks of cut lists, notices
and charts read nothing else of a metric, so a user's own record gets them in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import (
    Named,
    check_flag,
    check_number,
    is_number,
    number_text,
)
from retrieval_report.contracts.checks import check_choice
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.metrics import terms


class Formula(NamedTuple):
    """A sum over the first min(k, n) positions i, in words, and its divisor, which may depend on
    the value of ``parameter``.
    """

    total: str
    divisor: str | Mapping[str, str] = "1"
    parameter: str = ""

    def divided_by(self, choice: object = None) -> str:
        """Return the divisor for a value of the parameter that chooses it."""
        return self.divisor if isinstance(self.divisor, str) else self.divisor[str(choice)]


Largest = float | Literal["grade"] | None


class Facts(Protocol):
    """The quantities a metric may divide by, as arrays that broadcast to (lists, cutoffs).

    A divisor must not fall when any of them rises, and must not combine an ideal with anything
    else.
    """

    @property
    def cutoff(self) -> Floats:
        """k, or the list's own length if the cutoff is null."""

    @property
    def length(self) -> Floats:
        """n, the number of items of the list."""

    @property
    def relevant(self) -> Floats:
        """R, the number of relevant items of the query."""

    def ideal(self, term: terms.Ideal) -> Floats:
        """Return the ideal DCG."""


def smaller(first: Floats, second: Floats) -> Floats:
    """Return the smaller of two facts; those of `expr` are Polars expressions."""
    as_expression = isinstance(first, pl.Expr)
    least: Any = pl.min_horizontal if as_expression else np.minimum
    return least(first, second)  # type: ignore[no-any-return]


# By the words of a formula, so that what it says is what is computed.
DIVISORS: Mapping[str, Callable[[Facts], Floats]] = {
    "k": lambda facts: facts.cutoff,
    "R": lambda facts: facts.relevant,
    "min(k, R)": lambda facts: smaller(facts.cutoff, facts.relevant),
    "min(k, n)": lambda facts: smaller(facts.cutoff, facts.length),
}


class _FactsRead:
    """Facts that remember which of them a divisor reads: the names of quantities, and ideals."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.ideals: list[terms.Ideal] = []

    def _read(self, name: str) -> Floats:
        self.names.add(name)
        return np.ones((1, 1))

    @property
    def cutoff(self) -> Floats:
        return self._read("cutoff")

    @property
    def length(self) -> Floats:
        return self._read("length")

    @property
    def relevant(self) -> Floats:
        return self._read("relevant")

    def ideal(self, term: terms.Ideal) -> Floats:
        self.ideals.append(term)
        return np.ones((1, 1))


def number(fits: Callable[[float], bool], rule: str) -> Named:
    """Return what says of a field that it holds a number, or None if that is its default."""
    return {"number": (fits, rule)}


@dataclass(frozen=True)
class Metric:
    """Base of all metrics."""

    name: ClassVar[str]
    own_depth: ClassVar[bool] = (
        False  # scores the first R positions or the whole list, whatever the cutoffs
    )
    needs_relevant: ClassVar[bool] = False  # has no meaning where nothing is relevant
    largest: ClassVar[Largest] = None
    """The largest score a list can reach: a number, the largest grade ("grade"), or None if there
    is no limit.
    """

    formula: ClassVar[Formula] = Formula("", "as its parameters say")
    judged_only: bool = field(default=False, kw_only=True, repr=False)
    """Whether items without judgement are left out of the lists, for this metric alone."""

    def __post_init__(self) -> None:
        """Check the parameters; a metric with parameters of its own calls it."""
        check_flag("judged_only", self.judged_only)
        parameter = self.formula.parameter
        if parameter:
            check_choice(
                f"{self.name} {parameter}", getattr(self, parameter), list(self.formula.divisor)
            )
        for one in fields(self):
            value = getattr(self, one.name)
            # Kept as the float that is computed with and printed: NumPy's float32 0.8 compares equal
            # to 0.8 but is another number.
            if "number" in one.metadata and value is not one.default:
                value = check_number(f"{self.name} {one.name}", value, *one.metadata["number"])
                object.__setattr__(self, one.name, value)

    @property
    def term(self) -> terms.Sum:
        """The sum this metric is made of."""
        raise NotImplementedError

    def divisor(self, facts: Facts) -> Floats:
        """Return what the sum is divided by, by default what the formula says; the score is 0 where
        this is 0.
        """
        words = self.formula.divided_by(getattr(self, self.formula.parameter, None))
        divisor = DIVISORS.get(words.partition(", the")[0])
        return np.ones((1, 1)) if divisor is None else divisor(facts)

    def undefined(self, facts: Facts) -> Bools:
        """Return where the metric has no meaning because nothing is relevant."""
        return facts.relevant == 0 if self.needs_relevant else np.zeros((1, 1), dtype=bool)

    @property
    def condensed(self) -> bool:
        """Whether the metric considers judged items alone."""
        return self.judged_only or self.term.judged_only

    @property
    def level(self) -> float | None:
        """The smallest grade that is relevant, if the metric says so itself."""
        return getattr(self, "rel", None)

    @property
    def reads(self) -> set[str]:
        """The quantities of `Facts` that the divisor depends on, found by asking it.

        >>> from retrieval_report import AP, Precision
        >>> Precision().reads, sorted(AP("min").reads)
        ({'cutoff'}, ['cutoff', 'relevant'])
        """
        return _facts_read(self).names

    @property
    def ideals(self) -> list[terms.Ideal]:
        """The ideals that the divisor depends on."""
        return _facts_read(self).ideals

    @property
    def needs_all_relevant(self) -> bool:
        """Whether a score depends on R, or on the grades of all relevant items of the query."""
        graded = any(ideal.over == "judged" for ideal in self.ideals)
        return self.own_depth or "relevant" in self.reads or graded

    def when_all_follow(self) -> Metric:
        """Return the metric that a list gets whose missing items all follow, infinitely far down."""
        return self

    def expr(
        self,
        relevance: str | pl.Expr,
        *,
        distance: str | pl.Expr | None = None,
        score: str | pl.Expr | None = None,
        k: int | None = None,
        order: str = "expected",
        std: bool = False,
        n_relevant: str | pl.Expr | float | None = None,
        relevant_from: float | None = None,
        no_relevant: str = "zero",
        judged: str | pl.Expr | None = None,
    ) -> pl.Expr:
        """Return the metric as a Polars expression over the rows of one list, such as a group.

        Parameters
        ----------
        relevance
            Column or expression of grades from 0 on.
        distance, score
            What orders the list: smaller distances or larger scores are nearer, equal ones tie.
            Numbers, dates or times; Polars refuses text.
        k
            The cutoff; by default the whole list.
        order
            ``expected``: the exact mean over all orders of ties; ``best`` and ``worst``: relevant
            items first or last in every tie; ``received``: ties in the order of the rows.
        std
            Return the standard deviation under random tie order, for sums over ranks, ``rr`` and
            ``hit_rate``.
        n_relevant
            R, the number of relevant items of the query, as a number, or in a column or expression
            whose first value counts; by default those of the list.
        relevant_from
            The smallest grade that is relevant; by default any above 0.
        no_relevant
            The score where it has no meaning because nothing is relevant: "zero", "one" or "skip",
            which is null.
        judged
            The grades of all judged items of the query, retrieved or not, as a column or expression
            of lists whose first value counts:
            ``judgements.group_by("query").agg(judged="relevance")``, joined to the rows. They give
            the ideal of NDCG and, without ``n_relevant``, R. By default both are those of the items
            in the list, so that NDCG is too high where judged items were not retrieved.

        Returns
        -------
        polars.Expr
            One number per list, named after the measure (``ndcg@10``). It is null for a list
            without rows, with a null or NaN among its distances, scores or grades, with a grade
            below 0 or above the metric's ``max_grade``, with more relevant items than
            ``n_relevant``, or with one that is not a whole number. A standard deviation is null
            where the value is.

        Raises
        ------
        ParameterError
            The metric has no such expression (``err``, ``bpref``, denominators and ideals of what
            is retrieved, gains and discounts by functions): use `evaluate`.

        Examples
        --------
        >>> import polars as pl
        >>> from retrieval_report import NDCG
        >>> frame = pl.DataFrame({"score": [2.0, 1.0, 1.0], "relevance": [0, 2, 1]})
        >>> frame.select(NDCG(gain="exp2").expr("relevance", score="score", k=2)).rows()
        [(0.34753068574287993,)]

        With a judged item of grade 2 that was not retrieved, as `evaluate` has it:

        >>> frame.select(
        ...     NDCG().expr("relevance", score="score", k=2, judged=pl.lit([2, 2, 1]))
        ... ).rows()
        [(0.29013960542590617,)]
        """
        from retrieval_report.metrics.expressions import List, expression, ordering

        least = relevant_from if self.level is None else self.level
        by = ordering(distance, score)
        rows = List(relevance, *by, order, least, n_relevant, self.term.largest_grade, judged)
        return expression(self, rows, k, no_relevant, std=std)

    def __str__(self) -> str:
        """Return the text form: the name and the parameters that differ from their defaults."""
        field_texts = [
            f"{field.name}={_show(getattr(self, field.name))}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{self.name}({','.join(field_texts)})" if field_texts else self.name


@lru_cache(maxsize=1024)
def _facts_read(metric: Metric) -> _FactsRead:
    facts = _FactsRead()
    metric.divisor(facts)
    return facts


def _show(value: object) -> str:
    if isinstance(value, tuple):
        return ";".join(f"{number_text(grade)}:{number_text(gain)}" for grade, gain in value)
    return number_text(value) if is_number(value) else getattr(value, "__name__", str(value))  # type: ignore[arg-type]

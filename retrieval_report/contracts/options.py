"""The options that decide a score besides the data, checked once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from retrieval_report.contracts.arguments import check_whole, is_number, is_whole, listed, shown
from retrieval_report.contracts.checks import check_choice, did_you_mean
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.parameters import PARAMETERS
from retrieval_report.contracts.truncated import AUTO, check_truncated

POLICIES = PARAMETERS["policies"].choices
# Options with a fixed set of words; truncated may also be a mapping of models to such words.
ELSEWHERE = {  # arguments that another function has, or has under another name
    "metrics": "; of a Study it is called 'measures'",
    **dict.fromkeys(
        ("query_labels", "item_labels", "scores"), "; pass it to from_search, and its result here"
    ),
}
WORDS = (
    "no_relevant",
    "naive_order",
    "missing_query",
    "unjudged",
    "unjudged_query",
    "null_distance",
    "relevant_items",
)
MOST_SHUFFLES = 10_000_000  # the mean of this many is known to 3 in 10 000 standard deviations
MOST_DECIMALS = 300  # 10**decimals must stay a finite number
WIDEST = 2**127  # whole numbers from here on fit no column, and Polars rejects them


class RowOptions(TypedDict, total=False):
    """The options that decide which rows count, and how."""

    distance_threshold: float | None
    decimals: int | None
    unjudged: str | None
    unjudged_query: str
    null_distance: str
    truncated: str | Mapping[str, str]


class ListOptions(RowOptions, total=False):
    """The options of ``evaluate`` for functions that have policies and a seed of their own."""

    shuffles: int
    no_relevant: str
    relevant_from: float | None
    naive_order: str
    missing_query: str
    relevant_items: str
    threads: int | None
    progress: bool


class ScoringOptions(ListOptions, total=False):
    """The options of ``evaluate`` for functions that choose the policies themselves."""

    seed: int


class EvaluateOptions(ScoringOptions, total=False):
    """All options of ``evaluate``: type checkers and editors know them in every function that
    passes them on.
    """

    policies: str | Sequence[str]


def options_with(given: Mapping[str, object], **fixed: object) -> Options:
    """Return the options of a caller, except for those that the function sets itself.

    >>> options_with({"decimals": 2, "policies": "naive"}, policies="expected").policies
    ('expected',)
    >>> options_with({"decimal": 2})
    Traceback (most recent call last):
    TypeError: unexpected keyword argument 'decimal'; did you mean 'decimals'?
    """
    options: dict[str, Any] = {**given, **fixed}
    known = [option.name for option in fields(Options)]
    for name in options:
        if name not in known:
            hint = ELSEWHERE.get(name) or did_you_mean(
                name, (*known, "judgements", "queries", "metrics", "cutoffs")
            )
            raise TypeError(f"unexpected keyword argument {name!r}{hint}")
    return Options(**options)


def is_relevant(grade: Any, least: float | None) -> Any:
    """Return whether grades (of an array, a Polars or a Spark expression) are relevant: from the
    least on, or above 0.

    >>> is_relevant(1, None), is_relevant(1, 2.0)
    (True, False)
    """
    return grade > 0 if least is None else grade >= least


@dataclass(frozen=True)
class Options:
    """The keyword arguments of ``evaluate``, except the frames, metrics and cutoffs.

    Policies may be one name or any iterable of names, and numbers may be NumPy's; they are stored
    as Python's.

    >>> Options(policies=["best", "worst", "best"]).policies
    ('best', 'worst')
    >>> Options(policies="mean")
    Traceback (most recent call last):
    retrieval_report.ParameterError: policies: 'mean' is not one of 'expected', 'naive', 'shuffled',
    'best', 'worst'
    """

    policies: Any = (
        "expected",
        "naive",
        "shuffled",
    )  # any iterable of names; a tuple of them once checked
    shuffles: int = 100
    seed: int = 0
    no_relevant: str = "zero"
    relevant_from: float | None = None
    distance_threshold: float | None = None
    naive_order: str = "row"
    decimals: int | None = None
    missing_query: str = "zero"
    unjudged: str | None = None
    unjudged_query: str = "error"
    null_distance: str = "error"
    truncated: Any = AUTO  # one of truncation.TRUNCATED, or a mapping of models to them
    relevant_items: str = "pooled"
    threads: int | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        policies = listed(self.policies)
        if not policies:
            raise ParameterError("policies: none given")
        for policy in policies:
            check_choice("policies", policy, POLICIES)
        self._keep("policies", tuple(dict.fromkeys(str(policy) for policy in policies)))
        for name in WORDS:
            if getattr(self, name) is not None or name != "unjudged":
                check_choice(name, getattr(self, name), PARAMETERS[name].choices)
        self._keep("truncated", check_truncated(self.truncated))
        self._keep_numbers()

    def _keep_numbers(self) -> None:
        """Check the numbers, and store them as Python's own."""
        self._keep("shuffles", check_whole("shuffles", self.shuffles, 1, MOST_SHUFFLES))
        self._keep("seed", check_whole("seed", self.seed, 0))
        if self.decimals is not None:
            self._keep("decimals", check_whole("decimals", self.decimals, 0, MOST_DECIMALS))
        if self.threads is not None:
            self._keep("threads", check_whole("threads", self.threads, 1))
        if self.relevant_from is not None:
            self._keep("relevant_from", check_relevant_from(self.relevant_from))
        if self.distance_threshold is not None:
            if not is_number(self.distance_threshold):
                raise ParameterError(
                    f"distance_threshold: {shown(self.distance_threshold)} is not a finite number"
                )
            self._keep("distance_threshold", _plain(self.distance_threshold))

    def check_order(self, order: str) -> None:
        """Refuse a threshold of distances for rankings that are ordered by score."""
        if self.distance_threshold is not None and order == "score":
            raise ParameterError(
                "distance_threshold: the rankings have a 'score'; a threshold needs a 'distance'"
            )

    def check_counted(self) -> None:
        """Refuse options that need more than counts."""
        if "naive" in self.policies:
            raise ParameterError(
                "policies: 'naive' needs the order of the items, and a counts frame has none; "
                "evaluate the rankings, "
                "or leave 'naive' out"
            )

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # the record is frozen for all other code

    @property
    def workers(self) -> int:
        """Return the number of threads to use."""
        return self.threads or os.cpu_count() or 1


def check_relevant_from(grade: object) -> int | float:
    """Return the smallest relevant grade as a Python number.

    >>> check_relevant_from(0)
    Traceback (most recent call last):
    retrieval_report.ParameterError: relevant_from: 0 is not a number above 0
    """
    if not is_number(grade) or grade <= 0:  # type: ignore[operator]
        raise ParameterError(f"relevant_from: {shown(grade)} is not a number above 0")
    return _plain(grade)


def _plain(number: Any) -> int | float:
    """Return a number as Python's; whole numbers too large for any integer column become floats."""
    return int(number) if is_whole(number) and abs(int(number)) < WIDEST else float(number)

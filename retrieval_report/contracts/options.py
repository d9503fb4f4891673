"""The options of scoring: one record for each, from which checks, commands, the sidebar, ``like=``
and the report are made.

A new option is a field of `Options` and a line in one of the TypedDicts, which type checkers read;
`evaluate` names and explains it, and one module of `scoring` obeys it.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, wraps
from inspect import Parameter
from typing import Any, NamedTuple, ParamSpec, TypedDict, TypeVar

from retrieval_report.contracts.arguments import (
    Named,
    Names,
    as_list,
    check_flag,
    check_number,
    check_whole,
    is_whole,
)
from retrieval_report.contracts.checks import check_choice, did_you_mean
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.significance_tests import CORRECTIONS, MAX_T, MEANINGS

Given = ParamSpec("Given")
Result = TypeVar("Result")
POLICIES = ("expected", "naive", "shuffled", "best", "worst")
AUTO = "auto"
NO = "no"
BETWEEN_TIES = "between_ties"
WITHIN_TIE = "within_tie"
ENDS = (NO, BETWEEN_TIES, WITHIN_TIE)  # how lists end
TRUNCATED = (AUTO, *ENDS)
REPEATED = ("error", "highest", "mean")  # different grades of one item
RULE = "rule"
DRAW = "draw"
ORDER = "order"
RUN = "run"
MEASURED = ("measures", "cutoffs", "metrics")
ELSEWHERE = {  # arguments that another function has, or has under another name
    **dict.fromkeys(("metric", "measure"), "; it is called 'measures'"),
    **dict.fromkeys(("qrels", "qrel"), "; it is called 'judgements'"),
    **dict.fromkeys(("run", "runs"), "; it is called 'rankings'"),
    "topics": "; it is called 'queries'",
    "k": "; write the cutoff beside the metric, as in measures='ndcg@10', or pass cutoffs=10",
    **dict.fromkeys(
        ("query_labels", "item_labels", "relevance", "scores"),
        "; pass it to from_search, and its result here",
    ),
}
MANY_ITEMS = 10_000_000  # of all lists together; of more, fewer random orders are drawn
MOST_SHUFFLES = 10_000_000  # the mean of this many is known to 3 in 10 000 standard deviations
MOST_DECIMALS = 300  # 10**decimals must stay a finite number
WIDEST = 2**127  # whole numbers from here on fit no column, and Polars rejects them


class Option(NamedTuple):
    """One option.

    Attributes
    ----------
    title, meaning
        Its name in the sidebar, and a sentence that says what it decides.
    choices
        The words it takes, if it takes words.
    default
        Its value if none is given.
    kind
        The type of its values, None aside.
    check
        Checks a value, and returns it as Python's; without it, words must be among the choices.
    role
        What it decides: "rule" (every score), "order" (the orders that are scored), "draw" (random
        orders) or "run" (no number).
    control
        Whether the dashboard can follow it.
    """

    title: str
    meaning: str
    choices: tuple[str, ...] = ()
    default: Any = None
    kind: type = str
    check: Callable[[str, object], object] | None = None
    role: str = RULE
    control: bool = True


def _policies(name: str, value: object) -> tuple[str, ...]:
    policies = as_list(value)
    if not policies:
        raise ParameterError(f"{name}: none given")
    for policy in policies:
        check_choice(name, policy, POLICIES)
    return tuple(dict.fromkeys(map(str, policies)))


def _whole(least: int, most: int | None = None) -> Callable[[str, object], int]:
    return lambda name, value: check_whole(name, value, least, most)


def _finite(name: str, value: Any) -> int | float:
    """Return a number as Python's; whole ones too large for any integer column become floats."""
    check_number(name, value, lambda _: True, "finite number")
    return int(value) if is_whole(value) and abs(int(value)) < WIDEST else float(value)


def _positive(name: str, value: object) -> int | float:
    check_number(name, value, lambda number: number > 0, "number above 0")
    return _finite(name, value)


def _truncated(name: str, value: object) -> str | dict[str, str]:
    """Return one of the words, or a mapping of models to them."""
    if not isinstance(value, Mapping):
        check_choice(name, value, TRUNCATED)
        return str(value)
    for model, word in value.items():
        check_choice(f"{name} of model {model!r}", word, TRUNCATED)
    return {str(model): str(word) for model, word in value.items()}


def _option(
    default: object, title: str, meaning: str, choices: tuple[str, ...] = (), **how: Any
) -> Any:
    record = Option(title, meaning, choices, default, **how)
    return field(default=default, metadata={"option": record})


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
    >>> Options(relevant_from=0)
    Traceback (most recent call last):
    retrieval_report.ParameterError: relevant_from: 0 is not a number above 0
    """

    policies: Any = _option(  # noqa: RUF009  # any iterable of names; a tuple of them once checked
        ("expected", "shuffled", "naive"),
        "Scores shown",
        "How the order inside ties is treated. expected: the exact mean over all orders; naive: "
        "the order received; shuffled: random orders; worst, best: the lowest and highest score "
        "that any order can give, whatever items cut lists lack.",
        POLICIES,
        check=_policies,
        role=ORDER,
    )
    shuffles: int = _option(
        10,
        "Random orders drawn",
        "How many random orders are drawn for the shuffled scores. Ten are enough to show what "
        "single orders print; the spread of all orders is computed exactly. With more than 10 "
        "million items, studies and reports draw fewer unless you give a number.",
        kind=int,
        check=_whole(1, MOST_SHUFFLES),
        role=DRAW,
    )
    seed: int = _option(
        0, "Seed", "Seed of the random orders.", kind=int, check=_whole(0), role=DRAW
    )
    no_relevant: str = _option(
        "zero",
        "Queries without a relevant item",
        "Queries without a relevant item score 0, are left out, score 1 (by measures that are not "
        "defined for them; by others 0), or are refused. Measures that count grades too low to be "
        "relevant, such as ndcg, still count them.",
        ("zero", "skip", "one", "error"),
    )
    relevant_from: float | None = _option(
        None,
        "Relevant from grade",
        "The smallest grade that counts as relevant; by default any grade above 0.",
        kind=float,
        check=_positive,
    )
    distance_threshold: float | None = _option(
        None,
        "Relevant up to distance",
        "Items farther away keep their rank but count as not relevant; by default there is no "
        "limit. It needs distances, not scores.",
        kind=float,
        check=_finite,
    )
    naive_order: str = _option(
        "row",
        "Naive order",
        "The order of tied items in naive scores: that of the rows, or of the item ids, "
        "ascending or descending.",
        ("row", "item", "item_descending"),
        role=ORDER,
        control=False,
    )
    decimals: int | None = _option(
        None,
        "Decimals kept",
        "Distances are rounded to this many decimals before items are ranked.",
        kind=int,
        check=_whole(0, MOST_DECIMALS),
        control=False,
    )
    missing_query: str = _option(
        "zero",
        "Queries without a list",
        "If a model has no list for a query that is judged or that others answer, the query scores "
        "0, is left out, or is refused.",
        ("zero", "skip", "error"),
    )
    unjudged: str | None = _option(
        None,
        "Items without relevance",
        "Items without a judgement count as not relevant, are dropped from the lists, or are "
        "refused. By default they count as not relevant if judgements are given; otherwise they "
        "are refused.",
        ("non_relevant", "drop", "error"),
    )
    unjudged_query: str = _option(
        "error",
        "Queries without judgements",
        "Queries that do not occur in the judgements are refused, or left out.",
        ("error", "skip"),
    )
    repeated_judgements: str = _option(
        "error",
        "Different grades of one item",
        "If an item has several different grades for a query, they are refused, or their highest "
        "or mean counts. The same grade twice counts once, but no verdict rests on such judgements "
        "until the highest or the mean is asked for.",
        REPEATED,
    )
    null_distance: str = _option(
        "error",
        "Items without a distance",
        "Items without a distance are refused, or count as known but not retrieved: relevant ones "
        "then lower recall.",
        ("error", "not_retrieved"),
    )
    exclude_self: bool = _option(
        False,
        "Leave queries out of their lists",
        "An item with the id of the query is left out of the query's list and judgements. Use it "
        "if every document is also a query.",
        kind=bool,
        check=check_flag,
    )
    truncated: Any = _option(  # noqa: RUF009  # one of the words, or a mapping of models to them
        AUTO,
        "Lists cut at their end",
        "Whether lists were cut, as top-k lists are. no: they hold all items; between_ties: they "
        "end between two ties; within_tie: their last tie may continue; auto: like within_tie, "
        "unless the data prove that the lists are complete.",
        TRUNCATED,
        check=_truncated,
    )
    relevant_items: str = _option(
        "pooled",
        "Relevant items without judgements",
        "Which relevant items are known without judgements and n_relevant. pooled: those that any "
        "model retrieved, for all models; own: only those in the model's own list; error: the "
        "data are refused.",
        ("pooled", "own", "error"),
    )
    threads: int | None = _option(
        None,
        "Threads",
        "Number of threads; by default one per processor. It does not change the result.",
        kind=int,
        check=_whole(1),
        role=RUN,
    )
    progress: bool = _option(
        False, "Progress", "Whether a progress bar is shown.", kind=bool, check=check_flag, role=RUN
    )

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            value = getattr(self, name)
            if value is option.default:
                continue
            if option.check is not None:  # the record is frozen for all other code
                object.__setattr__(self, name, option.check(name, value))
            elif option.choices:
                check_choice(name, value, option.choices)

    def of(self, names: Iterable[str]) -> Named:
        """Return the values of some options."""
        return {name: getattr(self, name) for name in names}

    def check_order(self, order: str) -> None:
        """Refuse a threshold of distances for rankings that are ordered by score."""
        if self.distance_threshold is not None and order == "score":
            raise ParameterError(
                "distance_threshold: the rankings have a 'score'; a threshold needs a 'distance'"
            )

    @property
    def workers(self) -> int:
        """Return the number of threads to use."""
        return self.threads or _processors()


@cache
def _processors() -> int:
    return os.cpu_count() or 1


OPTIONS: Mapping[str, Option] = {part.name: part.metadata["option"] for part in fields(Options)}
RULES, DRAWS = (
    tuple(name for name, option in OPTIONS.items() if option.role == role) for role in (RULE, DRAW)
)
PARAMETERS: Mapping[str, Option] = {  # with those of functions other than `evaluate`
    **OPTIONS,
    "metrics": Option(
        "Measures",
        "Names of measures, optionally with parameters and a cutoff, such as "
        "ap(denominator=k)@10. The first is the headline.",
    ),
    "cutoffs": Option(
        "Cutoffs", "Cutoffs for metrics that are named without one; all means the whole list."
    ),
    "like": Option(
        "Like another system",
        "Follow the definitions and the tie order of another evaluator, such as trec_eval, ranx or "
        "sklearn; naive is then what it prints (a mean where it prints a sum, and one random order if "
        "it shuffles ties or sorts them unstably).",
    ),
    "average": Option(
        "Average",
        "micro: the mean over queries; macro: over labels of queries, if they have any; weighted: by "
        "the weight of each query.",
        ("micro", "macro", "weighted"),
        "micro",
    ),
    "correction": Option(
        "Correction",
        f"How p-values allow for the number of pairs. {MEANINGS}.",
        tuple(CORRECTIONS),
        MAX_T,
    ),
}


def affordable_shuffles(shuffles: int, items: int) -> int:
    """Return how many random orders to draw of so many items: fewer than the default of many, at
    least one; another number stays.

    >>> affordable_shuffles(10, 10**7), affordable_shuffles(10, 4 * 10**7)
    (10, 2)
    >>> affordable_shuffles(10, 10**10), affordable_shuffles(20, 10**10)
    (1, 20)
    """
    if shuffles != OPTIONS["shuffles"].default or items <= MANY_ITEMS:
        return shuffles
    return max(1, shuffles * MANY_ITEMS // items)


class ItemOptions(TypedDict, total=False):
    """The options that decide which items and judgements count."""

    unjudged: str | None
    unjudged_query: str
    repeated_judgements: str
    null_distance: str
    exclude_self: bool


class JudgedOptions(ItemOptions, total=False):
    """The options that decide which items and judgements count, and how lists end."""

    truncated: str | Mapping[str, str]


class AuditOptions(JudgedOptions, total=False):
    """The options of ``audit``, which takes lists as whole, as other systems do, however they end."""

    relevant_from: float | None
    no_relevant: str
    missing_query: str
    threads: int | None


class RowOptions(JudgedOptions, total=False):
    """The options that decide which rows count, and which of them tie."""

    distance_threshold: float | None
    decimals: int | None


class LikeOptions(JudgedOptions, total=False):
    """The options that another system's definitions leave open."""

    relevant_from: float | None
    shuffles: int
    threads: int | None


class ListOptions(RowOptions, LikeOptions, total=False):
    """The options of ``evaluate`` for functions that have policies and a seed of their own."""

    no_relevant: str
    naive_order: str
    missing_query: str
    relevant_items: str
    progress: bool


class ScoringOptions(ListOptions, total=False):
    """The options of ``evaluate`` for functions that choose the policies themselves."""

    seed: int


class EvaluateOptions(ScoringOptions, total=False):
    """All options of ``evaluate``: type checkers and editors know them in every function that
    passes them on.
    """

    policies: Names


def options_with(
    caller_options: Mapping[str, object], allowed: Iterable[str] = OPTIONS, **fixed: object
) -> Options:
    """Return the options of a caller, who may give those allowed, except for those that the
    function sets itself.

    >>> options_with({"decimals": 2, "policies": "naive"}, policies="expected").policies
    ('expected',)
    >>> options_with({"decimal": 2})
    Traceback (most recent call last):
    TypeError: unexpected keyword argument 'decimal'; did you mean 'decimals'?
    """
    for name in caller_options:
        if name not in allowed:
            raise TypeError(_unexpected(name, (*allowed, "judgements", "queries", *MEASURED)))
    options: Named = {**caller_options, **fixed}
    return Options(**options)


def _unexpected(name: str, option_names: Iterable[str]) -> str:
    """Say which argument is probably meant by one that a function does not have."""
    return f"unexpected keyword argument {name!r}{ELSEWHERE.get(name) or did_you_mean(name, option_names)}"


def answering_other_words(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Decorate a function so that it answers arguments that are called otherwise here, and those
    that are given by position as other libraries take them.

    >>> @answering_other_words
    ... def score(rankings: object, judgements: object = None) -> None: ...
    >>> score({}, qrels={})
    Traceback (most recent call last):
    TypeError: unexpected keyword argument 'qrels'; it is called 'judgements'
    >>> @answering_other_words
    ... def score(rankings: object, *, judgements: object, measures: str) -> None: ...
    >>> score({}, {}, "ndcg@10")
    Traceback (most recent call last):
    TypeError: score() takes only rankings by position; pass judgements= and measures= by name
    """
    parameters = inspect.signature(function).parameters
    kinds = {name: parameter.kind for name, parameter in parameters.items()}
    by_position = [name for name, kind in kinds.items() if kind is Parameter.POSITIONAL_OR_KEYWORD]
    by_name = [
        f"{name}=" for name in ("judgements", "measures") if name in {*kinds} - {*by_position}
    ]
    only = " and ".join(name for name in by_position if name != "self")
    title = function.__qualname__.removesuffix(".__init__")
    has_all = Parameter.VAR_KEYWORD not in kinds.values()  # else `options_with` answers

    @wraps(function)
    def answering(*args: Given.args, **options: Given.kwargs) -> Result:
        if len(args) > len(by_position):
            raise TypeError(
                f"{title}() takes only {only} by position; pass {' and '.join(by_name)} by name"
            )
        for name in options.keys() - parameters.keys() if has_all else ():
            raise TypeError(_unexpected(name, parameters))
        return function(*args, **options)

    return answering


def is_relevant(grade: Any, least: float | None) -> Any:
    """Return whether grades (of an array, a Polars or a Spark expression) are relevant: from the
    least on, or above 0.

    >>> is_relevant(1, None), is_relevant(1, 2.0)
    (True, False)
    """
    return grade > 0 if least is None else grade >= least

"""What the tests of bad input share: a small frame, the functions that take one, and how a refusal
is checked.
"""

from collections.abc import Callable
from typing import Any

import polars as pl

from retrieval_report import count_ties, evaluate, shuffled_means
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.lists import query_weights, tie_groups

POLICIES = ("expected", "naive", "shuffled", "best", "worst")
LAST = ("'itq'", "'q2'", "'b'")  # model, query and item of the last row of rankings()

# Grades of three items of `rankings()`.
JUDGEMENTS = pl.DataFrame(
    {"query": ["q1", "q1", "q2"], "item": ["a", "b", "b"], "relevance": [1, 0, 1]}
)

# Every function that takes rankings holds them to the same rules.
ENTRANCES: dict[str, Callable[[Any], pl.DataFrame]] = {
    "evaluate": lambda frame: evaluate(frame, metrics="precision", cutoffs=1),
    "shuffled_means": lambda frame: shuffled_means(
        frame, metrics="precision", cutoffs=1, shuffles=1
    ),
    "count_ties": count_ties,
    "tie_groups": tie_groups,
    "query_weights": lambda frame: query_weights(frame, metrics="rr"),
}


def rankings(**columns: Any) -> pl.DataFrame:
    """Two lists of two items; columns given replace these or are added, None takes one away."""
    base = {
        "model": ["itq"] * 4,
        "query": ["q1", "q1", "q2", "q2"],
        "item": ["a", "b", "a", "b"],
        "distance": [0.1, 0.2, 0.1, 0.2],
        "relevance": [1, 0, 0, 1],
        "weight": [1.0, 1.0, 1.0, 1.0],
    }
    return pl.DataFrame(
        {name: given for name, given in (base | columns).items() if given is not None}
    )


def one_list(
    distance: Any, relevance: Any, *, order: str = "distance", **columns: Any
) -> pl.DataFrame:
    """One query of a model without name; items are i0, i1, …"""
    items = [f"i{measure}" for measure in range(len(relevance))]
    return pl.DataFrame(
        {
            "query": ["q"] * len(items),
            "item": items,
            order: distance,
            "relevance": relevance,
            **columns,
        }
    )


def numbers(values: list[Any], dtype: Any) -> pl.Series:
    return pl.Series(values, dtype=dtype)


def scores(
    frame: object, metrics: Any, cutoffs: Any = None, policies: Any = "expected", **options: Any
) -> list[Any]:
    """The values of whole lists, in the order of the scores frame."""
    options = {"truncated": "no", **options}
    return evaluate(frame, metrics=metrics, cutoffs=cutoffs, policies=policies, **options)[
        "value"
    ].to_list()


def value(frame: object, metric: str, cutoff: int | None = None, **options: Any) -> Any:
    """The one score there is."""
    (only,) = scores(frame, metric, cutoff, **options)
    return only


def refused(
    frame: object, error: type[RetrievalReportError], *words: str, **evaluated: Any
) -> None:
    """Every function refuses the frame (with options: ``evaluate`` does), and the message holds the
    words.
    """
    calls = ENTRANCES if not evaluated else {"evaluate": lambda given: evaluate(given, **evaluated)}
    for name, call in calls.items():
        message = _message(call, frame, error)
        missing = [word for word in words if word not in message]
        assert not missing, f"{name}: no {missing} in {message!r}"


def _message(
    call: Callable[[Any], object], frame: object, error: type[RetrievalReportError]
) -> str:
    """What the function says of the frame; nothing if it takes it."""
    try:
        call(frame)
    except error as refusal:
        return str(refusal)
    return ""

"""Check plain arguments: numbers, whole numbers, and lists of things."""

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval_report.contracts.errors import ParameterError

Thing = TypeVar("Thing", bound=Hashable)
Value = TypeVar("Value")
# Our name of a column → the name in the data.
ColumnNames = Mapping[str, str] | None

# An array of numbers, whatever their type.
Array = NDArray[Any]
# Values by name: the arguments of a function, the settings of a report, the columns of a row.
Named = dict[str, Any]
# One name or several, such as of policies.
Names = str | Sequence[str]
# A row of a frame: its values by the names of the columns.
Row = Mapping[str, Any]


def is_name(value: object) -> TypeGuard[str]:
    """Return whether a value can name a model or a judge: text that is not empty.

    >>> is_name("bm25"), is_name(""), is_name(7)
    (True, False, False)
    """
    return isinstance(value, str) and value != ""


def is_whole(value: object) -> bool:
    """Return whether a value is a single whole number
    of Python or NumPy; truth values and arrays are not.

    >>> is_whole(np.int8(3)), is_whole(True), is_whole(3.0), is_whole(np.array(3))
    (True, False, False, False)
    """
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def is_number(value: object) -> bool:
    """Return whether a value is a single finite real number of Python or NumPy that fits Float64.

    >>> (
    ...     is_number(np.float32(0.5)),
    ...     is_number(True),
    ...     is_number("1"),
    ...     is_number(math.nan),
    ...     is_number(10**400),
    ... )
    (True, False, False, False, False)
    """
    if not (is_whole(value) or isinstance(value, float | np.floating)):
        return False
    try:
        return math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def check_number(name: str, value: Any, fits: Callable[[float], bool], rule: str) -> float:
    """Return the value as a Python float; raise a ParameterError that names the rule unless it is a
    finite number that fits.

    >>> check_number("margin", 0, lambda margin: margin > 0, "number above 0")
    Traceback (most recent call last):
    retrieval_report.ParameterError: margin: 0 is not a number above 0
    """
    if not is_number(value) or not fits(value):
        raise ParameterError(f"{name}: {value!r} is not a {rule}")
    return float(value)


def number_text(value: float) -> str:
    """Return a number as short text that reads back as the same number.

    >>> number_text(3.0), number_text(0.95), number_text(0.99999999), number_text(1234567)
    ('3', '0.95', '0.99999999', '1234567')
    """
    number = float(value)
    short = f"{number:g}"
    return short if float(short) == number else repr(number).removesuffix(".0")


def check_whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return the value as a Python int; raise a ParameterError
    unless it is a whole number within the bounds.

    >>> check_whole("seed", np.uint8(7), 0)
    7
    >>> check_whole("seed", -1, 0)
    Traceback (most recent call last):
    retrieval_report.ParameterError: seed: -1 is not a whole number from 0 on
    """
    if not is_whole(value) or int(value) < least or (most is not None and int(value) > most):  # type: ignore[call-overload]
        raise ParameterError(
            f"{name}: {value!r} is not a whole number from {least} "
            f"{'on' if most is None else f'to {most}'}"
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def check_flag(name: str, value: object) -> bool:
    """Return a truth value of Python or NumPy as
    Python's; raise a ParameterError for anything else.

    >>> check_flag("progress", np.bool_(True))
    True
    >>> check_flag("progress", "no")
    Traceback (most recent call last):
    retrieval_report.ParameterError: progress: 'no' is neither True nor False
    """
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name}: {value!r} is neither True nor False")
    return bool(value)


def check_text(name: str, value: object) -> str:
    """Return text; raise a ParameterError for anything else.

    >>> check_text("model", 5)
    Traceback (most recent call last):
    retrieval_report.ParameterError: model: 5 is not text
    """
    if not isinstance(value, str):
        raise ParameterError(f"{name}: {value!r} is not text")
    return value


def check_pattern(name: str, value: object) -> re.Pattern[str]:
    """Return a regular expression."""
    try:
        return re.compile(check_text(name, value))
    except re.error as error:
        raise ParameterError(f"{name}: {value!r} is not a regular expression: {error}") from error


def check_path(name: str, value: object) -> Path:
    """Return a path of text or `os.PathLike`, where ``~`` is the user's folder; raise a
    ParameterError for anything else.

    >>> check_path("out", 5)
    Traceback (most recent call last):
    retrieval_report.ParameterError: out: 5 is not a path
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        shown = repr(value) if is_number(value) else f"a {type(value).__name__}"
        raise ParameterError(f"{name}: {shown} is not a path")
    return Path(os.path.expanduser(path))  # noqa: PTH111 (Path.expanduser refuses nobody's home)


def as_list(value: object, single: tuple[type, ...] = (str, bytes)) -> list[object]:
    """Return an argument that holds one thing or several as a list; invalid things are left for the
    caller to refuse.

    >>> as_list("ap"), as_list(iter(["ap", "rr"])), as_list(None)
    (['ap'], ['ap', 'rr'], [None])
    """
    if isinstance(value, single) or not isinstance(value, Iterable):
        return [value]
    try:
        things = iter(value)
    except TypeError:  # a zero-dimensional array
        return [value]
    return list(things)


def known_of(values: Mapping[str, Value | None]) -> dict[str, Value]:
    """Return the values that are not None.

    >>> known_of({"judge": None, "dataset": "corpus"})
    {'dataset': 'corpus'}
    """
    return {name: value for name, value in values.items() if value is not None}


def grouped(pairs: Iterable[tuple[Thing, Value]]) -> dict[Thing, list[Value]]:
    """Return the values of every key, in order.

    >>> grouped([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    groups: dict[Thing, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def repeated(things: Iterable[Thing]) -> list[Thing]:
    """Return the things that occur more than once, each once.

    >>> repeated(["a", "b", "a", "c", "b", "a"])
    ['a', 'b']
    """
    return [thing for thing, times in Counter(things).items() if times > 1]


def quoted(names: Iterable[object]) -> str:
    """Return names for a message.

    >>> quoted(["query", "item"])
    "'query', 'item'"
    """
    return ", ".join(map(repr, names))


def some(names: Sequence[object], most: int = 20) -> str:
    """Return a list as text for a message, shortened if it is long.

    >>> some(["a", "b"]), some(range(1000), most=3)
    ("['a', 'b']", '[0, 1, 2, … and 997 more]')
    """
    text = quoted(names[:most])
    return f"[{text}]" if len(names) <= most else f"[{text}, … and {len(names) - most} more]"

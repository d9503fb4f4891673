"""The errors of this package: one base class, and a
subclass for each kind of input that can break a rule.

Every message names the rule, the location and the value, for example
``column 'distance': 3 NaN, first in query 'q17' of model 'itq-32'``.
"""

from __future__ import annotations

import re

from retrieval_report.contracts.wording import argument

__all__ = [
    "ColumnError",
    "DataError",
    "FileError",
    "KeyMismatchError",
    "OutputError",
    "ParameterError",
    "RetrievalReportError",
    "RetrievalReportWarning",
]


# Longest run of characters without a blank that a message shows whole; paths are shorter, bad names
# far longer.
LONGEST_WORD = 500
LONGEST_MESSAGE = 4000


def _shortened(message: str) -> str:
    """Shorten a message for display, since the data it quotes may be of any length.

    >>> _shortened("model " + 1000 * "x" + " is repeated").replace("x" * 300, "(300 x)")
    'model (300 x)…xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx is repeated'
    """
    if len(message) > LONGEST_WORD:
        message = re.sub(rf"(\S{{300}})\S{{{LONGEST_WORD - 350},}}(\S{{50}})", r"\1…\2", message)
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[: LONGEST_MESSAGE - 1000]} … {message[-900:]}"
    return message


def one_line(error: BaseException) -> str:
    r"""Return the message of another library's error
    on one line, or the error's name if it has none.

    >>> one_line(OSError("no such\n   file")), one_line(OSError())
    ('no such file', 'OSError')
    """
    return " ".join(str(error).split())[:200] or type(error).__name__


class RetrievalReportError(ValueError):
    """Base of every error this package raises on bad input.

    Each is also a ValueError.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(_shortened(message))


class ColumnError(RetrievalReportError):
    """A column is missing, occurs twice, or has a type that cannot be used."""


class DataError(RetrievalReportError):
    """Rows break a rule: null, NaN, infinite, negative or repeated values."""


class KeyMismatchError(RetrievalReportError):
    """Two frames do not match: their id types, queries or judgements disagree."""


class ParameterError(RetrievalReportError):
    """An argument is outside what the function accepts.

    The message begins with the argument, a colon and a blank; readers see their own name for it.
    """

    def __init__(self, message: str = "") -> None:
        name, colon, rest = message.partition(": ")
        super().__init__(f"{argument(name)}{colon}{rest}")


class FileError(RetrievalReportError):
    """A file cannot be read as what it claims to be; the message names its path."""


class OutputError(RetrievalReportError):
    """A result cannot be written to the requested location."""


class RetrievalReportWarning(UserWarning):
    """Warning about input that is accepted but may not mean what its author thinks."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_shortened(message))


# Tracebacks show the names that users import: retrieval_report.DataError.
for _name in __all__:
    globals()[_name].__module__ = "retrieval_report"

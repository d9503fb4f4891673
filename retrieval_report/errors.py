"""The error tree: one base class, a child per place where a rule can be broken.

Every message names the rule, the place and the value, for example
``column 'distance': 3 NaN, first in query 'q17' of model 'itq-32'``.
"""

from __future__ import annotations

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


class RetrievalReportError(ValueError):
    """Base of every error this package raises on bad input.

    >>> issubclass(DataError, RetrievalReportError) and issubclass(RetrievalReportError, ValueError)
    True
    """


class ColumnError(RetrievalReportError):
    """A column is missing, there twice, or of a type that cannot be used."""


class DataError(RetrievalReportError):
    """Rows break a rule: null, NaN, infinite, negative or repeated values."""


class KeyMismatchError(RetrievalReportError):
    """Two frames do not fit together: id types, queries or judgements disagree."""


class ParameterError(RetrievalReportError):
    """An argument is outside what the function accepts."""


class FileError(RetrievalReportError):
    """A file cannot be read as what it claims to be; the message holds its path."""


class OutputError(RetrievalReportError):
    """A result cannot be written where it was asked to go."""


class RetrievalReportWarning(UserWarning):
    """Input that is accepted but may not mean what its author thinks."""

"""Turn what Spark and executors report into this package's errors, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from retrieval_report.contracts import errors

OURS = re.compile(r"retrieval_report\.(\w+): (.*)")
FAILURES = (
    PySparkException,
    Py4JError,
)  # the second for Java exceptions for which Spark has no class


@contextmanager
def our_errors() -> Iterator[None]:
    r"""Re-raise errors that this package raised on an executor, with their own class.

    Wrap every action on a frame that :func:`evaluate` returns: Spark reports errors of executors as
    text.

    >>> from pyspark.errors import PythonException
    >>> with our_errors():
    ...     raise PythonException(
    ...         "Traceback …\nretrieval_report.DataError: column 'distance': 1 NaN\n"
    ...     )
    Traceback (most recent call last):
    retrieval_report.DataError: column 'distance': 1 NaN
    """
    try:
        yield
    except Exception as error:  # of pyspark, of gRPC or of py4j, as the session and the action go
        match = OURS.search(str(error))
        if match is None or match[1] not in errors.__all__:
            raise
        raise getattr(errors, match[1])(re.sub(r" SQLSTATE: \w+$", "", match[2])) from error


def reason(error: BaseException) -> str:
    r"""Return the first line of an error of Spark or Java.

    >>> reason(
    ...     PySparkException("[PATH_NOT_FOUND] Path does not exist: file:/x\n at org.apache.spark")
    ... )
    '[PATH_NOT_FOUND] Path does not exist: file:/x'
    """
    java = getattr(error, "java_exception", None)
    lines = str(error if java is None else java.getMessage()).strip().splitlines()
    return next(iter(lines), type(error).__name__)[:300]


@contextmanager
def failing(ours: type[errors.RetrievalReportError], location: str) -> Iterator[None]:
    """Turn an error of Spark into one of this package."""
    try:
        yield
    except FAILURES as error:
        raise ours(f"{location}: {reason(error)}") from error

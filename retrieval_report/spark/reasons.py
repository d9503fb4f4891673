"""Extract from Spark's long Java errors, in one line, why it failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from retrieval_report.contracts.errors import RetrievalReportError

FAILURES = (
    PySparkException,
    Py4JError,
)  # the second for Java exceptions for which Spark has no class


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
def failing(ours: type[RetrievalReportError], location: str) -> Iterator[None]:
    """Turn an error of Spark into one of this package."""
    try:
        yield
    except FAILURES as error:
        raise ours(f"{location}: {reason(error)}") from error

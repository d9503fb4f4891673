"""Raise this package's errors on executors, and turn what Spark reports back into them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import Column
from pyspark.sql import functions as F

from retrieval_report.contracts import errors

OURS = re.compile(r"retrieval_report\.(\w+): (.*)")


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
        found = OURS.search(str(error))
        if found is None or found[1] not in errors.__all__:
            raise
        message = re.sub(r" SQLSTATE: \w+$", "", found[2])
        raise getattr(errors, found[1])(message) from error


def refusing(
    column: Column,
    bad: Column,
    name: str,
    rule: str,
    *,
    what: str = "rankings",
    location: Column = None,
    error: str = "DataError",
) -> Column:
    """Return the column, which raises an error of ours where ``bad`` holds; ``location`` describes
    the row.
    """
    source = "" if what == "rankings" else f"{what}: "
    message = F.lit(f"retrieval_report.{error}: {source}column {name!r}: {rule}")
    if location is not None:
        message = F.concat(message, F.lit(", in "), location)
    return F.when(bad, F.raise_error(message)).otherwise(column)

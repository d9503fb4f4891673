"""Warn of input that is allowed but odd."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from retrieval_report.contracts.errors import RetrievalReportWarning

PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"

_notes: ContextVar[list[str] | None] = ContextVar("notes", default=None)


@contextmanager
def noticed() -> Iterator[list[str]]:
    """Collect the warnings of this thread, each once, instead of showing them.

    `warnings.catch_warnings` acts on the whole process, and would also catch the warnings of other
    threads, such as the sessions of the dashboard.

    >>> with noticed() as notes:
    ...     warn("odd")
    ...     warn("odd")
    >>> notes
    ['odd']
    """
    notes: list[str] = []
    outside = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(outside)


def warn(message: str) -> None:
    """Warn at the line outside this package that led here,
    however deep in the package the oddity was found.

    Only that line means something to whoever reads the warning, and Python shows a warning once per
    line.
    """
    notes = _notes.get()
    if notes is not None:
        notes += [message] if message not in notes else []
        return
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, RetrievalReportWarning, stacklevel=level)

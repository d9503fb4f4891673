"""Turn warnings of the library into notes on the page of the session that caused them."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from retrieval_report.contracts.errors import RetrievalReportWarning

_heard = threading.local()
_usual = warnings.showwarning


@contextmanager
def noticed() -> Iterator[list[str]]:
    """Collect the library's warnings in this thread.

    `warnings.catch_warnings` acts on the whole process, and would also catch the warnings of other
    sessions.
    """
    notes: list[str] = []
    before, _heard.notes = getattr(_heard, "notes", None), notes
    warnings.simplefilter("always", RetrievalReportWarning)
    warnings.showwarning = _listen
    try:
        yield notes
    finally:
        _heard.notes = before


def _listen(message: Warning | str, category: type[Warning], *measure: Any, **more: Any) -> None:
    notes = getattr(_heard, "notes", None)
    if notes is None or not issubclass(category, RetrievalReportWarning):
        _usual(message, category, *measure, **more)
    elif str(message) not in notes:
        notes.append(str(message))

"""A folder for what does not fit in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from retrieval_report.errors import OutputError

__all__ = ["Scratch", "scratch"]

Scratch = Callable[[], Path]  # makes the folder when it is called first


@contextmanager
def scratch(beside: Path | None = None) -> Iterator[Scratch]:
    """A folder in ``beside``, or where temporary files go ($TMPDIR): made on demand, and gone at the end.

    >>> with scratch() as folder:
    ...     place = folder()
    ...     place.is_dir(), folder() == place
    (True, True)
    >>> place.exists()
    False
    """
    with ExitStack() as stack:

        @cache
        def folder() -> Path:
            try:
                place = tempfile.TemporaryDirectory(prefix=".retrieval-report-", suffix=".tmp", dir=beside)
            except (OSError, ValueError) as error:
                where = "" if beside is None else f" in '{beside}'"
                raise OutputError(
                    f"cannot make a temporary folder{where}: {getattr(error, 'strerror', None) or error}"
                ) from error
            return Path(stack.enter_context(place))

        yield folder

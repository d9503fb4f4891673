"""Temporary folders for data that does not fit in
memory and for files that are about to replace results.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from retrieval_report.contracts.errors import OutputError

Scratch = Callable[[], Path]  # creates the folder on the first call

PREFIX = ".retrieval-report-"
SUFFIX = ".tmp"


@contextmanager
def scratch(parent: Path | None = None) -> Iterator[Scratch]:
    """Provide a folder in ``parent``, or in $TMPDIR,
    that is created on demand and removed at the end.

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
                return stack.enter_context(temporary_folder(parent))
            except (OSError, ValueError) as error:
                where = "" if parent is None else f" in '{parent}'"
                raise OutputError(
                    f"cannot make a temporary folder{where}: "
                    f"{getattr(error, 'strerror', None) or error}"
                ) from error

        yield folder


@contextmanager
def temporary_folder(parent: Path | None) -> Iterator[Path]:
    """Provide a folder in ``parent``, or in $TMPDIR, that is removed at the end."""
    location = Path(tempfile.mkdtemp(prefix=PREFIX, suffix=SUFFIX, dir=parent))
    try:
        yield location
    finally:
        shutil.rmtree(location, ignore_errors=True)

"""Temporary folders for data that does not fit in memory and for files that are about to replace results.

Such a folder is locked while its process lives. The next process that writes to the same folder finds the unlocked
ones: results that were about to be replaced together are replaced, and the rest is removed. Windows has no such locks,
and nothing is removed there.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

from retrieval_report.contracts.errors import OutputError

if os.name == "posix":
    import fcntl

Scratch = Callable[[], Path]  # creates the folder on the first call

PREFIX, SUFFIX = ".retrieval-report-", ".tmp"
YOUNG = 60
"""Seconds for which an unlocked folder is left alone, since it is locked a moment after it is created."""
DECISION = "decided.json"
"""File that lists the files to be moved to the folder around a temporary folder, once all of them are whole."""


def temporary_name(middle: str) -> str:
    """Return a name by which leftover folders can be recognised."""
    return f"{PREFIX}{middle}{SUFFIX}"


@contextmanager
def scratch(beside: Path | None = None) -> Iterator[Scratch]:
    """Provide a folder in ``beside``, or in $TMPDIR, that is created on demand and removed at the end.

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
                return stack.enter_context(temporary_folder(beside))
            except (OSError, ValueError) as error:
                where = "" if beside is None else f" in '{beside}'"
                raise OutputError(
                    f"cannot make a temporary folder{where}: {getattr(error, 'strerror', None) or error}"
                ) from error

        yield folder


@contextmanager
def temporary_folder(beside: Path | None = None) -> Iterator[Path]:
    """Provide a locked folder in ``beside``, or in $TMPDIR, after tidying up what others left there."""
    tidy(Path(tempfile.gettempdir()) if beside is None else beside)
    location = Path(tempfile.mkdtemp(prefix=PREFIX, suffix=SUFFIX, dir=beside))
    lock = _lock(location)
    try:
        yield location
    finally:
        shutil.rmtree(location, ignore_errors=True)
        _unlock(lock)


def decide(location: Path, names: Sequence[str], gone: Sequence[str] = ()) -> None:
    """Commit to replacing the files of the same names in the folder around ``location``, and to removing ``gone``."""
    with (location / DECISION).open("x", encoding="utf-8") as file:
        json.dump({"replace": list(names), "remove": list(gone)}, file)
        file.flush()
        os.fsync(file.fileno())


def finish(location: Path) -> None:
    """Complete what was decided, as far as it is not done yet, if anything was."""
    try:
        decided = json.loads((location / DECISION).read_text(encoding="utf-8"))
        names, gone = ([name for name in decided[what] if Path(name).name == name] for what in ("replace", "remove"))
    except (OSError, ValueError, KeyError, TypeError):
        return  # the decision was not fully written, so nothing was replaced yet
    for name in names:
        if (location / name).exists():
            os.replace(location / name, location.parent / name)  # noqa: PTH105 - Path.replace hides the atomic step
    for name in gone:
        with suppress(FileNotFoundError):
            (location.parent / name).unlink()


def tidy(folder: Path) -> None:
    """Finish or remove what processes left in a folder when they ended early."""
    with suppress(OSError):
        for location in folder.glob(temporary_name("*")):
            with suppress(OSError):
                _tidy_one(location)


def _tidy_one(location: Path) -> None:
    status = location.lstat()
    if status.st_uid != getattr(os, "getuid", int)() or not location.is_dir() or location.is_symlink():
        return
    if time.time() - status.st_mtime < YOUNG and not (location / DECISION).exists():
        return
    lock = _lock(location)
    if lock is None:
        return
    try:
        finish(location)
        shutil.rmtree(location, ignore_errors=True)
    finally:
        _unlock(lock)


def _lock(location: Path) -> int | None:
    """Lock a folder unless another process has; the lock ends with the process, however that ends."""
    if os.name != "posix":  # pragma: no cover
        return None
    descriptor = os.open(location, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held by another process, or a file system without locks
        os.close(descriptor)
        return None
    return descriptor


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)

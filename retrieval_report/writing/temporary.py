"""Temporary folders: what does not fit in memory, and what is about to replace results.

Such a folder is locked while its process lives. Whoever writes to the same folder next finds those that are not locked
any more: results that were about to be replaced together are, and the rest is removed. Windows has no such locks, and
nothing is removed there.
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

__all__ = ["Scratch", "decide", "finish", "scratch", "temporary_folder", "temporary_name", "tidy"]

Scratch = Callable[[], Path]  # makes the folder when it is called first

PREFIX, SUFFIX = ".retrieval-report-", ".tmp"
YOUNG = 60
"""Seconds for which a folder without a lock is left alone: it gets its lock a moment after it is made."""
DECISION = "decided.json"
"""Names the files in a temporary folder that belong in the folder around it, once all of them are whole."""


def temporary_name(middle: str) -> str:
    """A name by which what is left behind is known."""
    return f"{PREFIX}{middle}{SUFFIX}"


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
                return stack.enter_context(temporary_folder(beside))
            except (OSError, ValueError) as error:
                where = "" if beside is None else f" in '{beside}'"
                raise OutputError(
                    f"cannot make a temporary folder{where}: {getattr(error, 'strerror', None) or error}"
                ) from error

        yield folder


@contextmanager
def temporary_folder(beside: Path | None = None) -> Iterator[Path]:
    """A locked folder in ``beside``, or in $TMPDIR; what others left there is tidied up first."""
    tidy(Path(tempfile.gettempdir()) if beside is None else beside)
    location = Path(tempfile.mkdtemp(prefix=PREFIX, suffix=SUFFIX, dir=beside))
    lock = _lock(location)
    try:
        yield location
    finally:
        shutil.rmtree(location, ignore_errors=True)
        _unlock(lock)


def decide(location: Path, names: Sequence[str], gone: Sequence[str] = ()) -> None:
    """Say for good that these files replace those of the same names in the folder around ``place``, and others go."""
    with (location / DECISION).open("x", encoding="utf-8") as file:
        json.dump({"replace": list(names), "remove": list(gone)}, file)
        file.flush()
        os.fsync(file.fileno())


def finish(location: Path) -> None:
    """Do what was decided, as far as it is not done; nothing where nothing was."""
    try:
        decided = json.loads((location / DECISION).read_text(encoding="utf-8"))
        names, gone = ([name for name in decided[what] if Path(name).name == name] for what in ("replace", "remove"))
    except (OSError, ValueError, KeyError, TypeError):  # not written to its end: nothing was replaced yet
        return
    for name in names:
        if (location / name).exists():
            os.replace(location / name, location.parent / name)  # noqa: PTH105 - Path.replace hides the atomic step
    for name in gone:
        with suppress(FileNotFoundError):
            (location.parent / name).unlink()


def tidy(folder: Path) -> None:
    """Finish or remove what processes left in a folder that have ended without doing so themselves."""
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
    """Lock a folder, if nobody has; the lock ends with the process, however that ends."""
    if os.name != "posix":  # pragma: no cover
        return None
    descriptor = os.open(location, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held by another, or a file system without locks
        os.close(descriptor)
        return None
    return descriptor


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)

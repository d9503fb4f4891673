"""Refuse processes made by ``fork``, in which the
threads of Polars are missing and it would wait forever.
"""

import os
from contextlib import suppress
from pathlib import Path

from retrieval_report.contracts.errors import RetrievalReportError

# Names of threads of which Polars starts one with its first query.
THREADS = ("polars-0", "tokio-rt-worker")
_used = _stranded = False


def refuse_fork() -> None:
    """Raise an error in a process forked after first use, of the package or (on Linux) of Polars;
    every entry point of the package calls this.

    Without it the first query would hang. A process forked before any work was done starts threads
    of its own.

    Raises
    ------
    RetrievalReportError
        The threads are missing.
    """
    global _used
    if _stranded:
        raise RetrievalReportError(
            f"process {os.getpid()} was made by fork, which does not copy the threads that Polars "
            "had started, and Polars would wait for them forever; start processes with "
            "multiprocessing.get_context('spawn') or 'forkserver'"
        )
    _used = True


def _in_parent() -> None:
    """Note whether Polars was used without this package."""
    global _used
    for thread in Path("/proc/self/task").glob("*/comm"):
        with suppress(OSError):  # the thread has ended
            _used |= thread.read_text().strip() in THREADS


def _in_child() -> None:
    global _stranded
    _stranded = _used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_in_parent, after_in_child=_in_child)

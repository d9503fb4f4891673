"""Refuse processes made by ``fork``, in which the threads of Polars are missing and it would wait
forever.
"""

from __future__ import annotations

import os
from pathlib import Path

from retrieval_report.contracts.errors import RetrievalReportError

# The name by which Linux shows the threads of Polars, which start with the first work they get.
THREADS = ("polars-0", "async-executor-")

_used = _had_threads = _stranded = False


def refuse_fork() -> None:
    """Raise an error in a process forked after Polars had started threads; every entry point of the
    package calls this.

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
            "had started, and "
            "Polars would wait for them forever; start processes with "
            "multiprocessing.get_context('spawn') or "
            "'forkserver'"
        )
    _used = True


def _threads_started() -> bool:
    try:
        tasks = list(Path("/proc/self/task").iterdir())
        return any((task / "comm").read_text().startswith(THREADS) for task in tasks)
    except OSError:  # not Linux: code that gets here has used them
        return _used


def _before() -> None:
    global _had_threads
    _had_threads = _threads_started()


def _in_child() -> None:
    global _stranded
    _stranded = _stranded or _had_threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)

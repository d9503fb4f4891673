"""Processes made by ``fork``: threads do not come along, and Polars would wait for its own without end."""

from __future__ import annotations

import os
from pathlib import Path

from retrieval_report.contracts.errors import RetrievalReportError

__all__ = ["refuse_fork"]

# What Linux shows of the threads of Polars, which start with the first work they get.
THREADS = ("polars-0", "async-executor-")

_used = _had_threads = _stranded = False


def refuse_fork() -> None:
    """Raise an error in a process forked from one in which Polars had threads; every way into the package asks.

    Without it the first query would hang. A process forked before any work was done starts threads of its own.

    Raises
    ------
    RetrievalReportError
        The threads were left behind.
    """
    global _used
    if _stranded:
        raise RetrievalReportError(
            f"process {os.getpid()} was made by fork, which leaves behind the threads that Polars had started, and "
            "Polars would wait for them without end; start processes with multiprocessing.get_context('spawn') or "
            "'forkserver'"
        )
    _used = True


def _threads_started() -> bool:
    try:
        tasks = list(Path("/proc/self/task").iterdir())
        return any((task / "comm").read_text().startswith(THREADS) for task in tasks)
    except OSError:  # no Linux: whoever came this way has used them
        return _used


def _before() -> None:
    global _had_threads
    _had_threads = _threads_started()


def _in_child() -> None:
    global _stranded
    _stranded = _stranded or _had_threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)

"""Refuse processes made by ``fork``, in which the threads of Polars are missing and it would wait
forever.
"""

from __future__ import annotations

import os

from retrieval_report.contracts.errors import RetrievalReportError

_used = _stranded = False


def refuse_fork() -> None:
    """Raise an error in a process forked after first use; every entry point of the package calls
    this.

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


def _in_child() -> None:
    global _stranded
    _stranded = _used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)

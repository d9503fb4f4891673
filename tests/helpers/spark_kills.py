"""Find the executor of a Python worker, to kill it at a known moment."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

EXECUTOR = "CoarseGrainedExecutorBackend"
PATIENCE = 300.0  # seconds after which a test fails instead of hanging; machines are busy


def wait_until(happened: Callable[[], Any], still: Callable[[], bool] = lambda: True) -> None:
    """Return once it happened; fail when nothing more can happen, or when patience ends."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert still(), "the job ended before it was expected to"
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def parents(process: int) -> Iterator[int]:
    """The process and those it descends from."""
    while process > 1:
        yield process
        # The fields of stat follow the name, which is in parentheses and may hold anything.
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def executor_of(worker: int) -> int:
    """Process id of the executor that a Python worker serves, a descendant of this process."""
    line = list(parents(worker))
    assert os.getpid() in line
    return next(
        process for process in line if EXECUTOR in Path(f"/proc/{process}/cmdline").read_text()
    )

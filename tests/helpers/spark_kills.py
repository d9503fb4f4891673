"""Kill an executor at a known moment: tasks say that they run, and wait until the test lets them go
on.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXECUTOR = "CoarseGrainedExecutorBackend"
PATIENCE = 300.0  # seconds after which a test fails instead of hanging; machines are busy


@dataclass(frozen=True)
class Gate:
    """Once it is shut, the first partitions pass freely and the others wait for `open`; every start
    leaves a note.
    """

    folder: Path
    free: int = 2

    def wait(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Pass batches on once the task may go; the function for ``mapInArrow``."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        partition = context.partitionId()
        if (self.folder / "shut").exists():
            (self.folder / f"{partition}-{os.getpid()}").touch()
        while (
            partition >= self.free
            and (self.folder / "shut").exists()
            and not (self.folder / "open").exists()
        ):
            time.sleep(0.02)
        yield from batches

    def shut(self) -> None:
        (self.folder / "shut").touch()

    def open(self) -> None:
        (self.folder / "open").touch()

    def workers(self, partition: int) -> list[int]:
        """Process ids of the Python workers that started on a partition, first to last."""
        notes = sorted(self.folder.glob(f"{partition}-*"), key=lambda note: note.stat().st_mtime_ns)
        return [int(note.name.partition("-")[2]) for note in notes]


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


def kill_half_way(gate: Gate, job: Callable[[], Any], waiting: tuple[int, int] = (2, 3)) -> Any:
    """Run a job whose tasks pass the gate; kill the executor that finished the first task while two
    others wait.

    That executor takes finished work and a running task with it. What the job returns is returned.
    """
    gate.shut()
    with ThreadPoolExecutor(1) as thread:
        result: Future[Any] = thread.submit(job)
        try:
            wait_until(
                lambda: all(gate.workers(partition) for partition in waiting),
                lambda: not result.done(),
            )
            killed = executor_of(gate.workers(0)[0])
            assert killed in [executor_of(gate.workers(partition)[0]) for partition in waiting]
            os.kill(killed, signal.SIGKILL)
            wait_until(lambda: not Path(f"/proc/{killed}/stat").exists() or zombie(killed))
        finally:
            gate.open()
        return result.result(PATIENCE)


def zombie(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"

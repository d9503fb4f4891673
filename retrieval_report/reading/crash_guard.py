"""Let a separate process, which may crash, read binary files first."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from retrieval_report.contracts.errors import FileError
from retrieval_report.reading.names import Choose
from retrieval_report.reading.sources import Source

PROGRAM = Path(__file__).with_name("crash_guard_process.py")


@contextmanager
def tried_first(most_bytes: int | None = None) -> Iterator[None]:
    """Let another process read every Parquet and Arrow file first, and refuse the file if that
    process crashes.

    One process tries all files one after the other; it is started for the first, and again after a
    crash. Files whose columns take more than ``most_bytes`` in memory are refused too.

    >>> with tried_first():
    ...     _current.get() is not None
    True
    """
    trial = _Trial(most_bytes)
    token = _current.set(trial)
    try:
        yield
    finally:
        _current.reset(token)
        trial.end()


def try_first(source: Source, form: str, choose: Choose, limit: int) -> None:
    """Read the wanted columns in another process, where files are tried; an error if that finds
    one, or dies.

    Raises
    ------
    FileError
        The file is damaged, or its columns take more memory than `tried_first` allows.
    """
    trial = _current.get()
    if trial is None:
        return
    answer = trial.ask(source, {"form": form, "limit": limit, **_content(source)}, source.content)
    chosen = choose(answer["names"])
    answer = trial.ask(source, {"columns": list(chosen.values()), "limit": limit})
    if trial.most_bytes is not None and answer["bytes"] > trial.most_bytes:
        raise FileError(
            f"{source.path}: takes {answer['bytes']} bytes in memory, more than {trial.most_bytes}"
        )


def _content(source: Source) -> dict[str, Any]:
    if isinstance(source.content, bytes):
        return {"path": None, "size": len(source.content)}
    return {"path": str(source.content.absolute()), "size": 0}


class _Trial:
    """A reading process, which is started when there is something to read."""

    def __init__(self, most_bytes: int | None) -> None:
        self.most_bytes = most_bytes
        self.process: subprocess.Popen[bytes] | None = None

    def ask(
        self, source: Source, request: dict[str, Any], content: Path | bytes = b""
    ) -> dict[str, Any]:
        """Send a request and the bytes that belong to it; return the answer."""
        process = self.process = self.process or _start()
        assert process.stdin is not None
        assert process.stdout is not None
        line = b""
        with suppress(BrokenPipeError):  # it died: there is no answer
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.write(content if isinstance(content, bytes) else b"")
            process.stdin.flush()
            line = process.stdout.readline()
        if not line.endswith(b"\n"):
            self.process = None
            raise FileError(f"{source.path}: damaged file: {_cause(_ended(process))}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise FileError(f"{source.path}: damaged or truncated file: {answer['error'][:200]}")
        return answer

    def end(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            _ended(self.process)


_current: ContextVar[_Trial | None] = ContextVar("trial", default=None)


def _start() -> subprocess.Popen[bytes]:
    # The modules that this process finds; and not those beside the program.
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "RUST_BACKTRACE": "0",
    }
    return subprocess.Popen(
        [sys.executable, "-P", str(PROGRAM)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Let go of a process that is about to end; return what it ended with."""
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            assert stream is not None
            stream.close()
    return process.wait()


def _cause(code: int) -> str:
    if code >= 0:
        return f"the process that tried to read it ended with {code}"
    name = signal.Signals(-code).name
    hint = "; is it too large for the memory?" if name == "SIGKILL" else ""
    return f"the process that tried to read it was ended by {name}{hint}"

"""Let a separate process, which may crash, read binary uploads first."""

import signal
import subprocess
import sys
from pathlib import Path

from retrieval_report.contracts.errors import FileError
from retrieval_report.reading.sources import Source

PROGRAM = Path(__file__).with_name("crash_guard_process.py")


def try_first(source: Source, form: str, most_rows: int, most_bytes: int) -> None:
    """Decode a Parquet or Arrow file in another process; what that process survives is left for
    the reader to refuse.

    Raises
    ------
    FileError
        The process was ended by a signal, or the columns take more than ``most_bytes`` in memory.
    """
    # -P: the modules beside the program are not for it to import.
    words = [sys.executable, "-P", str(PROGRAM), form, str(most_rows)]
    ended = subprocess.run(words, input=source.read(), capture_output=True, check=False)
    if ended.returncode < 0:
        raise FileError(
            f"{source.path}: damaged file, or too large for the memory: the process that tried to "
            f"read it was ended by {signal.Signals(-ended.returncode).name}"
        )
    size = int(ended.stdout or 0)
    if size > most_bytes:
        raise FileError(f"{source.path}: takes {size} bytes in memory, more than {most_bytes}")

"""Running out of memory gives an error or ends the process, but never leaves half a result."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="address space is limited on Linux alone"
)

LIMITED = """
import resource, sys
limit = int(sys.argv.pop())
from retrieval_report.cli import main
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))  # threads that panic would do so for ever
main()
"""
FILES = {
    "evaluate": {"scores.csv", "summary.csv"},
    "report": {"report.html", "summary.csv", "scores.csv", "about.json"},
}


def processor_seconds(process: int) -> float:
    """How long the process has run on a processor."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.parametrize("command", FILES)
@pytest.mark.parametrize("mebibytes", [1, 200, 1000])
def test_row_110_without_memory_there_is_no_half_result(
    tmp_path: Path, command: str, mebibytes: int
):
    rows = pl.DataFrame({"query": range(4000)}).join(pl.DataFrame({"item": range(20)}), how="cross")
    rows = rows.with_columns(
        distance=pl.col("item") % 5, relevance=pl.col("query") % (pl.col("item") + 2) == 0
    )
    rows.write_csv(tmp_path / "run.csv")
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    words = [
        sys.executable,
        "-c",
        LIMITED,
        command,
        str(tmp_path / "run.csv"),
        f"--out={out}",
        str(mebibytes << 20),
    ]
    # Threads of Polars that get no memory may panic again and again, in twenty gigabytes of words.
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, **quiet) as process:
        code, before = None, -1.0
        while code is None:
            try:
                code = process.wait(5)
            except subprocess.TimeoutExpired:
                used = processor_seconds(process.pid)
                if used - before < 0.05:  # a thread without memory may wait for ever
                    process.kill()
                before = used
    found = {
        path.name for path in out.iterdir() if not path.name.startswith(".retrieval-report-")
    } - {"mine.txt"}
    assert found == set() if code else found >= FILES[command]

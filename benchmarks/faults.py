"""End commands by kill −9, SIGTERM, SIGINT and a full disk at any moment: ``python benchmarks/faults.py --each 20``.

Each command writes over older results. Afterwards the folder has to hold the old files or the new ones, never both
kinds and none cut off, once what was decided is finished; a signal that can be caught may leave no temporary folder.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl

from retrieval_report.writing.temporary import DECISION, PREFIX, finish

Hashes = dict[str, str]
SETTINGS = ["--metrics", "ap,ndcg", "--cutoffs", "5,all", "--truncated", "no"]
COMMANDS = {
    "memory": ["evaluate", "{rankings}", "--out", "{out}", *SETTINGS],
    "disk": ["evaluate", "{rankings}", "--engine", "disk", "--out", "{out}", *SETTINGS],
    "report": ["report", "{rankings}", "--out", "{out}", "--formats", "csv,parquet,json,markdown", *SETTINGS],
    "compare": ["compare", "{rankings}", "--out", "{out}", *SETTINGS],
}
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}


def rankings(path: Path, seed: int) -> Path:
    """Two models, 400 queries of 30 items."""
    rows = pl.DataFrame({"model": ["a", "b"]}).join(pl.DataFrame({"query": range(400)}), how="cross")
    rows = rows.join(pl.DataFrame({"item": range(30)}), how="cross")
    hashed = pl.struct("model", "query", "item").hash(seed)
    rows.with_columns(distance=hashed % 7, relevance=pl.struct("query", "item").hash(seed) % 5 == 0).write_parquet(path)
    return path


def words(command: str, given: Path, out: Path) -> list[str]:
    """The command line."""
    own = [word.format(rankings=given, out=out) for word in COMMANDS[command]]
    return [sys.executable, "-m", "retrieval_report", *own]


def hashes(folder: Path) -> Hashes:
    """The files of a folder, but for temporary ones."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


def left(folder: Path) -> list[Path]:
    """Temporary folders."""
    return [path for path in folder.iterdir() if path.name.startswith(PREFIX)]


def judge(out: Path, old: Hashes, new: Hashes) -> str:
    """What a reader finds once the next writer has finished what was decided."""
    for location in left(out):
        if (location / DECISION).exists():
            finish(location)
    found = hashes(out)
    return "old" if found == old else "new" if found == new else "MIXED"


def stopped(command: list[str], how: str, moment: float) -> None:
    """Run a command, and end it at a moment; "disk full" stands for files that cannot grow beyond some bytes."""
    limit: Callable[[], None] | None = None
    if how == "full":
        most = int(10 ** (1 + 5 * moment))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))  # noqa: E731
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, preexec_fn=limit, **quiet)
    if how != "full":
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.send_signal(SIGNALS[how])
    process.wait()


def tried(command: str, each: int, folder: Path, draw: random.Random) -> Counter[str]:
    """End one command many times in every way."""
    given = [rankings(folder / f"{seed}.parquet", seed) for seed in (1, 2)]
    became: Counter[str] = Counter()
    wanted = []
    took = 0.0
    out = folder / command
    for path in given[::-1]:
        begin = time.monotonic()
        subprocess.run(words(command, path, out), check=True, capture_output=True)
        took = time.monotonic() - begin
        wanted.append(hashes(out))
    new, old = wanted
    for how in (*SIGNALS, "full"):
        for _ in range(each):
            before = set(left(out))  # a kill leaves one, which others leave alone for a minute
            late = draw.random() < 0.7  # what is written is written at the end
            stopped(
                words(command, given[1], out), how, draw.uniform(0.6 if late else 0, 1) * (took if how != "full" else 1)
            )
            rest = set(left(out)) - before
            result = judge(out, old, new)
            became[f"{how}: {result}"] += 1
            became[f"{how}: temporary folder left"] += bool(rest) and how != "SIGKILL"
            subprocess.run(words(command, given[0], out), check=True, capture_output=True)
            if hashes(out) != old:
                became[f"{how}: NOT THE SAME AGAIN"] += 1
    return became


def main() -> None:
    """Run as asked, and print what became of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    asked = parser.parse_args()
    draw = random.Random(18)  # noqa: S311 - moments, no secrets
    with tempfile.TemporaryDirectory() as folder:
        for command in asked.commands.split(","):
            became = tried(command, asked.each, Path(folder), draw)
            print(command, ", ".join(f"{key} {count}" for key, count in sorted(became.items()) if count), flush=True)


if __name__ == "__main__":
    main()

"""Measure how long whole processes take, as a user waits for them: seconds of all processors, seconds
on the clock, and peak memory.

A workload is a function that yields processes; to add one, write it and name it in ``WORKLOADS``.
Large data are timed stage by stage by stages.py, each row once, in a process of its own.
Run from the project's folder: ``python benchmarks/latency.py --out benchmarks/latency.md`` (peers
that are not installed are left out and named).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from peers import rankings, write_trec
from stages import HEAD, ROWS

RUNS = 5
ROOT = Path(__file__).resolve().parent.parent
OWN = [sys.executable, "-m", "retrieval_report"]
SUPPRESSED = ["-W", "ignore"]


class Process(NamedTuple):
    """A process to be timed; ``fresh`` if it is the first after installation, when no kernel has been
    compiled and stored.
    """

    what: str
    command: list[str]
    fresh: bool = False
    environment: dict[str, str] = {}  # noqa: RUF012 - a default that nothing changes


class Spent(NamedTuple):
    """What a process took: seconds of all processors, seconds on the clock, mebibytes."""

    cpu: float
    wall: float
    memory: float


def python(*lines: str) -> list[str]:
    """Return the command that runs some lines of Python."""
    return [sys.executable, *SUPPRESSED, "-c", "\n".join(lines)]


def fresh_and_warm(what: str, command: list[str]) -> Iterator[Process]:
    """Yield a process as the first after installation, and as a later one."""
    yield Process(f"{what}, first after installation", command, fresh=True)
    yield Process(what, command)


def command_line(_folder: Path) -> Iterator[Process]:
    """What the command says before it has anything to compute."""
    yield Process("`retrieval-report --version`", [*OWN, "--version"])
    yield Process("`retrieval-report --help`", [*OWN, "--help"])
    yield Process("`retrieval-report evaluate --help`", [*OWN, "evaluate", "--help"])
    completing = {
        "_RETRIEVAL_REPORT_COMPLETE": "bash_complete",
        "COMP_WORDS": "retrieval-report ev",
        "COMP_CWORD": "1",
    }
    name = "completion of a command in the shell"
    yield Process(name, [*OWN], environment=completing)


def small(folder: Path) -> Iterator[Process]:
    """Lists as short as a first try."""
    file = folder / "small.parquet"
    rankings(30, 100).write_parquet(file)
    evaluate = (
        "import polars as pl, retrieval_report as rr",
        f"rr.evaluate(pl.read_parquet({str(file)!r}))",
    )
    yield from fresh_and_warm("`rr.evaluate` of 3 000 rows, defaults", python(*evaluate))
    yield from fresh_and_warm("`retrieval-report evaluate` of them", [*OWN, "evaluate", str(file)])


def trec(folder: Path) -> Iterator[Process]:
    """A TREC run of a million lines with its judgements."""
    run, qrels = write_trec(folder, 1000)
    command = [*OWN, "evaluate", str(run), "--qrels", str(qrels)]
    yield from fresh_and_warm(
        "`retrieval-report evaluate` of a TREC run of 10⁶ rows, defaults", command
    )
    if importlib.util.find_spec("pytrec_eval"):
        lines = (
            "import pytrec_eval",
            f"run = pytrec_eval.parse_run(open({str(run)!r}))",
            f"qrels = pytrec_eval.parse_qrel(open({str(qrels)!r}))",
            "measures = {'map', 'recip_rank', 'ndcg_cut.10', 'P.10'}",
            "pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)",
        )
        yield Process("pytrec_eval: the same file, four measures", python(*lines))


def reports(folder: Path) -> Iterator[Process]:
    """Pages on the samples."""
    demo = [*OWN, "demo", "--out", str(folder / "report")]
    yield Process("`make report` (installed): pages on both samples", demo)
    digits = ROOT / "sample_data/digits"
    page = [*OWN, "report", str(digits / "rankings.parquet"), "--out", str(folder / "digits")]
    yield Process("`retrieval-report report` of the digits sample", page)


WORKLOADS: tuple[Callable[[Path], Iterator[Process]], ...] = (command_line, small, trec, reports)


def timed(process: Process, cache: Path) -> Spent:
    """Run a process; of children it waited for, the time is included."""
    environment = {**os.environ, **process.environment, "NUMBA_CACHE_DIR": str(cache)}
    start = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(process.command, env=environment, stdout=said, stderr=said)
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        if running.returncode:
            said.seek(0)
            raise SystemExit(f"{process.what}:\n{said.read().decode()}")
    unit = 2**20 if sys.platform == "darwin" else 2**10  # kibibytes on Linux, bytes on macOS
    return Spent(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / unit)


def measured(process: Process, runs: int, folder: Path) -> Spent:
    """Return the medians of some runs; before those that are not fresh, one run fills the cache."""
    spent = []
    if not process.fresh:
        timed(process, folder)
    for _ in range(runs):
        if process.fresh:
            with tempfile.TemporaryDirectory() as empty:
                spent.append(timed(process, Path(empty)))
        else:
            spent.append(timed(process, folder))
    return Spent(*map(statistics.median, zip(*spent, strict=True)))


def table(only: str, runs: int) -> Iterator[str]:
    """Yield the lines of the table, each as soon as it is measured."""
    yield "| process | CPU s | wall s | peak MiB |"
    yield "| --- | --- | --- | --- |"
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / "cache").mkdir()
        for workload in WORKLOADS:
            if only and only not in workload.__name__:
                continue
            for process in workload(folder):
                spent = measured(process, runs, folder / "cache")
                yield f"| {process.what} | {spent.cpu:.2f} | {spent.wall:.2f} | {spent.memory:.0f} |"


def staged(only: str) -> Iterator[str]:
    """Yield the lines on large data; of a row that fails or is stopped, those of its first stages."""
    rows = [row.__name__ for row in ROWS if only in ("stages", row.__name__) or not only]
    if rows:
        yield f"\n{HEAD}"
    for row in rows:
        command = [sys.executable, str(ROOT / "benchmarks/stages.py"), row]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        yield from done.stdout.splitlines()
        if done.returncode:
            yield f"| {row} | ended with code {done.returncode} | | | | |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ", ".join(workload.__name__ for workload in WORKLOADS)
    parser.add_argument(
        "--only", default="", help=f"measure the workloads whose name holds this: {names}"
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path, help="write the table to this Markdown file too")
    arguments = parser.parse_args()
    lines = []
    for line in chain(table(arguments.only, arguments.runs), staged(arguments.only)):
        print(line, flush=True)
        lines.append(line)
    absent = [name for name in ("pytrec_eval", "ranx") if importlib.util.find_spec(name) is None]
    about = f"Medians of {arguments.runs} runs. {platform.machine()}, {os.cpu_count()} processors, "
    about += f"load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}"
    about += "".join(f", {name} {version(name)}" for name in ("polars", "numpy", "numba"))
    about += f"; not installed: {', '.join(absent)}" if absent else ""
    command = shlex.join(["python", *sys.argv])
    page = "# How long a user waits\n\nWhole processes, with Python's start and all imports.\n\n"
    page += "\n".join(lines) + f"\n\n{about}. Command: `{command}`\n"
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

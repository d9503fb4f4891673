"""Measure how long whole processes take, as a user waits for them: seconds of all processors,
seconds on the clock, and peak memory.

A workload is a function that yields processes, or a row of stages.py, which times large data stage
by stage, once, in a process of its own. To add one, write it and name it in ``WORKLOADS``.
Run from the project's folder: ``python benchmarks/latency.py --out benchmarks/latency.md`` (peers
that are not installed are left out and named).
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, cast

import ratios
import stages
from machine import machine
from peers import rankings, write_trec

RUNS = 5
PATIENCE = 600  # seconds for one process
ROOT = Path(__file__).resolve().parent.parent
OWN = [sys.executable, "-m", "retrieval_report"]
SUPPRESSED = ["-W", "ignore"]


class Process(NamedTuple):
    """A process to be timed; ``fresh`` if it is the first after installation, when no kernel has
    been compiled and stored.
    """

    what: str
    command: list[str]
    aim: str = ""
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


def fresh_and_warm(what: str, command: list[str], first: str, later: str) -> Iterator[Process]:
    """Yield a process as the first after installation, and as a later one, with their aims."""
    yield Process(f"{what}, first after installation", command, first, fresh=True)
    yield Process(what, command, later)


def command_line(_folder: Path) -> Iterator[Process]:
    """What the command says before it has anything to compute."""
    yield Process("`retrieval-report --version`", [*OWN, "--version"], "≤ 0.2")
    yield Process("`retrieval-report --help`", [*OWN, "--help"], "≤ 0.2")
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
    aims = "≤ 0.8", "≤ 0.6"
    yield from fresh_and_warm("`rr.evaluate` of 3 000 rows, defaults", python(*evaluate), *aims)
    command = [*OWN, "evaluate", str(file)]
    yield from fresh_and_warm("`retrieval-report evaluate` of them", command, *aims)


def trec(folder: Path) -> Iterator[Process]:
    """A TREC run of a million lines with its judgements."""
    run, qrels = write_trec(folder, 1000)
    command = [*OWN, "evaluate", str(run), "--qrels", str(qrels)]
    what = "`retrieval-report evaluate` of a TREC run of 10⁶ rows, defaults"
    yield from fresh_and_warm(what, command, "≤ 8", "≤ 1.0, ≤ 200 MiB")
    if importlib.util.find_spec("pytrec_eval"):
        lines = (
            "import pytrec_eval",
            f"run = pytrec_eval.parse_run(open({str(run)!r}))",
            f"qrels = pytrec_eval.parse_qrel(open({str(qrels)!r}))",
            "measures = {'map', 'recip_rank', 'ndcg_cut.10', 'P.10'}",
            "pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)",
        )
        yield Process("pytrec_eval: the same file, four measures", python(*lines))


def digits(folder: Path) -> Iterator[Process]:
    """The page on the first sample."""
    rows = str(ROOT / "sample_data/digits/rankings.parquet")
    page = [*OWN, "report", rows, "--out", str(folder / "digits")]
    yield Process("`retrieval-report report` of the digits sample", page, "≤ 6")


def demo(folder: Path) -> Iterator[Process]:
    """Pages on both samples."""
    pages = [*OWN, "demo", "--out", str(folder / "report")]
    yield Process("`make report` (installed): pages on both samples", pages, "≤ 8")


Workload = Callable[[Path], Iterator[Process]]
WORKLOADS: tuple[Workload | Callable[[], None], ...] = (
    command_line,
    small,
    trec,
    stages.trec_again,
    digits,
    stages.covid,
    stages.core17,
    demo,
    stages.dashboard,
    stages.first_start,
    stages.models,
    stages.recommenders,
    stages.vectors,
    stages.passages,
    stages.codes,
    stages.floats,
    stages.training,
)


def timed(process: Process, cache: Path) -> Spent:
    """Run a process; of children it waited for, the time is included. One that fails took NaN."""
    environment = {**os.environ, **process.environment, "NUMBA_CACHE_DIR": str(cache)}
    start = time.perf_counter()
    running = subprocess.Popen(
        process.command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    late = threading.Timer(PATIENCE, running.kill)
    late.start()
    _, status, used = os.wait4(running.pid, 0)
    late.cancel()
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        return Spent(math.nan, math.nan, math.nan)
    unit = 2**20 if sys.platform == "darwin" else 2**10  # kibibytes on Linux, bytes on macOS
    wall = time.perf_counter() - start
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
    yield stages.HEAD
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        cache = folder / "cache"
        cache.mkdir()
        for workload in WORKLOADS:
            if only not in workload.__name__:
                continue
            if workload in stages.ROWS:
                yield from staged(workload.__name__, cache)
                continue
            for process in cast(Workload, workload)(folder):
                spent = measured(process, runs, cache)
                yield stages.line(process.what, spent.cpu, process.aim, spent.wall, spent.memory)


def staged(row: str, cache: Path) -> list[str]:
    """Return the lines of a row on large data, of one that fails or is stopped those of its first
    stages; a row that compiled kernels runs again.
    """
    while True:
        known = len(list(cache.rglob("*.nbc")))
        with subprocess.Popen(
            [sys.executable, str(ROOT / "benchmarks/stages.py"), row],
            env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as running:
            late = threading.Timer(PATIENCE, running.kill)
            late.start()
            lines = running.communicate()[0].splitlines()
            late.cancel()
        if running.returncode:
            return [*lines, f"| {row}: ended with code {running.returncode} | | | | |"]
        if known == len(list(cache.rglob("*.nbc"))):
            return lines


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
    parser.add_argument(
        "--check",
        action="store_true",
        help="print ratios to references and what has grown since they were stored (ratios.py)",
    )
    parser.add_argument("--short", action="store_true", help="check in some ten seconds")
    arguments = parser.parse_args()
    if arguments.check:
        ratios.check(arguments.short, arguments.out)
        return
    # Who has no compiled modules compiles them in every process: a second for a report.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.pop(
        "_RJEM_MALLOC_CONF", None
    )  # which Polars, imported here, sets for its own process
    lines = []
    for line in table(arguments.only, arguments.runs):
        print(line, flush=True)
        lines.append(line)
    absent = [name for name in ("pytrec_eval", "ranx") if importlib.util.find_spec(name) is None]
    about = "One run" if arguments.runs == 1 else f"Medians of {arguments.runs} runs"
    about += f". {machine()}"
    about += f"; not installed: {', '.join(absent)}" if absent else ""
    command = shlex.join(["python", *sys.argv])
    page = (
        "# How long a user waits\n\nCommands and `python` are whole processes, with Python's start and "
        "all imports; rows with a colon are stages of one process, each once, with kernels compiled. "
        "A row without numbers failed.\n\n"
    )
    page += "\n".join(lines) + f"\n\n{about}. Command: `{command}`\n"
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Measure time, exchanged data and memory on Spark, with ties counted first and without, of
``evaluate_to`` and of Polars' streaming engine.

    python benchmarks/spark.py 2e7 --out benchmarks/spark.md
    python benchmarks/spark.py 2e8 --memory 4g

Every run is a separate process that writes its scores to Parquet; sums of their bits are compared.
A process and all its children are sampled twice a second, so CPU seconds include Java and the
Python workers, from start to end; the bytes exchanged and spilled come from Spark's event log.
Data: lists of 1000 items in whole-query files, distances of ``ties`` 0..64 and of ``unique`` random
floats. A first job of a few rows shows what starting costs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

ITEMS = 1000
FILE_ROWS = 5_000_000
FEW = 2_000
TICKS = os.sysconf("SC_CLK_TCK")
ALONE = {"evaluate_to": "`evaluate_to`", "streaming": "Polars streaming, then `evaluate`"}
SPARK = {"ties": "Spark, ties counted first", "rows": "Spark"}
HEAD = [
    "distances",
    "rows",
    "engine",
    "seconds",
    "CPU seconds",
    "CPU µs a row",
    "MiB exchanged",
    "MiB spilled",
    "peak MiB of Java",
    "of Python",
]


def make(folder: Path, rows: int, distances: str) -> None:
    random = np.random.default_rng(0)
    for number, begin in enumerate(range(0, rows, FILE_ROWS)):
        row = np.arange(begin, min(begin + FILE_ROWS, rows))
        distance = (
            random.integers(0, 65, row.size, np.int32)
            if distances == "ties"
            else random.random(row.size)
        )
        grade = random.choice(4, row.size, p=(0.9, 0.05, 0.03, 0.02)).astype(np.int32)
        columns = {
            "query": row // ITEMS,
            "item": row % ITEMS,
            "distance": distance,
            "relevance": grade,
        }
        frame = pl.DataFrame(columns).with_columns(pl.lit("m").alias("model"))
        frame.write_parquet(folder / f"part-{number:05}.parquet", compression="lz4")


def score(engine: str, folder: Path, memory: str) -> float:
    """Return, in the child, the seconds of scoring alone, without the start of Python and Java."""
    if engine == "evaluate_to":
        import retrieval_report as rr

        start = time.perf_counter()
        rr.evaluate_to(folder / "evaluate_to.parquet", folder / "in", policies="expected")
        return time.perf_counter() - start
    if engine == "streaming":
        import retrieval_report as rr

        start = time.perf_counter()
        cells = (
            pl.scan_parquet(folder / "in")
            .group_by("model", "query", "distance", "relevance")
            .agg(count=pl.len())
        )
        scores = rr.evaluate(cells.collect(engine="streaming"), policies="expected")
        scores.write_parquet(folder / "streaming.parquet")
        return time.perf_counter() - start
    from pyspark.sql import SparkSession

    from retrieval_report import spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    (folder / "events").mkdir()
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": str(folder / "events"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    start = time.perf_counter()
    rows = session.read.parquet(str(folder / "in"))
    rows = spark.count_ties(rows) if engine == "ties" else rows
    scores = spark.evaluate(rows, policies="expected", truncated="no", relevant_items="own")
    scores.write.parquet(str(folder / f"{engine}.parquet"))
    seconds = time.perf_counter() - start
    session.stop()
    return seconds


class Watch(threading.Thread):
    """CPU seconds of a process and its descendants, and the peak memory of those of each
    program.
    """

    def __init__(self, process: int) -> None:
        super().__init__()
        self.process, self.ended = process, threading.Event()
        self.cpu: dict[int, float] = {}
        self.peak = {"java": 0.0, "python": 0.0}

    def run(self) -> None:
        while not self.ended.wait(0.5):
            self.look()

    def look(self) -> None:
        memory = dict.fromkeys(self.peak, 0.0)
        for process in descendants(self.process):
            with suppress(OSError, IndexError):  # it has ended meanwhile
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                self.cpu[process] = (int(fields[11]) + int(fields[12])) / TICKS
                # Forked workers share most of their memory, and a shared page counts once.
                lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
                program = (
                    "java" if "java" in Path(f"/proc/{process}/comm").read_text() else "python"
                )
                memory[program] += (
                    next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
                )
        self.peak = {program: max(self.peak[program], memory[program]) for program in memory}


def descendants(process: int) -> Iterator[int]:
    yield process
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from descendants(int(child))


def exchanged(folder: Path) -> tuple[float, float]:
    """Return MiB written to the exchange, and MiB spilled to disk, by all tasks."""
    written = spilled = tasks = 0
    for log in (folder / "events").glob("*"):
        for line in log.read_text().splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd" and "Task Metrics" in event:
                written += event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                spilled += event["Task Metrics"]["Disk Bytes Spilled"]
                tasks += 1
    assert tasks, "no task in the event log"
    return written / 2**20, spilled / 2**20


def measure(engine: str, folder: Path, memory: str) -> dict[str, Any]:
    command = [
        sys.executable,
        __file__,
        "--child",
        str(folder),
        "--engine",
        engine,
        "--memory",
        memory,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        watch = Watch(child.pid)
        watch.start()
        output, _ = child.communicate()
        watch.ended.set()
        watch.join()
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}")
    moved = exchanged(folder) if engine in SPARK else (None, None)
    for log in (folder / "events").glob("*"):
        log.unlink()
    with suppress(OSError):
        (folder / "events").rmdir()
    return {
        "seconds": float(output.split()[-1]),
        "cpu": sum(watch.cpu.values()),
        "moved": moved,
        "peak": watch.peak,
    }


def compare(folder: Path, engines: list[str]) -> None:
    """Check that all engines wrote the same bits, by sums, so that they need not be sorted in
    memory.
    """
    found = []
    for engine in engines:
        path = folder / f"{engine}.parquet"
        scan = pl.scan_parquet(path / "*.parquet" if path.is_dir() else path)
        bits = [
            pl.col(name).reinterpret(signed=False).cast(pl.Int128).sum()
            for name in ("value", "std")
        ]
        found.append(
            scan.group_by("metric", "cutoff")
            .agg(pl.len(), *bits)
            .sort("metric", "cutoff")
            .collect()
        )
    for other in found[1:]:
        assert_frame_equal(other, found[0])


def rows_of(rows: int, distances: str, arguments: argparse.Namespace) -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        (folder / "in").mkdir()
        make(folder / "in", rows, distances)
        for engine in arguments.engines:
            found = measure(engine, folder, arguments.memory)
            moved = ["–" if number is None else f"{number:,.0f}" for number in found["moved"]]
            label = {**ALONE, **SPARK}[engine]
            cells = [
                distances,
                f"{rows:.0e}",
                label,
                f"{found['seconds']:.1f}",
                f"{found['cpu']:.1f}",
            ]
            peaks = [f"{found['peak'][program]:,.0f}" for program in ("java", "python")]
            cells += [f"{found['cpu'] / rows * 1e6:.3f}", *moved, *peaks]
            yield f"| {' | '.join(cells)} |"
        compare(folder, arguments.engines)


def report(arguments: argparse.Namespace) -> Iterator[str]:
    yield "# Spark beside one process"
    yield ""
    yield f"| {' | '.join(HEAD)} |"
    yield f"|{' --- |' * len(HEAD)}"
    for rows in [FEW, *(int(rows) for rows in arguments.rows)]:
        for distances in arguments.distances if rows > FEW else arguments.distances[:1]:
            yield from rows_of(rows, distances, arguments)
    versions = ", ".join(f"{name} {version(name)}" for name in ("pyspark", "polars", "numpy"))
    yield ""
    yield (
        f"Policy `expected`, default metrics, lists of {ITEMS} items, `local[2]`, "
        f"{arguments.memory} for Java; sums of the bits of all scores agree (that they are equal "
        f"one by one is tested, not checked here). {os.cpu_count()} processors, load "
        f"{os.getloadavg()[0]:.1f} at the end (a shared machine: trust CPU seconds), Python "
        f"{platform.python_version()}, {versions}. Command: `python {' '.join(arguments.command)}`"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", type=float, default=[2e7, 2e8])
    parser.add_argument(
        "--distances", nargs="+", choices=("ties", "unique"), default=["ties", "unique"]
    )
    parser.add_argument("--engines", nargs="+", choices=[*ALONE, *SPARK], default=[*ALONE, *SPARK])
    parser.add_argument("--memory", default="2g", help="for Java")
    parser.add_argument("--folder", help="for temporary files, default: $TMPDIR")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.command = ["benchmarks/spark.py", *sys.argv[1:]]
    if arguments.child:
        print(score(arguments.engine, arguments.child, arguments.memory))
        return
    lines = []
    for line in report(arguments):
        print(line, flush=True)
        lines.append(line)
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

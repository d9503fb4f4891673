"""Measure rows per second and peak memory for rankings larger than memory, as the rows grow.

    python benchmarks/out_of_core.py 2e7 2e8 1e9 python benchmarks/out_of_core.py 2e7 1e8
    --layout scattered python benchmarks/out_of_core.py 2e7 2e8 --call evaluate
    count_ties group_by sorted_group_by

It makes Parquet files chunk by chunk in a temporary folder ($TMPDIR), runs each call in a separate
process, and prints that process's highest resident set. Layouts: ``grouped`` (rows of a query are
contiguous, whole-number distances 0..64), ``scattered`` (rows in random order over all files,
float64 distances, hardly a tie). Calls: ``evaluate_to`` and ``count_ties`` of the files;
``evaluate`` of a lazy scan of them, which is copied to disk first; and, for the same counts,
Polars' streaming ``group_by``, as it comes and with the promise that the rows are sorted by query.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

ITEMS = 1_000  # per query
PEAK = re.compile(r"VmHWM:\s+(\d+) kB")  # ru_maxrss of a child is never below its parent's
FILE_ROWS = 5_000_000
CALLS = ("evaluate_to", "evaluate", "count_ties", "group_by", "sorted_group_by")
HEAD = """\
| call | layout | rows | MiB on disk | seconds | CPU seconds | 10⁶ rows/s | 10⁶ rows/CPU s | peak MiB |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def make(folder: Path, rows: int, layout: str) -> None:
    random = np.random.default_rng(0)
    for number, begin in enumerate(range(0, rows, FILE_ROWS)):
        row = np.arange(begin, min(begin + FILE_ROWS, rows))
        if layout == "scattered":
            row = (
                row * 7_368_787 % rows
            )  # a permutation of all rows, because the factor is a prime that does not divide their number
            distance = random.random(row.size)
        else:
            distance = random.integers(0, 65, row.size, dtype=np.uint8)
        frame = pl.DataFrame(
            {
                "model": pl.repeat("m", row.size, eager=True),
                "query": row // ITEMS,
                "item": row % ITEMS,
                "distance": distance,
                "relevance": random.choice(4, row.size, p=(0.9, 0.05, 0.03, 0.02)).astype(np.uint8),
            }
        )
        frame.write_parquet(folder / f"part-{number:05}.parquet", compression="lz4")


def run(call: str, source: Path, out: Path, policies: tuple[str, ...], rows_per_part: int) -> None:
    """Run the call that is measured."""
    import retrieval_report as rr

    files = sorted(source.iterdir())
    scan = pl.scan_parquet(files, glob=False)
    if call == "evaluate_to":
        rr.evaluate_to(
            out / "scores.parquet", files, policies=policies, rows_per_part=rows_per_part
        )
    elif call == "evaluate":
        rr.evaluate(scan, policies=policies)
    elif call == "count_ties":
        rr.count_ties(scan)
    else:
        told = scan.set_sorted("query") if call == "sorted_group_by" else scan
        told.group_by("query", "distance", "relevance").agg(pl.len()).sink_parquet(
            out / "counts.parquet"
        )


def child(arguments: argparse.Namespace) -> None:
    """Print seconds, CPU seconds and peak memory as JSON."""
    start = time.perf_counter()
    run(
        *arguments.call,
        arguments.files,
        arguments.child,
        tuple(arguments.policies),
        arguments.rows_per_part,
    )
    seconds = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "seconds": seconds,
                "cpu": usage.ru_utime + usage.ru_stime,
                "peak": int(PEAK.findall(Path("/proc/self/status").read_text())[0]) / 1024,
            }
        )
    )


def measure(call: str, files: Path, rows: int, arguments: argparse.Namespace) -> str:
    size = sum(file.stat().st_size for file in files.iterdir()) / 2**20
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, __file__, "--child", out, "--files", str(files), "--call", call]
        command += [
            "--rows-per-part",
            str(arguments.rows_per_part),
            "--policies",
            *arguments.policies,
        ]
        child = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result = json.loads(child.stdout)
    return (
        f"| `{call}` | {arguments.layout} | {rows:.0e} | {size:,.0f} | {result['seconds']:.1f} | "
        f"{result['cpu']:.1f} | {rows / result['seconds'] / 1e6:.1f} | "
        f"{rows / result['cpu'] / 1e6:.1f} | {result['peak']:,.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", type=float, default=[2e7, 2e8])
    parser.add_argument("--layout", choices=("grouped", "scattered"), default="grouped")
    parser.add_argument("--call", nargs="+", choices=CALLS, default=["evaluate_to"])
    parser.add_argument("--policies", nargs="+", default=["expected"])
    parser.add_argument("--rows-per-part", type=int, default=2_000_000)
    parser.add_argument(
        "--files", type=Path, help="a folder of files made earlier, of the rows given"
    )
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments)
        return
    print(HEAD)
    for rows in map(int, arguments.rows):
        with tempfile.TemporaryDirectory() as name:
            files = arguments.files or Path(name)
            if not arguments.files:
                make(files, rows, arguments.layout)
            for call in arguments.call:
                print(measure(call, files, rows, arguments), flush=True)
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    command = " ".join(["python", *sys.argv])
    print(f"\n{machine}; polars {pl.__version__}, numpy {np.__version__}. Command: `{command}`")


if __name__ == "__main__":
    main()

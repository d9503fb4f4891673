"""Rankings larger than memory: rows per second and peak memory of ``evaluate_to`` as the rows grow.

    python benchmarks/out_of_core.py 2e7 2e8
    python benchmarks/out_of_core.py 1e7 4e7 --layout scattered --policies expected naive

Makes Parquet files chunk by chunk in a temporary folder ($TMPDIR), scores them in a process of its own, and prints
that process's highest resident set. Layouts: ``grouped`` (rows of a query stand together, whole-number distances
0..64), ``scattered`` (rows in random order over all files, float64 distances, hardly a tie).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

ITEMS = 1_000  # per query
FILE_ROWS = 5_000_000


def make(folder: Path, rows: int, layout: str) -> None:
    random = np.random.default_rng(0)
    for number, begin in enumerate(range(0, rows, FILE_ROWS)):
        row = np.arange(begin, min(begin + FILE_ROWS, rows))
        if layout == "scattered":
            row = row * 7_368_787 % rows  # a permutation of all rows: the factor is a prime that divides none
            distance = random.random(row.size)
        else:
            distance = random.integers(0, 65, row.size, dtype=np.uint8)
        frame = pl.DataFrame(
            {
                "query": row // ITEMS,
                "item": row % ITEMS,
                "distance": distance,
                "relevance": random.choice(4, row.size, p=(0.9, 0.05, 0.03, 0.02)).astype(np.uint8),
            }
        )
        frame.write_parquet(folder / f"part-{number:05}.parquet", compression="lz4")


def score(folder: Path, policies: tuple[str, ...], rows_per_part: int, progress: bool) -> None:
    """Run in the child: print seconds, CPU seconds and peak memory as JSON."""
    from retrieval_report.stream import evaluate_to

    start = time.perf_counter()
    evaluate_to(
        folder / "out" / "scores.parquet",
        folder / "in",
        model="m",
        policies=policies,
        rows_per_part=rows_per_part,
        progress=progress,
    )
    seconds = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss / 1024}))


def measure(rows: int, arguments: argparse.Namespace) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        (folder / "out").mkdir()
        make(folder / "in", rows, arguments.layout)
        size = sum(file.stat().st_size for file in (folder / "in").iterdir()) / 2**20
        command = [sys.executable, __file__, "--child", name, "--rows-per-part", str(arguments.rows_per_part)]
        command += ["--progress"] * arguments.progress + ["--policies", *arguments.policies]
        child = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result = json.loads(child.stdout)
    return (
        f"| {arguments.layout} | {rows:.0e} | {size:,.0f} | {result['seconds']:.1f} | {result['cpu']:.1f} "
        f"| {rows / result['seconds'] / 1e6:.1f} | {result['peak']:,.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=float, default=[2e7, 2e8])
    parser.add_argument("--layout", choices=("grouped", "scattered"), default="grouped")
    parser.add_argument("--policies", nargs="+", default=["expected"])
    parser.add_argument("--rows-per-part", type=int, default=2_000_000)
    parser.add_argument("--progress", action="store_true")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        score(arguments.child, tuple(arguments.policies), arguments.rows_per_part, arguments.progress)
        return
    print(f"polars {pl.__version__}, numpy {np.__version__}, {os.cpu_count()} processors; {' '.join(sys.argv)}")
    print("| layout | rows | MiB on disk | seconds | CPU seconds | M rows/s | peak MiB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for rows in arguments.rows:
        print(measure(int(rows), arguments), flush=True)


if __name__ == "__main__":
    main()

"""Measure how long the first call in a fresh installation compiles, by metric, in processes with an
empty cache.

Run from the project's folder: ``python benchmarks/compile_time.py --out
benchmarks/compile_time.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ASKED = {
    "default metrics": "",
    "default metrics, expected order alone": "policies='expected'",
    "precision, expected": "metrics='precision', policies='expected'",
    "ndcg, expected": "metrics='ndcg', policies='expected'",
    "ap, expected": "metrics='ap', policies='expected'",
    "ap(denominator=retrieved), expected": "metrics='ap(denominator=retrieved)', "
    "policies='expected'",
    "rr, expected": "metrics='rr', policies='expected'",
    "err, expected": "metrics='err', policies='expected'",
    "ndcg(ideal=cutoff), expected": "metrics='ndcg(ideal=cutoff)', policies='expected'",
}
SCRIPT = """
import time
import polars as pl
import retrieval_report as rr
rows = {{"query": [1] * 4, "item": [1, 2, 3, 4], "distance": [0, 1, 1, 2], "relevance": [0, 1, 0, 1]}}
start = time.process_time()
rr.evaluate(pl.DataFrame(rows), {asked})
print(time.process_time() - start)
"""


def seconds(asked: str, cache: str) -> float:
    """Return the CPU seconds of one call in a separate process."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    script = SCRIPT.format(asked=asked)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="measure the calls whose name holds this text")
    parser.add_argument("--out", type=Path, help="write the table to this Markdown file too")
    arguments = parser.parse_args()
    lines = ["| call | CPU s, empty cache | CPU s, next process |", "| --- | --- | --- |"]
    for name, asked in ASKED.items():
        if arguments.only in name:
            with tempfile.TemporaryDirectory() as cache:
                lines.append(
                    f"| {name} | {seconds(asked, cache):.1f} | {seconds(asked, cache):.2f} |"
                )
    table = "\n".join(lines)
    about = f"{platform.machine()}, {os.cpu_count()} processors; Python {platform.python_version()}"
    about += "".join(
        f", {package} {version(package)}" for package in ("numba", "llvmlite", "polars")
    )
    command = shlex.join(["python", *sys.argv])
    page = f"# Compiling\n\n{table}\n\nWithout the import. {about}. Command: `{command}`\n"
    print(page)
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

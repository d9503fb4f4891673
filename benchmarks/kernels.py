"""Measure the CPU seconds of metrics on lists that are already laid out, here and in another
checkout.

Run from the project's folder, with another version beside it: ``git worktree add ../before
COMMIT; python benchmarks/kernels.py --beside ../before``, where its modules have the same names.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from machine import machine

LISTS, ITEMS, RUNS = 200, 1000, 3
FEW, MANY = (
    (5, 10, 20, 100, None),
    tuple(np.unique(np.geomspace(1, ITEMS, 50).astype(int)).tolist()),
)


def rankings(tie: int, relevant: float, grades: int = 4) -> pl.DataFrame:
    """Return lists with ties of ``tie`` items; 0: ties of one item, with every fifth of two to
    nine.
    """
    generator = np.random.default_rng(0)
    rows = LISTS * ITEMS
    if tie:
        distance = np.tile(np.arange(ITEMS) // tie, LISTS)
    else:
        sizes = np.where(generator.random(rows) < 0.8, 1, generator.integers(2, 10, rows))
        distance = np.repeat(np.arange(rows), sizes)[:rows]
    grade = np.where(generator.random(rows) < relevant, generator.integers(1, grades + 1, rows), 0)
    query = np.repeat(np.arange(LISTS), ITEMS)
    return pl.DataFrame(
        {"query": query, "item": np.arange(rows), "distance": distance, "relevance": grade}
    )


def work() -> Iterator[tuple[str, pl.DataFrame, dict[str, Any]]]:
    """Yield name, rankings and arguments."""
    for text, tie in (("no ties", 1), ("80 % of the ties of one item", 0), ("ties of 50", 50)):
        for relevant in (0.04, 0.3):
            frame = rankings(tie, relevant)
            for metric in ("precision", "ndcg", "ap", "rr"):
                yield (
                    f"{metric}, {text}, {relevant:.0%} relevant",
                    frame,
                    {"metrics": metric, "cutoffs": FEW},
                )
    for tie in (1, 10, 50, 100, 200):
        yield (
            f"err with std, 5 grades, ties of {tie}",
            rankings(tie, 0.3),
            {"metrics": "err", "cutoffs": FEW},
        )
    yield (
        "err with std, 5 grades, ties of 50, 50 cutoffs",
        rankings(50, 0.3),
        {"metrics": "err", "cutoffs": MANY},
    )
    drawn = {"cutoffs": FEW, "policies": "shuffled", "shuffles": 100}
    yield "100 shuffles, default metrics, ties of 20", rankings(20, 0.3), drawn
    yield (
        "100 shuffles, default metrics to 100",
        rankings(20, 0.3),
        {**drawn, "cutoffs": (1, 5, 10, 20, 100)},
    )


def least(function: Callable[[], Any]) -> float:
    """Return the CPU seconds of the fastest of some runs."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def measure(only: str) -> dict[str, float]:
    """Return CPU nanoseconds per row for every piece of work, without reading and grouping the
    rows.
    """
    from retrieval_report.contracts.options import Options
    from retrieval_report.metrics.parsing import parse_metrics
    from retrieval_report.scoring.judged import judge
    from retrieval_report.scoring.layout import lay_out
    from retrieval_report.scoring.run import Run, score_runs

    found = {}
    for name, frame, asked in work():
        if only not in name:
            continue
        policies, shuffles = asked.get("policies", "expected"), asked.get("shuffles", 100)
        options = Options(policies=(policies,), shuffles=shuffles)
        requests = parse_metrics(
            asked.get("metrics", ("precision", "recall", "ap", "rr", "ndcg")), asked["cutoffs"]
        )
        prepared = lay_out(judge(frame, None, None, options), options)
        score_runs([Run(prepared, requests, options)], requests)
        seconds = least(lambda p=prepared, r=requests, o=options: score_runs([Run(p, r, o)], r))  # type: ignore[misc]
        found[name] = seconds / (LISTS * ITEMS) * 1e9
    return found


def elsewhere(folder: Path, only: str) -> dict[str, float]:
    """Return the same with the package in another folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, __file__, "--json", "--only", only]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--beside", type=Path, required=False, help="folder of another checkout to measure too"
    )
    parser.add_argument("--only", default="", help="measure the work whose name holds this text")
    parser.add_argument("--json", action="store_true", help="print the numbers alone")
    parser.add_argument("--out", type=Path, help="write the table to this Markdown file too")
    arguments = parser.parse_args()
    here = measure(arguments.only)
    if arguments.json:
        print(json.dumps(here))
        return
    lines = ["| work | ns per row |", "| --- | ---: |"]
    lines += [f"| {name} | {own:.1f} |" for name, own in here.items()]
    if arguments.beside:
        before = elsewhere(arguments.beside, arguments.only)
        lines = ["| work | beside, ns per row | here, ns per row | times as fast |"]
        lines.append("| --- | ---: | ---: | ---: |")
        for name, own in here.items():
            other = before[name]
            lines.append(f"| {name} | {other:.1f} | {own:.1f} | {other / own:.1f} |")
    about = (
        f"CPU time on lists that are already laid out; the fastest of {RUNS} runs, {LISTS} "
        f"lists of {ITEMS}. {machine()}."
    )
    page = (
        "# Kernels\n\n"
        + "\n".join(lines)
        + f"\n\n{about} Command: `{shlex.join(['python', *sys.argv])}`\n"
    )
    print(page)
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

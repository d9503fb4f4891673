"""Measure what the policy shuffled adds to expected and naive: seconds of all processors for
`evaluate` of a million rows, defaults, in one process that is warm.

Run from the project's folder: ``python benchmarks/three_scores.py > benchmarks/three_scores.md``.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable

import numpy as np
import polars as pl
from peers import rankings

import retrieval_report as rr

RUNS = 11
TWO, THREE = ("expected", "naive"), ("expected", "shuffled", "naive")
ROWS = {  # distances, the share of relevant items, and what is aimed at
    "Hamming distances of 64 bits, 5 % relevant": ("int", 0.05, "≤ 2"),
    "the same, 30 % relevant in three grades": ("int", None, "≤ 2"),
    "unique floats, 30 % relevant": ("float", None, "≤ 1.05"),
}


def seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds of a call, of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def compared(distances: str, share: float | None) -> tuple[float, float, float]:
    """Return the median seconds under two and under three policies, and the median of the ratios
    of runs that follow each other, in which the load of the machine is about the same.
    """
    frame = rankings(1000, 1000, distances=distances)
    if share is not None:
        relevant = np.random.default_rng(1).random(frame.height) < share
        frame = frame.with_columns(relevance=pl.Series(relevant.astype(np.int64)))
    pairs = []
    for _ in range(RUNS + 1):
        pairs.append(
            tuple(
                seconds(lambda policies=policies: rr.evaluate(frame, policies=policies))
                for policies in (TWO, THREE)
            )
        )
    two, three = zip(*pairs[1:], strict=True)  # the first compiles
    ratios = [after / before for before, after in pairs[1:]]
    return statistics.median(two), statistics.median(three), statistics.median(ratios)


def main() -> None:
    """Print the table."""
    print("# What the three scores cost\n")
    print("| 10⁶ rows | expected, naive: CPU s | with ten random orders | times | aim |")
    print("| --- | --: | --: | --: | --: |")
    for name, (distances, share, aim) in ROWS.items():
        two, three, ratio = compared(distances, share)
        print(f"| {name} | {two:.3f} | {three:.3f} | {ratio:.2f} | {aim} |")
    print(f"\nMedians of {RUNS} runs; {platform.machine()}, Python {platform.python_version()}.")


if __name__ == "__main__":
    main()

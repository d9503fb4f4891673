"""How the time of `evaluate` grows: with rows, tie size, cutoffs, models and threads; a table and a plot.

Run from the project's folder: ``python benchmarks/growth.py --out benchmarks`` (``--most 1e8`` for the largest frame;
it needs some 12 GB of memory).
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl

import retrieval_report as rr

ASKED: dict[str, Any] = {
    "metrics": ("precision", "recall", "f1", "ap", "rr", "ndcg"),
    "cutoffs": (1, 5, 10, 100, None),
    "policies": "expected",
}
ROWS = 1_000_000


def frame(rows: int, *, items: int = 1000, tie: int = 15, models: int = 1) -> pl.DataFrame:
    """Lists of ``items`` rows in order of distance, ties of about ``tie`` items, grades 0–3."""
    generator = np.random.default_rng(0)
    place = np.tile(np.arange(items), -(-rows // items))[:rows]
    lists = np.arange(rows) // items
    graded = generator.choice([0] * 7 + [1, 2, 3], rows // models + items)  # the same for all models
    columns: dict[str, Any] = {
        "query": lists // models,
        "item": place,
        "distance": place // tie,
        "relevance": graded[lists // models * items + place],
    }
    if models > 1:
        columns = {"model": pl.Series([f"m{n}" for n in range(models)])[lists % models], **columns}
    return pl.DataFrame(columns)


def works(most: float) -> Iterator[tuple[str, float, pl.DataFrame, dict[str, Any]]]:
    """What grows, how far, on which rows, asked how."""
    rows = 100_000
    while rows <= most:
        yield "rows", rows, frame(rows), {}
        rows *= 10
    for tie in (1, 10, 100, 1000, 10_000, 100_000, 1_000_000):
        yield "tie size (one query of 10⁶ items)", tie, frame(ROWS, items=ROWS, tie=tie), {}
    for cutoffs in (1, 10, 100, 1000):
        yield "cutoffs", cutoffs, frame(ROWS), {"cutoffs": range(1, cutoffs + 1)}
    for models in (1, 10, 100):
        yield "models (10⁶ rows in all)", models, frame(ROWS, models=models), {}
    for threads in (1, 2):
        yield "threads", threads, frame(10 * ROWS), {"threads": threads}


def median_seconds(rows: pl.DataFrame, options: dict[str, Any], runs: int) -> float:
    seconds = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        rr.evaluate(rows, **ASKED | options)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])


def plot(table: pl.DataFrame) -> Any:
    base = alt.Chart(alt.InlineData(values=table.to_dicts())).mark_line(point=True)
    x = alt.X("value:Q", scale=alt.Scale(type="log"), title=None)
    y = alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds")
    return (
        base.encode(x=x, y=y)
        .properties(width=180, height=150)
        .facet("grows:N", columns=3)
        .resolve_scale(x="independent")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=float, default=1e7, help="rows of the largest frame")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = [
        {"grows": grows, "value": value, "rows": data.height, "seconds": median_seconds(data, options, arguments.runs)}
        for grows, value, data, options in works(arguments.most)
    ]
    table = pl.DataFrame(rows)
    lines = ["# How the time grows", "", "| grows | to | rows | seconds, median | 10⁶ rows/s |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for row in rows:
        rate = row["rows"] / row["seconds"] / 1e6
        lines.append(f"| {row['grows']} | {row['value']:g} | {row['rows']:.0e} | {row['seconds']:.3g} | {rate:.3g} |")
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    command = f"`python benchmarks/growth.py --most {arguments.most:g} --out benchmarks`"
    lines += ["", "![seconds against each](growth.svg)", ""]
    lines.append(f"Medians of {arguments.runs} runs; {machine}. Command: {command}")
    print("\n".join(lines))
    if arguments.out:
        (arguments.out / "growth.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        plot(table).save(str(arguments.out / "growth.svg"))


if __name__ == "__main__":
    main()

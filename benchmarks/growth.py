"""Measure how the time of `evaluate` grows with rows, tie size, cutoffs, models and threads, as a
table and a plot.

Run from the project's folder: ``python benchmarks/growth.py --out benchmarks`` (some 5 GB of
memory; ``--most 1e7`` leaves the largest frame out). Of several runs the fastest counts, since it
is the least disturbed; frames of more than 10⁷ rows are scored once.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

import retrieval_report as rr

ASKED: dict[str, Any] = {
    "metrics": ("precision", "recall", "f1", "ap", "rr", "ndcg"),
    "cutoffs": (1, 5, 10, 100, None),
    "policies": "expected",
}
ROWS = 1_000_000
MOST_REPEATED = 10_000_000
Integers = NDArray[np.int64]


def frame(rows: int, *, items: int = 1000, tie: int = 15, models: int = 1) -> pl.DataFrame:
    """Return lists of ``items`` rows in order of distance, with ties of about ``tie`` items and
    grades 0–3.
    """
    generator = np.random.default_rng(0)
    graded = generator.choice(
        np.array([0] * 7 + [1, 2, 3], np.uint8), rows // models + items
    )  # same for all models
    step = (
        max(ROWS, items) // items * items
    )  # whole lists; the largest frame is made piece by piece
    return pl.concat(
        piece(np.arange(row, min(row + step, rows)), graded, items, tie, models)
        for row in range(0, rows, step)
    )


def piece(
    row: Integers, graded: NDArray[np.uint8], items: int, tie: int, models: int
) -> pl.DataFrame:
    lists, measure = row // items, row % items
    columns: dict[str, Any] = {
        "query": (lists // models).astype(np.uint32),
        "item": measure.astype(np.uint32),
        "distance": (measure // tie).astype(np.uint32),
        "relevance": graded[lists // models * items + measure],
    }
    if models > 1:
        columns = {"model": pl.Series([f"m{n}" for n in range(models)])[lists % models], **columns}
    return pl.DataFrame(columns)


def works(most: float) -> Iterator[tuple[str, float, pl.DataFrame, dict[str, Any]]]:
    """Yield what grows, its value, the rows, and the options."""
    rows = 100_000
    while rows <= most:
        yield "rows", rows, frame(rows), {}
        rows *= 10
    for tie in (1, 10, 100, 1000, 10_000, 100_000, 1_000_000):
        yield "tie size (one query of a million items)", tie, frame(ROWS, items=ROWS, tie=tie), {}
    for cutoffs in (1, 10, 100, 1000):
        yield "cutoffs", cutoffs, frame(ROWS), {"cutoffs": range(1, cutoffs + 1)}
    for models in (1, 10, 100):
        yield "models (a million rows in all)", models, frame(ROWS, models=models), {}
    for threads in (1, 2):
        yield "threads", threads, frame(10 * ROWS), {"threads": threads}


def fastest(rows: pl.DataFrame, options: dict[str, Any], runs: int) -> dict[str, float]:
    """Return seconds and CPU seconds of the fastest run, after one that is not counted."""
    taken = []
    for _ in range(runs + 1 if rows.height <= MOST_REPEATED else 1):
        start, begin = time.perf_counter(), time.process_time()
        rr.evaluate(rows, **ASKED | options)
        taken.append((time.perf_counter() - start, time.process_time() - begin))
    return dict(zip(("seconds", "cpu"), min(taken[1:] or taken), strict=True))


def plot(table: pl.DataFrame) -> Any:
    """Return one chart for everything that grows, with the measured values on its axis."""
    table = table.rename({"cpu": "CPU seconds"})
    charts = []
    for (grows,), own in table.group_by("grows", maintain_order=True):
        long = own.unpivot(
            ["seconds", "CPU seconds"], index="value", variable_name="time", value_name="taken"
        )
        axis = alt.Axis(values=own["value"].to_list(), format="~s", labelOverlap=True, grid=False)
        charts.append(
            alt.Chart(alt.InlineData(values=long.to_dicts()), title=grows, width=200, height=150)
            .mark_line(point=True)
            .encode(
                x=alt.X("value:Q", scale=alt.Scale(type="log", nice=False), axis=axis, title=None),
                y=alt.Y("taken:Q", scale=alt.Scale(type="log", domain=(0.01, 100)), title="seconds")
                .axis(values=[0.01, 0.1, 1, 10, 100], format="~g"),
                color=alt.Color("time:N", title=None, sort=["seconds", "CPU seconds"]),
            )
        )  # fmt: skip
    return alt.concat(*charts, columns=3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=float, default=1e8, help="rows of the largest frame")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = [
        {
            "grows": grows,
            "value": value,
            "rows": data.height,
            **fastest(data, options, arguments.runs),
        }
        for grows, value, data, options in works(arguments.most)
    ]
    table = pl.DataFrame(rows)
    lines = [
        "# How the time grows",
        "",
        "| grows | to | rows | seconds | CPU seconds | 10⁶ rows/s |",
    ]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        rate = row["rows"] / row["seconds"] / 1e6
        label = f"| {row['grows']} | {row['value']:g} | {row['rows']:.0e}"
        lines.append(f"{label} | {row['seconds']:.3g} | {row['cpu']:.3g} | {rate:.3g} |")
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    command = f"`python benchmarks/growth.py --most {arguments.most:g} --out benchmarks`"
    lines += ["", "![seconds against each](growth.svg)", ""]
    lines.append(
        f"Fastest of {arguments.runs} runs (10⁸ rows: one run); {machine}. Command: {command}"
    )
    lines.append(
        "Where the load is above the number of cores, others had a share: the CPU seconds then "
        "show the growth."
    )
    print("\n".join(lines))
    if arguments.out:
        (arguments.out / "growth.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        plot(table).save(str(arguments.out / "growth.svg"))


if __name__ == "__main__":
    main()

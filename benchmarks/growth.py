"""Measure how the time of `evaluate` grows with rows, tie size, cutoffs, models and threads, and
that of a leaderboard and a verdict with models, as a table and a plot.

Run from the project's folder: ``python benchmarks/growth.py --out benchmarks`` (some 5 GB of
memory; ``--most 1e7`` leaves the largest frame out). Of several runs the fastest counts, since it
is the least disturbed; frames of more than 10⁷ rows are scored once.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from machine import machine
from numpy.typing import NDArray
from stages import model_scores

import retrieval_report as rr
from retrieval_report.kernels.compile import LOADING, expect

ASKED: dict[str, Any] = {
    "metrics": ("precision", "recall", "f1", "ap", "rr", "ndcg"),
    "cutoffs": (1, 5, 10, 100, None),
    "policies": "expected",
}
ROWS = 1_000_000
MOST_REPEATED = 10_000_000
Integers = NDArray[np.int64]
Work = Callable[[], Any]


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


def alike_models(models: int) -> pl.DataFrame:
    """Return lists of models that are nearly as good as each other, with ties that leave their
    order open: 50 queries of 200 items.
    """
    random = np.random.default_rng(0)
    queries, depth = 50, 200
    relevance = (random.random((queries, depth)) < 0.1) * random.integers(1, 4, (queries, depth))
    shared = random.normal(size=(queries, depth)) + 0.5 * relevance
    frames = []
    for model, ability in enumerate(np.linspace(0, 0.1, models)):
        score = shared + 0.3 * random.normal(size=shared.shape) + ability * relevance
        columns = {
            "model": f"m{model:02}",
            "query": np.repeat(np.arange(queries), depth),
            "item": np.tile(np.arange(depth), queries),
            "distance": np.clip(20 - 4 * score, 0, None).astype(np.int64).ravel(),
            "relevance": relevance.ravel(),
        }
        frames.append(pl.DataFrame(columns))
    return pl.concat(frames)


def verdict_of(rows: pl.DataFrame) -> None:
    _ = rr.Study(rows, "ndcg@10, ap, rr@10", truncated="no").verdict


def to_disk(path: Path) -> None:
    rr.evaluate_to(path.with_name("scores.parquet"), path, **ASKED)


def scored(rows: pl.DataFrame, **options: Any) -> tuple[int, Work]:
    return rows.height, partial(rr.evaluate, rows, **ASKED | options)


def works(most: float) -> Iterator[tuple[str, float, int, Work]]:
    """Yield what grows, its value, the number of rows, and the work."""
    rows = 100_000
    while rows <= most:
        yield "rows", rows, *scored(frame(rows))
        rows *= 10
    with tempfile.TemporaryDirectory() as folder:
        for rows in (2_500_000, 5_000_000, 10_000_000):
            if rows <= most:
                path = Path(folder, f"{rows}.parquet")
                frame(rows).write_parquet(path)
                yield "rows of a file, `evaluate_to`", rows, rows, partial(to_disk, path)
                reading = partial(in_memory, path)
                yield "rows of a file, read and `evaluate`", rows, rows, reading
    for tie in (1, 10, 100, 1000, 10_000, 100_000, 1_000_000):
        of_one = frame(ROWS, items=ROWS, tie=tie)
        yield "tie size (one query of a million items)", tie, *scored(of_one)
    for cutoffs in (1, 10, 100, 1000):
        yield "cutoffs", cutoffs, *scored(frame(ROWS), cutoffs=range(1, cutoffs + 1))
    for models in (1, 10, 100):
        yield "models (a million rows in all)", models, *scored(frame(ROWS, models=models))
    for models in (100, 300, 1000):
        scores = model_scores(models)
        yield "models of a leaderboard", models, scores.height, partial(rr.leaderboard, scores)
    for models in (4, 8, 16):
        lists = alike_models(models)
        yield "models of a verdict", models, lists.height, partial(verdict_of, lists)
    for threads in (1, 2):
        yield "threads", threads, *scored(frame(10 * ROWS), threads=threads)


def in_memory(path: Path) -> None:
    rr.evaluate(pl.read_parquet(path), **ASKED)


def fastest(rows: int, work: Work, runs: int) -> dict[str, float]:
    """Return seconds and CPU seconds of the fastest run, after one that is not counted."""
    taken = []
    for _ in range(runs + 1 if rows <= MOST_REPEATED else 1):
        start, begin = time.perf_counter(), time.process_time()
        work()
        taken.append((time.perf_counter() - start, time.process_time() - begin))
    return dict(zip(("seconds", "cpu"), min(taken[1:] or taken), strict=True))


def slope(row: dict[str, Any], before: dict[str, Any] | None) -> str:
    """Return the power of what grows with which CPU seconds grew since the row before."""
    if before is None or before["grows"] != row["grows"]:
        return ""
    return f"{math.log(row['cpu'] / before['cpu'], row['value'] / before['value']):.2f}"


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
    parser.add_argument("--only", default="", help="measure what grows by a name that holds this")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    expect(LOADING)  # so that small work is not done as Python, and large work compiled
    rows = [
        {
            "grows": grows,
            "value": value,
            "rows": size,
            **fastest(size, work, arguments.runs),
        }
        for grows, value, size, work in works(arguments.most)
        if arguments.only in grows
    ]
    table = pl.DataFrame(rows)
    lines = [
        "# How the time grows",
        "",
        "| grows | to | rows | seconds | CPU seconds | slope | 10⁶ rows/s |",
    ]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for row, before in zip(rows, [None, *rows], strict=False):
        rate = row["rows"] / row["seconds"] / 1e6
        label = f"| {row['grows']} | {row['value']:g} | {row['rows']:.0e}"
        lines.append(
            f"{label} | {row['seconds']:.3g} | {row['cpu']:.3g} | {slope(row, before)} | {rate:.3g} |"
        )
    command = f"`python benchmarks/growth.py --most {arguments.most:g} --out benchmarks`"
    lines += ["", "![seconds against each](growth.svg)", ""]
    lines.append(
        f"Fastest of {arguments.runs} runs (10⁸ rows: one run); {machine()}. Command: {command}"
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

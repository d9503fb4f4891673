"""Time metrics as Polars expressions beside `evaluate`, NumPy and polars-ds, cold and warm.

Run from the project's folder: ``python benchmarks/expressions.py --out benchmarks``. Each figure is
the median of three; cold ones are processes of their own, from their start.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import retrieval_report as rr

SIZES = (1_000, 100_000, 1_000_000, 10_000_000)
PER_LIST = 100
STREAMED = {"in any order": (), "`set_sorted`": ("query",)}


def frame(rows: int) -> pl.DataFrame:
    """Return lists of 100 items at 30 distances, with grades 0 to 3."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "query": np.arange(rows) // PER_LIST,
            "item": np.arange(rows) % PER_LIST,
            "distance": rng.integers(0, 30, rows),
            "relevance": rng.choice(np.array([0, 0, 0, 1, 2, 3]), rows),
        }
    )


def expressions(measure: str) -> Callable[[pl.DataFrame], float]:
    """Return the mean by expressions, in a stream."""

    def mean(rows: pl.DataFrame) -> float:
        asked = getattr(rr.expr, measure)("relevance", distance="distance", k=10).alias("value")
        scores = rows.lazy().group_by("query").agg(asked).collect(engine="streaming")
        return float(scores["value"].sort().mean())  # type: ignore[arg-type]

    return mean


def kernels(measure: str) -> Callable[[pl.DataFrame], float]:
    """Return the mean by `evaluate`."""

    def mean(rows: pl.DataFrame) -> float:
        scores = rr.evaluate(rows, metrics=measure, cutoffs=10, policies="expected", truncated="no")
        return float(scores["value"].sort().mean())  # type: ignore[arg-type]

    return mean


def plain_ndcg(rows: pl.DataFrame) -> float:
    """Return the mean NDCG by NumPy, list by list, with one sort and one bincount each."""
    scores = []
    discount = np.zeros(PER_LIST)
    discount[:10] = 1 / np.log2(np.arange(2, 12))
    distances = rows["distance"].to_numpy().reshape(-1, PER_LIST)
    grades = rows["relevance"].to_numpy().reshape(-1, PER_LIST)
    for distance, grade in zip(distances, grades, strict=True):
        tied, size = np.unique(distance, return_inverse=True, return_counts=True)[1:]
        share = np.bincount(np.repeat(np.arange(size.size), size), discount) / size
        ideal = np.sort(grade)[::-1] @ discount
        scores.append(share[tied] @ grade / ideal if ideal else 0.0)
    return float(np.mean(np.sort(scores)))


WAYS: dict[str, Callable[[pl.DataFrame], float]] = {
    **{
        f"expression, {measure}@10": expressions(measure)
        for measure in ("ndcg", "precision", "ap", "rr")
    },
    **{
        f"evaluate, {measure}@10": kernels(measure) for measure in ("ndcg", "precision", "ap", "rr")
    },
    "NumPy, ndcg@10": plain_ndcg,
}


def polars_ds(rows: pl.DataFrame) -> str:
    """Say how polars-ds fares, if it is installed."""
    try:
        import polars_ds as pds  # type: ignore[import-not-found]
    except ImportError:
        return "not installed"
    try:
        asked = pds.query_ndcg_score("relevance", -pl.col("distance").cast(pl.Float64), k=10)
        start = time.process_time()
        rows.group_by("query").agg(asked)
    except Exception as error:
        return f"fails with {type(error).__name__}: {str(error).partition(';')[0]}"
    return f"{time.process_time() - start:.2f} CPU s"


def warm(way: Callable[[pl.DataFrame], float], rows: pl.DataFrame) -> tuple[float, float]:
    """Return the mean and the median CPU seconds."""
    value = way(rows)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        way(rows)
        seconds.append(time.process_time() - start)
    return value, statistics.median(seconds)


def cold(name: str, rows: int) -> float:
    """Return the median seconds of a process that makes the frame and scores it once."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        words = [sys.executable, __file__, "--once", name, str(rows)]
        subprocess.run(words, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def own_memory() -> int:
    """Return the megabytes that the process holds now, without pages of the files it reads."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("RssAnon:")[1].split()[0]) // 1024


def stream(path: str, order: str) -> None:
    """Score the lists of a Parquet file lazily, and print the most memory held."""
    seen, done = [own_memory()], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            seen.append(own_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    rows = pl.scan_parquet(path)
    if STREAMED[order]:
        rows = rows.set_sorted(*STREAMED[order])
    asked = rr.expr.ndcg("relevance", distance="distance", k=10)
    rows.group_by("query").agg(asked).select(pl.all().mean()).collect(engine="streaming")
    done.set()
    watcher.join()
    print(max(seen))


def memory(sizes: tuple[int, ...]) -> list[str]:
    """Return the rows of a table of peak memory, by the number of rows in a file."""
    cells: dict[str, list[str]] = {order: [] for order in STREAMED}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = f"{folder}/{size}.parquet"
            frame(size).write_parquet(path, row_group_size=250_000)
            for order, found in cells.items():
                words = [sys.executable, __file__, "--stream", path, order]
                done = subprocess.run(words, check=True, capture_output=True, text=True)
                found.append(done.stdout.strip())
    head = " | ".join(f"{size:,}".replace(",", " ") for size in sizes)
    return [
        "",
        'Memory of `pl.scan_parquet(…).group_by("query").agg(rr.expr.ndcg(…))` with the streaming',
        "engine, in MB (the most that the process held, without the file's own pages), by rows of the file:",
        "",
        f"| rows | {head} |",
        f"| --- |{' ---: |' * len(sizes)}",
        *(f"| {order} | {' | '.join(found)} |" for order, found in cells.items()),
    ]


def table(most: int) -> str:
    """Return all figures as Markdown."""
    sizes = [size for size in SIZES if size <= most]
    head = [f"{size:,}".replace(",", " ") for size in sizes]
    lines = [
        "# Expressions beside kernels",
        "",
        "Made by `python benchmarks/expressions.py --out benchmarks`: lists of 100 items at 30",
        "distances, two processors.",
        "Warm: median CPU seconds of three calls. Cold: median seconds of three processes with 100 000 rows, from",
        "their",
        "start. The means of each measure agree to 1e-12.",
        "",
        f"| rows | {' | '.join(head)} | cold |",
        f"| --- |{' ---: |' * (len(sizes) + 1)}",
    ]
    values: dict[tuple[str, int], float] = {}
    for name, way in WAYS.items():
        cells = []
        for size in sizes:
            if size > 1_000_000 and name.startswith("NumPy"):
                cells.append("")
                continue
            value, seconds = warm(way, frame(size))
            wanted = values.setdefault((name.partition(", ")[2], size), value)
            assert np.isclose(value, wanted, rtol=1e-12, atol=0), (name, value, wanted)
            cells.append(f"{seconds:.3f}")
        lines.append(f"| {name} | {' | '.join(cells)} | {cold(name, 100_000):.2f} |")
        print(lines[-1], flush=True)
    lines += memory((1_000_000, 4_000_000, 16_000_000))
    lines += ["", f"polars-ds (query_ndcg_score) on 10⁶ rows: {polars_ds(frame(1_000_000))}.", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--most", type=float, default=1e7)
    parser.add_argument("--once", nargs=2)
    parser.add_argument("--stream", nargs=2)
    given = parser.parse_args()
    if given.stream:
        stream(*given.stream)
        sys.exit()
    if given.once:
        WAYS[given.once[0]](frame(int(given.once[1])))
        sys.exit()
    text = table(int(given.most))
    print(text)
    if given.out:
        (given.out / "expressions.md").write_text(text, encoding="utf-8")

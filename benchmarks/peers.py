"""`evaluate` beside other evaluators: same data, one process, taking turns; results are checked before times count.

Run from the project's folder: ``python benchmarks/peers.py --out benchmarks/peers.md`` (peers that are not installed
are left out and named; ``pip install -e '.[peers]'`` installs them).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import retrieval_report as rr

RUNS = 5
METRICS = ("precision", "recall", "f1", "ap", "rr", "ndcg")
CUTOFFS = (1, 5, 10, 100, None)
Function = Callable[[], Any]


@dataclass
class Entry:
    """One way to score one set of rows."""

    work: str
    way: str
    rows: int
    run: Function


def rankings(
    queries: int, items: int, *, distances: str = "int", order: str = "grouped", ids: str = "int"
) -> pl.DataFrame:
    """Random lists: integer distances 0..64 or unique floats, grades 0..3, rows grouped by query or in random order."""
    generator = np.random.default_rng(0)
    rows = queries * items
    distance = generator.binomial(64, 0.5, rows) if distances == "int" else generator.normal(size=rows)
    frame = pl.DataFrame(
        {
            "query": np.repeat(np.arange(queries), items),
            "item": np.tile(np.arange(items), queries),
            "distance": distance,
            "relevance": generator.choice([0] * 7 + [1, 2, 3], rows),
        }
    )
    if distances == "sorted":
        frame = frame.sort("query", "distance")
    if ids == "text":
        frame = frame.with_columns(
            pl.format("query-{}", "query").alias("query"), pl.format("item-{}", "item").alias("item")
        )
    return frame.sample(fraction=1, shuffle=True, seed=1) if order == "random" else frame


def ours(work: str, frame: pl.DataFrame, **options: Any) -> Entry:
    asked = {"metrics": METRICS, "cutoffs": CUTOFFS, "policies": "expected"} | options
    return Entry(work, "retrieval_report", frame.height, lambda: rr.evaluate(frame, **asked))


def own_entries(scale: float) -> list[Entry]:
    """The workloads of the issue, for this package alone."""
    queries = max(int(10_000 * scale), 10)
    grouped = rankings(queries, 1000)
    many, long = rankings(queries * 100, 10), rankings(1, queries * 1000)
    return [
        ours("integer distances, rows grouped by query", grouped),
        ours("integer distances, rows in random order", rankings(queries, 1000, order="random")),
        ours("unique floats, sorted", rankings(queries, 1000, distances="sorted")),
        ours("unique floats, unsorted", rankings(queries, 1000, distances="float")),
        ours("text ids, grouped", rankings(queries, 1000, ids="text")),
        ours("many queries of 10 items", many),
        ours("one query", long),
        ours("naive, grouped", grouped, policies="naive"),
        ours("100 shuffles, cutoff 10, grouped", grouped, policies="shuffled", cutoffs=10, shuffles=100),
    ]


def peer_entries(frame: pl.DataFrame) -> list[Entry]:
    """The same lists through other evaluators, from a long frame, with what it takes to bring them into their form."""
    entries = [ours("against peers", frame)]
    if importlib.util.find_spec("pytrec_eval"):
        entries.append(Entry("against peers", "pytrec_eval (naive)", frame.height, lambda: pytrec(frame)))
    if importlib.util.find_spec("ranx"):
        entries.append(Entry("against peers", "ranx (naive)", frame.height, lambda: ranx(frame)))
    if importlib.util.find_spec("sklearn"):
        entries.append(
            Entry("against peers", "scikit-learn ndcg_score (NDCG alone)", frame.height, lambda: sklearn(frame))
        )
    if importlib.util.find_spec("trm"):
        entries.append(Entry("against peers", "tie-aware-retrieval-metrics (binary)", frame.height, lambda: trm(frame)))
    return entries


def nested(frame: pl.DataFrame, column: str, sign: int = 1) -> dict[str, dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    for query, item, value in frame.select(pl.col("query", "item").cast(pl.String), column).iter_rows():
        result.setdefault(query, {})[item] = sign * value
    return result


def pytrec(frame: pl.DataFrame) -> Any:
    import pytrec_eval

    measures = {
        "P.1,5,10,100",
        "recall.1,5,10,100",
        "map_cut.1,5,10,100",
        "map",
        "recip_rank",
        "ndcg_cut.1,5,10,100",
        "ndcg",
    }
    run = nested(frame.with_columns(pl.col("distance").cast(pl.Float64)), "distance", -1)
    return pytrec_eval.RelevanceEvaluator(nested(frame, "relevance"), measures).evaluate(run)


def ranx(frame: pl.DataFrame) -> Any:
    from ranx import Qrels, Run, evaluate

    names = [f"{name}@{k}" for name in ("precision", "recall", "f1", "map", "mrr", "ndcg") for k in (1, 5, 10, 100)]
    run = Run(nested(frame.with_columns(pl.col("distance").cast(pl.Float64)), "distance", -1))
    return evaluate(Qrels(nested(frame, "relevance")), run, names)


def sklearn(frame: pl.DataFrame) -> Any:
    from sklearn.metrics import ndcg_score

    queries = frame["query"].n_unique()
    relevance = frame["relevance"].to_numpy().reshape(queries, -1)
    scores = -frame["distance"].to_numpy().reshape(queries, -1)
    return [ndcg_score(relevance, scores, k=k) for k in CUTOFFS]


def trm(frame: pl.DataFrame) -> Any:
    import trm as peer

    lists = frame.group_by("query", maintain_order=True).agg(-pl.col("distance"), pl.col("relevance") > 0)
    metrics = ["precision", "recall", "f1", "map", "mrr", "ndcg"]
    return peer.evaluate(
        lists["distance"].to_list(), lists["relevance"].to_list(), metrics=metrics, k_list=[1, 5, 10, 100]
    )


def check(frame: pl.DataFrame) -> str:
    """Where definitions agree the numbers must too: NDCG with ties averaged against scikit-learn."""
    if not importlib.util.find_spec("sklearn"):
        return "scikit-learn is not installed: nothing was compared"
    scores = rr.evaluate(frame, metrics="ndcg(gain=linear)", cutoffs=CUTOFFS, policies="expected")
    means = [rr.summarise(scores.filter(pl.col("cutoff").eq_missing(k)))["value"].item() for k in CUTOFFS]
    worst = max(abs(one - other) for one, other in zip(means, sklearn(frame), strict=True))
    if worst > 1e-9:
        raise SystemExit(f"NDCG differs from scikit-learn by {worst:g}: no times are printed")
    return f"mean NDCG agrees with scikit-learn's to {worst:.1e}"


def measure(entries: list[Entry], runs: int) -> list[tuple[Entry, list[float]]]:
    """Times of all entries, taking turns, after one run each that loads kernels."""
    times: list[list[float]] = [[] for _ in entries]
    for turn in range(runs + 1):
        for entry, seconds in zip(entries, times, strict=True):
            start = time.perf_counter()
            entry.run()
            if turn:
                seconds.append(time.perf_counter() - start)
    return list(zip(entries, times, strict=True))


def table(measured: list[tuple[Entry, list[float]]]) -> list[str]:
    lines = ["| work | way | rows | 10⁶ rows/s, median | slowest … fastest |", "| --- | --- | --- | --- | --- |"]
    for entry, seconds in measured:
        rates = sorted(entry.rows / second / 1e6 for second in seconds)
        lines.append(
            f"| {entry.work} | {entry.way} | {entry.rows:.0e} | {statistics.median(rates):.3g} | "
            f"{rates[0]:.3g} … {rates[-1]:.3g} |"
        )
    return lines


def ratios(measured: list[tuple[Entry, list[float]]]) -> str:
    medians = {entry.way: entry.rows / statistics.median(seconds) for entry, seconds in measured}
    own = medians.pop("retrieval_report")
    return "; ".join(
        f"{own / rate:.0f} times {way}" for way, rate in sorted(medians.items(), key=lambda pair: -pair[1])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="1 is 10 million rows")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    small = rankings(max(int(1000 * arguments.scale), 10), 1000)
    agreed = check(small)
    own = measure(own_entries(arguments.scale), arguments.runs)
    peers = measure(peer_entries(small), min(arguments.runs, 3))
    versions = ", ".join(f"{name} {version(name)}" for name in ("polars", "numpy", "numba"))
    asked = (
        f"Metrics {', '.join(METRICS)} at cutoffs 1, 5, 10, 100 and all, policy `expected` with standard deviations, "
        "full validation included, from a frame in memory."
    )
    how = (
        f"Medians of {arguments.runs} runs (peers {min(arguments.runs, 3)}), taking turns. {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}, {versions}. "
        f"Command: `python benchmarks/peers.py {' '.join(sys.argv[1:])}`"
    )
    lines = [
        "# Scores per second",
        "",
        asked,
        "",
        *table(own),
        "",
        *table(peers),
        "",
        f"Ratios of medians: {ratios(peers)}. Before: {agreed}.",
        "",
        how,
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

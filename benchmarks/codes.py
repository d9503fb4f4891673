"""Measure how fast codes become counts, beside NumPy without a matrix and the sort that counting
replaces.

Run from the project's folder: ``python benchmarks/codes.py --out benchmarks/codes.md``.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
from machine import machine

from retrieval_report.codes import count_codes
from retrieval_report.kernels.compile import popcount

RUNS = 5
ITEMS = 1_000_000
bits_set: Any = cast(Any, popcount).part
Function = Callable[[], object]


@dataclass
class Work:
    """One row of the table: a function, how many pairs it processes, and its names."""

    name: str
    ways: str
    pairs: int
    run: Function


def codes(generator: np.random.Generator, rows: int, bits: int) -> Any:
    return generator.integers(0, 2, (rows, bits), dtype=np.int8) * 2 - 1


def clustered(
    generator: np.random.Generator, labels: dict[str, Any], kinds: int
) -> tuple[Any, Any]:
    """Return 64-bit codes near a code of their class: each bit is flipped with a probability of one
    in eight.
    """
    centres = codes(generator, kinds, 64)

    def near(classes: Any) -> Any:
        return centres[classes] * np.where(
            generator.random((len(classes), 64), np.float32) < 0.125, -1, 1
        ).astype(np.int8)

    return near(labels["query_labels"]), near(labels["item_labels"])


def counting(name: str, queries: Any, items: Any, labels: dict[str, Any], **options: Any) -> Work:
    return Work(
        name,
        "count_codes",
        len(queries) * len(items),
        lambda: count_codes(queries, items, **labels, **options),
    )


def with_numpy(name: str, queries: Any, items: Any, labels: dict[str, Any]) -> Work:
    """Count with packed codes, XOR, population count and bincount, one query at a time."""
    bits = queries.shape[1]

    def run() -> object:
        own, other = (np.packbits(side > 0, axis=1).view(np.uint64) for side in (queries, items))
        counts = []
        for query, label in zip(own, labels["query_labels"], strict=True):
            distance = (
                np.bitwise_count(other ^ query).sum(axis=1)
                if bits > 64
                else np.bitwise_count(other[:, 0] ^ query[0])
            )
            relevant = labels["item_labels"] == label
            counts.append(np.bincount(distance * np.int64(2) + relevant, minlength=2 * bits + 2))
        return counts

    return Work(name, "NumPy: XOR, bitwise_count, bincount", len(queries) * len(items), run)


@numba.njit(nogil=True, cache=False)  # type: ignore[untyped-decorator]
def plain(queries: Any, items: Any, own: Any, other: Any, tables: Any) -> None:
    """Count distances by query and relevance in one loop over the pairs, as anyone would write it."""
    for query in range(queries.size):
        for item in range(items.size):
            difference = bits_set(queries[query] ^ items[item])
            tables[query, difference, 1 if own[query] == other[item] else 0] += 1


def with_plain_kernel(name: str, queries: Any, items: Any, labels: dict[str, Any]) -> Work:
    """Count by the plain kernel on two threads."""

    def run() -> object:
        own, other = (
            np.packbits(side > 0, axis=1).view(np.uint64)[:, 0] for side in (queries, items)
        )
        tables = np.zeros((len(own), 65, 2), np.uint32)

        def half(part: slice) -> None:
            mine = labels["query_labels"][part]
            plain(own[part], other, mine, labels["item_labels"], tables[part])

        middle = len(own) // 2
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(half, (slice(middle), slice(middle, None))))
        return tables.reshape(len(own), -1)

    return Work(name, "plain Numba kernel, 2 threads", len(queries) * len(items), run)


def with_sort(name: str, queries: Any, items: Any) -> Work:
    """Do as hashing scripts do: compute a row of the distance matrix by a product, then argsort."""
    bits = queries.shape[1]
    own, other = queries.astype(np.float32), items.astype(np.float32)

    def run() -> object:
        return [np.argsort(0.5 * (bits - other @ query)) for query in own]

    return Work(name, "NumPy: product, argsort", len(queries) * len(items), run)


def all_work(items_count: int) -> list[Work]:
    generator = np.random.default_rng(0)
    work = []

    def classes(rows: int, kinds: int) -> Any:
        return generator.integers(0, kinds, rows)

    def labelled(queries: int, kinds: int) -> dict[str, Any]:
        return {"query_labels": classes(queries, kinds), "item_labels": classes(items_count, kinds)}

    items = codes(generator, items_count, 64)
    queries, labels = codes(generator, 3000, 64), labelled(3000, 10)
    work.append(counting("64 bits, 10 classes", queries, items, labels))
    work.append(
        counting("64 bits, 10 classes, clustered", *clustered(generator, labels, 10), labels)
    )
    hundred = labelled(3000, 100)
    work.append(counting("64 bits, 100 classes", queries, items, hundred, threads=2))
    work.append(with_plain_kernel("64 bits, 100 classes", queries, items, hundred))
    same = np.broadcast_to(items[:1], items.shape)
    work.append(counting("64 bits, 10 classes, all codes equal", queries, same, labels))
    few = {"query_labels": labels["query_labels"][:20], "item_labels": labels["item_labels"]}
    work.append(with_numpy("64 bits, 10 classes", queries[:20], items, few))
    work.append(with_sort("64 bits, 10 classes", queries[:10], items))
    hot = {"query_labels": classes((3000, 24), 2), "item_labels": classes((items_count, 24), 2)}
    work.append(counting("64 bits, multi-hot over 24, any shared", queries, items, hot))
    work.append(
        counting(
            "64 bits, multi-hot over 24, number shared", queries, items, hot, relevance="shared"
        )
    )
    small, labels = codes(generator, 10_000, 16), labelled(10_000, 10)
    work.append(counting("16 bits, 10 classes", small, items[:, :16], labels))
    work.append(counting("16 bits, 1000 classes", small, items[:, :16], labelled(10_000, 1000)))
    labels = labelled(2000, 10)
    for bits in (128, 256, 1024, 4096):
        size = min(items_count, 100_000_000 // bits)
        part = {"query_labels": labels["query_labels"], "item_labels": labels["item_labels"][:size]}
        work.append(
            counting(
                f"{bits} bits, 10 classes",
                codes(generator, 2000, bits),
                codes(generator, size, bits),
                part,
            )
        )
    return work


def check() -> None:
    """Check that all ways to count agree before they are timed."""
    generator = np.random.default_rng(1)
    queries, items = codes(generator, 20, 64), codes(generator, 5000, 64)
    labels = {
        "query_labels": generator.integers(0, 3, 20),
        "item_labels": generator.integers(0, 3, 5000),
    }
    counted: Any = with_numpy("", queries, items, labels).run()
    simple: Any = with_plain_kernel("", queries, items, labels).run()
    assert np.array_equal(simple, counted)
    flat = [
        (q, v // 2, v % 2, row[v]) for q, row in enumerate(counted) for v in np.flatnonzero(row)
    ]
    assert count_codes(queries, items, **labels).drop("model", "truncated").rows() == flat


def measure(work: list[Work], runs: int) -> dict[int, list[tuple[float, float]]]:
    """Return wall-clock and CPU seconds of every run; all work takes turns, so that load affects
    all equally.
    """
    times: dict[int, list[tuple[float, float]]] = {number: [] for number in range(len(work))}
    for run in range(runs + 1):
        for number, item in enumerate(work):
            clock, processor = time.perf_counter(), time.process_time()
            item.run()
            if run:  # the first run compiles and warms up
                times[number].append((time.perf_counter() - clock, time.process_time() - processor))
            print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    return times


def table(work: list[Work], times: dict[int, list[tuple[float, float]]]) -> str:
    lines = [
        (
            "| work | way | pairs | 10⁹ pairs/s, median | slowest … fastest | 10⁹ pairs "
            "per processor second |"
        ),
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for number, item in enumerate(work):
        rates = [item.pairs / clock / 1e9 for clock, _ in times[number]]
        busy = statistics.median(item.pairs / processor / 1e9 for _, processor in times[number])
        middle, spread = statistics.median(rates), f"{min(rates):.3g} … {max(rates):.3g}"
        lines.append(
            f"| {item.name} | {item.ways} | {item.pairs:.1e} | {middle:.3g} | {spread} | "
            f"{busy:.3g} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=int, default=RUNS, help="timed runs of each work (default: %(default)s)"
    )
    parser.add_argument(
        "--items", type=int, default=ITEMS, help="items to search (default: %(default)s)"
    )
    parser.add_argument("--only", default="", help="measure the work whose name holds this text")
    parser.add_argument("--out", type=Path, help="write the table to this Markdown file too")
    arguments = parser.parse_args()
    check()
    work = [item for item in all_work(arguments.items) if arguments.only in item.name]
    text = table(work, measure(work, arguments.runs))
    command = shlex.join(["python", *sys.argv])
    page = (
        f"# Codes to counts\n\n{text}\n\nValidation, packing and the resulting frame are included; "
        "medians of "
        f"{arguments.runs} runs that took turns. {machine()}. Command: `{command}`\n"
    )
    print(page)
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

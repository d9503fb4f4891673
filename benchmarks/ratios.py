"""Whether something has become slower: CPU seconds beside those of a reference in the same run,
such as another evaluator, the same work in another form or on fewer data, or a fixed loop.

Run from the project's folder: ``python benchmarks/latency.py --check`` prints the ratios, and what
has grown by a quarter since the table in ratios.md was written; with ``--short`` the quick ones
alone, with ``--out benchmarks/ratios.md`` it writes the table anew.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from peers import dictionary_entries, ours, rankings
from stages import model_scores

import retrieval_report as rr
from retrieval_report.kernels import compile as kernel_policy

STORED = Path(__file__).with_name("ratios.md")
GROWN = 1.25  # times the stored ratio
ROUNDS = 5
NUMBERS = np.random.default_rng(0).random(200_000)
Function = Callable[[], Any]
Ratios = Mapping[tuple[str, str], float]  # by work and reference


class Pair(NamedTuple):
    """Work, and what it is measured beside."""

    work: str
    reference: str
    run: Function
    refer: Function


def loop() -> None:
    """Do what never changes: some of it in Python, some in NumPy."""
    total = 0
    for number in range(100_000):
        total += number % 7
    np.sort(NUMBERS)
    np.bincount((NUMBERS * 1000).astype(np.int64), NUMBERS)


def short(_: Path) -> Iterator[Pair]:
    """Yield what takes milliseconds."""
    grouped = rankings(200, 500)
    for name, frame in {
        "10⁵ rows grouped by query": grouped,
        "10⁵ rows in random order": rankings(200, 500, order="random"),
        "10⁵ unique floats": rankings(200, 500, distances="float"),
    }.items():
        yield Pair(name, "a fixed loop", ours(name, frame).run, loop)
    few = rankings(1, 4)
    yield Pair("100 calls on 4 rows", "a fixed loop", partial(again, few), loop)
    yield three_scores("integer distances", grouped)
    yield Pair(
        "truncated=auto",
        "truncated=no",
        ours("", grouped, truncated="auto").run,
        ours("", grouped, truncated="no").run,
    )
    yield Pair("leaderboard of 100 models", "a fixed loop", board(100), loop)
    if importlib.util.find_spec("pytrec_eval"):
        entries = dictionary_entries(0.2)
        for own, peer in zip(entries[::2], entries[1::2], strict=True):
            yield Pair(own.work, peer.way, own.run, peer.run)


def three_scores(what: str, frame: pl.DataFrame) -> Pair:
    """Return what ten random orders cost on top of expected and naive scores."""
    three = partial(rr.evaluate, frame)
    return Pair(
        f"ten random orders too: {what}",
        "two scores",
        three,
        partial(three, policies=("expected", "naive")),
    )


def longer(folder: Path) -> Iterator[Pair]:
    """Yield what takes seconds: how some work grows with its size, and the way over a disk."""
    from growth import alike_models, frame, in_memory, to_disk, verdict_of

    few = pl.Series(np.random.default_rng(1).random(1_000_000) < 0.05).cast(pl.Int64)
    large = rankings(1000, 1000)
    yield three_scores("10⁶ integer distances, 5 % relevant", large.with_columns(relevance=few))
    yield three_scores("10⁶ integer distances, 30 % in three grades", large)
    yield three_scores("10⁶ unique floats", rankings(1000, 1000, distances="float"))
    yield Pair("leaderboard of 1 000 models", "of 300", board(1000), board(300))
    lists = {models: partial(verdict_of, alike_models(models)) for models in (4, 16)}
    yield Pair("verdict on 16 models", "on 4", lists[16], lists[4])
    path = folder / "rows.parquet"
    frame(5_000_000).write_parquet(path)
    yield Pair(
        "evaluate_to, 5·10⁶ rows", "in memory", partial(to_disk, path), partial(in_memory, path)
    )


def again(frame: pl.DataFrame) -> None:
    for _ in range(100):
        rr.evaluate(frame, measures="ndcg@10", policies="expected", truncated="no")


def board(models: int) -> Function:
    return partial(rr.leaderboard, model_scores(models))


def ratio(pair: Pair, rounds: int) -> float:
    """Return the least CPU seconds of some turns of the work by those of its reference."""
    least = [np.inf, np.inf]
    for turn in range(rounds + 1):
        for side, run in enumerate((pair.run, pair.refer)):
            start = time.process_time()
            run()
            if turn:  # the first may load kernels
                least[side] = min(least[side], time.process_time() - start)
    return float(least[0] / least[1])


def grown(now: Ratios, stored: Ratios) -> list[str]:
    """Return a sentence for every ratio that has grown by a quarter or more."""
    return [
        f"{work} took {now[work, reference]:.2f} × {reference}; stored: {before:.2f}"
        for (work, reference), before in stored.items()
        if now.get((work, reference), 0.0) >= GROWN * before
    ]


def row(work: str, reference: str, value: float) -> str:
    return f"| {work} | {reference} | {value:.3g} |"


def stored_ratios(text: str) -> dict[tuple[str, str], float]:
    """Read the ratios from the lines of a table."""
    ratios = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3 and cells[2][:1].isdigit():
            ratios[cells[0], cells[1]] = float(cells[2])
    return ratios


def check(quick: bool, out: Path | None) -> None:
    """Print ratios and what has grown, and write the table if there is a path for it."""
    warnings.simplefilter("ignore")
    # No work is done as Python first, and compiled in a later turn.
    kernel_policy.COMPILING = 0.0
    kernel_policy.expect(np.inf)
    ratios, lines = {}, ["| work | beside | ratio of CPU seconds |", "| --- | --- | --: |"]
    print(*lines, sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for works in (short,) if quick else (short, longer):
            for pair in works(Path(folder)):
                value = ratio(pair, 3 if quick else ROUNDS)
                ratios[pair.work, pair.reference] = value
                lines.append(row(pair.work, pair.reference, value))
                print(lines[-1], flush=True)
    slower = grown(
        ratios, stored_ratios(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    )
    print("", *(slower or ["Nothing has grown by a quarter since the table was stored."]), sep="\n")
    if out:
        head = ["# What each call takes beside a reference in the same run", ""]
        load = f"load {os.getloadavg()[0]:.1f}"
        about = f"Least of {ROUNDS} turns, {load}. `python benchmarks/latency.py --check` compares with these."
        out.write_text("\n".join([*head, *lines, "", about]) + "\n", encoding="utf-8")

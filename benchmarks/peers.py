"""Compare `evaluate` with other evaluators on the same data, in turns in one process, after
checking results.

First comes the work that most people have: TREC files of text ids and nearly unique scores, and the
same in memory.

Run from the project's folder: ``python benchmarks/peers.py --out benchmarks/peers.md`` (peers that
are not installed are left out and named; ``pip install -e '.[peers]'`` installs them).
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import whole_process
from machine import machine

import retrieval_report as rr

RUNS = 5
OWN = "retrieval_report"
FILES, MEMORY = "TREC files → means", "the same in memory → scores"
METRICS = ("precision", "recall", "f1", "ap", "rr", "ndcg")
CUTOFFS = (1, 5, 10, 100, None)
TREC_METRICS, TREC_CUTOFFS = ("precision", "recall", "ap", "rr", "ndcg"), (5, 10, 100, 1000)
TREC_MEASURES = {
    "P.5,10,100,1000",
    "recall.5,10,100,1000",
    "map_cut.5,10,100,1000",
    "recip_rank",
    "ndcg_cut.5,10,100,1000",
}
JUDGED, LINES_OF_A_FILE = 60, 20_000
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
    """Return random lists: distances 0..64 or unique floats, grades 0..3, rows grouped by query or
    in random order.
    """
    generator = np.random.default_rng(0)
    rows = queries * items
    distance = (
        generator.binomial(64, 0.5, rows) if distances == "int" else generator.normal(size=rows)
    )
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
            pl.format("query-{}", "query").alias("query"),
            pl.format("item-{}", "item").alias("item"),
        )
    return frame.sample(fraction=1, shuffle=True, seed=1) if order == "random" else frame


def ours(work: str, frame: pl.DataFrame, **options: Any) -> Entry:
    asked = {"metrics": METRICS, "cutoffs": CUTOFFS, "policies": "expected"} | options
    return Entry(work, OWN, frame.height, lambda: rr.evaluate(frame, **asked))


def own_entries(scale: float) -> list[Entry]:
    """Return the workloads for this package alone."""
    queries = max(int(10_000 * scale), 10)
    grouped = rankings(queries, 1000)
    many, long = rankings(queries * 100, 10), rankings(1, queries * 1000)
    return [
        ours("integer distances, rows grouped by query", grouped),
        ours("integer distances, rows in random order", rankings(queries, 1000, order="random")),
        ours("unique floats, sorted", rankings(queries, 1000, distances="sorted")),
        ours("unique floats, unsorted", rankings(queries, 1000, distances="float")),
        ours("text ids, grouped", rankings(queries, 1000, ids="text")),
        ours("many queries of 10 items, 3 scores a row", many),
        ours("one query", long),
        ours("naive, grouped", grouped, policies="naive"),
        ours(
            "100 shuffles, cutoff 10, grouped",
            grouped,
            policies="shuffled",
            cutoffs=10,
            shuffles=100,
        ),
    ]


def write_trec(folder: Path, queries: int) -> tuple[Path, Path]:
    """Write a run of 1000 items per query, and 60 judgements per query, 40 of them retrieved."""
    generator = np.random.default_rng(0)
    run, qrels = folder / "bm25.run", folder / "qrels.txt"
    with run.open("w", encoding="utf-8") as lines, qrels.open("w", encoding="utf-8") as judged:
        for query in range(queries):
            items = generator.choice(200_000, 1000 + JUDGED // 3, replace=False)
            scores = np.sort(generator.gamma(2, 8, 1000))[::-1]
            for rank, (item, score) in enumerate(zip(items[:1000], scores, strict=True), 1):
                lines.write(f"q{query:04} Q0 clueweb-doc-{item:07} {rank} {score:.6f} bm25\n")
            for item in [
                *generator.choice(items[:1000], JUDGED - JUDGED // 3, replace=False),
                *items[1000:],
            ]:
                judged.write(
                    f"q{query:04} 0 clueweb-doc-{item:07} {generator.choice([0, 0, 0, 1, 1, 2])}\n"
                )
    return run, qrels


def from_files(run: Path, qrels: Path) -> pl.DataFrame:
    scores = trec_scores(rr.read_rankings(run), rr.read_judgements(qrels))
    return rr.summarise(scores)


def trec_scores(
    rankings: pl.DataFrame,
    judgements: pl.DataFrame,
    policy: str = "expected",
    truncated: str = "no",
) -> pl.DataFrame:
    asked: dict[str, Any] = {"metrics": TREC_METRICS, "cutoffs": TREC_CUTOFFS, "policies": policy}
    return rr.evaluate(
        rankings,
        judgements=judgements,
        truncated=truncated,
        naive_order="item_descending",
        **asked,
    )


def trec_entries(run: Path, qrels: Path) -> list[Entry]:
    """Return the work from files to means, and from objects in memory to scores."""
    rankings, judgements = rr.read_rankings(run), rr.read_judgements(qrels)
    entries = [
        Entry(FILES, OWN, rankings.height, lambda: from_files(run, qrels)),
        Entry(MEMORY, OWN, rankings.height, lambda: trec_scores(rankings, judgements)),
        Entry(
            f"{MEMORY}, truncated=auto",
            OWN,
            rankings.height,
            lambda: trec_scores(rankings, judgements, truncated="auto"),
        ),
    ]
    if importlib.util.find_spec("pytrec_eval"):
        given = parsed(run, qrels)
        entries += [
            Entry(
                FILES,
                "pytrec_eval (naive)",
                rankings.height,
                lambda: pytrec_scores(*parsed(run, qrels)),
            ),
            Entry(
                MEMORY,
                "pytrec_eval (naive), dictionaries",
                rankings.height,
                lambda: pytrec_scores(*given),
            ),
        ]
    return entries


def dictionaries(queries: int, items: int) -> tuple[Any, Any]:
    """Return a run as a dictionary of dictionaries with unique scores, and 30 judgements a query,
    of which 20 are of its items.
    """
    generator = np.random.default_rng(0)
    run, qrels = {}, {}
    for query in range(queries):
        found = generator.choice(50_000, items, replace=False).tolist()
        names = [f"doc{item}" for item in found]
        run[f"q{query}"] = dict(zip(names, generator.random(items).tolist(), strict=True))
        judged = dict(zip(names[:20], generator.integers(0, 3, 20).tolist(), strict=True))
        qrels[f"q{query}"] = judged | {f"other{item}": 1 for item in range(10)}
    return run, qrels


def dictionary_entries(scale: float) -> list[Entry]:
    """Return the work on dictionaries, four measures under two policies, and on pytrec_eval's."""
    measures = {"ndcg_cut.10", "map", "recip_rank", "recall.100"}
    entries = []
    for queries, items in ((300, 1000), (7000, 100)):
        run, qrels = dictionaries(max(int(queries * scale), 10), items)
        work, rows = f"dictionaries, {len(run)} × {items}", len(run) * items

        def own(run: Any = run, qrels: Any = qrels) -> Any:
            asked: dict[str, Any] = {"policies": ("expected", "naive")}
            return rr.evaluate(run, judgements=qrels, measures="ndcg@10,ap,rr,recall@100", **asked)

        def peer(run: Any = run, qrels: Any = qrels) -> Any:
            import pytrec_eval

            return pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)

        entries.append(Entry(work, OWN, rows, own))
        if importlib.util.find_spec("pytrec_eval"):
            entries.append(Entry(work, "pytrec_eval (naive)", rows, peer))
    return entries


def parsed(run: Path, qrels: Path) -> tuple[Any, Any]:
    import pytrec_eval

    with run.open(encoding="utf-8") as lines, qrels.open(encoding="utf-8") as judged:
        return pytrec_eval.parse_qrel(judged), pytrec_eval.parse_run(lines)


def pytrec_scores(qrels: Any, run: Any) -> Any:
    import pytrec_eval

    return pytrec_eval.RelevanceEvaluator(qrels, TREC_MEASURES).evaluate(run)


def check_trec(run: Path, qrels: Path) -> str:
    """Check that naive means equal those of pytrec_eval, apart from ties made by float32."""
    if not importlib.util.find_spec("pytrec_eval"):
        return "pytrec_eval is not installed: nothing was compared"
    scores = trec_scores(rr.read_rankings(run), rr.read_judgements(qrels), "naive")
    means = {
        (metric, cutoff): value
        for metric, cutoff, value in rr.summarise(scores).select("metric", "cutoff", "value").rows()
    }
    printed = list(pytrec_scores(*parsed(run, qrels)).values())
    names = {"precision": "P_10", "recall": "recall_10", "ap": "map_cut_10"}
    worst = max(
        abs(means[name, 10] - statistics.fmean(of[theirs] for of in printed))
        for name, theirs in names.items()
    )
    if worst > 1e-5:
        raise SystemExit(
            f"naive means differ from pytrec_eval's by {worst:g}: no times are printed"
        )
    return f"naive means at 10 agree with pytrec_eval's to {worst:.1e}"


def other_entries(run: Path, folder: Path, files: int) -> list[Entry]:
    """Return the work on many files at once, and an audit of many runs."""
    lines = run.read_bytes().splitlines(keepends=True)[:LINES_OF_A_FILE]
    many = [folder / f"run-{number}.trec" for number in range(files)]
    for number, file in enumerate(many):
        file.write_bytes(b"".join(lines).replace(b" bm25\n", b" bm25-%d\n" % number))
    runs, judgements = audited(20, 50)
    return [
        Entry(
            f"reading {files} TREC files", OWN, files * len(lines), lambda: rr.read_rankings(many)
        ),
        Entry(
            "audit of 20 runs × 50 × 1000",
            OWN,
            runs.height,
            lambda: rr.audit(runs, judgements=judgements),
        ),
    ]


def audited(models: int, queries: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return runs of 1000 items per query, half of them with ties, and judgements of 5 % of the
    items.
    """
    generator = np.random.default_rng(0)
    runs = pl.concat(
        pl.DataFrame(
            {
                "model": [f"run {model:02}"] * 1000,
                "query": [f"q{query}"] * 1000,
                "item": generator.choice(3000, 1000, replace=False),
                "score": np.sort(generator.gamma(2, 8, 1000).round(3 if model % 2 else 6))[::-1],
            }
        )
        for model in range(models)
        for query in range(queries)
    ).with_columns(pl.col("item").cast(pl.String))
    judged = runs.select("query", "item").unique(maintain_order=True).sample(fraction=0.05, seed=1)
    return runs, judged.with_columns(relevance=pl.Series(generator.integers(0, 3, judged.height)))


def peer_entries(frame: pl.DataFrame) -> list[Entry]:
    """Return the same work by other evaluators, from a long frame, including the conversion to
    their form.
    """
    entries = [ours("against peers", frame)]
    if importlib.util.find_spec("pytrec_eval"):
        entries.append(
            Entry("against peers", "pytrec_eval (naive)", frame.height, lambda: pytrec(frame))
        )
    if importlib.util.find_spec("ranx"):
        entries.append(Entry("against peers", "ranx (naive)", frame.height, lambda: ranx(frame)))
    if importlib.util.find_spec("sklearn"):
        entries.append(
            Entry(
                "against peers",
                "scikit-learn ndcg_score (NDCG alone)",
                frame.height,
                lambda: sklearn(frame),
            )
        )
    if importlib.util.find_spec("trm"):
        entries.append(
            Entry(
                "against peers",
                "tie-aware-retrieval-metrics (binary)",
                frame.height,
                lambda: trm(frame),
            )
        )
    return entries


def nested(frame: pl.DataFrame, column: str, sign: int = 1) -> dict[str, dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    for query, item, value in frame.select(
        pl.col("query", "item").cast(pl.String), column
    ).iter_rows():
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

    names = [
        f"{name}@{k}"
        for name in ("precision", "recall", "f1", "map", "mrr", "ndcg")
        for k in (1, 5, 10, 100)
    ]
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

    lists = frame.group_by("query", maintain_order=True).agg(
        -pl.col("distance"), pl.col("relevance") > 0
    )
    metrics = ["precision", "recall", "f1", "map", "mrr", "ndcg"]
    return peer.evaluate(
        lists["distance"].to_list(),
        lists["relevance"].to_list(),
        metrics=metrics,
        k_list=[1, 5, 10, 100],
    )


def check(frame: pl.DataFrame) -> str:
    """Check that NDCG with averaged ties equals scikit-learn's, since the definitions agree."""
    if not importlib.util.find_spec("sklearn"):
        return "scikit-learn is not installed: nothing was compared"
    scores = rr.evaluate(frame, metrics="ndcg", cutoffs=CUTOFFS, policies="expected")
    means = [
        rr.summarise(scores.filter(pl.col("cutoff").eq_missing(k)))["value"].item() for k in CUTOFFS
    ]
    worst = max(abs(one - other) for one, other in zip(means, sklearn(frame), strict=True))
    if worst > 1e-9:
        raise SystemExit(f"NDCG differs from scikit-learn by {worst:g}: no times are printed")
    return f"mean NDCG agrees with scikit-learn's to {worst:.1e}"


class Time(NamedTuple):
    """Wall-clock seconds, and CPU seconds of all processors."""

    wall: float
    cpu: float


def measure(entries: list[Entry], runs: int) -> list[tuple[Entry, list[Time]]]:
    """Return the times of all entries, taking turns, after one run each that loads kernels."""
    times: list[list[Time]] = [[] for _ in entries]
    for turn in range(runs + 1):
        for entry, seconds in zip(entries, times, strict=True):
            wall, cpu = time.perf_counter(), time.process_time()
            entry.run()
            if turn:
                seconds.append(Time(time.perf_counter() - wall, time.process_time() - cpu))
    return list(zip(entries, times, strict=True))


def cpu_table(measured: list[tuple[Entry, list[Time]]]) -> list[str]:
    lines = [
        "| work | way | rows | CPU seconds, median | least … most |",
        "| --- | --- | --- | --- | --- |",
    ]
    for entry, times in measured:
        seconds = sorted(one.cpu for one in times)
        lines.append(
            f"| {entry.work} | {entry.way} | {entry.rows:.1e} | {statistics.median(seconds):.3g} | "
            f"{seconds[0]:.3g} … {seconds[-1]:.3g} |"
        )
    return lines


def cpu_ratios(measured: list[tuple[Entry, list[Time]]]) -> str:
    medians = {
        (entry.work, entry.way): statistics.median(one.cpu for one in times)
        for entry, times in measured
    }
    others = [(work, way) for work, way in medians if way != OWN]
    return "; ".join(
        f"{work}: {medians[work, way] / medians[work, OWN]:.1f} times {way}" for work, way in others
    )


def table(measured: list[tuple[Entry, list[Time]]]) -> list[str]:
    lines = [
        "| work | way | rows | 10⁶ rows/s, median | slowest … fastest |",
        "| --- | --- | --- | --- | --- |",
    ]
    for entry, times in measured:
        rates = sorted(entry.rows / one.wall / 1e6 for one in times)
        lines.append(
            f"| {entry.work} | {entry.way} | {entry.rows:.0e} | {statistics.median(rates):.3g} | "
            f"{rates[0]:.3g} … {rates[-1]:.3g} |"
        )
    return lines


def ratios(measured: list[tuple[Entry, list[Time]]]) -> str:
    medians = {
        entry.way: entry.rows / statistics.median(one.wall for one in times)
        for entry, times in measured
    }
    own = medians.pop(OWN)
    return "; ".join(
        f"{own / rate:.0f} times {way}"
        for way, rate in sorted(medians.items(), key=lambda pair: -pair[1])
    )


def report(scale: float, runs: int) -> list[str]:
    """Return all tables; scale 1 is 10 million rows, and one million from files."""
    few = min(runs, 3)
    with tempfile.TemporaryDirectory() as folder:
        run, qrels = write_trec(Path(folder), max(int(1000 * scale), 10))
        trec_agreed = check_trec(run, qrels)
        trec = measure(trec_entries(run, qrels) + dictionary_entries(scale), runs)
        processes = whole_process.table(run, qrels, runs)
        others = measure(other_entries(run, Path(folder), max(int(143 * scale), 2)), 1)
    small = rankings(max(int(1000 * scale), 10), 1000)
    agreed = check(small)
    own, peers = measure(own_entries(scale), runs), measure(peer_entries(small), few)
    asked = (
        f"Metrics {', '.join(METRICS)} at cutoffs 1, 5, 10, 100 and all, policy `expected` with "
        "standard deviations, full validation included, from a frame in memory."
    )
    trec_asked = (
        f"Text ids, nearly unique scores, 1000 items and {JUDGED} judgements a query; "
        f"{', '.join(TREC_METRICS)} at {', '.join(map(str, TREC_CUTOFFS))}. CPU seconds are those "
        "of all processors together."
    )
    head = ["# Scores per second", "", "## Work as most people have it", "", trec_asked, ""]
    ratio = f"Ratios of medians: {cpu_ratios(trec)}. Before: {trec_agreed}."
    long = [
        "## Long lists, many lists, many ties",
        "",
        asked,
        "",
        *table(own),
        "",
        *table(peers),
        "",
    ]
    how = (
        f"Medians of {runs} runs (peers from a frame {few}), taking turns. {machine()}. "
        f"Command: `python benchmarks/peers.py {' '.join(sys.argv[1:])}`"
    )
    last = f"Ratios of medians: {ratios(peers)}. Before: {agreed}."
    usual = [*cpu_table(trec + others), "", ratio, "", *processes, ""]
    return [*head, *usual, *long, last, "", how]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--scale", type=float, default=1.0, help="1 is 10 million rows, and 1 million from files"
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    text = "\n".join(report(arguments.scale, arguments.runs)) + "\n"
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

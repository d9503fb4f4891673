"""Whether another checkout of this repository gives the same bits as this one.

    git worktree add /tmp/before <commit>
    python benchmarks/same_bits.py /tmp/before [--spark]

Every metric on every engine (memory, lazy frames, parts on disk, counts and, if asked for, Spark),
with judgements, without, with numbers of relevant items and on cut lists; every analysis; codes;
and all CSV files of both samples' reports. What differs is named with its first values; errors are
compared by their messages.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

METRICS = [
    "precision",
    "recall",
    "f1",
    "hit_rate",
    "r_precision",
    "rr",
    "ap",
    "ap(denominator=min)",
    "ap(denominator=k)",
    "ap(denominator=retrieved)",
    "ap_at_r",
    "ndcg",
    "ndcg(gain=exp2)",
    "ndcg(ideal=list)",
    "dcg",
    "acg",
    "wap",
    "err",
    "rbp(p=0.8)",
    "bpref",
    "num_rel_ret",
]
CUTOFFS = [1, 5, 10, None]
ORDERS = {"policies": ["expected", "worst", "best", "naive", "shuffled"], "shuffles": 7}
Job = tuple[str, Callable[[], Any]]


def made(seed: int, queries: int = 40, depth: int = 30) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rankings of three models whose distances tie less and less, and graded judgements of most
    of their items.
    """
    random, rows = np.random.default_rng(seed), []
    for model in range(3):
        for query in range(queries):
            size = int(random.integers(1, depth + 1))
            items, distances = (
                random.permutation(2 * depth)[:size],
                np.sort(random.integers(0, 2 + 3 * model, size)),
            )
            rows.append(
                pl.DataFrame(
                    {"model": f"m{model}", "query": query, "item": items, "distance": distances}
                )
            )
    query, item = np.repeat(np.arange(queries), 2 * depth), np.tile(np.arange(2 * depth), queries)
    grades = random.choice(4, query.size, p=[0.6, 0.2, 0.15, 0.05])
    judgements = pl.DataFrame({"query": query, "item": item, "relevance": grades})
    return pl.concat(rows), judgements.filter(pl.Series(random.random(query.size) < 0.7))


def scored(rr: Any, seed: int, folder: Path) -> Iterator[Job]:
    """Every metric on every engine of this machine."""
    rankings, judgements = made(seed)
    judged = rankings.join(judgements, on=["query", "item"], how="left").with_columns(
        pl.col("relevance").fill_null(0)
    )
    numbers = pl.DataFrame({"query": np.arange(40), "n_relevant": 45})
    ways: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
        "judged": (rankings, {"judgements": judgements}),
        "cut": (rankings, {"judgements": judgements, "truncated": "within_tie"}),
        "between": (rankings, {"judgements": judgements, "truncated": "between_ties"}),
        "pooled": (judged, {"truncated": "no"}),
        "numbers": (judged, {"queries": numbers, "truncated": "within_tie"}),
    }
    for metric in METRICS:
        asked: dict[str, Any] = {"metrics": metric, "cutoffs": CUTOFFS}
        for way, (frame, given) in ways.items():
            yield (
                f"memory-{way}-{metric}-{seed}",
                partial(rr.evaluate, frame, **given, **asked, **ORDERS),
            )
        lazy = partial(rr.evaluate, rankings.lazy(), judgements=judgements.lazy(), **asked)
        yield f"lazy-{metric}-{seed}", lazy
        parts = {"judgements": judgements, "rows_per_part": 100, **asked, **ORDERS}
        yield f"disk-{metric}-{seed}", partial(on_disk, rr, folder / "scores.tmp", rankings, parts)
    counts = rr.count_ties(judged)
    yield f"counts-{seed}", lambda: counts
    some = {"metrics": ["ap", "ndcg", "err", "rr"], "cutoffs": CUTOFFS}
    yield (
        f"counted-{seed}",
        partial(rr.evaluate, counts, **some, policies=["expected", "best", "worst", "shuffled"]),
    )


def on_disk(rr: Any, path: Path, rankings: pl.DataFrame, options: dict[str, Any]) -> pl.DataFrame:
    path = path.with_suffix(".parquet")
    rr.evaluate_to(path, rankings, **options)
    frame = pl.read_parquet(path)
    path.unlink()
    return frame


def on_spark(rankings: pl.DataFrame, judgements: pl.DataFrame) -> pl.DataFrame:
    from pyspark.sql import SparkSession

    from retrieval_report import spark as engine

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    frames = [session.createDataFrame(frame.to_pandas()) for frame in (rankings, judgements)]
    asked: dict[str, Any] = {
        "metrics": METRICS,
        "cutoffs": CUTOFFS,
        "naive_order": "item",
        **ORDERS,
    }
    scores = engine.evaluate(frames[0], judgements=frames[1], **asked)
    return pl.from_pandas(scores.toPandas()).sort(pl.all())


def analysed(rr: Any, seed: int) -> Iterator[Job]:
    """Every analysis of scores, ties and other systems."""
    rankings, judgements = made(seed)
    relevant = pl.col("relevance").fill_null(0)
    judged = rankings.join(judgements, on=["query", "item"], how="left").with_columns(relevant)
    asked: dict[str, Any] = {"metrics": ["ap", "ndcg", "precision", "rr"], "cutoffs": [5, 10]}
    scores = rr.evaluate(
        rankings, judgements=judgements, **asked, policies=["expected", "naive", "best", "worst"]
    )
    summary = rr.summarise(scores)
    segments = pl.DataFrame({"query": np.arange(40), "segment": ["a", "b"] * 20})
    of_scores: dict[str, Callable[..., Any]] = {
        "pairs": rr.compare,
        "pairs with orders": partial(rr.compare, rankings=rankings, judgements=judgements),
        "ranks": rr.stats.tie_ranks,
        "no worse": partial(rr.stats.no_worse, baseline="m0", margin=0.05),
        "deciding": lambda scores: rr.stats.deciding_queries(scores, "m0", "m1"),
        "by segment": lambda scores: rr.stats.summarise_by(scores, segments, by="segment"),
        "pairs by segment": lambda scores: rr.stats.compare_by(
            scores, segments, by="segment", resamples=999
        ),
        "winners by segment": lambda scores: rr.stats.segment_winners(
            scores, segments, by="segment"
        ),
        "queries": rr.lists.query_table,
    }
    for correction in ("max-t", "holm", "bh"):
        of_scores[correction] = partial(rr.compare, correction=correction, resamples=999)
        of_scores[f"board {correction}"] = partial(
            rr.leaderboard, correction=correction, resamples=999
        )
    pairs = rr.compare(scores, resamples=999)
    costs = {"m0": 1, "m1": 2, "m2": 4}
    given: dict[str, Any] = {"judgements": judgements}
    one = {"model": "m0", "query": 3}
    halves = [rankings.filter(pl.col("model") == model) for model in ("m0", "m2")]
    jobs: dict[str, Callable[[], Any]] = {
        **{name: partial(function, scores) for name, function in of_scores.items()},
        "summary": lambda: summary,
        "draws": partial(
            rr.shuffled_means, rankings, **given, metrics="ap, ndcg", cutoffs=[5, 10], shuffles=50
        ),
        "flips": partial(rr.flips, summary),
        "verdicts": partial(rr.stats.pair_verdicts, pairs),
        "costs": partial(rr.stats.cost_table, summary, costs),
        "profile": partial(rr.tie_profile, rankings, **given),
        "hints": partial(rr.tie_hints, rankings, **given),
        "cut lists": partial(rr.truncated_lists, rankings, **given),
        "audit": partial(
            rr.audit, rankings, **given, metrics="ndcg, ap, rr, precision, recall", cutoffs=[5, 10]
        ),
        "conventions": rr.systems.conventions,
        "recall curve": partial(rr.lists.recall_curve, rankings, **given),
        "similarity": lambda: rr.lists.ranking_similarity(*halves)[0],
        "ties at cutoff": partial(rr.lists.ties_at_cutoff, rankings, **given, cutoff=5),
        "ties of one": partial(rr.lists.ranking_ties, judged, **one),
        "tie groups": partial(rr.lists.tie_groups, judged),
        "coverage": partial(rr.lists.judgement_coverage, rankings, judgements),
        "study": lambda: rr.Study(rankings, "ndcg@10, ap@10, rr", **given, truncated="no").table(),
    }
    for metric in ("ap", "ndcg", "rr", "err"):
        every = partial(
            rr.lists.score_distribution, rankings, **given, **one, metric=metric, cutoff=10
        )
        jobs[f"distribution {metric}"] = every
    for system in ("trec_eval", "ranx", "torchmetrics", "KerasRS", "TF Similarity", "ir_measures"):
        like = partial(
            rr.systems.evaluate_like, rankings, system, **given, metrics="ndcg", cutoffs=[5, 10]
        )
        jobs[f"like {system}"] = like
    for name, job in jobs.items():
        yield f"{name}-{seed}", job


def counted(rr: Any) -> Iterator[Job]:
    """Codes of several kinds, and search results."""
    random = np.random.default_rng(5)
    queries, items = (random.integers(-3, 4, (rows, 8)).astype(np.int8) % 2 for rows in (6, 200))
    classes: dict[str, Any] = {"query_labels": np.zeros(6, int), "item_labels": np.arange(200) % 3}
    many = {
        "query_labels": np.eye(6, 9, dtype=int),
        "item_labels": np.arange(1800).reshape(200, 9) % 7 // 5,
    }
    count = partial(rr.codes.count_codes, queries, items)
    yield "codes-hamming", partial(count, **classes)
    yield "codes-shared-hamming", partial(count, **many, relevance="shared")
    packed = [random.integers(0, 256, (rows, 8), dtype=np.uint8) for rows in (6, 200)]
    yield "codes-packed", partial(rr.codes.count_codes, *packed, **classes, bits=64)
    yield (
        "radius",
        lambda: rr.codes.evaluate_radius(
            rr.codes.count_codes(*packed, **classes, bits=64), radii=[2, 28]
        ),
    )
    distances = np.sort(random.integers(0, 9, (30, 20)), axis=1).astype(np.float32)
    indices = np.argsort(random.random((30, 60)), axis=1)[:, :20]
    results = {"a": (distances, indices), "b": (distances + 1, indices[:, ::-1].copy())}
    labels = {"query_labels": np.arange(30) % 4, "item_labels": np.arange(60) % 4}
    yield "search", lambda: rr.Study(rr.from_search(results, **labels), "ndcg@10").table()


def dump(folder: Path, spark: bool) -> None:
    """Write every frame, the message of every error, and the samples' reports."""
    warnings.simplefilter("ignore")
    import retrieval_report as rr

    jobs = [job for seed in (1, 2) for job in (*scored(rr, seed, folder), *analysed(rr, seed))]
    jobs += [*counted(rr), *([("spark", partial(on_spark, *made(1)))] if spark else [])]
    errors = []
    for name, job in jobs:
        try:
            frame = job()
            frame.write_parquet(folder / f"{name.replace('/', '_')}.parquet")
        except Exception as error:
            errors.append(f"{name}: {type(error).__name__}: {error}")
    (folder / "errors.csv").write_text("\n".join(errors), encoding="utf-8")
    command = [sys.executable, "-m", "retrieval_report", "demo", "--out", str(folder / "demo")]
    # In the folder of the project, Python would find the package of that folder.
    subprocess.run(command, check=True, capture_output=True, cwd=folder)


def difference(one: Path, two: Path, policies: pl.Expr) -> str:
    """What differs between two files; empty if nothing does."""
    if not (one.is_file() and two.is_file()):
        return "is here alone" if two.is_file() else "is there alone"
    if one.suffix == ".csv":
        lines = [path.read_text(encoding="utf-8").splitlines() for path in (one, two)]
        changed = [pair for pair in zip(*lines, strict=False) if pair[0] != pair[1]]
        return "" if one.read_bytes() == two.read_bytes() else f"first changed line {changed[:1]}"
    before, after = (
        frame.filter(policies) if "policy" in frame.columns else frame
        for frame in map(pl.read_parquet, (one, two))
    )
    if before.schema != after.schema or before.height != after.height:
        return f"{before.shape} {before.schema} became {after.shape} {after.schema}"
    odd = [name for name in before.columns if not before[name].equals(after[name], null_equal=True)]
    return f"columns {', '.join(odd)}" if odd else ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="folder of the other checkout")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument(
        "--no-draws", action="store_true", help="leave out shuffled scores, if draws are to change"
    )
    parser.add_argument("--dump", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.dump:
        dump(given.dump, given.spark)
        return
    with tempfile.TemporaryDirectory() as there, tempfile.TemporaryDirectory() as here:
        for checkout, folder in ((given.checkout, there), (Path(__file__).parent.parent, here)):
            command = [
                sys.executable,
                __file__,
                str(checkout),
                "--dump",
                folder,
                *(["--spark"] if given.spark else []),
            ]
            subprocess.run(
                command, check=True, env={**os.environ, "PYTHONPATH": str(checkout.resolve())}
            )
        files = {path.relative_to(top) for top in (there, here) for path in Path(top).rglob("*.*")}
        files = {path for path in files if path.suffix in (".parquet", ".csv")}
        policies = pl.col("policy") != "shuffled" if given.no_draws else pl.lit(True)
        odd = {
            str(path): text
            for path in sorted(files)
            if (text := difference(Path(there, path), Path(here, path), policies))
        }
        for name, text in odd.items():
            print(f"{name}: {text}")
        print(f"{len(files)} frames and files, {len(odd)} differ")
        sys.exit(bool(odd))


if __name__ == "__main__":
    main()

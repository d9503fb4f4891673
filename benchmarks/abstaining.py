"""Measure how often `Thresholds.abstain` answers wrongly: its real risk beside the promised one.

``python benchmarks/abstaining.py`` (some two CPU minutes). In every trial, n of the 200 queries of
the digits choose the threshold, and the others are answered by it.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import polars as pl

import retrieval_report as rr
from retrieval_report.study.samples import sample_folder

MODELS = ("lsh-16", "itq-16", "lsh-64", "cosine-float32")
TRIALS = 1000


def answered(found: rr.stats.Thresholds) -> pl.DataFrame:
    """Return the distance of every query's answer, and the chance that it is wrong."""
    nearest = found.ties.filter(pl.col("before") == 0)
    return nearest.select(
        "query", pl.col(found.order), wrong=1 - pl.col("relevant") / pl.col("size")
    )


def trials(found: rr.stats.Thresholds, queries: int, risk: float) -> tuple[float, float, float]:
    """Return the mean loss of queries that had no part in the choice, its standard error, and the
    share of these that are answered.
    """
    generator = np.random.default_rng(queries)
    answers = answered(found)
    losses, given = [], []
    for _ in range(TRIALS):
        chosen = answers["query"].sample(queries, seed=int(generator.integers(2**32)))
        part = replace(found, ties=found.ties.filter(pl.col("query").is_in(chosen.implode())))
        threshold = part.abstain(risk)["threshold"].item()
        others = answers.filter(~pl.col("query").is_in(chosen.implode()))
        near = others.clear()
        if threshold is not None:
            near = others.filter(pl.col(found.order) <= threshold)
        losses.append(near["wrong"].sum() / others.height)
        given.append(near.height / others.height)
    return np.mean(losses), np.std(losses) / TRIALS**0.5, np.mean(given)


def main() -> None:
    """Print the table."""
    start = time.process_time()
    rankings = rr.read_rankings(sample_folder() / "digits" / "rankings.parquet")
    print("| model | queries that choose | promised | answered wrongly | answered |")
    print("| --- | --- | --- | --- | --- |")
    for model in MODELS:
        found = rr.thresholds(rankings.filter(model=model))
        for queries in (20, 100):
            for risk in (0.05, 0.1, 0.2):
                loss, error, share = trials(found, queries, risk)
                print(
                    f"| {model} | {queries} | {risk:.0%} | {loss:.1%} ± {error:.1%} | {share:.0%} |"
                )
    print(f"\n{time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    main()

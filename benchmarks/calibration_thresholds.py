"""Measure how often the intervals that `thresholds` gives hold the true values.

Run from the project's folder (two CPU minutes): ``python benchmarks/calibration_thresholds.py --out
docs/howto/thresholds.md``. The table replaces the text between two markers of the file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from calibration import show

from retrieval_report.ties.thresholds import thresholds

DRAWN = 200
PLACE = (
    "<!-- thresholds: made by benchmarks/calibration_thresholds.py -->",
    "<!-- end of thresholds -->",
)
GOALS = (("f1", None), ("accuracy", None), ("precision", 0.7), ("recall", 0.8))


def made_pairs(generator: np.random.Generator, queries: int, levels: int) -> pl.DataFrame:
    """Return ten items for each query at one of so many distances, near ones relevant more often,
    and more often for some queries than for others.
    """
    distance = generator.integers(0, levels, (queries, 10))
    luck = generator.normal(0, 1, (queries, 1))
    chance = 1 / (1 + np.exp(8 * (distance / levels - 0.45) - luck))
    ids = np.indices(distance.shape)
    return pl.DataFrame({
        "query": ids[0].ravel(),
        "item": ids[1].ravel(),
        "distance": distance.ravel(),
        "relevance": (generator.random(distance.shape) < chance).ravel().astype(np.int64),
    })  # fmt: skip


def threshold_table(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of how often intervals by `thresholds` hold the values of a thousand times as
    many queries: of a metric at the threshold that was chosen, of the threshold that is best or
    reaches the number in truth, and of areas.
    """
    goals = [f"{name} ≥ {least}" if least else name for name, least in GOALS]
    shown = [f"{goal}, {what}" for goal in goals for what in ("value", "threshold")]
    yield f"| distances | queries | {' | '.join(shown)} | ROC AUC | average precision |"
    yield f"| ---: | ---: |{' ---: |' * (len(shown) + 2)}"
    for levels in (12, 100):
        whole = thresholds(made_pairs(generator, 50_000, levels))
        best = [whole.calibrate(*goal, resamples=1)["threshold"][0] for goal in GOALS]
        areas = whole.areas.row(0, named=True)
        for queries in (15, 50, 150):
            held = np.zeros((DRAWN, len(shown) + 2))
            for trial in range(DRAWN):
                found = thresholds(made_pairs(generator, queries, levels))
                row = []
                for goal, truth in zip(GOALS, best, strict=True):
                    chosen = found.calibrate(*goal, resamples=200).row(0, named=True)
                    at = whole.table.filter(threshold=chosen["threshold"])
                    value = at[goal[0]].item() if at.height else np.nan
                    row.append(at.height and chosen["ci_low"] <= value <= chosen["ci_high"])
                    strictest = -1 if chosen["strictest"] is None else chosen["strictest"]
                    loosest = -1 if chosen["loosest"] is None else chosen["loosest"]
                    row.append(strictest <= truth <= loosest)
                of_draw = found.areas.row(0, named=True)
                for name in ("roc_auc", "average_precision"):
                    row.append(of_draw[f"{name}_low"] <= areas[name] <= of_draw[f"{name}_high"])
                held[trial] = row
            shares = " | ".join(f"{share:.0%}" for share in held.mean(axis=0))
            yield f"| {levels} | {queries} | {shares} |"


def main() -> None:
    """Print the table, or insert it into a file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="file whose text between the markers is replaced")
    head = f"Intervals that hold the true value, {DRAWN} draws (95% has a standard error of 1.5%):"
    table = "\n".join(threshold_table(np.random.default_rng(0)))
    show(f"{head}\n\n{table}", parser.parse_args().out, *PLACE)


if __name__ == "__main__":
    main()

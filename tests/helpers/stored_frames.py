"""Frames that are written to disk in parts, and read part by part."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

FEW: Any = {
    "metrics": ("precision", "ap", "ndcg", "rr"),
    "cutoffs": (3, None),
    "shuffles": 3,
    "truncated": "no",
}


POLICIES = ("expected", "naive", "shuffled", "best", "worst")


def made(*, text: bool = True, models: int = 2, queries: int = 23, seed: int = 0) -> pl.DataFrame:
    """Lists of uneven length with ties; relevance is a fact of (query, item); some models miss some
    queries.
    """
    random = np.random.default_rng(seed)
    rows = []
    for model in range(models):
        for query in range(queries):
            if (query + 3 * model) % 11 == 5:
                continue
            for item in random.permutation(30)[: random.integers(2, 16)]:
                grade = (query * 7 + int(item) * 5) % 4 if query % 6 else 0
                rows.append((f"m{model}", query, int(item), int(random.integers(0, 5)), grade))
    schema = {
        "model": pl.String,
        "query": pl.Int64,
        "item": pl.Int64,
        "distance": pl.Int64,
        "relevance": pl.Int8,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return (
        frame.with_columns(pl.format("q{}", "query").alias("query"), pl.col("item").cast(pl.String))
        if text
        else frame
    )


def written(folder: Path, frames: Iterable[pl.DataFrame]) -> Path:
    for number, frame in enumerate(frames):
        frame.write_parquet(folder / f"part-{number}.parquet", row_group_size=20)
    return folder

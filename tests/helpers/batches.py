"""Frames that come as sorted batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from retrieval_report.engines.stream import score_stream

# A stream has the rows of its own lists only; what other models show comes as further rows.
FEW: dict[str, Any] = {
    "metrics": ("precision", "ap", "ndcg", "rr"),
    "cutoffs": (3, None),
    "shuffles": 3,
    "truncated": "no",
    "relevant_items": "own",
}


def made(queries: int = 7, seed: int = 0) -> pl.DataFrame:
    """Lists of one model with ties, and queries without anything relevant; rows in random order."""
    random = np.random.default_rng(seed)
    rows = [
        (
            "m",
            f"q{query}",
            f"i{item}",
            int(random.integers(0, 4)),
            int(item) % 4 if query % 3 else 0,
        )
        for query in range(queries)
        for item in random.permutation(20)[: random.integers(1, 12)]
    ]
    frame = pl.DataFrame(
        rows, schema=["model", "query", "item", "distance", "relevance"], orient="row"
    )
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


def batches(frame: pl.DataFrame, size: int = 5) -> Iterator[pa.RecordBatch]:
    for part in frame.iter_slices(size):
        yield from part.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()


def streamed(frame: pl.DataFrame, size: int = 5, **options: Any) -> pl.DataFrame:
    parts = [
        pl.DataFrame(pl.from_arrow(batch))
        for batch in score_stream(batches(frame, size), **options)
    ]
    return pl.concat(parts)

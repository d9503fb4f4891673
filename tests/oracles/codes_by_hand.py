"""Counts of codes by hand, pair by pair, and codes to count."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Array = NDArray[Any]


def random_bits(seed: int, rows: int, bits: int) -> Array:
    return np.random.default_rng(seed).integers(0, 2, (rows, bits))


def classes(seed: int, rows: int, kinds: int = 3) -> Array:
    return np.random.default_rng(seed).integers(0, kinds, rows)


def hamming(query: Array, item: Array) -> int:
    return int((query != item).sum())


def same(query: Any, item: Any) -> int:
    return int(query == item)


def by_hand(distance: Array, relevance: Array) -> list[tuple[int, int, Any, int]]:
    """Rows (query, distance, relevance, count) of a matrix of distances and one of relevances."""
    counted = Counter(
        (query, int(d), r)
        for query in range(len(distance))
        for d, r in zip(distance[query], relevance[query].tolist(), strict=True)
        if d >= 0
    )
    return sorted((*key, count) for key, count in counted.items())


def rows(counts: pl.DataFrame) -> list[tuple[Any, ...]]:
    return counts.select("query", "distance", "relevance", "count").rows()


def pairs(queries: Array, items: Array, function: Any) -> Array:
    return np.array([[function(query, item) for item in items] for query in queries])

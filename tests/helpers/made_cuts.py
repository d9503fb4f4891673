"""Rankings cut in the ways that searches cut them, and what `evaluate` says of them."""

import warnings
from typing import Any

import numpy as np
import polars as pl

from retrieval_report import evaluate

ITEMS, QUERIES = 200, 12


def ranked(seed: int, distances: int = 60) -> pl.DataFrame:
    """Every query's ranking of one collection, nearest first."""
    generator = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "query": np.repeat([f"q{n}" for n in range(QUERIES)], ITEMS),
            "item": [f"i{n}" for n in range(ITEMS)] * QUERIES,
            "distance": generator.integers(0, distances, ITEMS * QUERIES),
            "relevance": [
                int(n % QUERIES == query) for query in range(QUERIES) for n in range(ITEMS)
            ],
        }
    ).sort("query", "distance", maintain_order=True)


def top(rankings: pl.DataFrame, depth: int = 10) -> pl.DataFrame:
    """As many items of each query as a search for so many returns: the last tie is cut."""
    return rankings.group_by("query", maintain_order=True).head(depth)


def models(**lists: pl.DataFrame) -> pl.DataFrame:
    return pl.concat(
        [rankings.with_columns(model=pl.lit(model)) for model, rankings in lists.items()]
    )


def said(rankings: pl.DataFrame, **options: Any) -> tuple[pl.DataFrame, list[str]]:
    """Scores, and the warnings of them."""
    asked: Any = {
        "metrics": "precision",
        "cutoffs": (1, 10),
        "policies": ("expected", "worst", "best"),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = evaluate(rankings, **(asked | options))
    return scores, [str(warning.message) for warning in caught]


def marked(scores: pl.DataFrame) -> set[str]:
    """Models of which scores are marked."""
    return set(scores.filter("truncated")["model"])

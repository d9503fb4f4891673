"""Cut lists for the engines that do not hold everything in memory."""

import numpy as np
import polars as pl

METRICS = (
    "precision",
    "recall",
    "ap",
    "ap(denominator=retrieved)",
    "rr",
    "ndcg",
    "ndcg(ideal=list)",
    "r_precision",
)


def complete(seed: int, models: int = 2, queries: int = 12, items: int = 40) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    relevance = (random.random((queries, items)) < 0.2) * random.integers(1, 4, (queries, items))
    parts = [
        pl.DataFrame(
            {
                "model": f"m{model}",
                "query": f"q{query}",
                "item": [f"d{item}" for item in range(items)],
                "distance": random.integers(0, 9, items),
                "relevance": relevance[query],
            }
        )
        for model in range(models)
        for query in range(queries)
    ]
    return pl.concat(parts)


def top(rankings: pl.DataFrame, depth: int) -> pl.DataFrame:
    near_first = rankings.sort("model", "query", "distance", maintain_order=True)
    return near_first.group_by("model", "query", maintain_order=True).head(depth)


def behind_ties(rankings: pl.DataFrame, depth: int) -> pl.DataFrame:
    return rankings.filter(
        pl.col("distance") <= pl.col("distance").sort().get(depth).over("model", "query")
    )

"""Random runs and judgements for the audit."""

import numpy as np
import polars as pl

METRICS = ("precision", "recall", "f1", "ap", "rr", "dcg", "ndcg", "hit_rate", "r_precision")


def make_run(
    *, queries: int = 25, items: int = 60, near: bool = False, seed: int = 0
) -> pl.DataFrame:
    """A shuffled run of two models with few scores; ``near`` adds differences that float32 cannot
    hold.

    Model b has no rows for one query.
    """
    random = np.random.default_rng(seed)
    frames = []
    for query in range(queries):
        length = int(random.integers(2, items))
        item = [f"d{number}" for number in random.choice(3 * items, size=length, replace=False)]
        for model in ("a", "b"):
            score = random.integers(1, 9, length) / 8 + near * random.integers(0, 3, length) * 1e-10
            frames.append(
                pl.DataFrame(
                    {"model": model, "query": f"q{query:02}", "item": item, "score": score}
                )
            )
    run = pl.concat(frames).sample(fraction=1, shuffle=True, seed=seed)
    return run.filter((pl.col("model") == "a") | (pl.col("query") != "q07"))


def make_judgements(run: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """Graded judgements of half the items, of items not retrieved, and of a query without a
    relevant item.
    """
    random = np.random.default_rng(seed)
    pairs = run.select("query", "item").unique().sort("query", "item")
    unseen = pairs.select("query").unique(maintain_order=True).with_columns(item=pl.lit("unseen"))
    pairs = pl.concat([pairs.filter(pl.Series(random.random(pairs.height) < 0.5)), unseen])
    grades = pl.Series("relevance", random.choice([0, 0, 1, 2, 3], pairs.height))
    nothing = pl.when(pl.col("query") != "q03").then(grades).otherwise(0)
    return pairs.with_columns(nothing.alias("relevance"))

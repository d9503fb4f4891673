"""Random tied lists, and how the tests of properties compare scores."""

import math
from typing import Any

import numpy as np
import polars as pl

from catalogue_texts import BINARY as OF_BINARY
from catalogue_texts import TEXTS
from retrieval_report import evaluate

EXACT = ("expected", "best", "worst")
CUTOFFS = [1, 2, 3, 5, 8, None]
PLACE = ["query", "metric", "cutoff"]
OWN_DEPTH = ("r_precision", "ap_at_r", "bpref")
BINARY = [*TEXTS, OF_BINARY]


def lists(seed: int, *, queries: int = 40, largest: int = 3, longest: int = 12) -> pl.DataFrame:
    """Two models' lists of 1 to ``longest`` items with grades 0 to ``largest``; few distances, so
    many ties.
    """
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, longest + 1, queries)
    query = np.repeat(np.arange(queries), sizes)
    grade = generator.integers(0, largest + 1, query.size) * generator.integers(0, 2, query.size)
    base = pl.DataFrame(
        {"query": query, "item": np.arange(query.size), "relevance": grade}
    ).with_columns(query=pl.format("q{}", "query"), item=pl.format("i{}", "item"))
    models = [
        base.with_columns(
            model=pl.lit(model), distance=pl.Series(generator.integers(0, 5, query.size))
        )
        for model in ("a", "b")
    ]
    return pl.concat(models).select("model", "query", "item", "distance", "relevance")


def judged(frame: pl.DataFrame) -> pl.DataFrame:
    """Judgements of all items, and of an item more for every second query that no model
    retrieved.
    """
    own = frame.select("query", "item", "relevance").unique()
    far = own.select("query").unique().sort("query").gather_every(2)
    return pl.concat([own, far.with_columns(item=pl.lit("far"), relevance=pl.lit(2, pl.Int64))])


def exact(
    frame: object,
    metrics: Any = TEXTS,
    cutoffs: Any = CUTOFFS,
    policies: Any = EXACT,
    **options: Any,
) -> pl.DataFrame:
    """Scores of lists that are complete."""
    return evaluate(
        frame,
        metrics=metrics,
        cutoffs=cutoffs,
        policies=policies,
        **({"truncated": "no"} | options),
    )


def wide(scores: pl.DataFrame) -> pl.DataFrame:
    """A column for every policy."""
    return scores.pivot("policy", index=["model", *PLACE, "items", "n_relevant"], values="value")


def close(left: pl.Series, right: pl.Series, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(left.to_numpy(), right.to_numpy(), rtol=tolerance, atol=1e-15)


def no_less(high: pl.Series, low: pl.Series) -> None:
    """``high`` ≥ ``low`` but for rounding."""
    assert (high >= low * (1 - 1e-12) - 1e-15).all()


def odd_distances(rows: int) -> dict[str, pl.Series]:
    """Distances that are counted, merged or sorted on the way to ties: dense, wide, of either sign,
    of any size.
    """
    generator = np.random.default_rng(rows)
    bits = generator.integers(-(2**63), 2**63 - 1, 12)
    floats = [
        -1.7e308,
        -1e308,
        -1.5,
        -5e-324,
        -0.0,
        0.0,
        5e-324,
        1e-300,
        0.1,
        math.nextafter(0.1, 1),
        1e308,
        2.0,
    ]
    few = generator.integers(0, 12, rows)
    return {
        "full range": pl.Series(np.sort(bits)[few]),
        "full range unsigned": pl.Series(bits.view(np.uint64)[few]),
        "dense": pl.Series(few.astype(np.uint8)),
        "wide": pl.Series(few * 1_000_003),
        "floats": pl.Series(np.array(floats)[few]),
        "single": pl.Series(np.linspace(-1, 1, 12).astype(np.float32)[few]),
        "many": pl.Series(generator.random(rows).round(3)),
        "sorted": pl.Series(np.sort(few)),
        "falling": pl.Series(np.sort(few)[::-1].copy()),
        "decimals": pl.Series(few).cast(pl.Decimal(30, 5)) / 7,
        "128 bits": pl.Series([int(code) * 2**90 for code in few], dtype=pl.Int128),
        "constant": pl.Series(np.full(rows, -7)),
    }

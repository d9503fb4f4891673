"""Hints on lists made to deserve them."""

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from retrieval_report.ties.hints import HINTS, tie_hints


def make_lists(
    *, queries: int = 20, items: int = 40, distances: int = 10, seed: int = 0
) -> pl.DataFrame:
    """Lists whose near items are relevant more often; every list ranks other items."""
    random = np.random.default_rng(seed)
    distance = random.integers(0, distances, (queries, items))
    relevance = random.random((queries, items)) < 0.6 - 0.5 * distance / distances
    return pl.DataFrame(
        {
            "model": ["m"] * (queries * items),
            "query": np.repeat(np.arange(queries), items),
            "item": np.concatenate(
                [random.permutation(10 * items)[:items] for _ in range(queries)]
            ),
            "distance": distance.ravel(),
            "relevance": relevance.ravel().astype(int),
        }
    )


def cut_at(rankings: pl.DataFrame, depth: int) -> pl.DataFrame:
    ordered = rankings.sort("model", "query", "distance", maintain_order=True)
    return ordered.filter(pl.int_range(pl.len()).over("model", "query") < depth)


def named(hints: pl.DataFrame, *names: str) -> list[tuple[Any, ...]]:
    assert hints.schema == pl.Schema(HINTS)
    return hints.filter(pl.col("hint").is_in(names)).select("model", "hint", "value").rows()


def test_lists_without_ties_may_end_anywhere():
    rankings = make_lists().with_columns(distance=pl.int_range(pl.len()).over("query"))
    assert tie_hints(cut_at(rankings, 25)).is_empty()


def rounded(bits: int) -> pl.Series:
    """Random distances with so many bits of mantissa, as 16-bit types have them."""
    mantissa, exponent = np.frexp(np.random.default_rng(0).uniform(0.05, 3.0, 800))
    return pl.Series(np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits))


@pytest.mark.parametrize(("bits", "kind"), [(8, "bfloat16"), (11, "float16")])
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_half_precision_is_seen_in_the_bits(bits: int, kind: str, dtype: type[pl.DataType]):
    hints = tie_hints(make_lists().with_columns(distance=rounded(bits).cast(dtype)))
    message = hints.filter(hint="half_precision")["message"].item()
    assert re.search(rf"are {kind} numbers: over whole lists, \d+% of the items are tied", message)


@pytest.mark.parametrize(
    "values", [rounded(24), rounded(8).round(1), pl.Series(np.arange(800) % 64 / 64)]
)
def test_other_numbers_are_not_taken_for_half_precision(values: pl.Series):
    assert named(tie_hints(make_lists().with_columns(distance=values)), "half_precision") == []


def test_near_ties_are_hinted_at():
    step = float(np.spacing(np.float32(9)))
    rankings = make_lists().with_columns(
        (pl.col("distance") + pl.col("item") % 2 * step).cast(pl.Float32)
    )
    [(_, _, share)] = named(tie_hints(rankings), "near_ties")
    assert 0.3 < share < 1

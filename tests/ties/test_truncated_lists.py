"""Which lists were cut, and how deep would have been deep enough, on lists cut from complete
ones.
"""

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from made_reports import grid


def hamming(bits: int, items: int = 3000, queries: int = 40) -> pl.DataFrame:
    """Distances of random codes to all items, as a complete ranking."""
    random = np.random.default_rng(bits)
    codes, asked = random.random((items, bits)) < 0.5, random.random((queries, bits)) < 0.5
    return grid(distance=(asked[:, None] != codes[None]).sum(axis=2))


def cut(rankings: pl.DataFrame, depth: int) -> pl.DataFrame:
    return rankings.sort("query", "distance").filter(pl.int_range(pl.len()).over("query") < depth)


@pytest.mark.parametrize(("bits", "least"), [(64, 0.97), (16, 0.7)])
@pytest.mark.parametrize(("depth", "cutoff"), [(10, 10), (50, 50)])
def test_the_depth_is_enough_for_nearly_all_lists(bits: int, least: float, depth: int, cutoff: int):
    complete = hamming(bits)
    [enough] = rr.truncated_lists(cut(complete, depth), cutoffs=cutoff)["sufficient_depth"]
    deeper = rr.truncated_lists(cut(complete, enough), cutoffs=cutoff)
    assert deeper["open_share"].item() <= 1 - least
    assert rr.truncated_lists(cut(complete, depth), cutoffs=cutoff)["open_share"].item() > 1 - least

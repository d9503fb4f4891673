"""Which lists were cut, and how deep would have been deep enough, on lists cut from complete
ones.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.ties.truncated_lists import TRUNCATED_LISTS

ALONE = {
    "query": list("pppqqq"),
    "item": list("abcabd"),
    "distance": [1, 2, 3, 1, 2, 3],
    "relevance": [1, 0] * 3,
}


def hamming(bits: int, items: int = 3000, queries: int = 40) -> pl.DataFrame:
    """Distances of random codes to all items, as a complete ranking."""
    random = np.random.default_rng(bits)
    codes, asked = random.random((items, bits)) < 0.5, random.random((queries, bits)) < 0.5
    distance = (asked[:, None] != codes[None]).sum(axis=2)
    return pl.DataFrame(
        {
            "query": np.repeat(np.arange(queries), items),
            "item": np.tile(np.arange(items), queries),
            "distance": distance.ravel(),
        }
    )


def cut(rankings: pl.DataFrame, depth: int) -> pl.DataFrame:
    return rankings.sort("query", "distance").filter(pl.int_range(pl.len()).over("query") < depth)


def test_columns_and_what_each_cutoff_meets() -> None:
    found = rr.truncated_lists(ALONE, cutoffs=(2, 3, None), truncated="within_tie")
    assert dict(found.schema) == TRUNCATED_LISTS
    numbers = ["cutoff", "lists", "shortest", "longest", "open_share", "sufficient_depth"]
    assert found.select(numbers).rows() == [
        (2, 2, 3, 3, 0.0, None),
        (3, 2, 3, 3, 1.0, 7),
        (None, 2, 3, 3, 1.0, None),
    ]


@pytest.mark.parametrize(("bits", "least"), [(64, 0.97), (16, 0.7)])
@pytest.mark.parametrize(("depth", "cutoff"), [(10, 10), (50, 50)])
def test_the_depth_is_enough_for_nearly_all_lists(
    bits: int, least: float, depth: int, cutoff: int
) -> None:
    complete = hamming(bits)
    [enough] = rr.truncated_lists(cut(complete, depth), cutoffs=cutoff)["sufficient_depth"]
    deeper = rr.truncated_lists(cut(complete, enough), cutoffs=cutoff)
    assert deeper["open_share"].item() <= 1 - least
    assert rr.truncated_lists(cut(complete, depth), cutoffs=cutoff)["open_share"].item() > 1 - least


def test_nothing_tells_the_size_of_a_tie_that_is_the_whole_list() -> None:
    rankings = {"query": list("ppqq"), "item": list("abcd"), "distance": [1, 1, 2, 2]}
    found = rr.truncated_lists(rankings, cutoffs=2, truncated="within_tie")
    assert found.select("open_share", "sufficient_depth").row(0) == (1.0, None)
    assert rr.truncated_lists(pl.DataFrame(rankings).clear()).is_empty()

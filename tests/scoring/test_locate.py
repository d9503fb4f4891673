"""Rows in random order are put together list by list, whatever type their queries are of."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from retrieval_report.scoring.arrays import locate


@pytest.mark.parametrize("low", [-128, 0, 2**40])
@pytest.mark.parametrize("spread", [200, 10**6])
@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Int64, pl.String])
def test_lists_stay_in_the_order_received(low: int, spread: int, dtype: type[pl.DataType]) -> None:
    query = pl.Series(low + np.random.default_rng(0).integers(0, spread, 5_000))
    if dtype == pl.Int8:
        query = query % 256 - 128
    if dtype == pl.UInt64:
        query = query.abs()
    rows = pl.DataFrame({"query": query.cast(dtype), "item": np.arange(query.len())})
    found, lists, of_lists = locate(rows)
    sorted_rows = rows.sort("query", maintain_order=True)
    together = [found[begin:end] for begin, end in zip(of_lists.begin, of_lists.end, strict=True)]
    assert pl.concat(together).equals(sorted_rows)
    assert lists.equals(sorted_rows.select("query").unique().sort("query"))

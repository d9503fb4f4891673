"""`count_ties` against a plain group-by, for distances of every type and spread."""

from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from retrieval_report import count_ties

SPREADS: dict[str, pl.Series] = {
    "few": pl.Series(range(-3, 4), dtype=pl.Int8),
    "far apart": pl.Series([-(2**63), -1, 0, 5, 2**63 - 1], dtype=pl.Int64),
    "unsigned": pl.Series([0, 1, 2**63, 2**64 - 1], dtype=pl.UInt64),
    "wide": pl.Series([-(2**100), 0, 2**100], dtype=pl.Int128),
    "floats": pl.Series([-1e300, -0.0, 0.0, 5e-324, 0.1, 1e300]),
    "short floats": pl.Series([0.1, 0.2, -3.0], dtype=pl.Float32),
    "unique": pl.Series(np.random.default_rng(2).normal(size=5000)),
    "decimals": pl.Series([Decimal("0.10"), Decimal("-7.25")]),
}


def rankings(order: str, values: pl.Series, *, text: bool) -> pl.DataFrame:
    random = np.random.default_rng(1)
    rows = 3000
    frame = pl.DataFrame(
        {
            "model": pl.Series(["b", "a"])[random.integers(0, 2, rows)],
            "query": random.integers(0, 7, rows),
            "item": np.arange(rows),
            order: values[random.integers(0, len(values), rows)],
            "relevance": random.choice([0.0, 0.5, 2.0], rows),
        }
    )
    return frame.with_columns(pl.col("query", "item").cast(pl.String)) if text else frame


@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("order", ["distance", "score"])
def test_counts_are_those_of_a_group_by(name: str, order: str):
    frame = rankings(order, SPREADS[name], text=name in ("few", "floats"))
    keys = ["model", "query", order, "relevance"]
    value = pl.col(order)
    whole = frame.with_columns(pl.when(value == 0).then(value.abs()).otherwise(value).alias(order))
    expected = whole.group_by(keys).agg(count=pl.len().cast(pl.Int64)).sort(keys)
    for rows in (frame, frame.sort("model", "query", order)):
        retrieved = count_ties(rows).filter("retrieved").drop("retrieved")
        assert_frame_equal(retrieved, expected, check_exact=True)
    if name == "floats":
        zeros = count_ties(frame).filter(pl.col(order) == 0)[order]
        assert not np.signbit(zeros.to_numpy()).any()

"""Tables write numbers as the report does."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from made_pages import TIMEOUT


def shown() -> None:
    import polars as pl

    from tables import frame_table

    rows = {
        "verdict": ["safe"] * 3,
        "winner": ["a"] * 3,
        "value": [0.5, 0.50002, 0.9],
        "segments_p": [1e-9, 0.04, None],
    }
    frame_table(pl.DataFrame(rows), of="segments", show=" ".join(rows))
    frame_table(
        pl.DataFrame({"model": ["a"], "cut_share": [1 / 3]}),
        of="profile",
        show="model cut_share",
    )
    pairs = pl.DataFrame({"model": ["a"], "relevant_pairs": [20_000.0], "all_pairs": [40_000.5]})
    frame_table(pairs, of="threshold_areas", show=" ".join(pairs.columns))


def test_small_probabilities_are_not_0_and_shares_have_one_decimal() -> None:
    page = AppTest.from_function(shown, default_timeout=TIMEOUT).run()
    pairs, profile, areas = (element.value for element in page.dataframe)
    assert pairs["segments_p"].dropna().to_list() == ["< 0.0001", "0.0400"]
    assert profile["cut_share"].to_list() == pytest.approx([100 / 3])
    formats = [element.proto.columns for element in page.dataframe]
    assert "%.5f" in formats[0]  # four decimals would show two models as equal
    assert "%.1f%%" in formats[1]
    assert areas["relevant_pairs"].to_list() == [20_000]
    assert ("%d" in formats[2], "%.4f" in formats[2]) == (True, True)  # whole amounts are counts

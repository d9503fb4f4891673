"""Frames as tables on the page."""

from __future__ import annotations

import polars as pl
import streamlit as st

from controls import Choice

__all__ = ["summary_table"]


def summary_table(summary: pl.DataFrame, choice: Choice) -> None:
    """One row for every model, best first."""
    st.dataframe(summary.filter(pl.col("cutoff").eq_missing(pl.lit(choice.cutoff, dtype=pl.Int64))))

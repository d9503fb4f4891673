"""Frames as tables on the page: numbers with four digits, names as the text they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import streamlit as st

from cached import Data
from retrieval_report.analysis.verdicts import VERDICTS, chance_of
from retrieval_report.charts.data import side_by_side

__all__ = ["facts_table", "flips_table", "frame_table", "summary_table", "with_chances"]

TITLES = {
    "model": "Model",
    "expected": "Expected",
    "tie_std": "± tie std",
    "naive": "Naive",
    "shuffled": "Shuffled",
    "lowest": "Lowest",
    "highest": "Highest",
    "query_se": "± query s.e.",
    "truncated_share": "Cut",
    "queries": "Queries",
    "no_relevant": "Nothing relevant",
    "missing": "No list",
    "unjudged": "Not judged",
}
COUNTS = ("no_relevant", "missing", "unjudged")  # of queries that a rule decides about
EXPLAINED = {
    "expected": "Exact mean over all orders of tied items; where lists are cut an estimate",
    "tie_std": "Exact standard deviation of the mean under random tie order; where lists are cut there is none",
    "naive": "Ties in the order received",
    "shuffled": "Mean over random orders",
    "lowest": "Under the worst tie order, and whatever a deeper retrieval could show of cut lists",
    "highest": "Under the best tie order, and whatever a deeper retrieval could show of cut lists",
    "truncated_share": "Queries whose score depends on items that were not retrieved",
    "query_se": "Standard error under sampling of queries, which has nothing to do with ties",
    "no_relevant": "Queries without a relevant item; what they score is one of the Rules in the sidebar",
    "missing": "Queries that the model has no rows for; what they score is one of the Rules in the sidebar",
    "unjudged": "Queries without judgements, which are left out",
}
WIDTHS = {"verdict": 170, "call": 150}  # in pixels: a verdict that is cut short says nothing


def frame_table(
    frame: pl.DataFrame,
    *,
    titles: Mapping[str, str] | None = None,
    explained: Mapping[str, str] | None = None,
    formats: Mapping[str, str] | None = None,
    widths: Mapping[str, int] = WIDTHS,
    alt: str | None = None,
    key: str | None = None,
    on_select: Callable[[], None] | None = None,
) -> None:
    """Show a frame; what is null in every row is left out where ``titles`` are given.

    ``formats`` are those of `st.column_config.NumberColumn`; by default whole numbers, or four digits. ``widths`` are
    pixels of columns of text.
    With ``on_select`` one row can be chosen; the session state has it under ``key``.
    """
    if titles is not None:
        frame = frame.select(
            name for name in titles if name in frame.columns and frame[name].null_count() < frame.height
        )
    config: dict[str, Any] = {}
    for name, dtype in frame.schema.items():
        title = (titles or {}).get(name, name)
        help_text = (explained or {}).get(name)
        if dtype == pl.Boolean:
            config[name] = st.column_config.CheckboxColumn(title, help=help_text)
        elif dtype.is_numeric():
            # "plain" writes some whole numbers with the noise of floats: 249.99999999999997.
            digits = (formats or {}).get(name, "%.4f" if dtype.is_float() else "%d")
            config[name] = st.column_config.NumberColumn(title, help=help_text, format=digits)
        else:
            config[name] = st.column_config.TextColumn(title, help=help_text, width=widths.get(name))
    shown: dict[str, Any] = {"hide_index": True, "column_config": config, "alt": alt, "key": key, "placeholder": "–"}
    if on_select is not None:
        shown |= {"on_select": on_select, "selection_mode": "single-row"}
    st.dataframe(frame, **shown)


def summary_table(summary: pl.DataFrame) -> None:
    """One row for every model at one cutoff, best first."""
    counts = summary.group_by("model").agg(pl.col(COUNTS).max())
    told = counts.select("model", *(name for name in COUNTS if counts[name].sum()))
    rows = side_by_side(summary).join(told, on="model", how="left", maintain_order="left")
    rows = rows.with_columns(pl.when(pl.col("truncated_share") > 0).then("truncated_share"))
    formats = {"truncated_share": "percent"}
    frame_table(rows, titles=TITLES, explained=EXPLAINED, formats=formats, alt="Scores of the models, best first.")


def flips_table(flips: pl.DataFrame) -> None:
    """Pairs of models, those whose order is not safe first."""
    titles = {
        "verdict": "Order",
        "model_a": "Model A",
        "model_b": "Model B",
        "expected_a": "Expected A",
        "expected_b": "Expected B",
        "naive_a": "Naive A",
        "naive_b": "Naive B",
        "p_tie": "Reversed by ties",
        "family_p": "p (Holm)",
        "disagree": "Reversed in",
    }
    explained = {
        "p_tie": "Probability that random tie order alone shows the pair the other way round",
        "family_p": "Of the difference, over the queries: sign-flip permutation, corrected for the number of pairs",
        "disagree": "Kinds of scores that show the pair the other way round",
    }
    order = pl.col("verdict").replace_strict(VERDICTS, range(len(VERDICTS)), return_dtype=pl.Int64)
    rows = flips.sort(order, pl.col("p_tie_high").fill_null(0), descending=[False, True], maintain_order=True)
    rows = with_chances(rows)
    frame_table(rows, titles=titles, explained=explained, alt="Pairs of models, those of unsafe order first.")


def with_chances(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs with the chance of a reversal as text, which says how surely it is known."""
    return pairs.with_columns(p_tie=pl.Series([chance_of(row) for row in pairs.iter_rows(named=True)], dtype=pl.String))


def facts_table(data: Data) -> None:
    """What the frames hold, in numbers."""
    rows: Sequence[dict[str, Any]] = [
        {
            "frame": "counts" if name == "rankings" and data.counted else name,
            "rows": frame.height,
            **{f"{part}s": frame[part].n_unique() for part in ("model", "query", "item") if part in frame.columns},
            "columns": ", ".join(frame.columns),
        }
        for name, frame in data.frames.items()
        if frame is not None
    ]
    titles = {name: name.capitalize() for name in ("frame", "rows", "models", "querys", "items", "columns")}
    frame_table(pl.DataFrame(rows, infer_schema_length=None), titles=titles | {"querys": "Queries"}, alt="The data.")

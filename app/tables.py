"""Show frames as tables on the page, with the digits of the report, and names as plain text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import streamlit as st

from records import Data
from retrieval_report.charts.data import side_by_side
from retrieval_report.comparison.leaderboard import rank_range
from retrieval_report.comparison.pairs import ahead_first
from retrieval_report.comparison.verdicts import doubt, with_chances
from retrieval_report.contracts.registry import column
from retrieval_report.writing.numbers import DECIMALS, chance_text, column_decimals, decimals
from text import plain

SUMMARY = (
    *("rank", "model", "expected", "tie_std", "naive", "shuffled", "lowest", "highest", "query_se"),
    *(
        "tie_ranks",
        "query_ranks",
        "truncated_share",
        "queries",
        "no_relevant",
        "missing",
        "unjudged",
    ),
)
FLIPS = (
    *("verdict", "model_a", "model_b", "expected_a", "expected_b", "naive_a", "naive_b"),
    *("p_tie", "family_p", "disagree"),
)
PARTS = {"model": "models", "query": "queries", "item": "items"}
COUNTS = ("no_relevant", "missing", "unjudged")  # counts of queries that are subject to a rule
WIDTHS = {"verdict": 170, "call": 190}  # in pixels, because a verdict that is cut off says nothing


FORMATS = {"number": "%.{}f", "signed": "%+.{}f", "share": "%.1f%%", "tenth": "%.1f", "count": "%d"}
ALONE = ("_std", "_se", "_std_rounded")  # not compared with each other, so they need not differ
FEW, MOST = 60, 6  # rows and decimals; in longer tables, some two numbers are always close


def frame_table(
    frame: pl.DataFrame,
    *,
    of: str = "",
    show: Sequence[str] = (),
    widths: Mapping[str, int] = WIDTHS,
    alt: str | None = None,
    key: str | None = None,
    on_select: Callable[[dict[str, Any]], None] | None = None,
) -> None:
    """Show a frame; if its kind is named, only these columns, with titles, except those that are
    all null.

    Shares are percentages, probabilities are texts, as in the report.
    ``widths`` holds widths of text columns in pixels.
    With ``on_select`` and a ``key``, one row can be chosen; the function takes it, with all columns
    of the frame.
    """
    whole = frame
    if of:
        frame = frame.select(
            name
            for name in show
            if name in frame.columns and frame[name].null_count() < frame.height
        )
    formats = {name: known.format for name in frame.columns if of and (known := column(of, name))}
    config = {name: _config(of, frame[name], widths.get(name)) for name in frame.columns}
    frame = frame.with_columns(_shown(frame[name], formats.get(name, "")) for name in frame.columns)
    shown: dict[str, Any] = {
        "hide_index": True,
        "column_config": config,
        "alt": alt,
        "key": key,
        "placeholder": "–",
    }
    if on_select is not None:

        def take() -> None:
            for number in st.session_state[str(key)]["selection"]["rows"]:
                on_select(whole.row(number, named=True))

        shown |= {"on_select": take, "selection_mode": "single-row"}
    st.dataframe(frame, **shown)


def _shown(values: pl.Series, format: str) -> pl.Series:
    """Return the values that the browser formats, with those that it cannot format as texts."""
    if format == "chance" and values.dtype.is_float():
        return values.map_elements(chance_text, return_dtype=pl.String)
    return 100 * values if format == "share" else values


def _config(of: str, values: pl.Series, width: int | None) -> Any:
    """Return title, help and format of a column."""
    name, dtype = values.name, values.dtype
    known = column(of, name) if of else None
    title, help_text = (known.title, known.help) if known else (name, None)
    format = known.format if known else ""
    if name == "image":
        return st.column_config.ImageColumn(title, help=help_text)
    if dtype == pl.Boolean:
        return st.column_config.CheckboxColumn(title, help=help_text)
    if dtype.is_numeric() and format != "chance":
        # "plain" writes some whole numbers with the noise of floats: 249.99999999999997.
        usual = FORMATS["number"] if dtype.is_float() else "%d"
        alone = format == "signed" or name.endswith(ALONE)
        needed = decimals(*values) if alone else column_decimals(values)
        places = min(needed, MOST) if dtype.is_float() and len(values) <= FEW else DECIMALS
        shown = FORMATS.get(format if dtype.is_float() else "count", usual).format(places)
        return st.column_config.NumberColumn(title, help=help_text, format=shown)
    right: Any = "right" if dtype.is_numeric() else None
    return st.column_config.TextColumn(title, help=help_text, width=width, alignment=right)


def heading(title: str, data: Data) -> None:
    """Show the title of a page, and the name and size of the data below it."""
    st.title(title)
    st.caption(f"{plain(data.name)} · {data.size}")


def summary_table(summary: pl.DataFrame, board: pl.DataFrame | None = None) -> None:
    """Show one row per model at one cutoff, best first, with ranks if a leaderboard is given."""
    counts = summary.group_by("model").agg(pl.col(COUNTS).max())
    found = counts.select("model", *(name for name in COUNTS if counts[name].sum()))
    rows = side_by_side(summary).join(found, on="model", how="left", maintain_order="left")
    rows = rows.with_columns(pl.when(pl.col("truncated_share") > 0).then("truncated_share"))
    if board is not None:
        spans = [rank_range(source).alias(f"{source}_ranks") for source in ("tie", "query")]
        rows = rows.join(
            board.select("model", "rank", *spans), on="model", how="left", maintain_order="left"
        )
    frame_table(rows, of="board", show=SUMMARY, alt="Scores of the models, best first.")


def flips_table(flips: pl.DataFrame) -> None:
    """Show pairs of models, those whose order is not safe first."""
    rows = ahead_first(flips, pl.col("value_b") > pl.col("value_a"))
    rows = rows.sort(
        doubt, pl.col("p_tie_high").fill_null(0), descending=[False, True], maintain_order=True
    )
    frame_table(
        with_chances(rows),
        of="flips",
        show=FLIPS,
        alt="Pairs of models, those of unsafe order first.",
    )


def facts_table(data: Data) -> None:
    """Show the sizes of the frames."""
    rows: Sequence[dict[str, Any]] = [
        {
            "frame": "counts" if name == "rankings" and data.counted else name,
            "rows": frame.height,
            **{
                name: frame[part].n_unique()
                for part, name in PARTS.items()
                if part in frame.columns
            },
            "columns": ", ".join(frame.columns),
        }
        for name, frame in data.frames.items()
        if frame is not None
    ]
    shown = ("frame", "rows", "models", "queries", "items", "columns")
    frame_table(
        pl.DataFrame(rows, infer_schema_length=None), of="facts", show=shown, alt="The data."
    )

"""Show frames as tables on the page, with the digits of the report, and names as plain text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import streamlit as st

import retrieval_report as rr
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.columns import Column
from retrieval_report.contracts.registry import column
from retrieval_report.engines.check_scores import beside
from retrieval_report.study.leaderboard_rows import leaderboard_of
from retrieval_report.writing.numbers import (
    DECIMALS,
    chance_text,
    column_decimals,
    decimals,
)

PAIRS = (
    "verdict policy model_a model_b difference p_tie family_p value_a value_b ci_low ci_high tie_std "
    "wins ties losses"
)
LISTED = 1000  # rows of a table and of a menu; every other query can be typed
ITEMS = 1000
NARROW = {"query": 120, "model": 150}  # pixels; long names would push the scores out of sight
WIDTHS = {
    "verdict": 170,
    "call": 190,
    "interval": 130,
}  # in pixels, because a verdict that is cut off says nothing
FORMATS = {
    "signed": "%+.{}f",
    "share": "%.1f%%",
    "tenth": "%.1f",
    "count": "%d",
}  # of floats
ALONE = ("_std", "_se")  # not compared with each other, so they need not differ
FEW, MOST = 60, 6  # rows and decimals; in longer tables, some two numbers are always close


def frame_table(
    frame: pl.DataFrame,
    *,
    of: str = "",
    show: str = "",
    widths: Mapping[str, int] = WIDTHS,
    alt: str | None = None,
    key: str | None = None,
    on_select: Callable[[Named], None] | None = None,
) -> None:
    """Show a frame; if its kind is named, only these columns, with titles, except those that are
    all null.

    Shares are percentages, probabilities are texts, as in the report.
    ``widths`` holds widths of text columns in pixels.
    With ``on_select`` and a ``key``, one row can be chosen; the function takes it, with all columns
    of the frame.
    """
    names = [name for name in show.split() or frame.columns if name in frame.columns]
    if of:
        names = [name for name in names if frame[name].null_count() < frame.height]
    columns = [_column(of, frame[name], widths.get(name)) for name in names]
    more: Named = {}
    if on_select is not None:

        def take() -> None:
            for number in st.session_state[str(key)]["selection"]["rows"]:
                on_select(frame.row(number, named=True))

        more = {"on_select": take, "selection_mode": "single-row"}
    st.dataframe(
        pl.DataFrame([values for values, _ in columns]),
        hide_index=True,
        column_config={values.name: config for values, config in columns},
        alt=alt,
        key=key,
        placeholder="–",
        **more,
    )


def _column(of: str, values: pl.Series, width: int | None) -> tuple[pl.Series, Any]:
    """Return the values that the browser formats, or texts where it cannot, with title, help and
    format.
    """
    name, dtype = values.name, values.dtype
    kinds = st.column_config
    declared = of and "@" not in name  # other measures are not
    known = column(of, name) if declared else Column(name, dtype, name, "", "")
    about: Named = {"label": known.title, "help": known.help or None}
    if name == "image":
        return values, kinds.ImageColumn(**about)
    if dtype == pl.Boolean:
        return values, kinds.CheckboxColumn(**about)
    if known.format == "chance":
        if dtype.is_float():
            values = values.map_elements(chance_text, return_dtype=pl.String)
        return values, kinds.TextColumn(**about, alignment="right")
    if not dtype.is_numeric():
        return values, kinds.TextColumn(**about, width=width)
    if known.format == "amount" and ((values == values.round()) & (values.abs() < 2**53)).all():
        values, dtype = values.cast(pl.Int64), pl.Int64()  # bytes, pairs
    # "plain" writes some whole numbers with the noise of floats: 249.99999999999997.
    form, places = "%d", DECIMALS
    if dtype.is_float():
        form = FORMATS.get(known.format, "%.{}f")
    if dtype.is_float() and len(values) <= FEW:
        alone = known.format == "signed" or name.endswith(ALONE)
        places = min(decimals(*values) if alone else column_decimals(values), MOST)
    shown = 100 * values if known.format == "share" else values
    if dtype.is_float():  # −1e-17 would be -0.0000
        shown = shown.set((shown < 0) & (shown > -0.5 * 10.0**-places), 0.0)
    return shown, kinds.NumberColumn(**about, format=form.format(places))


def judged_alone(
    rows: pl.DataFrame, judgements: pl.DataFrame | None, query: object
) -> pl.DataFrame:
    """Return the items of a list, without a relevance where nobody judged them."""
    if judgements is None:
        return rows
    judged = judgements.filter(query=query)["item"].cast(pl.String)
    known = pl.col("item").cast(pl.String).is_in(judged.implode())
    return rows.with_columns(pl.when(known).then("relevance"))


def with_texts(rows: pl.DataFrame, texts: pl.DataFrame | None) -> pl.DataFrame:
    """Return items with their texts and pictures, if there are any."""
    if texts is None:
        return rows
    texts = texts.unique("item", keep="first", maintain_order=True)
    return beside(rows.with_columns(pl.col("item").cast(pl.String)), texts, "item")


def leaderboard_table(study: rr.Study) -> None:
    """Show the leaderboard of a study."""
    rows, show, note = leaderboard_of(study)
    frame_table(rows, of="board", show=show, alt="Scores of the models, best first.")
    if note:
        st.caption(note)

"""Show the report's charts on the page, in the colours of the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import polars as pl
import streamlit as st

from cached import remember
from retrieval_report.comparison.verdicts import (
    CUT,
    DEPENDS,
    EQUAL,
    NOT_SIGNIFICANT,
    NOTHING,
    SAFE,
    UNTESTED,
)
from retrieval_report.contracts.arguments import Named
from text import plain

# On a narrow screen a chart scrolls by itself; without this the whole page would scroll.
# The default margins are wide; on a laptop they hide the last columns of tables, and on a phone
# they leave room for another number below each.
STYLE = """<style>
div:has(> [data-testid="stVegaLiteChart"]) {overflow-x: auto;}
[data-testid="stMainBlockContainer"] {padding-top: 4rem; padding-bottom: 4rem;}
[data-testid="stPageLink"] * {white-space: normal;}
@media (max-width: 48rem) {[data-testid="stHorizontalBlock"]:has([data-testid="stMetric"]) {row-gap: 1rem;}}
@media (min-width: 48rem) {[data-testid="stMainBlockContainer"] {padding-left: 2.5rem; padding-right: 2.5rem;}}
</style>"""
BOXES = {  # the kind of box for each verdict of `flips`
    SAFE: st.success,
    UNTESTED: st.info,
    EQUAL: st.info,
    NOTHING: st.info,
    CUT: st.error,
    DEPENDS: st.error,
    NOT_SIGNIFICANT: st.warning,
}
ACROSS = 3  # panels
TEXT = {"dark": "#e6e6e6", "light": "#31333f"}


class Drawing(NamedTuple):
    """A chart that is not made yet, and everything that decides it: its function's name, the data,
    and so on.
    """

    build: Callable[[], Any]
    key: tuple[Hashable, ...]


def theme() -> str:
    """Return whether the page is "light" or "dark"."""
    return st.context.theme.type or "light"


def show_chart(drawing: Drawing, **shown: Any) -> Any:
    """Show a chart of `retrieval_report.charts` as wide as the page, with its finding as text
    above.

    Screen readers get its ``description``. Panels are side by side or, on a narrow screen, one
    below the other.

    Parameters
    ----------
    drawing
        The chart, which is made only if none is cached for its key.
    **shown
        Further arguments of `st.vega_lite_chart`, such as ``on_select``.
    """
    drawn = json.loads(specification((*drawing.key, theme()), drawing.build))
    if drawn["title"]:
        st.markdown(f"**{plain(drawn['title'])}**")
    if drawn["subtitle"]:
        st.caption(plain(drawn["subtitle"]))
    panels = [
        {"spec": spec, "theme": None, "width": "stretch" if most is None else most}
        for spec, most in drawn["panels"]
    ]
    event = None
    if len(panels) == 1:
        event = st.vega_lite_chart(**panels[0], **shown)
    else:
        across = 2 if len(panels) == 4 else min(ACROSS, drawn["columns"])
        for start in range(0, len(panels), across):
            for column, panel in zip(
                st.columns(across), panels[start : start + across], strict=False
            ):
                column.vega_lite_chart(**panel, **shown)
    return event


def brushed(
    drawing: Drawing, key: str, rows: pl.DataFrame, *axes: str
) -> tuple[pl.DataFrame, Named]:
    """Show a scatter, and return the rows inside the rectangle dragged on it, and the rectangle."""
    event = show_chart(drawing, key=key, on_select="rerun", selection_mode="brush")
    box = event["selection"].get("brush") or {}
    inside = [pl.col(name).is_between(*sorted(box[name])) for name in axes if name in box]
    return rows.filter(*inside), box


@remember(256)
def specification(key: tuple[Hashable, ...], _build: Callable[[], Any]) -> str:
    """Return the chart as JSON, cached because Altair takes longer to write it than a page takes to
    draw.
    """
    from retrieval_report.charts.responsive import responsive  # after the page's heading

    return json.dumps(responsive(_build(), text=TEXT[str(key[-1])])._asdict(), allow_nan=False)

"""Charts on the page: as the report has them, in the colours of the page."""

from __future__ import annotations

import streamlit as st
from altair.typing import ChartType

from retrieval_report.charts import styled

__all__ = ["STYLE", "coloured", "draw"]

# On a narrow screen a chart scrolls by itself; without this the whole page would.
STYLE = '<style>div:has(> [data-testid="stVegaLiteChart"]) {overflow-x: auto;}</style>'
TEXT = {"dark": "#e6e6e6", "light": "#31333f"}


def draw(chart: ChartType) -> None:
    """Show a chart of `retrieval_report.charts`; its ``description`` tells it to screen readers."""
    # The charts' own tests hold them to the schema; to do so again takes longer than all the rest of a page.
    st.vega_lite_chart(coloured(chart).to_dict(validate=False), theme=None, width="content")


def coloured(chart: ChartType) -> ChartType:
    """The chart with lettering that reads on the page, at its own size.

    For pages that pass more to `st.altair_chart` than `draw` does, such as ``on_select``.
    """
    theme = st.context.theme.type or "light"
    # By default Streamlit squeezes labels and title into the size of the plot.
    return styled(chart, text=TEXT[theme]).properties(autosize={"type": "pad", "contains": "padding"})

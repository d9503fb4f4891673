"""Charts on the page."""

from __future__ import annotations

import streamlit as st
from altair.typing import ChartType

from retrieval_report.charts import styled

__all__ = ["draw"]


def draw(chart: ChartType) -> None:
    """Show a chart with its text for screen readers, in the colours of the page."""
    dark = st.context.theme.type == "dark"
    description = chart.to_dict(validate=False).get("description")
    st.altair_chart(styled(chart, text="#e6e6e6" if dark else "#31333f"), theme=None, width="content", alt=description)

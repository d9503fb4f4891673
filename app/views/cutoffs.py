"""The page on the chosen metric along the cutoffs, and on precision along recall."""

from __future__ import annotations

import streamlit as st

from chart_display import show_chart
from page import Page
from retrieval_report import charts
from text import plain


def show(page: Page) -> None:
    """Draw the page."""
    choice, name = page.choice, plain(page.choice.metric)
    if len(choice.cutoffs) < 2:
        st.info(
            f"{name} is computed as deep as there are relevant items, so there is no cutoff to "
            "choose."
        )
        return
    show_chart(charts.scores_by_cutoff, page.curve.summary, metric=choice.metric)
    curve = page.all_measures.recall_curve
    if curve.width:  # large ties would make it take minutes
        st.header("Along recall")
        show_chart(charts.recall_curve, curve)

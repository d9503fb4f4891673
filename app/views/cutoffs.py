"""The page on the chosen metric along the cutoffs, and on precision along recall."""

from __future__ import annotations

import streamlit as st

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
    means = page.curve.summary
    page.show(charts.scores_by_cutoff, means, metric=choice.metric)
    curve = page.all_measures.recall_curve
    if curve.width:  # large ties would make it take minutes
        st.header("Along recall", anchor="recall")
        page.show(charts.recall_curve, curve)

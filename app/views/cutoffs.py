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
    if not page.data.counted:
        st.header("Along recall", anchor="recall")
        curve = page.all_measures.quick_curve
        if curve.width:
            page.show(charts.recall_curve, curve)
        else:
            st.caption(
                "With ties this large, exact values take minutes; `retrieval-report curve` "
                "computes them."
            )

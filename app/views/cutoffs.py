"""The page on the chosen metric along the cutoffs: in expectation with bands, and under each
policy.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from page import Page
from retrieval_report import charts
from text import plain
from url_controls import choose_many

MOST_BANDS = 3  # more would hide each other


def show(page: Page) -> None:
    """Draw the page."""
    choice, name = page.choice, plain(page.choice.metric)
    page.heading(f"Cutoffs: {name}")
    if len(choice.cutoffs) < 2:
        st.info(
            f"{name} is computed as deep as there are relevant items, so there is no cutoff to "
            "choose."
        )
        return
    means = page.shown(page.curve.summary)
    bands = choose_many(
        "Models with bands",
        choice.models,
        name="bands",
        placeholder="none",
        help="The range over all tie orders (pale), and ±2 standard deviations under random tie "
        f"order (dark). The first {MOST_BANDS} are drawn.",
    )
    banded = bands[:MOST_BANDS]
    if len(bands) > MOST_BANDS:
        st.caption(f"Bands of the first {MOST_BANDS} models are drawn; more would hide each other.")
    how: dict[str, Any] = {"metric": choice.metric, "bands": banded, "key": banded}
    page.show(charts.scores_by_cutoff, means, **how)
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

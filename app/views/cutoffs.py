"""The page on the chosen metric along the cutoffs: in expectation with bands, and under each
policy.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from cached import of_metric, shown, study_of
from chart_display import chart_of, show_chart
from records import Choice, Data
from retrieval_report import charts
from tables import heading
from text import plain
from url_controls import choose_many, choose_one

MOST_BANDS = 3  # more would hide each other


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    heading(f"Cutoffs: {plain(choice.metric)}", data)
    if len(choice.cutoffs) < 2:
        st.info(
            f"{plain(choice.metric)} is computed as deep as there are relevant items, so there is "
            "no cutoff to choose."
        )
        return
    found = shown(of_metric(study_of(data, choice), choice).summary, choice)
    left, right = st.columns([3, 1])
    with left:
        bands = choose_many(
            "Models with bands",
            choice.models,
            name="bands",
            placeholder="none",
            help="The range over all tie orders (pale), and ±2 standard deviations under random "
            "tie order (dark). "
            f"The first {MOST_BANDS} are drawn.",
        )
    with right:
        scale = choose_one("Axis of k", ("log", "linear"), name="axis")
    banded = bands[:MOST_BANDS]
    if len(bands) > MOST_BANDS:
        st.caption(f"Bands of the first {MOST_BANDS} models are drawn; more would hide each other.")
    how: dict[str, Any] = {"metric": choice.metric, "log": scale == "log", "key": (banded, scale)}
    show_chart(chart_of(data, choice, charts.scores_by_cutoff, found, bands=banded, **how))
    if not data.counted:
        st.header("Along recall", anchor="recall")
        curve = study_of(data, choice).quick_curve
        if curve.width:
            show_chart(chart_of(data, choice, charts.recall_curve, curve))
        else:
            st.caption(
                "With ties this large, exact values take minutes; `retrieval-report curve` "
                "computes them."
            )
    st.header("Under each policy", anchor="policies")
    show_chart(chart_of(data, choice, charts.policy_panels, found, first=banded, **how))

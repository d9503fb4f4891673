"""The page on the chosen metric along the cutoffs: in expectation with bands, and under each policy."""

from __future__ import annotations

import streamlit as st

from cached import of_metric, shown, study_of
from chart_files import show_chart
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
            f"{plain(choice.metric)} is computed as deep as there are relevant items, so there is no cutoff to choose."
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
            help="The range over all tie orders (pale), and ±2 standard deviations under random tie order (dark). "
            f"The first {MOST_BANDS} are drawn.",
        )
    with right:
        scale = choose_one("Axis of k", ("log", "linear"), name="axis")
    banded = bands[:MOST_BANDS]
    if len(bands) > MOST_BANDS:
        st.caption(f"Bands of the first {MOST_BANDS} models are drawn; more would hide each other.")
    key = (data.digest, choice, banded, scale)
    show_chart(
        lambda: charts.scores_by_cutoff(found, metric=choice.metric, bands=banded, log=scale == "log"),
        *("scores_by_cutoff", *key),
    )
    if not data.counted:
        st.header("Along recall", anchor="recall")
        curve = study_of(data, choice).quick_curve
        if curve.width:
            show_chart(lambda: charts.recall_curve(curve), "recall_curve", data.digest, choice)
        else:
            st.caption("With ties this large, exact values take minutes; `retrieval-report curve` computes them.")
    st.header("Under each policy", anchor="policies")
    show_chart(
        lambda: charts.policy_panels(found, metric=choice.metric, first=banded, log=scale == "log"),
        *("policy_panels", *key),
    )

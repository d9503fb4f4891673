"""The page on thresholds: up to which distance an item is a match."""

import streamlit as st

from chart_display import show_chart
from page import Page
from retrieval_report import charts
from retrieval_report.study.questions import OWN_LISTS
from retrieval_report.ties.thresholds import METRICS
from tables import frame_table
from url_controls import choose_number, choose_one


def show(page: Page) -> None:
    """Draw the page."""
    st.caption(
        "All items up to a distance (or from a score on) are accepted as matches. This makes sense "
        f"if the distances of different queries can be compared. {OWN_LISTS}"
    )
    also = page.data.source.also
    with st.container(horizontal=True):
        metric = choose_one(
            "Choose by", METRICS, name="calibrate", default=also["calibrate"] or "f1"
        )
        at_least = choose_number(
            "At least", name="at_least", low=0.01, high=1.0, step=0.01, default=also["at_least"]
        )
    study = page.study.using(calibrate=metric, at_least=at_least)
    frame_table(
        page.best_first(study.calibration), of="calibration", alt="The threshold of every model."
    )
    if study.calibration["threshold"].has_nulls():
        st.caption("A model without a threshold: none reaches the goal, or no item is relevant.")
    frame_table(
        page.best_first(study.matches.areas),
        of="threshold_areas",
        alt="Areas under the curves of every model.",
    )
    model = choose_one("Model", page.ranked_runs, name="matcher")
    show_chart(charts.thresholds, study.matches.table.filter(model=model))

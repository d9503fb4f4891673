"""The page on who wins, whether that is safe, and how far off naive scores are."""

from __future__ import annotations

import streamlit as st

from chart_display import say, show_chart
from page import Page
from retrieval_report import charts
from retrieval_report.study.reversals import TITLE, not_varied_line, varied
from tables import frame_table, leaderboard_table
from text import plain

TURNING = "source reversal verdict family_p varied"  # what fits a phone first
MEANINGS = (
    "Items with the same distance or score are *tied*: nothing says which comes first, and measures "
    "depend on it. *Naive*: ties in the order of the data, as some tools score them. *Expected*: the "
    "exact mean over all orders, free of chance; where items may be missing from the lists, an "
    "estimate from the given ones."
)


def show(page: Page) -> None:
    """Draw the page."""
    study = page.study
    say(study.status, study.verdict)
    reversals = study.reversals
    if reversals.height:
        st.subheader(TITLE)
        frame_table(varied(reversals), of="reversals", show=TURNING, alt=TITLE)
        st.caption(plain(not_varied_line(reversals)))
    st.subheader("Leaderboard")
    leaderboard_table(page.with_others)
    st.caption(MEANINGS)
    show_chart(charts.policies, study.summary, **page.choice.at)
    if len(page.choice.models) > 1:
        page.link("compare", "See every pair of models, and whether its order depends on ties")

"""The page on who wins, whether that is safe, and how far off naive scores are."""

from __future__ import annotations

import polars as pl
import streamlit as st

from cached import winners
from chart_display import BOXES, Drawing, show_chart
from page import Page
from retrieval_report import charts
from retrieval_report.study.caveats import naive_ties
from tables import flips_table, summary_table
from text import plain

MEANINGS = (
    "Items at the same distance are *tied*: nothing says which comes first, and scores depend on "
    "it. *Naive*: ties in "
    "the order of the data, as most tools score them. *Expected*: the exact "
    "mean over all orders, free of chance; where items may be missing from the lists, an estimate "
    "from the given ones."
)


def show(page: Page) -> None:
    """Draw the page."""
    page.heading(f"Overview: {page.measure}")
    study = page.study
    _headline(page)
    scores, ranks = drawings(page)
    st.subheader("Leaderboard")
    board = study.leaderboard if len(page.choice.models) > 1 else None
    summary_table(page.shown(study.summary), board)
    st.caption(MEANINGS)
    show_chart(scores)
    st.subheader("Does the order of the models depend on ties?")
    pairs = study.flips
    if pairs.is_empty():
        st.info("This question needs two models.")
        return
    if pairs.filter(pl.col("disagree") != "").is_empty():
        with st.expander("Every kind of score ranks the models in the same order"):
            show_chart(ranks)
    else:
        show_chart(ranks)
    flips_table(pairs)


def drawings(page: Page) -> list[Drawing]:
    """Return the charts of the page: scores by policy, and ranks."""
    means = page.shown(page.study.summary)
    return [
        page.drawing(charts.policies, means, **page.choice.at),
        page.drawing(charts.rank_flips, means, **page.choice.at),
    ]


def _headline(page: Page) -> None:
    """Show the verdict in a coloured box, and further sentences below."""
    study = page.all_measures
    best, printed = winners(study)
    lines = [plain(sentence) for sentence in study.sentences]
    box, first = BOXES.get(study.status, st.info), lines[:2]
    if printed:
        box, first = st.error, [_accident(page, printed, best), *first]
    box("\n\n".join(first))
    for line in (*lines[2:], *map(plain, study.notices)):
        st.markdown(f"- {line}")


def _accident(page: Page, *winners: tuple[str, ...]) -> str:
    printed, best = (" and ".join(plain(model, 60) for model in models) for models in winners)
    ties = plain(naive_ties(page.study.like, page.study.options.naive_order))
    comes = "comes" if len(winners[0]) == 1 else "come"
    return (
        f"**The printed winner is an accident of tie order.** With ties {ties}, {printed} {comes} "
        f"first by {page.measure}; over all orders of tied items it is {best}."
    )

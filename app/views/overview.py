"""Who wins, is it safe, and how far off is what others print."""

from __future__ import annotations

import streamlit as st

from controls import Choice
from drawing import draw
from loading import Data, Verdict, flips, summary, verdict
from retrieval_report import charts
from tables import summary_table
from text import plain

__all__ = ["show"]


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    said = verdict(data, choice)
    _headline(said, choice)
    found = summary(data, choice)
    st.subheader(f"Scores by {plain(choice.measure)}")
    summary_table(found, choice)
    draw(charts.policies(found, metric=choice.metric, cutoff=choice.cutoff))
    st.subheader("Does the order of the models depend on ties?")
    st.dataframe(flips(data, choice))
    draw(charts.rank_flips(found, metric=choice.metric, cutoff=choice.cutoff))


def _headline(said: Verdict, choice: Choice) -> None:
    if said.printed:
        winners = " and ".join(plain(model, 60) for model in said.printed)
        st.error(f"**The printed winner is an accident of tie order:** in the order received {winners} comes first.")
    for sentence in said.sentences:
        st.markdown(plain(sentence))

"""Who wins, is it safe, and how far off is what others print."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from cached import Data, Verdict, at_cutoff, flips, notices, summary, verdict
from chart_display import BOXES, Drawing, draw
from controls import Choice
from retrieval_report import charts
from tables import flips_table, summary_table
from text import plain

__all__ = ["drawings", "show"]

MEANINGS = (
    "Items at the same distance are *tied*: nothing says which comes first, and scores depend on it. *Naive*: ties as "
    "they happen to stand in the data, as most tools print. *Shuffled*: the mean over random orders. *Expected*: the "
    "exact mean over all orders, free of chance; of lists that were cut an estimate, from the items that are there."
)


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    st.title(f"Overview: {plain(choice.measure)}")
    concerned = not at_cutoff(summary(data, choice), choice).filter(pl.col("truncated_share") > 0).is_empty()
    said = [plain(sentence) for sentence in notices(data, choice)]
    for sentence in said if concerned else []:
        st.error(sentence)
    _headline(verdict(data, choice), choice)
    for sentence in [] if concerned else said:
        st.info(sentence)
    scores, ranks = drawings(data, choice)
    st.subheader("Scores of the models")
    st.caption(MEANINGS)
    summary_table(at_cutoff(summary(data, choice), choice))
    draw(scores.build, *scores.key)
    st.subheader("Does the order of the models depend on ties?")
    pairs = flips(data, choice)
    if pairs.is_empty():
        st.info("It takes two models to ask.")
        return
    draw(ranks.build, *ranks.key)
    flips_table(pairs)


def drawings(data: Data, choice: Choice) -> tuple[Drawing, Drawing]:
    """The charts of the page: scores by policy, and ranks."""
    found = at_cutoff(summary(data, choice), choice)
    measure: dict[str, Any] = {"metric": choice.metric, "cutoff": choice.cutoff}
    return (
        Drawing(lambda: charts.policies(found, **measure), ("policies", data.digest, choice)),
        Drawing(lambda: charts.rank_flips(found, **measure), ("rank_flips", data.digest, choice)),
    )


def _headline(said: Verdict, choice: Choice) -> None:
    """The verdict in a box of its colour, and what else is to say below."""
    lines = [plain(sentence) for sentence in said.sentences]
    box = BOXES.get(said.status, st.info)
    first = lines[:2]
    if said.printed:
        box = st.error
        first.insert(0, _accident(said, choice))
    box("\n\n".join(first))
    for line in lines[2:]:
        st.markdown(f"- {line}")


def _accident(said: Verdict, choice: Choice) -> str:
    printed, best = (" and ".join(plain(model, 60) for model in models) for models in (said.printed, said.best))
    comes = "comes" if len(said.printed) == 1 else "come"
    return (
        f"**The printed winner is an accident of tie order.** In the order received, {printed} {comes} first by "
        f"{plain(choice.measure)}; over all orders of tied items it is {best}."
    )

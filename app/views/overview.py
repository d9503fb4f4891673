"""The page on who wins, whether that is safe, and how far off naive scores are."""

from __future__ import annotations

import polars as pl
import streamlit as st

import retrieval_report as rr
from cached import shown, study_of, winners
from chart_display import BOXES, Drawing, chart_of, show_chart
from records import Choice, Data, Winners
from retrieval_report import charts
from retrieval_report.study.caveats import naive_ties
from retrieval_report.study.tables import MANY
from tables import flips_table, heading, summary_table
from text import plain

MEANINGS = (
    "Items at the same distance are *tied*: nothing says which comes first, and scores depend on "
    "it. *Naive*: ties in "
    "the order of the data, as most tools score them. *Expected*: the exact "
    "mean over all orders, free of chance; where items may be missing from the lists, an estimate "
    "from the given ones."
)


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    heading(f"Overview: {plain(choice.measure)}", data)
    study = study_of(data, choice)
    here = study.at(choice.measure)
    _headline(study, choice)
    for sentence in study.notices:
        st.markdown(f"- {plain(sentence)}")
    *scores, ranks = drawings(data, choice)
    st.subheader("Leaderboard")
    summary_table(shown(here.summary, choice), here.board if len(choice.models) > 1 else None)
    st.caption(MEANINGS)
    for drawing in scores:
        show_chart(drawing)
    st.subheader("Does the order of the models depend on ties?")
    pairs = here.flips
    if pairs.is_empty():
        st.info("This question needs two models.")
        return
    if pairs.filter(pl.col("disagree") != "").is_empty():
        with st.expander("Every kind of score ranks the models in the same order"):
            show_chart(ranks)
    else:
        show_chart(ranks)
    flips_table(pairs)


def many(choice: Choice) -> bool:
    """Return whether ranks say more than pairs."""
    return len(choice.models) >= MANY


def drawings(data: Data, choice: Choice) -> list[Drawing]:
    """Return the charts of the page: the leaderboard of many models, scores by policy, and
    ranks.
    """
    study = study_of(data, choice).at(choice.measure)
    found = shown(study.summary, choice)
    board = [chart_of(data, choice, study.plot.leaderboard)] if many(choice) else []
    return [
        *board,
        *(
            chart_of(data, choice, chart, found, **choice.at)
            for chart in (charts.policies, charts.rank_flips)
        ),
    ]


def _headline(study: rr.Study, choice: Choice) -> None:
    """Show the verdict in a coloured box, and further sentences below."""
    lines = [plain(sentence) for sentence in study.sentences]
    box = BOXES.get(study.status, st.info)
    first = lines[:2]
    first_models = winners(study)
    if first_models.printed:
        box = st.error
        first.insert(0, _accident(first_models, study, choice))
    box("\n\n".join(first))
    for line in lines[2:]:
        st.markdown(f"- {line}")


def _accident(said: Winners, study: rr.Study, choice: Choice) -> str:
    printed, best = (
        " and ".join(plain(model, 60) for model in models) for models in (said.printed, said.best)
    )
    ties = plain(naive_ties(study.like, study.options.naive_order))
    comes = "comes" if len(said.printed) == 1 else "come"
    return (
        f"**The printed winner is an accident of tie order.** With ties {ties}, {printed} {comes} "
        "first by "
        f"{plain(choice.measure)}; over all orders of tied items it is {best}."
    )

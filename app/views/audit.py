"""The page on what each evaluator would print for this data, beside the exact value."""

import polars as pl
import streamlit as st

from page import Page
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.study.caveats import (
    configuration,
    not_audited,
    printed_sentences,
    same_winner,
    winner_sentences,
    winner_text,
)
from retrieval_report.study.questions import MOST_AUDITED
from retrieval_report.systems.audit import as_defined, furthest_off
from tables import frame_table
from text import plain
from url_controls import choose_one

PRINTED = (
    "system prints prints_low prints_high exact off definition_shift version call z order "
    "lowest highest definition note"
)
WIDTHS = {"system": 195, "call": 185}  # the longest names
WINNERS = "system winner same_winner exact_winner version call order"  # what fits a phone first


def show(page: Page) -> None:
    """Draw the page."""
    st.markdown(
        "This page shows what widely used evaluators would print for these rankings. None of them "
        "is run: their definitions and tie orders are known, and applied here. A difference from "
        "the exact score has one of two reasons: the *definition*, which is a choice, or the *tie "
        "order*, which is an accident. If an evaluator shuffles ties or sorts them unstably, the "
        "possible range is shown. Lists are treated as complete, as these evaluators do."
    )
    page.name_suspects()
    if rules := not_audited(page.choice.options):
        st.caption(rules)
    large = page.data.frames["rankings"].height > MOST_AUDITED
    if large and not st.toggle(
        "Compute it (takes minutes for this much data)", key="audit", bind="query-params"
    ):
        return
    try:
        printed = page.study.audit
    except ParameterError as error:  # no known evaluator has this metric at this cutoff
        st.info(plain(error))
        return
    if not printed["prints_low"].count():
        st.info(f"None of the evaluators prints {page.measure} for these models.")
        return
    means = page.study.under("expected").summary
    for sentence in printed_sentences(printed, means, page.choice.options["average"]):
        st.markdown(plain(sentence))
    _winners(page, printed, means)
    _model(page, printed)


def _winners(page: Page, printed: pl.DataFrame, means: pl.DataFrame) -> None:
    """Show which evaluators name another best model because of tie order."""
    st.header("Who would win?")
    sentences = winner_sentences(printed, means)
    if not sentences:
        why = (
            "No two models are left to compare"
            if page.study.suspects
            else "There is only one model"
        )
        st.info(f"{why}, so no evaluator can name the wrong winner.")
        return
    winners = printed.select(WINNERS.split()).unique(maintain_order=True).drop_nulls("winner")
    wrong, undecided = (~winners["same_winner"]).any(), winners["same_winner"].null_count() > 0
    open_winner = wrong or undecided
    (st.warning if open_winner else st.info)("\n\n".join(map(plain, sentences)))
    rows = winners.sort(pl.col("same_winner").cast(pl.Float64).fill_null(0.5), maintain_order=True)
    rows = rows.with_columns(same_winner(), winner_text(), configuration())
    with st.expander("What each of them names as best", expanded=open_winner):
        frame_table(
            rows,
            of="audit",
            show=WINNERS,
            widths=WIDTHS,
            alt="The model that each evaluator names best.",
        )


def _model(page: Page, printed: pl.DataFrame) -> None:
    """Show what is printed for one model."""
    st.header("What is printed for one model?")
    model = choose_one("Model", page.ranked_runs, name="model")
    rows = printed.filter(model=model).sort(
        as_defined, furthest_off, descending=True, nulls_last=True, maintain_order=True
    )
    st.caption(
        "Evaluators that compute the measure as it is defined here come first, "
        "beginning with those that tie order may put furthest off. The scores of the "
        "others also differ by definition."
    )
    frame_table(
        rows,
        of="audit",
        show=PRINTED,
        widths=WIDTHS,
        alt="What each evaluator prints, the furthest off first.",
    )

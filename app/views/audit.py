"""The page on what each evaluator would print for this data, beside the exact value."""

from __future__ import annotations

import polars as pl
import streamlit as st

from cached import study_of, winners
from chart_display import chart_of, show_chart
from records import Choice, Data
from retrieval_report import charts
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.study.caveats import same_winner, winner_sentences
from retrieval_report.systems.audit import furthest_off
from tables import frame_table, heading
from text import plain
from url_controls import choose_one

PRINTED = (
    *(
        "system",
        "version",
        "call",
        "prints",
        "prints_low",
        "prints_high",
        "exact",
        "definition_shift",
        "off",
        "z",
    ),
    *("order", "lowest", "highest", "definition", "note"),
)
WINNERS = ("system", "version", "call", "winner", "exact_winner", "same_winner", "order")


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    heading(f"Audit: {plain(choice.measure)}", data)
    if data.counted:
        st.info(
            "This data consists of counts. What others print depends on the order of items, which "
            "counts do not have."
        )
        return
    st.markdown(
        "What widely used evaluators would print for these rankings. None of them is run: their "
        "definitions and their "
        "order inside ties are known and applied. A difference from the exact score is due either "
        "to *definition*, a "
        "choice, or to *tie order*, an accident. If an evaluator shuffles ties or sorts them "
        "unstably, the possible "
        "range is shown."
    )
    if choice.rules.distance_threshold is not None:
        st.caption(
            "The rule “Relevant up to distance” is not applied here, because these evaluators have "
            "no such rule."
        )
    if data.large and not st.toggle(
        "Compute it (takes minutes for this much data)", key="audit", bind="query-params"
    ):
        return
    try:
        with st.spinner("Computing what others would print …"):
            found = study_of(data, choice).at(choice.measure).audit
    except ParameterError as error:  # no known evaluator has this metric at this cutoff
        st.info(plain(error))
        return
    if found["prints_low"].null_count() == found.height:
        st.info(f"None of the evaluators prints {plain(choice.measure)} for these models.")
        return
    _winners(found)
    _model(data, choice, found)


def _winners(found: pl.DataFrame) -> None:
    """Show which evaluators name another best model because of tie order."""
    st.header("Who would win?", anchor="winners")
    sentences = winner_sentences(found)
    if not sentences:
        st.info("There is only one model, so no evaluator can name the wrong winner.")
        return
    known = found.select(WINNERS).unique(maintain_order=True).filter(pl.col("winner").is_not_null())
    wrong, undecided = (~known["same_winner"]).any(), known["same_winner"].null_count() > 0
    box = st.error if wrong else st.warning if undecided else st.success
    box("\n\n".join(plain(sentence) for sentence in sentences))
    order = pl.col("same_winner").replace_strict(
        [False, True], [0, 2], default=1, return_dtype=pl.Int8
    )
    rows = known.sort(order, maintain_order=True).with_columns(same_winner=same_winner())
    with st.expander("What each of them names as best", expanded=bool(wrong or undecided)):
        frame_table(rows, of="audit", show=WINNERS, alt="The model that each evaluator names best.")


def _model(data: Data, choice: Choice, found: pl.DataFrame) -> None:
    """Show what is printed for one model."""
    st.header("What is printed for one model?", anchor="model")
    said = winners(study_of(data, choice))
    default = (said.printed or said.best or choice.models)[0]
    model = choose_one("Model", choice.models, name="model", default=default)
    show_chart(
        chart_of(data, choice, charts.evaluators, found, **choice.at, model=model, key=(model,))
    )
    rows = found.filter(pl.col("model") == model)
    rows = rows.sort(furthest_off, descending=True, nulls_last=True, maintain_order=True)
    frame_table(
        rows, of="audit", show=PRINTED, alt="What each evaluator prints, the furthest off first."
    )

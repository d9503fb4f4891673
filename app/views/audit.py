"""What each evaluator would print on this data, beside the exact value."""

from __future__ import annotations

import polars as pl
import streamlit as st

from cached import study_of, winners
from chart_files import show_chart
from records import Choice, Data
from retrieval_report import charts
from retrieval_report.analysis.audit import furthest_off
from retrieval_report.contracts.errors import ParameterError
from tables import frame_table, heading
from text import plain
from url_controls import choose_one

__all__ = ["show"]

PRINTED = (
    *("system", "version", "call", "prints", "prints_low", "prints_high", "exact", "definition_shift", "off", "z"),
    *("lowest", "highest", "order", "definition", "note"),
)
WINNERS = ("system", "version", "call", "winner", "exact_winner", "same_winner", "order")


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    heading(f"Audit: {plain(choice.measure)}", data)
    if data.counted:
        st.info("This data counts items. What others print depends on the order of the items, and counts have none.")
        return
    st.markdown(
        "What widely used evaluators would print for these very rankings. None of them is run: their order inside ties "
        "and their definitions are known and applied. A difference from the exact score is either *definition*, a "
        "choice, or *tie order*, an accident. Where it shuffles ties, or sorts them with an unstable sort, the range "
        "of what it could print is shown."
    )
    if choice.rules.distance_threshold is not None:
        st.caption("Up to which distance items are relevant is not applied here: the evaluators know no such rule.")
    if data.large and not st.toggle("Compute it: takes minutes on so much data", key="audit", bind="query-params"):
        return
    try:
        with st.spinner("Asking what others would print …"):
            found = study_of(data, choice).at(choice.measure).audit
    except ParameterError as error:  # no evaluator that is known has this metric at this cutoff
        st.info(plain(error))
        return
    if found["prints_low"].null_count() == found.height:
        st.info(f"None of the evaluators prints {plain(choice.measure)} for these models.")
        return
    _winners(found)
    _model(data, choice, found)


def _winners(found: pl.DataFrame) -> None:
    """Which evaluators name another best model because of tie order."""
    st.header("Who would win?", anchor="winners")
    known = found.select(WINNERS).unique(maintain_order=True).filter(pl.col("winner").is_not_null())
    wrong, undecided = known.filter(~pl.col("same_winner")), known.filter(pl.col("same_winner").is_null())
    if found["model"].n_unique() < 2:
        st.info("There is one model only, so there is no winner to get wrong.")
        return
    if wrong.is_empty() and undecided.is_empty():
        st.success(f"No evaluator configuration (of {known.height}) names a different winner.")
    if wrong.height:
        st.error(
            f"{wrong.height} of {known.height} evaluator configurations name a winner that is an accident of "
            f"tie order: {_systems(wrong)}."
        )
    if undecided.height:
        st.warning(
            f"{undecided.height} of {known.height} could name one winner or another, as their shuffle or their "
            f"unstable sort has it: {_systems(undecided)}."
        )
    rows = known.sort(pl.col("same_winner").cast(pl.Int8).replace_strict({0: 0, 1: 2}, default=1), maintain_order=True)
    agreed = wrong.is_empty() and undecided.is_empty()
    with st.expander("What each of them names as best", expanded=not agreed):
        frame_table(rows, of="audit", show=WINNERS, alt="The model that each evaluator names best.")


def _systems(rows: pl.DataFrame) -> str:
    return ", ".join(plain(name) for name in rows["system"].unique(maintain_order=True))


def _model(data: Data, choice: Choice, found: pl.DataFrame) -> None:
    """What is printed for one model."""
    st.header("What is printed for one model?", anchor="model")
    said = winners(study_of(data, choice))
    default = (said.printed or said.best or choice.models)[0]
    model = choose_one("Model", choice.models, name="model", default=default)
    show_chart(
        lambda: charts.evaluators(found, metric=choice.metric, cutoff=choice.cutoff, model=model),
        *("evaluators", data.digest, choice, model),
    )
    rows = found.filter(pl.col("model") == model)
    rows = rows.sort(furthest_off, descending=True, nulls_last=True, maintain_order=True)
    frame_table(rows, of="audit", show=PRINTED, alt="What each evaluator prints, the furthest off first.")

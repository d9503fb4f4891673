"""The page on ties: how many there are, and where the cutoff splits one."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import streamlit as st

from cached import at_cutoff, of_metric, ranked_models, study_of
from chart_display import chart_of, show_chart
from details import cuts
from records import Choice, Data
from retrieval_report import charts
from tables import frame_table, heading
from text import plain

LISTED = 500
FEW = 2  # oddities of one kind that are shown at once
PROFILE = (
    *(
        "model",
        "cut_share",
        "mixed_share",
        "ends_in_cut_tie",
        "tied_items",
        "mixed_items",
        "tie_median",
        "tie_max",
    ),
    *("items", "distances", "bits", "near_ties", "queries"),
)
CUTS = ("model", "query", "first", "last", "size", "inside", "relevant", "mixed")


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    heading("Ties", data)
    with st.spinner("Counting ties …"):
        found = of_metric(study_of(data, choice), choice).ties
    if found.is_empty():
        st.info("There are no lists.")
        return
    tied = found.filter(pl.col("tied_items") > 0).height > 0
    if tied:
        show_chart(chart_of(data, choice, charts.profile, found))
    else:
        st.success(
            "No two items of a list tie: every evaluator that sorts correctly prints the same "
            "scores."
        )
    oddities = st.container()  # shown first, but computed last, because it takes longest
    st.subheader(f"Ties at the cutoff: {plain(choice.measure)}", anchor="profile")
    here = at_cutoff(found, choice).drop("cutoff")
    _profile_table(_best_first(here, data, choice), "Ties of every model at the cutoff.")
    if tied:
        _cuts(data, choice)
    _judged(data, choice)
    with oddities:
        _hints(data, choice)


def _hints(data: Data, choice: Choice) -> None:
    """Show oddities of the data; many of one kind, and what ties do to nearly every model, are
    folded.
    """
    with st.spinner("Looking for oddities …"):
        known = study_of(data, choice).hints
    odd, ties = known.filter(pl.col("hint") != "ties"), known.filter(hint="ties")
    for same in odd.partition_by("hint", maintain_order=True):
        said = [_hint(*row) for row in same.select("model", "message").iter_rows()]
        for sentence in said[:FEW]:
            st.warning(sentence)
        _fold(f"The same of {len(said) - FEW} more models", said[FEW:])
    said = [_hint(*row) for row in ties.select("model", "message").iter_rows()]
    _fold(f"What ties do to {ties.height} of {len(choice.models)} models, in words", said)
    if not odd.filter(pl.col("hint") == "near_ties").height:
        st.caption(
            "Near ties: hardly any gap between neighbouring distances is as small as rounding "
            "errors."
        )


def _hint(model: str | None, message: str) -> str:
    return plain(message) if model is None else f"**{plain(model, 60)}**: {plain(message)}"


def _fold(label: str, sentences: Sequence[str]) -> None:
    if sentences:
        with st.expander(label):
            st.markdown("\n".join(f"- {sentence}" for sentence in sentences))


def _judged(data: Data, choice: Choice) -> None:
    """How much of the lists is judged, where there are judgements."""
    if data.judgements is None or data.counted:
        return
    st.subheader("How much is judged", anchor="judged")
    covered = at_cutoff(study_of(data, choice).at(choice.measure).coverage, choice)
    shown = ("model", "metric", "value", "tie_std", "queries")
    frame_table(
        covered, of="coverage", show=shown, alt="Judged share of every model at the cutoff."
    )
    st.caption("Share of judged items at the cutoff, and what rank-biased precision leaves open.")


def _cuts(data: Data, choice: Choice) -> None:
    """Show the lists whose cutoff falls inside a tie."""
    st.subheader("Where the cutoff splits a tie", anchor="cuts")
    if choice.cutoff is None:
        st.info(
            "The whole list is scored, so no cutoff splits a tie. Choose a cutoff in the sidebar."
        )
        return
    found = cuts(data, choice)
    if found.is_empty():
        st.info(f"Cutoff {choice.cutoff} falls between ties in every list.")
        return
    matter = found["mixed"].sum()
    st.markdown(
        f"In {found.height} lists, ranks {choice.cutoff} and {choice.cutoff + 1} are in one tie; "
        f"in {matter} of "
        "them the tied items differ in relevance, so chance decides what is counted."
        + (f" The {LISTED} largest are listed." if found.height > LISTED else "")
    )
    frame_table(
        found.head(LISTED), of="ties_at_cutoff", show=CUTS, alt="Lists whose cutoff splits a tie."
    )


def _best_first(rows: pl.DataFrame, data: Data, choice: Choice) -> pl.DataFrame:
    """Return the rows of the models in the order of the leaderboard."""
    ranked = ranked_models(study_of(data, choice))
    order = pl.col("model").replace_strict(ranked, range(len(ranked)), default=len(ranked))
    return rows.sort(order, maintain_order=True)


def _profile_table(rows: pl.DataFrame, alt: str) -> None:
    frame_table(rows, of="profile", show=PROFILE, alt=alt)

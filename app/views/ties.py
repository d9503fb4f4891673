"""How much the distances tie, where the cutoff cuts a tie, and what rounding would do."""

from __future__ import annotations

import polars as pl
import streamlit as st

from cached import Data, at_cutoff, hints, profile
from chart_display import draw
from controls import Choice
from details import cuts, rounding, whole_distances
from retrieval_report import charts
from tables import frame_table
from text import plain

__all__ = ["show"]

LISTED = 500
RECEIVED = "as received"
DECIMALS = (RECEIVED, *(str(number) for number in range(8, -1, -1)))
PROFILE_TITLES = {
    "model": "Model",
    "cut_share": "Cut a tie",
    "mixed_share": "… that matters",
    "ends_in_cut_tie": "End in a cut tie",
    "tied_items": "Tied items",
    "mixed_items": "In mixed ties",
    "tie_median": "Median tie",
    "tie_max": "Largest tie",
    "items": "Items",
    "distances": "Distances",
    "bits": "Bits",
    "near_ties": "Near ties",
    "queries": "Queries",
}
SHARES = ("cut_share", "mixed_share", "ends_in_cut_tie", "tied_items", "mixed_items", "near_ties")
PROFILE_FORMATS = {
    **dict.fromkeys(SHARES, "percent"),
    **dict.fromkeys(("tie_median", "items", "distances", "bits"), "%.1f"),
}
PROFILE_EXPLAINED = {
    "cut_share": "Queries whose cutoff falls inside a tie",
    "mixed_share": "Of these, queries where the tie holds different relevances",
    "ends_in_cut_tie": "Queries whose cutoff reaches into a last tie that the end of the list may have cut",
    "tied_items": "Of the items down to the cutoff, those that share their distance with another",
    "mixed_items": "Of the items down to the cutoff, those in a tie of different relevances",
    "tie_median": "Items of the ties that reach above the cutoff; an item alone counts as a tie of one",
    "items": "Length of the lists (median)",
    "distances": "Different distances in a list (median)",
    "bits": "What the distance tells about the order, in bits (median)",
    "near_ties": "Gaps between neighbouring distances that are within rounding error",
}
CUT_TITLES = {
    "model": "Model",
    "query": "Query",
    "first": "From rank",
    "last": "To rank",
    "size": "Items in the tie",
    "inside": "Counted",
    "relevant": "Relevant in it",
    "mixed": "Matters",
}
CUT_EXPLAINED = {
    "inside": "So many items of the tie stand above the cutoff; which of them is up to chance",
    "mixed": "Whether its items differ in relevance",
}
ROUNDING_TITLES = {
    "model": "Model",
    "value": "As received",
    "value_rounded": "Rounded",
    "change": "Change",
    "tie_std": "± tie std",
    "tie_std_rounded": "± rounded",
    "rank": "Rank",
    "rank_rounded": "Rank rounded",
}


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    st.title("Ties")
    with st.spinner("Counting ties …"):
        found = profile(data, choice)
    if found.is_empty():
        st.info("There are no lists to look at.")
        return
    tied = found.filter(pl.col("tied_items") > 0).height > 0
    if tied:
        draw(lambda: charts.profile(found), "profile", data.digest, choice)
    else:
        st.success("No two items of a list tie: every evaluator that sorts correctly prints the same scores.")
    oddities = st.container()  # told first, found last: it takes the longest
    st.subheader(f"Ties at the cutoff: {plain(choice.measure)}", anchor="profile")
    here = at_cutoff(found, choice).drop("cutoff")
    _profile_table(here, "Ties of every model at the cutoff.")
    if tied:
        _cuts(data, choice)
    _rounding(data, choice)
    with oddities:
        _hints(data, choice)


def _hints(data: Data, choice: Choice) -> None:
    """What the data show to be odd: one line for each kind, the models below."""
    with st.spinner("Looking for what is odd …"):
        told = hints(data, choice)
    odd = told.filter(~pl.col("hint").is_in(["ties"]))
    for model, message in odd.select("model", "message").iter_rows():
        st.warning(f"**{plain(model, 60)}**: {plain(message)}" if model is not None else plain(message))
    ties = told.filter(pl.col("hint") == "ties")
    if ties.height:
        with st.expander(f"In words, for {ties.height} of {len(choice.models)} models"):
            for model, message in ties.select("model", "message").iter_rows():
                st.markdown(f"- **{plain(model, 60)}**: {plain(message)}")
    if not odd.filter(pl.col("hint") == "near_ties").height:
        st.caption("Near ties: rounding error decides hardly any gap between neighbouring distances here.")


def _cuts(data: Data, choice: Choice) -> None:
    """The lists whose cutoff falls inside a tie."""
    st.subheader("Where the cutoff cuts a tie", anchor="cuts")
    found = cuts(data, choice)
    if choice.cutoff is None:
        st.info("The whole list is scored, so no cutoff cuts a tie. Choose a cutoff in the sidebar.")
        return
    if found.is_empty():
        st.info(f"Cutoff {choice.cutoff} falls between ties in every list.")
        return
    matter = found["mixed"].sum()
    st.markdown(
        f"In {found.height} lists, ranks {choice.cutoff} and {choice.cutoff + 1} stand in one tie; in {matter} of "
        "them the tied items differ in relevance, so chance decides what is counted."
        + (f" The {LISTED} largest are listed." if found.height > LISTED else "")
    )
    frame_table(found.head(LISTED), titles=CUT_TITLES, explained=CUT_EXPLAINED, alt="Lists whose cutoff cuts a tie.")


def _rounding(data: Data, choice: Choice) -> None:
    """What fewer decimals would do."""
    st.subheader("What rounding would do", anchor="rounding")
    if whole_distances(data):
        st.info("The distances are whole numbers by type; rounding leaves them alone.")
        return
    decimals = st.select_slider(
        "Decimals kept",
        DECIMALS,
        value=RECEIVED if data.large else "1",
        key="decimals",
        bind="query-params",
        help="Scores are computed again from rounded distances. Rounding makes ties, as quantised vectors do.",
    )
    if decimals == RECEIVED:
        st.info("Move the slider to see the scores of rounded distances.")
        return
    with st.spinner("Scoring rounded distances …"):
        effect = rounding(data, choice, int(decimals))
        rounded = at_cutoff(profile(data, choice, decimals=int(decimals)), choice).drop("cutoff")
    draw(
        lambda: charts.rounding(effect, metric=choice.metric, cutoff=choice.cutoff),
        *("rounding", data.digest, choice, decimals),
    )
    frame_table(effect, titles=ROUNDING_TITLES, alt="Scores as received and rounded, best model first.")
    with st.expander("Ties of the rounded distances"):
        _profile_table(rounded, "Ties of the rounded distances.")


def _profile_table(rows: pl.DataFrame, alt: str) -> None:
    frame_table(rows, titles=PROFILE_TITLES, explained=PROFILE_EXPLAINED, formats=PROFILE_FORMATS, alt=alt)

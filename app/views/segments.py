"""The page on segments of the queries: which values of a column change the winner."""

import polars as pl
import streamlit as st

from chart_display import say
from page import Page
from retrieval_report.comparison.segments import NO_VALUE
from retrieval_report.comparison.verdicts import (
    NO_SCORE,
    NOT_SIGNIFICANT,
    OTHER_WINNER,
    SAME_WINNER,
)
from retrieval_report.writing.names import EQUALS, listed
from tables import frame_table, leaderboard_table
from text import plain
from url_controls import choose_one

COLUMNS = (
    "segment verdict winner value overall_winner overall_value difference tie_std segments_p "
    "queries"
)


def show(page: Page) -> None:
    """Draw the page."""
    page.name_suspects()
    by = choose_one(
        "Column of the queries",
        page.segment_columns,
        name="by",
        help="Its values are the segments.",
    )
    segments = page.study.using(by=by).segments
    if segments.is_empty():  # the data of all models may be wrong
        say(page.study.status, page.study.sentences)
        return
    if not segments["winner"].count():
        st.info(f"No query has a score for {page.measure}.")
        return
    all_of = {name: EQUALS.join(sorted(group)) for group in page.study.identical for name in group}
    segments = segments.with_columns(pl.col("winner", "overall_winner").replace(all_of))
    if len(page.choice.models) > 1:
        _headline(segments, by)
    unlike_first = pl.col("verdict").replace_strict({OTHER_WINNER: 0, SAME_WINNER: 2}, default=1)
    rows = segments.sort(unlike_first, maintain_order=True)
    frame_table(rows, of="segments", show=COLUMNS, alt="The winner of every segment.")
    _one(page, page.data.frames["queries"][by])


def _headline(segments: pl.DataFrame, by: str) -> None:
    """Show whether the winner depends on the segment."""
    winners = [plain(name, 60) for name in segments["overall_winner"][0].split(EQUALS)]
    best, s = listed(winners), "s" * (len(winners) == 1)
    others = segments.filter(verdict=OTHER_WINNER)["segment"]
    unsure = segments.remove(pl.col("verdict").is_in([OTHER_WINNER, SAME_WINNER, NO_SCORE]))
    if len(others):
        names = ", ".join(plain(name, 60) for name in others)
        st.warning(
            f"Another model than {best} wins if {plain(by, 60)} is {names}; this is significant."
        )
    elif unsure.height:
        known = "the difference is not significant after correction for the numbers of models and segments"
        doubts = "its lead there is not safe, as the column Verdict says"
        why = known if (unsure["verdict"] == NOT_SIGNIFICANT).all() else doubts
        st.warning(
            f"{best} lead{s} overall. In {unsure.height} of {segments.height} segments another "
            f"model has the higher score, but {why}."
        )
    else:
        scored = " that has a score" if segments["winner"].has_nulls() else ""
        st.info(f"{best} win{s} in every segment{scored}.")


def _one(page: Page, values: pl.Series) -> None:
    """Show the tables of the overview for one segment."""
    st.header("One segment")
    texts = values.cast(pl.String)
    names = texts.drop_nulls().unique().sort().to_list()
    if not names:
        st.info(f"Every query of this column has {NO_VALUE}.")
        return
    name = choose_one("Segment", names, name="segment")
    segment = {values.name: values.filter(texts == name)[0]}
    study = page.study.where(**segment)
    if study.summary.is_empty():
        st.info("No list belongs to a query of this segment.")
        return
    say(study.status, study.findings[:2])
    leaderboard_table(study, page.others.where(**segment))

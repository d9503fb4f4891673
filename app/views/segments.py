"""The page on segments of the queries: which values of a column change the winner."""

from __future__ import annotations

import polars as pl
import streamlit as st

import retrieval_report as rr
from cached import shown, study_of
from chart_display import BOXES
from records import Choice, Data
from retrieval_report.comparison.segments import NO_VALUE
from retrieval_report.comparison.verdicts import NOT_SIGNIFICANT, OTHER_WINNER, SAME_WINNER
from tables import flips_table, frame_table, heading, summary_table
from text import plain
from url_controls import choose_one

MOST = 200  # segments; a column with more values identifies queries rather than groups of them
OWN = ("query", "weight", "n_relevant")  # columns of the queries that are not segments
SHOWN = (
    *(
        "segment",
        "verdict",
        "winner",
        "value",
        "overall_winner",
        "overall_value",
        "difference",
        "tie_std",
    ),
    *("segments_p", "queries"),
)


def show(data: Data, choice: Choice) -> None:
    """Draw the page."""
    heading(f"Segments: {plain(choice.measure)}", data)
    columns = segment_columns(data)
    if not columns:
        st.info(
            "No column divides these queries into segments. Open a file of queries with a column "
            "such as *language* "
            "or *label*, on the page Data & export."
        )
        return
    by = choose_one(
        "Column of the queries", columns, name="by", help="Its values are the segments."
    )
    study = study_of(data, choice).at(choice.measure)
    found = study.using(by=by).segments
    if found["winner"].null_count() == found.height:
        st.info(f"No query has a score for {plain(choice.measure)}.")
        return
    if len(choice.models) > 1:
        _headline(found, by)
    rows = found.sort(
        pl.col("verdict").replace_strict({OTHER_WINNER: 0, SAME_WINNER: 2}, default=1),
        maintain_order=True,
    )
    frame_table(rows, of="segments", show=SHOWN, alt="The winner of every segment.")
    _one(data, choice, study, by)


def segment_columns(data: Data) -> list[str]:
    """Return columns of the queries with few enough values to be segments; floats must be binned
    first.
    """
    if data.queries is None:
        return []
    return [
        name
        for name, dtype in data.queries.schema.items()
        if name not in OWN and not dtype.is_float() and not dtype.is_decimal() and not dtype.is_nested()
        and data.queries[name].n_unique() <= MOST
    ]  # fmt: skip


def _headline(found: pl.DataFrame, by: str) -> None:
    """Show whether the winner depends on the segment."""
    others, unsure = (found.filter(verdict=verdict) for verdict in (OTHER_WINNER, NOT_SIGNIFICANT))
    column, best = plain(by, 60), plain(found["overall_winner"][0], 60)
    names = ", ".join(plain(name, 60) for name in others["segment"])
    if others.height:
        st.error(f"Another model than {best} wins if {column} is {names}; this is significant.")
    elif unsure.height:
        st.warning(
            f"{best} leads overall. In {unsure.height} of {found.height} segments another model "
            "has the higher score, "
            "but the difference is not significant after correction for the number of segments."
        )
    else:
        st.success(f"{best} wins in every one of the {found.height} segments.")


def _one(data: Data, choice: Choice, study: rr.Study, by: str) -> None:
    """Show the tables of the overview for one segment."""
    st.header("One segment", anchor="segment")
    queries = data.queries
    assert queries is not None  # a column of it was chosen
    values = {
        str(value): value for value in queries[by].drop_nulls().cast(pl.String).unique().sort()
    }
    originals = dict(zip(queries[by].cast(pl.String), queries[by], strict=True))
    if not values:
        st.info(f"Every query of this column has {NO_VALUE}.")
        return
    value = choose_one("Segment", list(values), name="segment")
    here = study.where(**{by: originals[value]})
    if here.summary.is_empty():
        st.info("No list belongs to a query of this segment.")
        return
    BOXES.get(here.status, st.info)("\n\n".join(plain(sentence) for sentence in here.sentences[:2]))
    summary_table(shown(here.summary, choice))
    if here.flips.height:
        flips_table(here.flips)

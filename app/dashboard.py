"""The script that Streamlit runs for every visit and every change, to draw data, choices and
page.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module, util
from pathlib import Path

import streamlit as st

from cached import draw_orders, remarks
from chart_display import STYLE, theme
from controls import remedy, sidebar
from data_source import choose_data
from prefetch import drawing, prefetch
from records import Choice, Data
from retrieval_report.contracts.errors import RetrievalReportError
from url_controls import refusals
from warning_log import noticed

ICON = Path(__file__).with_name("icon.png")
PAGES = {
    "overview": "Overview",
    "cutoffs": "Cutoffs",
    "compare": "Compare",
    "queries": "Queries",
    "segments": "Segments",
    "ties": "Ties",
    "costs": "Costs",
    "audit": "Audit",
    "data": "Data & export",
}


def page(name: str, data: Data, choice: Choice) -> Callable[[], None]:
    """Return the function that draws a page, or errors in the data instead."""

    def draw() -> None:
        with noticed():  # `_score` shows the library's warnings once
            try:
                _score(data, choice, folded=name not in ("overview", "data"))
            except RetrievalReportError as error:
                st.error(remedy(error))
                if name != "data":  # where other data can be opened
                    return
            try:
                import_module(f"views.{name}").show(data, choice)
            except RetrievalReportError as error:
                st.error(remedy(error))

    draw.__name__ = name
    return draw


def _score(data: Data, choice: Choice, *, folded: bool) -> None:
    """Compute what takes long, in steps that are announced, and show warnings; cached results
    appear immediately.
    """
    with st.spinner(f"Scoring {data.rankings.height} rows …", show_time=True):
        notes = remarks(data, choice)
    if "shuffled" in choice.policies:
        with st.spinner(
            f"Drawing {choice.draws.shuffles} random orders of the ties …", show_time=True
        ):
            draw_orders(data, choice)
    # In full where they are looked for; a line elsewhere, since they are the same on every page.
    count = "1 warning" if len(notes) == 1 else f"{len(notes)} warnings"
    with st.expander(f"{count} about the data", icon="⚠️") if folded and notes else st.container():
        for note in notes:
            st.warning(remedy(note))


def main() -> None:
    """Draw the page named in the address."""
    st.set_page_config(page_title="Retrieval report", page_icon=str(ICON), layout="wide")
    st.html(STYLE)
    with drawing():
        data = choose_data()
        choice = sidebar(data)
        there = [name for name in PAGES if util.find_spec(f"views.{name}")]
        pages = [
            st.Page(page(name, data, choice), title=PAGES[name], url_path=name) for name in there
        ]
        # The page at the root has no path of its own, but links may name the overview.
        overview = page("overview", data, choice)
        root = st.Page(overview, title=PAGES["overview"], url_path="root", default=True)
        pages[0] = st.Page(
            overview, title=PAGES["overview"], url_path="overview", visibility="hidden"
        )
        chosen = st.navigation([root, *pages])
        for sentence in refusals():
            st.warning(sentence)
        chosen.run()
    prefetch(data, choice, theme())


main()

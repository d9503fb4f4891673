"""The script that Streamlit runs for every visit and every change, to draw data, choices and page."""

from functools import partial
from importlib import import_module
from pathlib import Path

import streamlit as st

from back_button import step_by_setting
from cached import scored
from chart_display import STYLE
from controls import sidebar
from data_source import choose_data
from page import PAGES, VIEWS, WHY_EMPTY, Page
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.warning import noticed
from retrieval_report.contracts.wording import speaking_to
from retrieval_report.writing.names import with_number
from text import sentence
from url_controls import refusals, refuse_unknown
from wording import DashboardReader

ICON = Path(__file__).with_name("icon.png")


def draw(name: str, page: Page) -> None:
    """Draw a page, or errors in the data instead."""
    page.heading(name)
    with noticed():  # `_score` shows the library's warnings once
        try:
            _score(page, folded=name not in ("overview", "data"))
        except RetrievalReportError as error:
            st.error(sentence(error))
            if name != "data":  # where other data can be opened
                return
        if name in WHY_EMPTY and not page.answers(name):
            st.info(WHY_EMPTY[name])
            return
        try:
            with st.spinner("Computing …", show_time=True):
                import_module(f"views.{name}").show(page)
        except RetrievalReportError as error:
            st.error(sentence(error))


def _score(page: Page, *, folded: bool) -> None:
    """Compute what takes long, in steps that are announced,
    and show warnings; cached results appear immediately.
    """
    rows = page.data.frames["rankings"].height
    with st.spinner(f"Scoring {rows} rows …", show_time=True):
        _, notes = scored(page.data, page.choice)
    # In full where they are looked for; a line elsewhere, since they are the same on every page.
    count = with_number(len(notes), "warning")
    with st.expander(f"{count} about the data", icon="⚠️") if folded and notes else st.container():
        for note in notes:
            st.warning(sentence(note))


def main() -> None:
    """Draw the page named in the address."""
    st.set_page_config(page_title="Retrieval report", page_icon=str(ICON), layout="wide")
    st.html(STYLE)
    data = choose_data()
    page = Page(data, sidebar(data))
    step_by_setting()
    views = {name: partial(draw, name, page) for name in PAGES}
    # The page at the root has no path of its own, but links may name the overview.
    first = st.Page(views["overview"], title=PAGES["overview"], url_path="root", default=True)
    pages = {
        name: st.Page(
            views[name],
            title=title,
            url_path=name,
            visibility="hidden" if name == "overview" or not page.answers(name) else "visible",
        )
        for name, title in PAGES.items()
    }
    st.session_state[VIEWS] = {**pages, "overview": first}
    current_page = st.navigation([first, *pages.values()])
    refused = st.container()  # above the page, whose controls read the address, too
    current_page.run()
    refuse_unknown()
    for refusal in refusals():
        refused.warning(refusal)


with speaking_to(DashboardReader()):
    main()

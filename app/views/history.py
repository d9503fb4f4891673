"""The page on a model over its versions: which steps are more than ties and queries explain."""

import polars as pl
import streamlit as st

from cached import remember
from chart_display import show_chart
from page import Page
from records import Choice, OpenedData
from retrieval_report import charts
from retrieval_report.engines.check_scores import at_measure
from retrieval_report.study.terminal import marks_note, with_marked_values
from retrieval_report.study.versions import history_of, steps_sentences, with_step_chances
from tables import frame_table
from text import plain
from url_controls import choose_one

COLUMNS = (
    "version model value tie_std lowest highest ci_low ci_high difference step_p p_tie marked "
    "since_first first_p best since_best best_p queries"
)


def show(page: Page) -> None:
    """Draw the page."""
    steps = _steps(page.data, page.choice, page)
    names = steps["series"].unique(maintain_order=True).to_list()
    series = names[0] if len(names) == 1 else choose_one("Model", names, name="series")
    steps = steps.filter(series=series)
    at_headline = steps.filter(at_measure(**page.choice.at))
    st.markdown("  \n".join(map(plain, steps_sentences(at_headline, minus="−"))))
    show_chart(charts.history, steps, **page.choice.at, series=series)
    rows = with_marked_values(with_step_chances(steps), page.study.summary)
    frame_table(rows, of="history", show=COLUMNS, alt="Versions in order.")
    if note := marks_note(rows):
        st.caption(note)


@remember(32)
def _steps(data: OpenedData, choice: Choice, _page: Page) -> pl.DataFrame:
    """Compare every version with the one before, once."""
    return history_of(_page.study, str(data.history))

"""The page on a model over its versions: which steps are more than ties and queries explain."""

from __future__ import annotations

import polars as pl

from cached import remember
from chart_display import show_chart
from page import Page
from records import Choice, OpenedData
from retrieval_report import charts
from retrieval_report.comparison.history import history
from tables import frame_table
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
    show_chart(charts.history, steps, **page.choice.at, series=series)
    frame_table(steps.filter(series=series), of="history", show=COLUMNS, alt="Versions in order.")


@remember(32)
def _steps(data: OpenedData, choice: Choice, _page: Page) -> pl.DataFrame:
    """Compare every version with the one before, once."""
    return history(_page.study.under("expected", "best", "worst").scores, str(data.history))

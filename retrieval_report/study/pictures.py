"""Draw the charts of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_report.study.contents import Report

if TYPE_CHECKING:  # Altair takes longer to import than everything else
    from retrieval_report.charts.responsive import Responsive

# As SVG, text takes the colour of the page around it, light or dark.
PAGE_TEXT = "currentColor"


class Picture(NamedTuple):
    """One chart of the page: its id, its section, and its title, its text and its plots."""

    id: str
    section: str
    drawn: Responsive


def pictures(report: Report) -> list[Picture]:
    """Draw all charts for which the report has data."""
    from retrieval_report import charts
    from retrieval_report.charts.responsive import responsive
    from retrieval_report.charts.theme import EMPTY

    arguments = {**report.frames, "metric": report.metric, "cutoff": report.cutoff}
    if report.thresholds.width:  # of the best model: those of others may have another scale
        best = report.leaderboard.filter(report.at_headline)["model"].first()
        arguments["thresholds"] = report.thresholds.filter(model=best)
    images = []
    for name, section in charts.IN_REPORT.items():
        drawn = {argument: arguments[argument] for argument in charts.ARGUMENTS[name].split()}
        chart_shown = responsive(getattr(charts, name)(**drawn), text=PAGE_TEXT)
        if not chart_shown.title.startswith(EMPTY):
            images.append(Picture(f"{name}-chart", section, chart_shown))
    return images

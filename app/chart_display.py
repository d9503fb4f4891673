"""Show the report's charts on the page, in the colours of the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
import streamlit as st

from cached import remember
from retrieval_report.comparison.verdicts import (
    AT_RANDOM,
    CHECK,
    CUT,
    DEPENDS,
    EQUAL,
    NO_WORSE,
    NOT_DECIDED,
    NOT_OVER_RUNS,
    NOT_SIGNIFICANT,
    NOTHING_TO_COMPARE,
    SAFE,
    UNTESTED,
)
from retrieval_report.contracts.arguments import Named
from retrieval_report.study.decision import KEEP, SHIP
from text import plain

if TYPE_CHECKING:  # Altair takes long to import
    from retrieval_report.charts.theme import ChartType

Drawer = Callable[..., "ChartType"]  # a function of `retrieval_report.charts`

# On a narrow screen a chart scrolls by itself; without this the whole page would scroll.
# The default margins are wide; on a laptop they hide the last columns of tables, and on a phone
# they leave room for another number below each. Six chosen models would not all be seen.
# A telephone has its own table where the usual one would hide a score.
STYLE = """<style>
div:has(> [data-testid="stVegaLiteChart"]) {overflow-x: auto;}
[data-testid="stMainBlockContainer"] {padding-top: 3.4rem; padding-bottom: 4rem;}
[data-testid="stMainBlockContainer"] h1 {font-size: 1.7rem; padding: 0.2rem 0 0;}
[data-testid="stMainBlockContainer"] h2 {font-size: 1.5rem;}
[data-testid="stMainBlockContainer"] h3 {font-size: 1.25rem;}
[data-testid="stElementContainer"]:has(> [data-testid="stSpinner"]) {
  position: absolute; top: 1rem; right: 6rem; width: auto;}
[data-testid="stMetricValue"] {font-size: 1.3rem;}
[data-testid="stMetricLabel"] *, [data-testid="stMetricValue"] * {white-space: normal !important;}
[data-testid="stMetricValue"] * {overflow-wrap: anywhere; line-height: 1.15;}
[data-testid="stAlertContainer"] {padding: 0.6rem 0.9rem;}
div:has(> [data-testid="stMultiSelectTagsContainer"]) {max-height: 24rem;}
[data-testid="stPageLink"] * {white-space: normal; text-decoration: underline;}
.phone {max-height: 26rem; overflow-y: auto;}
.phone td:first-child {white-space: normal; overflow-wrap: anywhere;}
.phone :is(th, td) {padding: .2rem .25rem; font-size: .82rem;}
.phone :is(th, td):first-child {text-align: left;}
@media (min-width: 40.01rem) {[data-testid="stElementContainer"]:has(.phone) {display: none;}}
@media (max-width: 40rem) {[data-testid="stElementContainer"]:has(.phone) + * {display: none;}}
@media (max-width: 48rem) {[data-testid="stHorizontalBlock"]:has([data-testid="stMetric"]) {row-gap: 1rem;}}
@media (max-width: 40rem) {
[data-testid="stHorizontalBlock"]:has(> :nth-child(4)):has([data-testid="stVegaLiteChart"], [data-testid="stMetric"])
> [data-testid="stColumn"] {min-width: calc(50% - 1rem); flex-basis: calc(50% - 1rem);}
[data-testid="stHorizontalBlock"]:has(> :nth-child(4)) > [data-testid="stColumn"]:has([data-testid="stButton"])
{min-width: 100%;}
[data-testid="stHorizontalBlock"]:has(> :nth-child(4)) > [data-testid="stColumn"]:empty {display: none;}}
@media (min-width: 48rem) {[data-testid="stMainBlockContainer"] {padding-left: 2.5rem; padding-right: 2.5rem;}}
</style>"""
BOXES = {  # the kind of box for each verdict of `flips`
    CHECK: st.error,
    SAFE: st.success,
    SHIP: st.success,
    NO_WORSE: st.success,
    KEEP: st.info,
    NOT_DECIDED: st.warning,
    UNTESTED: st.info,
    EQUAL: st.info,
    NOTHING_TO_COMPARE: st.info,
    AT_RANDOM: st.warning,
    CUT: st.warning,
    DEPENDS: st.warning,
    NOT_SIGNIFICANT: st.warning,
    NOT_OVER_RUNS: st.warning,
}
TEXT = {"dark": "#e6e6e6", "light": "#31333f"}


def say(status: str, sentences: Iterable[str]) -> None:
    """Show a verdict in the box of its kind."""
    BOXES.get(status, st.info)("\n\n".join(map(plain, sentences)))


def theme() -> str:
    """Return whether the page is "light" or "dark"."""
    return st.context.theme.type or "light"


def show_chart(chart: Drawer, *frames: pl.DataFrame, brush: str = "", **how: object) -> Any:
    """Show a chart of `retrieval_report.charts` as
    wide as the page, with its finding as text above.

    Screen readers get its ``description``. Panels are side by side or, on a narrow screen, one
    below the other.

    Parameters
    ----------
    chart, *frames, **how
        The function that draws, and its arguments.
    brush
        The key of a rectangle that readers may drag, which is returned.
    """
    chart_spec = json.loads(specification(theme(), chart, frames, how))
    heading = [f"**{plain(chart_spec['title'])}**"] if chart_spec["title"] else []
    if chart_spec["subtitle"]:
        heading.append(f":small[:gray[{plain(chart_spec['subtitle'])}]]")
    st.markdown("  \n".join(heading))
    panels = [
        {"spec": spec, "theme": None, "width": "stretch" if most is None else most}
        for spec, most in chart_spec["panels"]
    ]
    if brush:
        how_to_choose: Named = {"key": brush, "on_select": "rerun", "selection_mode": "brush"}
        return st.vega_lite_chart(**panels[0], **how_to_choose)
    across = 2 if len(panels) == 4 else chart_spec["columns"]
    with st.container(gap="xxsmall"):
        for start in range(0, len(panels), across):
            places = st.columns(across)
            for column, panel in zip(places, panels[start : start + across], strict=False):
                column.vega_lite_chart(**panel)
    return None


@remember(256)
def specification(page: str, chart: Drawer, frames: Sequence[pl.DataFrame], how: Named) -> str:
    """Return the chart as JSON, cached because Altair
    takes longer to write it than a page takes to draw.
    """
    from retrieval_report.charts.responsive import responsive  # after the page's heading

    return json.dumps(responsive(chart(*frames, **how), text=TEXT[page])._asdict(), allow_nan=False)

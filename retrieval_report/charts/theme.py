"""How every chart looks: a palette that the colour-blind can tell apart, on light and on dark pages."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TypeVar, cast

import altair as alt
from altair.typing import ChartType

__all__ = [
    "AMBER",
    "BLUE",
    "GREEN",
    "GREY",
    "OPEN",
    "PALETTE",
    "TEXT",
    "VERMILLION",
    "empty_chart",
    "finish",
    "layered",
    "open_dash",
    "sentence_chart",
    "styled",
]

# After Okabe and Ito (2008), the light ones darkened until they stand 3:1 against white and against #1e1e1e.
BLUE = "#0a78ba"
VERMILLION = "#d55e00"
GREEN = "#00936b"
AMBER = "#b37c00"
PINK = "#c4669a"
SKY = "#3594cf"
GREY = "#8c8c8c"
PALETTE = (BLUE, VERMILLION, GREEN, PINK, AMBER, SKY)
TEXT = "#757575"  # 4.6:1 against white, 3.6:1 against #1e1e1e: readable on both when the page is not known
GRID = "rgba(128, 128, 128, 0.22)"
FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
OPEN = "open: the lists are cut"  # what is drawn dashed, and what the legend says of it
OPEN_DASH = (4, 3)
LETTERS = 84  # in a line of a title above a chart of full width

Drawing = TypeVar("Drawing", bound=ChartType)


def styled(chart: Drawing, *, text: str = TEXT, grid: str = GRID) -> Drawing:
    """Apply the theme to one chart; nothing is set for other charts.

    The background is transparent. The default colour of the text reads on light and on dark pages; a page that knows
    its own colour passes it, or "currentColor" where charts are drawn as SVG.

    Parameters
    ----------
    chart
        Any chart of this package, styled or not.
    text, grid
        CSS colours of all lettering, and of grid lines and axes.

    Returns
    -------
    altair.Chart
        A copy of the same kind.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report.charts import profile
    >>> white_on_black = styled(profile(pl.DataFrame()), text="#eeeeee")
    >>> white_on_black.to_dict()["config"]["text"]["color"]
    '#eeeeee'
    """
    lettering = {"labelColor": text, "titleColor": text}
    return chart.configure(  # type: ignore[no-any-return]  # altair's configure() is not generic
        background="transparent",
        font=FONT,
        view={"stroke": None},
        axis={
            **lettering,
            "gridColor": grid,
            "domainColor": grid,
            "tickColor": grid,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "labelLimit": 260,
        },
        legend={
            **lettering,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "labelLimit": 260,
            "titleLimit": 320,
            "symbolStrokeWidth": 2,
        },
        title={
            "color": text,
            "subtitleColor": text,
            "fontSize": 14,
            "subtitleFontSize": 11,
            "subtitlePadding": 5,
            "anchor": "start",
            "offset": 14,
        },
        text={"color": text, "fontSize": 11},
        rule={"color": text},
    )


def open_dash(column: str) -> alt.StrokeDash:
    """Dashes, with an entry in the legend, for what cut lists leave open; ``column`` holds OPEN."""
    scale = alt.Scale(domain=[OPEN], range=[[*OPEN_DASH]])
    legend = alt.Legend(title=None, orient="bottom", symbolType="stroke", symbolStrokeColor=GREY, symbolSize=300)
    return alt.StrokeDash(f"{column}:N", scale=scale, legend=legend)


def layered(*layers: alt.Chart) -> alt.LayerChart:
    """Charts on top of each other, the first below."""
    return alt.LayerChart(layer=list(layers))


def _balanced(text: str, letters: int) -> list[str]:
    """Lines of about equal length, as few as hold the text."""
    lines = textwrap.wrap(text, letters)
    for width in range(len(text) // max(len(lines), 1), letters):
        shorter = textwrap.wrap(text, max(width, 1))
        if len(shorter) <= len(lines):
            return shorter
    return lines


def finish(chart: Drawing, title: str, subtitle: Sequence[str], description: str, letters: int = LETTERS) -> Drawing:
    """Give a chart its title (the finding), subtitle (how to read it), text for screen readers, and the theme."""
    lines = [line for part in subtitle for line in textwrap.wrap(part, round(letters * 1.25))]
    heading = alt.Title(text=_balanced(title, letters), subtitle=lines, anchor="start")
    # properties() returns the kind it is given; altair's union of kinds does not say so.
    titled = cast(Drawing, chart.properties(title=heading, description=f"{title}. {description}"))
    return styled(titled)


def sentence_chart(sentence: str, width: int = 560) -> alt.Chart:
    """Draw a sentence where there is nothing better to draw."""
    lines = textwrap.wrap(sentence, width // 7)
    rows = [{"line": line, "index": index} for index, line in enumerate(lines)]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows), width=width, height=22 * len(rows), description=sentence)
        .mark_text(align="left", fontSize=13)
        .encode(text="line:N", y=alt.Y("index:O", axis=None), x=alt.value(0))
    )
    return styled(chart)


def empty_chart(reason: str) -> alt.Chart:
    """Say that, and why, there is nothing to show.

    >>> empty_chart("the summary has no rows").to_dict()["description"]
    'Nothing to show: the summary has no rows.'
    """
    return sentence_chart(f"Nothing to show: {reason}.")

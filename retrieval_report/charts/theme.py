"""The look of all charts: their theme, titles, and how layers and charts are put together."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

import altair as alt
from altair.typing import ChartType

from retrieval_report.charts.colours import GRID, TEXT

FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
LETTERS = 84  # in a line of a title above a chart of full width
WIDTH, HEIGHT = 560, 340  # of the plot in a notebook; a page stretches it to its own width
IN_CELL = "in-cell"  # the style of what is written on tiles
APART: dict[str, Any] = dict.fromkeys(
    ("color", "fill", "stroke", "shape", "strokeDash", "opacity", "size"), "independent"
)

Drawing = TypeVar("Drawing", bound=ChartType)


class _Themed:
    """A chart with our theme that can still be combined with others.

    Altair does not combine charts that have a configuration, so it is added only when the whole
    chart is written.
    """

    def to_dict(
        self, *arguments: Any, context: dict[str, Any] | None = None, **named: Any
    ) -> dict[str, Any]:
        """Return the specification, with the theme if this is the whole chart."""
        inside = not (context or {}).get("top_level", True)
        if inside or self._get("config") is not alt.Undefined:  # type: ignore[attr-defined]
            return super().to_dict(*arguments, context=context, **named)  # type: ignore[no-any-return, misc]
        return styled(cast(Any, self)).to_dict(*arguments, context=context, **named)  # type: ignore[no-any-return]

    def __or__(self, other: Any) -> Any:
        """Put another chart on the right; each keeps its own colours."""
        return _themed(alt.hconcat(cast(Any, self), other).resolve_scale(**APART))

    def __and__(self, other: Any) -> Any:
        """Put another chart below; each keeps its own colours."""
        return _themed(alt.vconcat(cast(Any, self), other).resolve_scale(**APART))


KINDS: dict[type[Any], type[Any]] = {
    kind: type(f"Themed{kind.__name__}", (_Themed, kind), {})
    for kind in (alt.Chart, alt.LayerChart, alt.ConcatChart, alt.HConcatChart, alt.VConcatChart)
}


def _themed(chart: Drawing) -> Drawing:
    """Turn a chart into one with our theme, in place."""
    # Altair treats every attribute that is set as a part of the specification.
    object.__setattr__(chart, "__class__", KINDS.get(type(chart), type(chart)))
    return chart


def styled(chart: Drawing, *, text: str = TEXT, grid: str = GRID) -> Drawing:
    """Apply the theme to one chart; nothing is set for other charts.

    The background is transparent. The default text colour is readable on light and dark pages; a
    page that knows its own colour can pass it, or "currentColor" if charts are drawn as SVG.

    Parameters
    ----------
    chart
        Any chart of this package, styled or not.
    text, grid
        CSS colours of all text, and of grid lines and axes.

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
    lettering = {"labelColor": text, "labelFontSize": 11, "labelLimit": 260}
    lettering |= {"titleColor": text, "titleFontSize": 11, "titleFontWeight": "normal"}
    return chart.configure(  # type: ignore[no-any-return]  # altair's configure() is not generic
        background="transparent",
        font=FONT,
        view={"stroke": None},
        axis={
            **lettering,
            "gridColor": grid,
            "domainColor": grid,
            "tickColor": grid,
            "labelSeparation": 8,
        },
        legend={
            **lettering,
            "titleLimit": 320,
            "symbolStrokeWidth": 2,
            "symbolOpacity": 1,
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
        style={IN_CELL: {"fontSize": 10}},
        rule={"color": text},
    )


def layered(*layers: alt.Chart) -> alt.LayerChart:
    """Put charts on top of each other, the first at the bottom."""
    return alt.LayerChart(layer=list(layers))


def row_chart(
    layers: Iterable[alt.Chart], rows: int, step: int, width: int = WIDTH
) -> alt.LayerChart:
    """Layers as high as their rows."""
    return layered(*layers).properties(width=width, height=max(step * rows, 40))


def _balanced(text: str, letters: int) -> list[str]:
    """Break text into as few lines as possible, of about equal length."""
    lines = textwrap.wrap(text, letters)
    for width in range(len(text) // max(len(lines), 1), letters):
        shorter = textwrap.wrap(text, max(width, 1))
        if len(shorter) <= len(lines):
            return shorter
    return lines


def finish(
    chart: Drawing, title: str, subtitle: Sequence[str], description: str, letters: int = LETTERS
) -> Drawing:
    """Give a chart its title (the finding), subtitle (how to read it) and text for screen
    readers.
    """
    lines = textwrap.wrap("; ".join(part.rstrip(";") for part in subtitle), round(letters * 1.25))
    heading = alt.Title(text=_balanced(title, letters), subtitle=lines, anchor="start")
    # properties() returns the kind it is given; altair's union of kinds does not say so.
    return _themed(
        cast(Drawing, chart.properties(title=heading, description=f"{title}. {description}"))
    )


def sentence_chart(sentence: str) -> alt.Chart:
    """Draw a sentence instead of a chart."""
    lines = textwrap.wrap(sentence, WIDTH // 7)
    rows = [{"line": line, "index": index} for index, line in enumerate(lines)]
    chart: alt.Chart = (
        alt.Chart(
            alt.InlineData(values=rows), width=WIDTH, height=22 * len(rows), description=sentence
        )
        .mark_text(align="left", fontSize=13)
        .encode(text="line:N", y=alt.Y("index:O", axis=None), x=alt.value(0))
    )
    return _themed(chart)


def empty_chart(reason: str) -> alt.Chart:
    """Draw a sentence that says why there is nothing to show.

    >>> empty_chart("the summary has no rows").to_dict()["description"]
    'Nothing to show: the summary has no rows.'
    """
    return sentence_chart(f"Nothing to show: {reason}.")

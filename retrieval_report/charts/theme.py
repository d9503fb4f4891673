"""The look of all charts: their theme, titles, and how layers and charts are put together."""

import textwrap
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import TypeVar, cast

import altair as alt
import polars as pl
from altair.typing import ChartType as ChartType
from altair.utils.schemapi import debug_mode

from retrieval_report.charts.layers import IN_CELL, INK
from retrieval_report.contracts.registry import title_of
from retrieval_report.writing.colours import GRID
from retrieval_report.writing.numbers import size

FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
LETTERS, SMALL_LETTERS = 84, 105  # in a line of a title and of a subtitle above a chart
WIDTH, HEIGHT = 560, 340  # of the plot in a notebook; a page stretches it to its own width
STEP = 22  # pixels of a row
TILES = {"ramp": "#0a5f96", "heatmap": "#8a3b7c"}  # ranges of colours, by their names in Vega
LIGHT = "#ececec"  # where they begin, unless the page is known, which shines through
EMPTY = "Nothing to show"
SPOKEN = 5  # rows of which screen readers are told

Drawing = TypeVar("Drawing", bound=ChartType)
Drawer = TypeVar("Drawer", bound=Callable[..., ChartType])


# Pages join the lines by blanks, which must not get into names such as "bm25-rm3".
_wrapped = partial(textwrap.wrap, break_on_hyphens=False)


def styled(chart: Drawing, *, text: str = INK) -> Drawing:
    """Apply the theme to one chart; nothing is set for other charts.

    The background is transparent. The default text colour is readable on light and dark pages; a
    page that knows its own colour can pass it, or "currentColor" if charts are drawn as SVG.

    Parameters
    ----------
    chart
        Any chart of this package, styled or not.
    text
        CSS colour of all text.

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
    config = alt.Config(
        background="transparent",
        font=FONT,
        view={"stroke": None},
        axis={
            **lettering,
            "gridColor": GRID,
            "domainColor": GRID,
            "tickColor": GRID,
            "labelSeparation": 8,
        },
        legend={
            **lettering,
            "titleLimit": 320,
            "orient": "bottom",
            "columns": 3,
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
        style={IN_CELL: {"color": "#222222" if text == INK else text}},
        range={name: [LIGHT if text == INK else f"{dark}14", dark] for name, dark in TILES.items()},
        rule={"color": text},
    )
    return with_parts(chart, config=config)


def layered(
    layers: Iterable[alt.Chart | None], width: int = WIDTH, height: int = HEIGHT
) -> alt.LayerChart:
    """Put layers on top of each other, the first at the bottom; None is a layer without rows."""
    present_layers = [layer for layer in layers if layer is not None]
    with_params = [layer for layer in present_layers if layer.params is not alt.Undefined]
    # Altair copies every layer to the last encoding, twice, in order to find their parameters.
    chart = alt.LayerChart(layer=present_layers if with_params else [])
    return with_parts(
        chart, **({} if with_params else {"layer": present_layers}), width=width, height=height
    )


def with_parts(chart: Drawing, **parts: object) -> Drawing:
    """Return a copy that shares all but these parts of the specification; altair's own copies make
    layers anew, to the last encoding, which took a third of the time of a chart.
    """
    copied = object.__new__(type(chart))
    vars(copied).update({**vars(chart), "_kwds": {**chart._kwds, **parts}})
    return copied


def row_chart(
    layers: Iterable[alt.Chart | None], rows: int, width: int = WIDTH, step: int = STEP
) -> alt.LayerChart:
    """Layers as high as their rows."""
    return layered(layers, width, max(step * rows, 2 * step))


def finish(
    chart: Drawing, title: str, how_to_read: str, rows: pl.DataFrame, *numbers: str
) -> Drawing:
    """Give a chart its title, a subtitle on how to read it, and a text for screen readers: some
    numbers of the first rows, by their ``label``.
    """
    parts = [
        f"{row['label']}: "
        + ", ".join(
            f"{title_of(name)} {row[name] if isinstance(row[name], int) else size(row[name])}"
            for name in numbers
        )
        for row in rows.head(SPOKEN).iter_rows(named=True)
    ]
    heading = alt.Title(
        text=_wrapped(title, LETTERS), subtitle=_wrapped(how_to_read, SMALL_LETTERS)
    )
    return styled(with_parts(chart, title=heading, description=f"{title}. {'; '.join(parts)}."))


def sentence_chart(sentence: str) -> alt.Chart:
    """Draw a sentence instead of a chart."""
    lines = _wrapped(sentence, LETTERS)
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=[{}]), height=22 * len(lines), description=sentence)
        .mark_text(align="left", fontSize=13, text=lines)
        .encode(x=alt.value(0), y=alt.value(11))
    )
    return styled(chart)


# Altair would hold every part of a chart to its schema when it is made, and the whole when it is
# written: the first takes half the time.
unchecked = partial(debug_mode, False)


class Said(Exception):
    """A sentence that a chart's function shows instead of a chart."""


def chart(draw: Drawer) -> Drawer:
    """Let a function that draws a chart show the sentence that it raises."""

    @wraps(draw)
    def drawn(*frames: object, **options: object) -> ChartType:
        try:
            with unchecked():
                return draw(*frames, **options)
        except Said as sentence:
            return sentence_chart(str(sentence))

    return cast(Drawer, drawn)


def filled(rows: pl.DataFrame, reason: str) -> pl.DataFrame:
    """Return rows, or say why there is nothing to show."""
    if rows.is_empty():
        raise Said(f"{EMPTY}: {reason}.")
    return rows

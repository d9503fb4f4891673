"""What charts are made of: axes, colours and tool tips of columns, and layers of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import altair as alt
import polars as pl
import polars.selectors as cs

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.registry import title_of
from retrieval_report.writing.colours import BLUE, GREY, SKY, VERMILLION
from retrieval_report.writing.names import clean, first_names

# Any two, and each and grey, are 22 apart by CIEDE2000, 11 to readers who are blind to red or green;
# within that contrast, search found no saturated colours that are farther apart.
PALETTE = (BLUE, VERMILLION, "#008866", "#aa77ff", "#cc0099", "#cc3344")
# 4.6:1 against white, 3.6:1 against #1e1e1e: readable on both when the page is not known
INK = "#757575"

Axis = Callable[[str], alt.X | alt.Y]  # the axis of a column
Mark = Named

ONE_COLUMN_BELOW = 520  # pixels; on narrower screens legends stand in one column
NAMED = 3  # of what is not drawn
IS_NARROW = f"containerSize()[0] > 0 && containerSize()[0] < {ONE_COLUMN_BELOW}"
STRONG = (
    0.6  # of the range of tiles; what is darker has white text, whose contrast is 3:1 from here
)
NUMBER = ".6~g"  # as many digits as there are, six at most
OPEN = "not exact, higher or lower if items are missing"  # what is drawn dashed, and what is said of it
IN_CELL = "in-cell"  # the style of what is written on tiles

DOT: Mark = {
    "type": "point",
    "filled": True,
    "size": 50,
    "opacity": 1,
    "stroke": "white",
    "strokeWidth": 0.8,
}
RULE: Mark = {"type": "rule", "strokeWidth": 1.6}
TEXT: Mark = {"type": "text", "align": "left"}
INTERVAL: Mark = {"type": "rule", "strokeWidth": 1.4, "color": GREY}
TIES: Mark = {"type": "bar", "size": 8, "color": SKY, "opacity": 0.45, "cornerRadius": 3}
OPEN_TIES: Mark = {
    "type": "bar", "size": 8, "filled": False, "stroke": SKY, "strokeWidth": 1.6, "strokeDash": [4, 3]
}  # fmt: skip
RANGES = (
    "dot: score; line: 95% confidence interval over queries; bar: range over tie orders and, where "
    "lists may be cut, missing items"
)
MODEL = "value tie_std lowest highest ci_low ci_high"


def number_axis(kind: type[alt.X] | type[alt.Y], title: str | None, **how: Any) -> Axis:
    """The axis that columns of numbers share."""
    how = {"scale": alt.Scale(zero=False), **how}
    return partial(kind, type="quantitative", title=title, **how)


def cutoff_axis(cutoffs: Iterable[str], **how: Any) -> alt.X:
    """An axis with one place per cutoff, in order."""
    scale = alt.Scale(domain=[*dict.fromkeys(cutoffs)])
    return alt.X("k:O", sort=None, scale=scale, axis=alt.Axis(labelAngle=0, **how))


def row_axis(labels: Iterable[str]) -> alt.Y:
    """An axis with one row per label, in order."""
    axis = alt.Axis(ticks=False, domain=False, labelPadding=8, labelOverlap=False)
    return alt.Y("label:N", sort=None, title=None, scale=alt.Scale(domain=[*labels]), axis=axis)


def keyed(
    column: pl.Series,
    looks: Named,
    title: str | None = None,
    **legend: Any,
) -> alt.Color:
    """A colour for every text of a column that occurs in it, with a legend."""
    used = {text: look for text, look in looks.items() if text in set(column)}
    scale = alt.Scale(domain=[*used], range=[*used.values()])
    return alt.Color(f"{column.name}:N", scale=scale, legend=alt.Legend(title=title, **legend))


class SharedRows(alt.InlineData):
    """Data that all copies of a chart share. Altair copies a chart for everything that is set on
    it, and would copy its data row by row each time.
    """

    def __deepcopy__(self, _memo: object) -> SharedRows:
        return self


def layer(rows: pl.DataFrame, mark: Mark, tips: str = "", **channels: object) -> alt.Chart | None:
    """Draw rows with a mark, and the columns of ``tips`` as tool tips; None if there are no rows."""
    if rows.is_empty():
        return None
    fields = (str(getattr(channel, "shorthand", channel)) for channel in channels.values())
    used = dict.fromkeys([*tips.split(), *(field.partition(":")[0] for field in fields)])
    data = rows.select(name for name in used if name in rows.columns)
    if tips:
        channels["tooltip"] = tooltips(data.select(tips.split()))
    return alt.Chart(inline_rows(data), mark=alt.MarkDef(**mark)).encode(**_whole(channels))


def layer_of_parent(mark: Mark, **channels: object) -> alt.Chart:
    """Draw with a mark the rows of the chart that this layer is part of."""
    return alt.Chart(mark=alt.MarkDef(**mark)).encode(**_whole(channels))


def _whole(channels: Named) -> Named:
    """Return channels without texts, for each of which Altair would search its whole schema."""
    return {
        name: getattr(alt, f"{name[0].upper()}{name[1:]}")(channel)
        if isinstance(channel, str)
        else channel
        for name, channel in channels.items()
    }


def inline_rows(rows: pl.DataFrame) -> SharedRows:
    """Return rows as data inside a chart, since Altair and Vega do without NaN and infinities."""
    finite = pl.when(cs.float().is_finite()).then(cs.float())
    return SharedRows(values=rows.with_columns(finite).to_dicts())


def tooltips(rows: pl.DataFrame) -> list[alt.Tooltip]:
    """Return the tool tips of columns, with their titles and formats."""
    return [
        alt.Tooltip(
            f"{name}:{'Q' if dtype.is_numeric() else 'N'}",
            title=title_of(name),
            format=NUMBER if dtype.is_float() else alt.Undefined,
        )
        for name, dtype in rows.schema.items()
    ]


def span(
    rows: pl.DataFrame, mark: Mark, axis: Axis, low: str, high: str | None = None, **how: Any
) -> alt.Chart | None:
    """Draw a mark from one column to another on an axis, or at one column."""
    start = axis(low)
    across = "x" if isinstance(start, alt.X) else "y"
    ends = {across: start} if high is None else {across: start, f"{across}2": f"{high}:Q"}
    return layer(rows.drop_nulls([low, high or low]), mark, **ends, **how)


def models(rows: pl.DataFrame, axis: Axis, tips: str, **across: object) -> list[alt.Chart | None]:
    """Draw the ``value`` of every model with its interval over queries and its range over tie
    orders, on one axis.
    """
    cut = is_cut(rows)
    how: Named = {"tips": tips, **across}
    return [
        span(rows.filter(~cut), TIES, axis, "lowest", "highest", **how),
        span(rows.filter(cut), OPEN_TIES, axis, "lowest", "highest", **how),
        span(rows, INTERVAL, axis, "ci_low", "ci_high", **how),
        span(rows, {**DOT, "color": BLUE}, axis, "value", **how),
    ]


def is_cut(rows: pl.DataFrame) -> pl.Expr:
    """Rows whose scores depend on items that were not retrieved."""
    if "truncated_share" not in rows.columns:
        return pl.lit(False)
    return (pl.col("truncated_share") > 0).fill_null(False)


def how_to_read(text: str, rows: pl.DataFrame) -> str:
    """Return a subtitle that says, too, what is dashed."""
    return f"{text}; dashed: {OPEN}" if rows.filter(is_cut(rows)).height else text


def left_out(what: str, names: Iterable[str]) -> str:
    """Return the end of a subtitle that names what is not drawn, if anything is."""
    clean_names = [*map(clean, names)]
    return f"; {what}, not drawn: {first_names(clean_names, NAMED)}" if clean_names else ""


def tiles(
    rows: pl.DataFrame,
    x: alt.X,
    y: alt.Y,
    colour: alt.Color,
    strong: float,
    tips: str,
    text_mark: Named | None = None,
) -> list[alt.Chart | None]:
    """Draw tiles with a ``text``, light on those whose number is above ``strong``; a page that says
    its own colour of text shines through the others. ``text_mark`` says more about the text.
    """
    number = str(colour.shorthand)
    text = {"type": "text", "style": IN_CELL, "fontSize": {"expr": f"{IS_NARROW} ? 8 : 10"}}
    text |= text_mark or {}
    return [
        layer(rows, {"type": "rect"}, tips, x=x, y=y, color=colour),
        layer(rows, text, x=x, y=y, text="text:N", color=on_tile(number, strong), detail=number),
    ]


def on_tile(number: str, strong: float) -> alt.Color:
    """Return the colour of what is written on tiles: white where their number is above ``strong``."""
    is_strong = f"datum.{number.partition(':')[0]} > {strong}"
    return alt.Color(condition={"test": is_strong, "value": "#ffffff"})

"""Axes, scales, legends and tool tips of charts: what the columns of the data are encoded by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import altair as alt
import polars as pl

from retrieval_report.charts.colours import GREY
from retrieval_report.charts.data import nice_domain
from retrieval_report.contracts.registry import title_of

OPEN = "not exact: items may be missing"  # what is drawn dashed, and what the legend says of it
OPEN_DASH = (4, 3)
NUMBER = ".6~g"  # in tool tips: as many digits as there are, six at most
Axis = TypeVar("Axis", alt.X, alt.Y)
Channel = TypeVar("Channel", alt.Color, alt.Fill, alt.Shape, alt.Stroke, alt.StrokeDash)


def open_dash(column: str) -> alt.StrokeDash:
    """Return dashes, with a legend entry, for what cut lists leave open; ``column`` holds OPEN."""
    scale = alt.Scale(domain=[OPEN], range=[[*OPEN_DASH]])
    legend = alt.Legend(
        title=None, orient="bottom", symbolType="stroke", symbolStrokeColor=GREY, symbolSize=300
    )
    return alt.StrokeDash(f"{column}:N", scale=scale, legend=legend)


def tooltips(names: Iterable[str], format: str = NUMBER) -> list[alt.Tooltip]:
    """Return tool tips for numbers, with the titles of their columns."""
    return [alt.Tooltip(f"{name}:Q", format=format, title=title_of(name)) for name in names]


def texts(*names: str, **titled: str) -> list[alt.Tooltip]:
    """Texts of a tool tip, under their names or the titles given."""
    titles = {name: name.replace("_", " ") for name in names} | titled
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()]


def keyed(
    channel: type[Channel],
    column: pl.Series,
    looks: Mapping[str, Any],
    title: str | None = None,
    **legend: Any,
) -> Channel:
    """A colour or shape for every text of a column that occurs in it, with a legend below the
    chart.
    """
    there = set(column)
    used: dict[str, Any] = {text: look for text, look in looks.items() if text in there}
    scale = alt.Scale(domain=[*used], range=[*used.values()])
    return channel(
        f"{column.name}:N",
        scale=scale,
        legend=alt.Legend(**{"title": title, "orient": "bottom", **legend}),
    )


def fixed_scale(low: float, high: float) -> alt.Scale:
    """A scale from one number to another, as they are."""
    return alt.Scale(domain=[low, high], nice=False, zero=False)


def nice_scale(*columns: pl.Series) -> alt.Scale:
    """A scale between round numbers around all values of some columns."""
    return fixed_scale(*nice_domain(*columns))


def along(axis: Axis, column: str) -> Axis:
    """The axis for another column; layers whose titles differ would show them all."""
    other = axis.copy(deep=False)
    other["shorthand"] = f"{column}:Q"
    return other


def row_axis(labels: Iterable[str], column: str = "label", **axis: Any) -> alt.Y:
    """Return an axis with one row per label, in order."""
    look: dict[str, Any] = {"ticks": False, "domain": False, "labelPadding": 8, **axis}
    scale = alt.Scale(domain=[*labels])
    return alt.Y(f"{column}:N", sort=None, title=None, scale=scale, axis=alt.Axis(**look))

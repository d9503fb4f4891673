"""Prepare a chart for a page: as wide as there is room,
with its title as wrapping text, and separate panels.
"""

from typing import Any, NamedTuple

import altair as alt
from altair.typing import ChartType

from retrieval_report.charts.layers import IN_CELL, INK, ONE_COLUMN_BELOW
from retrieval_report.charts.theme import WIDTH, styled, unchecked, with_parts
from retrieval_report.contracts.arguments import Named, grouped

# Pixels of labels and texts beside a plot, and below it, on a narrow screen.
NARROW_LABEL, NARROW_TEXT, NARROW_TITLE = 150, 170, 200
TWO_COLUMNS_FROM = 400  # pixels; of a legend, which fit half a page, but no phone
# Never true, but Vega computes such an expression again when the page gets another width.
ON_RESIZE = "width < 0 ? 0 : "
LABELS = 300  # pixels beside a plot, for names and legends
# A title begins above the labels of the axis, and ends with the plot.
FACET_TITLE: Named = {
    "fontSize": 11,
    "fontWeight": "normal",
    "offset": 4,
    "limit": {"expr": "width + 30"},
}


class Panel(NamedTuple):
    """One plot: its Vega-Lite specification, and its greatest useful width in pixels (None: any)."""

    specification: Named
    most: int | None


class Responsive(NamedTuple):
    """A chart in parts: its title, how to read it, its text for screen readers, its plots, and how
    many per row.
    """

    title: str
    subtitle: str
    description: str
    panels: tuple[Panel, ...]
    columns: int


def responsive(chart: ChartType, *, text: str = INK) -> Responsive:
    """Take a chart apart for a page that fits it to its width.

    Vega-Lite stretches only single plots to the element around them, so panels are returned
    separately; the page puts them side by side if there is room. On a narrow screen labels are
    shortened, and legends stand below each other.

    Parameters
    ----------
    chart
        Any chart of this package.
    text
        Colour of all text, as for :func:`styled`.

    Returns
    -------
    Responsive
        ``title``, ``subtitle``, ``description``, ``panels`` with a ``specification`` and the
        ``most`` pixels each (none if the chart is a sentence), and ``columns``, the number side by
        side if there is room.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import charts, evaluate, summarise
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=(1, 2)))
    >>> shown = responsive(charts.scores_by_cutoff(summary, metric="rr"))
    >>> shown.title, len(shown.panels), shown.panels[0].specification["width"]
    ('rr along the cutoffs', 1, 'container')
    """
    title, description = chart.title, chart.description
    if title is alt.Undefined:  # a sentence, which the page can wrap
        return Responsive(description, "", description, (), 1)
    heading = " ".join(title.text)
    with unchecked():
        if isinstance(chart, alt.FacetChart):
            panels = _facets(chart, heading, description, text)
            columns = chart.columns
        elif isinstance(chart, alt.ConcatChart):
            words = [f"{heading}: plot {number}" for number in range(2, len(chart.concat) + 1)]
            plots = zip(chart.concat, [description, *words], strict=True)
            panels = [_panel(plot, words, text) for plot, words in plots]
            columns = chart.columns
        else:  # the page shows its title as text
            panels = [_panel(chart, description, text)]
            columns = 1
            del panels[0].specification["title"]
    return Responsive(heading, " ".join(title.subtitle), description, tuple(panels), columns)


def _facets(chart: Any, heading: str, description: str, text: str) -> list[Panel]:
    """Return one plot per facet; they differ in their rows and titles only, so one is written."""
    field = chart.facet.shorthand.partition(":")[0]
    rows = grouped((row[field], row) for row in chart.data.values)
    whole, most = _panel(with_parts(chart.spec, data=chart.data), description, text)
    (data,) = whole["datasets"]
    return [
        Panel(
            {
                **whole,
                "datasets": {data: rows[label]},
                "title": {"text": label, **FACET_TITLE},
                "description": f"{heading}: {label}" if number else description,
            },
            most,
        )
        for number, label in enumerate(chart.facet["sort"])
    ]


def _panel(plot: Any, description: str, text: str) -> Panel:
    """Return one plot, as wide as the element around it."""
    fit = {"type": "fit-x", "contains": "padding"}
    wide = with_parts(plot, width="container", autosize=fit, description=description)
    # The charts' own tests validate them against the schema; doing so again would double the time.
    whole = styled(wide, text=text).to_dict(validate=False)
    _narrow(whole["config"], plot.width)
    return Panel(whole, None if plot.width >= WIDTH else 2 * plot.width + LABELS)


def _narrow(config: Named, width: float) -> None:
    """Let a narrow screen shorten labels, stack legends, and turn numbers that do not fit."""
    config["axis"]["labelLimit"] = _where_narrow(NARROW_LABEL, config["axis"]["labelLimit"])
    config["axis"]["titleLimit"] = _where_narrow(NARROW_TITLE, 0)
    config["text"]["limit"] = _where_narrow(NARROW_TEXT, 0)
    two = f"containerSize()[0] < {ONE_COLUMN_BELOW} ? 2 : {config['legend']['columns']}"
    few = f"containerSize()[0] < {TWO_COLUMNS_FROM} ? 1 : {two}"
    config["legend"]["columns"] = {"expr": f"{ON_RESIZE}{few}"}
    narrow = _where_narrow("'vertical'", "'horizontal'")["expr"]
    direction = {"signal": f"{ON_RESIZE}{narrow}"}
    config["legend"]["layout"] = {"bottom": {"direction": direction, "margin": 12}}
    room = _where_narrow(f"{0.65 * width:.0f}", f"{0.8 * width:.0f}")["expr"]  # letters are smaller
    fits = f"containerSize()[0] >= ({room}) + {NARROW_LABEL}"
    config["style"][IN_CELL]["angle"] = {"expr": f"{fits} ? 0 : 270"}


def _where_narrow(narrow: object, wide: object) -> dict[str, str]:
    return {"expr": f"containerSize()[0] < {ONE_COLUMN_BELOW} ? {narrow} : {wide}"}

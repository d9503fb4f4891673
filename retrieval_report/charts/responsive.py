"""Prepare a chart for a page: as wide as there is room, with its title as wrapping text, and
separate panels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from altair.typing import ChartType

from retrieval_report.charts.colours import GRID, TEXT
from retrieval_report.charts.theme import IN_CELL, WIDTH, styled

NARROW = (
    520  # pixels; on narrower screens labels are shortened and legends are stacked in one column
)
NARROW_LABEL, NARROW_TEXT, NARROW_TITLE = (
    122,
    170,
    220,
)  # pixels of labels and texts beside a plot, and below it
LETTERS = 18  # of such a label; longer ones lose their middle, where names of a series differ least
LABELS = 300  # pixels beside a plot, for names and legends
SHORTENED = (
    f"containerSize()[0] < {NARROW} && length(datum.label) > {LETTERS} ? "
    f"slice(datum.label, 0, {LETTERS // 2}) + '…' + slice(datum.label, {1 - LETTERS // 2}) : "
    "datum.label"
)
OF_WHOLE = ("$schema", "config", "datasets")
LEGENDS = ("color", "fill", "stroke", "shape", "strokeDash", "opacity", "size")


class Panel(NamedTuple):
    """One plot: its Vega-Lite specification, and its greatest useful width in pixels (None:
    any).
    """

    specification: dict[str, Any]
    most: int | None


class Responsive(NamedTuple):
    """A chart in parts: its finding, how to read it, its text for screen readers, its plots, and
    how many per row.
    """

    title: str
    subtitle: str
    description: str
    panels: tuple[Panel, ...]
    columns: int


def responsive(chart: ChartType, *, text: str = TEXT, grid: str = GRID) -> Responsive:
    """Take a chart apart for a page that fits it to its width.

    Vega-Lite stretches only single plots to the element around them, so panels are returned
    separately; the page puts them side by side if there is room; panels that follow a selection in
    another are left out. On a narrow screen labels are shortened, and legends stand below each
    other.

    Parameters
    ----------
    chart
        Any chart of this package.
    text, grid
        Colours, as for :func:`styled`.

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
    >>> shown = responsive(
    ...     charts.scores_by_cutoff(summarise(evaluate(rankings, metrics="rr@2")), metric="rr")
    ... )
    >>> shown.title, len(shown.panels), shown.panels[0].specification["width"]
    ('model: rr at 1 cutoff', 1, 'container')
    """
    # The charts' own tests validate them against the schema; doing so again would double the time.
    whole = styled(chart, text=text, grid=grid).to_dict(validate=False)
    title, description = whole.pop("title", None), whole.get("description", "")
    if title is None:  # a sentence, which the page can wrap
        return Responsive(description, "", description, (), 1)
    plots = next(
        (
            [*_apart(whole, whole[kind])]
            for kind in ("concat", "hconcat", "vconcat")
            if kind in whole
        ),
        [whole],
    )
    legends = [index == 0 or "resolve" in whole for index in range(len(plots))]
    known = [
        description,
        *(
            f"{' '.join(title['text'])}: plot {index} of {len(plots)}"
            for index in range(2, len(plots) + 1)
        ),
    ]
    return Responsive(
        " ".join(title["text"]),
        " ".join(title["subtitle"]),
        description,
        tuple(_panel(whole, *parts) for parts in zip(plots, known, legends, strict=True)),
        whole.get("columns", len(plots)),
    )


def _apart(whole: dict[str, Any], plots: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the panels with their selections, except those that follow a selection in another."""
    for plot in plots:
        parts = list(_dictionaries(plot))
        names = {part.get("name") for part in parts}
        own = [param for param in whole.get("params", ()) if names & set(param["views"])]
        if {part["param"] for part in parts if "param" in part} <= {param["name"] for param in own}:
            yield {**plot, "params": own} if own else plot


def _panel(whole: dict[str, Any], plot: dict[str, Any], description: str, legends: bool) -> Panel:
    """Return one plot with the data and look of the whole, without legends that an earlier one
    has.
    """
    width = plot["width"]
    own = _fitted({name: part for name, part in plot.items() if name not in OF_WHOLE}, width)
    used = {part["name"] for part in _dictionaries(own) if set(part) == {"name"}}
    if not legends:
        for part in _dictionaries(own):
            part.update(
                {
                    channel: {**part[channel], "legend": None}
                    for channel in LEGENDS
                    if _is_field(part, channel)
                }
            )
    fit = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    most = None if width >= WIDTH else 2 * width + LABELS
    look: dict[str, Any] = {
        "$schema": whole["$schema"],
        "config": _narrowing(whole["config"], width),
    }
    data = {name: rows for name, rows in whole["datasets"].items() if name in used}
    return Panel({**look, **own, **fit, "description": description, "datasets": data}, most)


def _is_field(part: dict[str, Any], channel: str) -> bool:
    return isinstance(part.get(channel), dict) and "field" in part[channel]


def _narrowing(config: dict[str, Any], width: float) -> dict[str, Any]:
    """Return settings that shorten labels and stack legends on a narrow screen, and drop numbers
    that do not fit.
    """
    axis = {
        **config["axis"],
        "labelLimit": _where_narrow(NARROW_LABEL, config["axis"]["labelLimit"]),
    }
    axis["titleLimit"] = _where_narrow(NARROW_TITLE, 0)
    stacked = {
        "direction": {"signal": _where_narrow("'vertical'", "'horizontal'")["expr"]},
        "margin": 12,
    }
    legend = {**config["legend"], "layout": {"bottom": stacked, "top": stacked}}
    hidden = {"expr": f"containerSize()[0] < {0.8 * width + NARROW_LABEL:.0f} ? 0 : 1"}
    style = {IN_CELL: {**config["style"][IN_CELL], "opacity": hidden}}
    return {**config, "axis": axis, "legend": legend, "style": style}


def _where_narrow(narrow: object, wide: object) -> dict[str, str]:
    return {"expr": f"containerSize()[0] < {NARROW} ? {narrow} : {wide}"}


def _fitted(part: Any, width: float) -> Any:
    """Return a copy without sizes in pixels that fit one width only."""
    if isinstance(part, list | tuple):
        return [_fitted(own, width) for own in part]
    if not isinstance(part, dict):
        return part
    found = {name: _fitted(own, width) for name, own in part.items()}
    for end in ("x", "x2", "xOffset"):
        at = found[end].get("value") if isinstance(found.get(end), dict) else None
        if isinstance(at, int | float) and at >= width:  # right of the plot
            found[end] = {"value": {"expr": f"width + {at - width:g}"}}
    legend = found.get("legend")
    if isinstance(legend, dict) and legend.get("orient") in ("top", "bottom"):
        found["legend"] = {**legend, "columns": _where_narrow(1, legend.get("columns", 0))}
    axis, mark = found.get("axis"), found.get("mark")
    if isinstance(axis, dict):
        limit = axis.get("labelLimit")
        own = {"labelLimit": _where_narrow(NARROW_LABEL, limit)} if isinstance(limit, int) else {}
        found["axis"] = {
            **axis,
            **own,
            **({"labelExpr": SHORTENED} if found.get("type") == "nominal" else {}),
        }
    if isinstance(mark, dict) and mark["type"] == "text" and mark.get("align") == "left":
        found["mark"] = {**mark, "limit": _where_narrow(NARROW_TEXT, mark.get("limit", 0))}
    return found


def _dictionaries(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every dictionary in a specification."""
    if isinstance(part, dict):
        yield part
        for own in part.values():
            yield from _dictionaries(own)
    elif isinstance(part, list | tuple):
        for own in part:
            yield from _dictionaries(own)

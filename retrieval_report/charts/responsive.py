"""A chart as a page shows it: as wide as there is room, its title as text that wraps, its panels one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from altair.typing import ChartType

from retrieval_report.charts.theme import GRID, IN_CELL, TEXT, WIDTH, styled

__all__ = ["Panel", "Responsive", "responsive"]

NARROW = 520  # pixels; below it labels are cut and legends have one column
NARROW_LABEL = 116
LABELS = 300  # pixels beside a plot, for names and legends
OF_WHOLE = ("$schema", "config", "datasets")
LEGENDS = ("color", "fill", "stroke", "shape", "strokeDash", "opacity", "size")


class Panel(NamedTuple):
    """One plot: its Vega-Lite specification, and the most pixels that it is worth (None: all there are)."""

    specification: dict[str, Any]
    most: int | None


class Responsive(NamedTuple):
    """A chart in parts: what it found, how to read it, how a screen reader tells it, its plots and how many a row."""

    title: str
    subtitle: str
    description: str
    panels: tuple[Panel, ...]
    columns: int


def responsive(chart: ChartType, *, text: str = TEXT, grid: str = GRID) -> Responsive:
    """Take a chart apart for a page that fits it to its width.

    Vega-Lite stretches single plots to the element around them, and no others. So panels come one by one; the page
    puts them beside each other where there is room. On a narrow screen labels are cut and legends have one column.

    Parameters
    ----------
    chart
        Any chart of this package.
    text, grid
        Colours, as for :func:`styled`.

    Returns
    -------
    Responsive
        ``title``, ``subtitle``, ``description``, ``panels`` with a ``specification`` and the ``most`` pixels each (none
        where the chart is a sentence), and ``columns``, how many stand side by side where there is room.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import charts, evaluate, summarise
    >>> rankings = pl.DataFrame({
    ...     "query": ["q"] * 4, "item": list("abcd"), "distance": [0, 2, 2, 5], "relevance": [0, 1, 0, 1]})
    >>> shown = responsive(charts.scores_by_cutoff(summarise(evaluate(rankings, metrics="rr@2")), metric="rr"))
    >>> shown.title, len(shown.panels), shown.panels[0].specification["width"]
    ('model: rr at 1 cutoff', 1, 'container')
    """
    # The charts' own tests hold them to the schema; to do so again takes as long once more.
    whole = styled(chart, text=text, grid=grid).to_dict(validate=False)
    title, description = whole.pop("title", None), whole.get("description", "")
    if title is None:  # a sentence, which the page can wrap
        return Responsive(description, "", description, (), 1)
    plots = next((whole[kind] for kind in ("concat", "hconcat", "vconcat") if kind in whole), [whole])
    legends = [index == 0 or "resolve" in whole for index in range(len(plots))]
    known = [
        description,
        *(f"{' '.join(title['text'])}: plot {index} of {len(plots)}" for index in range(2, len(plots) + 1)),
    ]
    return Responsive(
        " ".join(title["text"]),
        " ".join(title["subtitle"]),
        description,
        tuple(_panel(whole, *parts) for parts in zip(plots, known, legends, strict=True)),
        whole.get("columns", len(plots)),
    )


def _panel(whole: dict[str, Any], plot: dict[str, Any], description: str, legends: bool) -> Panel:
    """One plot with the data and the look of the whole, and without the legends that an earlier one has."""
    width = plot["width"]
    own = _fitted({name: part for name, part in plot.items() if name not in OF_WHOLE}, width)
    used = {part["name"] for part in _dictionaries(own) if set(part) == {"name"}}
    if not legends:
        for part in _dictionaries(own):
            part.update({channel: {**part[channel], "legend": None} for channel in LEGENDS if _is_field(part, channel)})
    fit = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    most = None if width >= WIDTH else 2 * width + LABELS
    look: dict[str, Any] = {"$schema": whole["$schema"], "config": _narrowing(whole["config"], width)}
    data = {name: rows for name, rows in whole["datasets"].items() if name in used}
    return Panel({**look, **own, **fit, "description": description, "datasets": data}, most)


def _is_field(part: dict[str, Any], channel: str) -> bool:
    return isinstance(part.get(channel), dict) and "field" in part[channel]


def _narrowing(config: dict[str, Any], width: float) -> dict[str, Any]:
    """Labels that give way on a narrow screen, and tiles without numbers where those would not fit."""
    axis = {**config["axis"], "labelLimit": _where_narrow(NARROW_LABEL, config["axis"]["labelLimit"])}
    hidden = {"expr": f"containerSize()[0] < {0.8 * width + NARROW_LABEL:.0f} ? 0 : 1"}
    style = {IN_CELL: {**config["style"][IN_CELL], "opacity": hidden}}
    return {**config, "axis": axis, "style": style}


def _where_narrow(narrow: float, wide: float) -> dict[str, str]:
    return {"expr": f"containerSize()[0] < {NARROW} ? {narrow} : {wide}"}


def _fitted(part: Any, width: float) -> Any:
    """A copy without measures in pixels that hold for one width only."""
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
        length = legend.get("gradientLength", 0)
        found["legend"] = {**legend, "columns": _where_narrow(1, legend.get("columns", 0))}
        found["legend"] |= {"gradientLength": _where_narrow(length // 2, length)} if length else {}
    axis = found.get("axis")
    if isinstance(axis, dict) and isinstance(axis.get("labelLimit"), int):
        found["axis"] = {**axis, "labelLimit": _where_narrow(min(NARROW_LABEL, axis["labelLimit"]), axis["labelLimit"])}
    return found


def _dictionaries(part: Any) -> Iterator[dict[str, Any]]:
    """Every dictionary in a specification."""
    if isinstance(part, dict):
        yield part
        for own in part.values():
            yield from _dictionaries(own)
    elif isinstance(part, list | tuple):
        for own in part:
            yield from _dictionaries(own)

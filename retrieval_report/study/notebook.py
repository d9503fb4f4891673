"""Show sentences, tables and a picture of the three scores in HTML for a notebook: nothing but
elements with a style.

Notebooks that are not trusted keep neither scripts nor SVG nor style sheets, and a notebook's own
theme sets the colour of text, light or dark. So the marks are boxes placed in percent of the width
they get, in the colours of :func:`retrieval_report.charts.scores`, and text has no colour.
"""

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import polars as pl

from retrieval_report.contracts.arguments import Named
from retrieval_report.study.terminal import table_cells, visible
from retrieval_report.writing import colours
from retrieval_report.writing.numbers import column_decimals, number, span

MAX_ROWS = 50  # rows of a table, and models in the picture
NAME_LETTERS = 60
TICKS = 4  # about as many
POINTS = ["expected", "naive", "lowest", "highest", "order_low", "order_high", "ci_low", "ci_high"]


@cache
def _macros() -> Any:
    """Return the macros of the template."""
    from retrieval_report.study.template_files import asset, environment

    lines = asset("notebook.html.j2").splitlines()
    return environment().from_string("".join(map(str.strip, lines))).module


def html_text(sentences: Iterable[str], *parts: str) -> str:
    """Return sentences, and below them tables and pictures that are HTML already."""
    return str(_macros().text(sentences, parts))


def html_table(frame: pl.DataFrame, columns: str, *, caption: str = "", note: str = "") -> str:
    """Return the first rows of a frame as a table; nothing without rows."""
    cells = table_cells(frame.head(MAX_ROWS), columns)
    if not any(cells.values()):
        return ""
    return str(_macros().table(cells, zip(*cells.values(), strict=True), caption, note))


def scores_picture(rows: pl.DataFrame, draws: pl.DataFrame, measure: str) -> str:
    """Return the picture of some models' three scores; nothing without a number.

    Parameters
    ----------
    rows
        One row per model, as from :func:`three_rows`, with ``ci_low`` and ``ci_high``.
    draws
        ``model`` and ``value``: its mean under each order drawn, which is a stroke.
    measure
        The name of what is drawn.
    """
    rows = rows.head(MAX_ROWS)
    numbers = rows.unpivot(POINTS, variable_name="score").filter(pl.col("value").is_finite())
    if numbers.is_empty():
        return ""
    ticks = round_numbers(numbers["value"].min(), numbers["value"].max())  # type: ignore[arg-type]
    strokes = dict(
        draws.group_by("model").agg("value").iter_rows()  # of few models: those that ties move
    )
    places = column_decimals(rows["expected"])
    models = [
        {
            **row,
            "name": (name := visible(row["model"], NAME_LETTERS)),
            "title": f"{name}: {_numbers(row, places)}",
            "strokes": strokes.get(row["row_models"][0], ()),
        }
        for row in rows.iter_rows(named=True)
    ]
    digits = max(len(f"{tick:g}".partition(".")[2]) for tick in ticks)
    shown_ticks = [(tick, f"{tick:.{digits}f}") for tick in ticks[:: 1 + (len(ticks) > TICKS)]]
    first, *_, last = ticks

    def percent(length: float) -> str:
        return f"{100 * length / (last - first):.2f}%"

    about = visible(measure), models, shown_ticks, first, percent, bool(strokes), colours
    return str(_macros().picture(*about))


def round_numbers(low: float, high: float) -> list[float]:
    """Return a few round numbers at equal distances, from one below to one above.

    >>> round_numbers(0.2317, 0.4360)
    [0.2, 0.25, 0.3, 0.35, 0.4, 0.45]
    >>> round_numbers(0.0, 1.0), round_numbers(0.5, 0.5)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.4, 0.45, 0.5, 0.55, 0.6])
    """
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-9):
        room = 0.2 * abs(low) or 0.1
        low, high = low - room, high + room
    rough = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= 0.7 * rough)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    digits = max(0, 1 - math.floor(math.log10(step)))
    return [round(index * step, digits) for index in range(first, last + 1)]


def _numbers(row: Named, places: int) -> str:
    """Return the three scores of a model in words."""
    low, high = row["order_low"], row["order_high"]
    shuffled = "–" if low is None or high is None else span(low, high, " to ", places)
    return (
        f"expected {number(row['expected'], places)}, shuffled "
        f"{shuffled}, naive {number(row['naive'], places)}"
    )

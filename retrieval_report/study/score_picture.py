"""Draw the three scores of every model in HTML for a notebook: nothing but elements with a style.

Notebooks that are not trusted keep neither scripts nor SVG nor style sheets, and a notebook's own
theme sets the colour of text, light or dark. So the marks are boxes placed in percent of the width
they get, in the colours of :func:`retrieval_report.charts.scores`, and text has no colour.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

import polars as pl

from retrieval_report.contracts.arguments import Named
from retrieval_report.study.terminal import visible
from retrieval_report.writing.colours import (
    BAND,
    DRAWN,
    EXACT,
    GRID,
    LOOKS,
    PRINTED,
    SAMPLING,
    SKY,
)
from retrieval_report.writing.numbers import column_decimals, number, span

MAX_MODELS = 50  # as many as an HTML table shows
NAME_WIDTH, PLOT_LEFT, PLOT_WIDTH = 31, 34, 64  # percent of the picture
# Pixels: a row, its bar, and the lines of the naive score and of the interval.
ROW, BAR_TOP, BAR, MIDDLE, BELOW, LAST = 32, 5, 10, 10, 22, 28
NAME_LINE, NAME_LETTERS = 13, 60
TICKS = 4  # about as many
LENGTHS = ("lowest", "highest"), ("order_low", "order_high"), ("ci_low", "ci_high")
RANGE = "lowest to highest of all orders"


def scores_picture(rows: pl.DataFrame, draws: pl.DataFrame, measure: str) -> str:
    """Return the picture of some models' three scores as HTML without scripts, style sheets and
    addresses; nothing without a number.

    Parameters
    ----------
    rows
        One row per model, as from :func:`three_rows`, with ``ci_low`` and ``ci_high``.
    draws
        ``model`` and ``value``: its mean under each order drawn, which is a stroke.
    measure
        The name of what is drawn.
    """
    rows = rows.head(MAX_MODELS)
    points = ("expected", "naive", *(name for ends in LENGTHS for name in ends))
    numbers = rows.unpivot(points, variable_name="score").filter(pl.col("value").is_finite())
    if numbers.is_empty():
        return ""
    ticks = round_numbers(numbers["value"].min(), numbers["value"].max())  # type: ignore[arg-type]
    scale = _Scale(ticks[0], ticks[-1])
    strokes = dict(
        draws.group_by("model").agg("value").iter_rows()  # of few models: those that ties move
    )
    places = column_decimals(rows["expected"])
    models = rows.to_dicts()
    scores = [f"{visible(row['model'], NAME_LETTERS)}: {_numbers(row, places)}" for row in models]
    body = [
        _row(row, title, strokes.get(row["row_models"][0], []), scale)
        for row, title in zip(models, scores, strict=True)
    ]
    used = [EXACT, BAND, *([DRAWN] if strokes else []), RANGE, PRINTED, SAMPLING]
    heading = html.escape(visible(measure))
    spoken = html.escape("; ".join(scores))
    return (
        f'<div role="img" aria-label="{heading}. {spoken}" style="max-width:720px;font-size:12px">'
        f"<b>{heading}</b>{_legend(used)}{_axis(ticks, scale)}{''.join(body)}</div>"
    )


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


class _Scale:
    """Where numbers lie between the first and the last tick, in percent."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.size = low, high - low

    def at(self, value: float) -> str:
        return f"{100 * (value - self.low) / self.size:.2f}%"

    def between(self, low: float, high: float) -> str:
        return f"left:{self.at(low)};width:{100 * (high - low) / self.size:.2f}%"


def _row(row: Named, title: str, strokes: Sequence[float], scale: _Scale) -> str:
    """Return one model: its name, its scores in words, and its marks."""
    return (
        f'<div title="{html.escape(title)}" style="position:relative;height:{ROW}px">'
        f'<div style="position:absolute;left:0;top:{MIDDLE - NAME_LINE // 2}px;width:{NAME_WIDTH}%;'
        f"max-height:{2 * NAME_LINE}px;line-height:{NAME_LINE}px;overflow:hidden;"
        'overflow-wrap:break-word;text-align:right">'
        f"{html.escape(visible(row['model'], NAME_LETTERS))}</div>"
        f"{_plot(''.join(_marks(row, strokes, scale)), ROW)}</div>"
    )


def _marks(row: Named, strokes: Iterable[float], scale: _Scale) -> Iterable[str]:
    """Yield the marks of a model, the lowest layer first."""
    looks = (MIDDLE, 1, SKY), (BAR_TOP, BAR, LOOKS[BAND]), (LAST, 1, LOOKS[SAMPLING])
    for (low, high), (top, height, colour) in zip(LENGTHS, looks, strict=True):
        if row[low] is not None and row[high] is not None:
            yield _box(f"{scale.between(row[low], row[high])};height:{height}px", top, colour)
    for value in strokes:
        how = f"left:{scale.at(value)};width:1px;height:{BAR}px"
        yield _box(how, BAR_TOP, LOOKS[DRAWN])
    if row["expected"] is not None:
        how = f"left:{scale.at(row['expected'])};margin-left:-4px;width:9px;height:9px"
        yield _box(f"{how};border-radius:5px", MIDDLE - 4, LOOKS[EXACT])
    if row["naive"] is not None:
        yield (
            f'<div style="position:absolute;left:{scale.at(row["naive"])};margin-left:-8px;'
            f"width:16px;top:{BELOW - 7}px;line-height:14px;font-size:12px;text-align:center;"
            f'color:{LOOKS[PRINTED]}">◆</div>'
        )


def _box(how: str, top: int, colour: str) -> str:
    return f'<div style="position:absolute;{how};top:{top}px;background-color:{colour}"></div>'


def _plot(marks: str, height: int) -> str:
    """Return the part of the picture beside the names."""
    return (
        f'<div style="position:absolute;left:{PLOT_LEFT}%;width:{PLOT_WIDTH}%;top:0;'
        f'height:{height}px">{marks}</div>'
    )


def _numbers(row: Named, places: int) -> str:
    """Return the three scores of a model in words."""
    low, high = row["order_low"], row["order_high"]
    shuffled = "–" if low is None or high is None else span(low, high, " to ", places)
    return (
        f"expected {number(row['expected'], places)}, shuffled {shuffled}, "
        f"naive {number(row['naive'], places)}"
    )


def _axis(ticks: Sequence[float], scale: _Scale) -> str:
    """Return the numbers above the marks."""
    places = max(len(f"{tick:g}".partition(".")[2]) for tick in ticks)
    shown_ticks = ticks if len(ticks) <= TICKS else ticks[::2]
    marks = "".join(
        f'<div style="position:absolute;left:{scale.at(tick)};margin-left:-30px;width:60px;top:0;'
        f'line-height:14px;text-align:center;font-size:11px;opacity:0.8">{tick:.{places}f}</div>'
        f'<div style="position:absolute;left:{scale.at(tick)};width:1px;top:15px;height:5px;'
        f'background-color:{LOOKS[SAMPLING]}"></div>'
        for tick in shown_ticks
    )
    line = _box("left:0;width:100%;height:1px", 20, GRID)
    return f'<div style="position:relative;height:22px">{_plot(marks + line, 22)}</div>'


def _legend(used: Iterable[str]) -> str:
    """Return what the marks mean."""
    looks = {**LOOKS, RANGE: SKY}
    signs = {EXACT: "●", PRINTED: "◆", DRAWN: "|", RANGE: "—", SAMPLING: "—"}
    parts = [
        f'<span style="white-space:nowrap;margin-right:14px"><span style="color:{looks[what]}">'
        f"{signs.get(what, '▬')}</span> {what}</span> "
        for what in used
    ]
    return f'<div style="line-height:18px;margin-bottom:4px">{"".join(parts)}</div>'

"""Draw lines of many models in one chart, the leading ones coloured and named at their right end,
the others grey.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import altair as alt
import polars as pl

from retrieval_report.charts.channels import along, keyed, texts
from retrieval_report.charts.colours import GREY, PALETTE
from retrieval_report.charts.data import inline, with_labels
from retrieval_report.charts.theme import HEIGHT, WIDTH
from retrieval_report.writing.names import unique_labels

LETTER_HEIGHT = 13
OTHERS = "other models"
K = pl.col("cutoff").cast(pl.String).fill_null("all")
CUT = (pl.col("truncated_share") > 0).fill_null(
    False
)  # rows whose scores depend on items that were not retrieved


def lighted(
    rows: pl.DataFrame, models: Iterable[str], first: Sequence[str] = ()
) -> tuple[pl.DataFrame, list[str]]:
    """Rows with ``label`` and ``shade`` (the label, or OTHERS), and the labels that get a colour.

    These are the models asked for, then the leading ones, as many as the palette tells apart;
    ``models`` has all of them, best first.
    """
    labels = unique_labels(models)
    lit = [labels[model] for model in list(dict.fromkeys([*first, *models]))[: len(PALETTE)]]
    shade = pl.when(pl.col("label").is_in(lit)).then("label").otherwise(pl.lit(OTHERS))
    return with_labels(rows, labels).with_columns(shade=shade), lit


def grey_and_lit(rows: pl.DataFrame) -> list[tuple[pl.DataFrame, bool]]:
    """The rows without a colour, to be drawn below, and those with one; none of no rows."""
    parts = (
        (rows.filter(pl.col("shade") == OTHERS), False),
        (rows.filter(pl.col("shade") != OTHERS), True),
    )
    return [(part, lit) for part, lit in parts if part.height]


def unlit(number: int) -> str:
    """Return the part of a subtitle about models without a colour.

    >>> unlit(1), unlit(7), unlit(0)
    ('; grey: 1 other model', '; grey: 7 other models', '')
    """
    return f"; grey: {number} other model{'s' * (number > 1)}" if number > 0 else ""


def shaded(rows: pl.DataFrame, lit: Sequence[str], legend: bool = True) -> alt.Color:
    """Return colours for highlighted labels, the same in every chart of the same ones, and grey for
    the rest.
    """
    own = dict(zip(sorted(lit), PALETTE, strict=False))
    colour = keyed(
        alt.Color, rows["shade"], {**{label: own[label] for label in lit}, OTHERS: GREY}, columns=3
    )
    return colour if legend else colour.legend(None)


def dashed_ends(rows: pl.DataFrame, dashed: pl.Expr) -> pl.DataFrame:
    """Return the dashed points of every line (``label``, by ``at``), and the last solid one before
    them.

    >>> rows = pl.DataFrame({"label": ["a"] * 4, "at": [1, 2, 3, 4]})
    >>> dashed_ends(rows, pl.col("at") > 2)["at"].to_list()
    [2, 3, 4]
    """
    first = rows.filter(dashed).group_by("label").agg(first=pl.col("at").min())
    before = (
        rows.filter(~dashed)
        .join(first, on="label")
        .filter(pl.col("at") < pl.col("first"))
        .sort("at")
    )
    last = before.group_by("label", maintain_order=True).last().select(rows.columns)
    return pl.concat([last, rows.filter(dashed)]).sort("label", "at")


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions apart until neighbours are ``gap`` from each other, within bounds if they fit.

    >>> spread([1.0, 1.0, 5.0], 1.0, 0.0, 6.0)
    [0.5, 1.5, 5.0]
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    groups: list[tuple[float, int]] = []  # centre and members of runs that touch
    for index in order:
        centre, size = min(max(wanted[index], low), high), 1
        while groups and groups[-1][0] + groups[-1][1] * gap / 2 > centre - size * gap / 2:
            before, members = groups.pop()
            centre = (before * members + centre * size) / (members + size)
            size += members
            centre = min(max(centre, low + (size - 1) * gap / 2), high - (size - 1) * gap / 2)
        groups.append((centre, size))
    placed = [
        centre + (member - (size - 1) / 2) * gap
        for centre, size in groups
        for member in range(size)
    ]
    moved = dict(zip(order, placed, strict=True))
    return [moved[index] for index in range(len(wanted))]


def apart(at: pl.Series, y: alt.Y) -> pl.Series:
    """Where to write the names of points, ``named_at`` on a vertical axis of the usual height, so
    that all fit.
    """
    low, high = y["scale"]["domain"]
    gap = (high - low) * LETTER_HEIGHT / HEIGHT
    return pl.Series("named_at", spread(at.to_list(), gap, low, high), dtype=pl.Float64)


def end_labels(
    ends: pl.DataFrame, lit: Sequence[str], y: alt.Y, colour: alt.Color
) -> list[alt.Chart]:
    """Draw names at the right end of the lines, moved apart; grey ones only if there is room for
    all.

    ``ends`` has ``label``, ``model``, ``end`` (the value at the end of the line) and ``shade`` (the
    colour's label).
    """
    if ends.height * LETTER_HEIGHT > HEIGHT:
        ends = ends.filter(pl.col("label").is_in(list(lit)))
    ends = ends.filter(pl.col("end").is_not_null())
    data = inline(ends.select("label", "model", "end", apart(ends["end"], y), "shade"))
    link = alt.Chart(data).mark_rule(strokeWidth=1.2)
    name = alt.Chart(data).mark_text(align="left", baseline="middle")
    between = {
        "x": alt.value(WIDTH + 3),
        "x2": alt.value(WIDTH + 15),
        "y": along(y, "end"),
        "y2": "named_at:Q",
    }
    at = {"x": alt.value(WIDTH + 18), "y": along(y, "named_at")}
    return [
        link.encode(color=colour, **between),
        name.encode(**at, text="label:N", tooltip=texts("model")),
    ]

"""Draw the naive score against the exact one, query by query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import along, fixed_scale, keyed, texts, tooltips
from retrieval_report.charts.colours import BLUE, GREY, VERMILLION
from retrieval_report.charts.data import (
    SAME,
    at_measure,
    bounds,
    check_models,
    held,
    inline,
    nice_domain,
    with_labels,
)
from retrieval_report.charts.theme import empty_chart, finish, layered
from retrieval_report.contracts.registry import schema
from retrieval_report.writing.names import clean, quoted
from retrieval_report.writing.numbers import size

QUERIES = {name: dtype for name, dtype in schema("queries").items() if name != "truncated"}
NUMBERS = ("naive", "expected", "naive_error", "lowest", "highest", "std")
Side = Literal["left", "center", "right"]
MOST, GRID = 5000, 60
SIDE, LISTED = 360, 16
HIGH, LOW, RIGHT = "printed too high", "printed too low", "printed right"
DIGITS = 12


def query_scatter(
    query_table: object,
    *,
    metric: object,
    cutoff: int | str | None = None,
    models: Sequence[str] | None = None,
    listed: bool = True,
) -> ChartType:
    """Draw the naive score of each query against its expected score.

    Drag a rectangle to list the queries in it that are furthest off.

    Parameters
    ----------
    query_table
        The result of :func:`query_table`.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    models
        The models to draw; by default all.
    listed
        Whether the queries in the rectangle are listed beside the points; a page that reads the
        parameter ``brush`` may list them itself.

    Returns
    -------
    altair.Chart
        Equal points are drawn once, larger if there are more; more than 5000 distinct ones are
        first counted on a grid of 60 × 60, with each cell at the mean of its queries and named
        after the one that is furthest off.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> from retrieval_report.lists import query_table
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": list("ppqq"),
    ...         "item": list("abab"),
    ...         "distance": [1, 2, 3, 3],
    ...         "relevance": [1, 0, 1, 0],
    ...     }
    ... )
    >>> table = query_table(evaluate(rankings, metrics="rr", cutoffs=None))
    >>> query_scatter(table, metric="rr", cutoff=None).to_dict()["title"]["text"]
    ['The naive order overestimates rr@all of 1 of 2 lists, and underestimates 0']
    """
    frame = held(query_table, QUERIES, "query_table", "query_table")
    if frame is None:
        return empty_chart("the table of queries has no rows")
    here, where = at_measure(frame, metric, cutoff)
    rows = here.drop_nulls(["naive", "expected"])
    if models is not None:
        check_models("models", models, frame["model"], "is not in the table")
        rows = rows.filter(pl.col("model").is_in(list(models)))
    if not rows.height:
        return empty_chart(f"no query has both a naive and an expected score for {where}")
    error = pl.col("naive_error")
    rows = rows.with_columns(
        side=pl.when(error > SAME)
        .then(pl.lit(HIGH))
        .when(error < -SAME)
        .then(pl.lit(LOW))
        .otherwise(pl.lit(RIGHT))
    )
    points = _points(rows)
    brush = alt.param(name="brush", select=alt.IntervalSelectionConfig(type="interval"))
    scatter = _scatter(points, where, brush)
    lines = [
        (
            "below the diagonal the naive order overestimates the model, above it underestimates; drag "
            "to list queries"
        )
    ]
    if not listed:
        return finish(scatter, _title(rows, where), lines, _spoken(rows), 56)
    chart = alt.hconcat(scatter, _worst(points, brush), spacing=24)
    return finish(chart, _title(rows, where), lines, _spoken(rows), 88)


def _points(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per distinct point, or per grid cell if there are many."""
    rows = rows.with_columns(query=pl.col("query").cast(pl.String), off=pl.col("naive_error").abs())
    rows = rows.sort("off", "model", "query", descending=[True, False, False])
    keys = ["naive", "expected"]
    if rows.select(keys).n_unique() > MOST:
        low, high = nice_domain(*rows.select(keys))
        step = (high - low) / GRID
        cells = [((pl.col(name) - low) / step).floor().alias(f"{name}_cell") for name in keys]
        keys = ["naive_cell", "expected_cell", "side"]
        rows = rows.with_columns(cells)
    group = rows.group_by(*keys, maintain_order=True)
    numbers = [name for name in NUMBERS if name not in keys]
    points = group.agg(
        *(_mean(name) for name in numbers),
        pl.col("model", "query", "off", *({"side"} - {*keys})).first(),
        lists=pl.len(),
    )
    points = with_labels(points)
    names = [clean(query) for query in points["query"]]
    short_names = [clean(query, 22) for query in points["query"]]
    return points.with_columns(query=pl.Series(names), query_label=pl.Series(short_names)).select(
        "model", "label", "query", "query_label", *NUMBERS, "off", "side", "lists"
    )


def _mean(name: str) -> pl.Expr:
    """Return a mean that is exact for a single number, whose mean could otherwise differ in its
    last digits.
    """
    return (
        pl.when(pl.len() == 1)
        .then(pl.col(name).first())
        .otherwise(pl.col(name).mean().round(DIGITS))
        .alias(name)
    )


def _scatter(points: pl.DataFrame, where: str, brush: alt.Parameter) -> alt.LayerChart:
    low, high = nice_domain(points["naive"], points["expected"])
    pad = (high - low) * 0.03
    scale = fixed_scale(low - pad, high + pad)
    ends = alt.InlineData(values=[{"from": low - pad, "to": high + pad}])
    x = alt.X("naive:Q", scale=scale, title=f"{where} in the naive order")
    y = alt.Y("expected:Q", scale=scale, title=f"{where} expected")
    across: dict[str, Any] = {
        "x": along(x, "from"),
        "x2": "to:Q",
        "y": along(y, "from"),
        "y2": "to:Q",
    }
    diagonal = alt.Chart(ends).mark_rule(strokeDash=[4, 3], opacity=0.7).encode(**across)
    colour = keyed(
        alt.Color,
        points["side"],
        {HIGH: VERMILLION, LOW: BLUE, RIGHT: GREY},
        "the score of a list is",
    )
    opacity = alt.condition(brush, alt.value(0.7), alt.value(0.12))
    tooltip = [*texts("model", "query"), alt.Tooltip("lists:Q"), *tooltips(NUMBERS)]
    look: dict[str, Any] = {
        "color": colour,
        "size": _size(points),
        "opacity": opacity,
        "tooltip": tooltip,
    }
    dots = (
        alt.Chart(inline(points))
        .mark_circle(stroke=None)
        .encode(x=x, y=y, **look)
        .add_params(brush)
    )
    return layered(diagonal, dots).properties(width=SIDE, height=SIDE)


def _size(points: pl.DataFrame) -> alt.Size:
    """Return the area by number of lists; on the grid, dots must not cover each other."""
    most = int(points["lists"].to_numpy().max())
    crowded = points.height > MOST // 4 and most > 20
    smallest, largest = (8, 60) if crowded else (26, 500)
    scale = alt.Scale(domain=[1, max(most, 2)], range=[smallest, min(largest, 20 * most + 26)])
    symbol: dict[str, Any] = {"symbolFillColor": GREY, "symbolStrokeColor": GREY}
    legend = alt.Legend(orient="bottom", values=sorted({1, most}), format="d", **symbol)
    return alt.Size(
        "lists:Q", title="lists at one point", scale=scale, legend=legend if most > 1 else None
    )


def _worst(points: pl.DataFrame, brush: alt.Parameter) -> alt.LayerChart:
    """List the queries inside the rectangle that are furthest off."""
    error = "format(datum.naive_error, '+.3f')"
    base = (
        alt.Chart(inline(points))
        .transform_filter(brush)
        .transform_window(
            rank="row_number()",
            sort=[
                alt.SortField("off", order="descending"),
                alt.SortField("model"),
                alt.SortField("query"),
            ],
        )
        .transform_filter(f"datum.rank <= {LISTED}")
        .transform_calculate(error=error)
    )
    y = alt.Y("rank:O", axis=None, scale=alt.Scale(domain=list(range(1, LISTED + 1))))
    tooltip = [*texts("model", "query"), *tooltips(("naive", "expected"))]
    columns: tuple[tuple[str, int, Side, int], ...] = (
        ("error", 40, "right", 60),
        ("query_label", 52, "left", 132),
        ("label", 194, "left", 150),
    )
    columns_of_text = [
        base.mark_text(align=align, limit=limit).encode(
            y=y, x=alt.value(at), text=f"{name}:N", tooltip=tooltip
        )
        for name, at, align, limit in columns
    ]
    heading = alt.Title(
        text="furthest off: error, query, model", fontSize=11, fontWeight="normal", offset=4
    )
    return layered(*columns_of_text).properties(width=340, height=SIDE, title=heading)


def _title(rows: pl.DataFrame, where: str) -> str:
    high, low = (rows.filter(side=side).height for side in (HIGH, LOW))
    if high + low == 0:
        return f"The naive order scores all {rows.height} lists at {where} as expected"
    whose = (
        f" of {quoted(rows['model'][0])}"
        if rows["model"].n_unique() == 1 and rows["model"][0] != "model"
        else ""
    )
    return (
        f"The naive order overestimates {where} of {high} of {rows.height} lists{whose}, and "
        f"underestimates {low}"
    )


def _spoken(rows: pl.DataFrame) -> str:
    low, high = bounds(rows["naive_error"])
    mean = math.fsum(rows["naive_error"]) / rows.height
    error = f"{size(low, sign='+')} to {size(high, sign='+')}, mean {size(mean, sign='+')}"
    return (
        f"Scatter plot of {rows.height} lists; naive score minus expected score runs from {error}."
    )

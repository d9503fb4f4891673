"""Draw one ranked list in several orders."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.colours import GREEN, VERMILLION
from retrieval_report.charts.layers import layer, number_axis, row_axis, span
from retrieval_report.charts.theme import chart, filled, finish, row_chart
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.reading.frames import to_polars
from retrieval_report.writing.names import clean

STEP = 34
RANKS = 60  # that are drawn
COLUMNS = ("item", "relevance", "tie", "tie_size")
EXPECTED = "mean of all orders"
SQUARE = {"type": "bar", "color": GREEN, "cornerRadius": 1, "height": 24}
TIE = {"type": "bar", "filled": False, "stroke": VERMILLION, "strokeWidth": 1.3, "height": 24}
CUTOFF = {"type": "rule", "strokeWidth": 1.6, "strokeDash": [4, 3]}


@chart
def list_orders(orders: Mapping[str, object], *, cutoff: int | None = None) -> ChartType:
    """Draw the same list in several orders below each other, and the average relevance at every
    rank.

    Parameters
    ----------
    orders
        Rows of one list by the name of the order, first rank first: the result of
        :func:`ranking_ties` for the order received, and of :func:`drawn_order`.
    cutoff
        Where to draw the line; None means the whole list.

    Returns
    -------
    altair.Chart
        One square per item, filled by its relevance, and a frame around every tie, whose items
        could be in any order. The first sixty ranks are drawn.

    Examples
    --------
    >>> from retrieval_report.ties.orders import drawn_order, ranking_ties
    >>> rankings = {
    ...     "query": ["q"] * 3,
    ...     "item": ["a", "b", "c"],
    ...     "distance": [1, 1, 2],
    ...     "relevance": [1, 0, 0],
    ... }
    >>> rows = ranking_ties(rankings, model="model", query="q")
    >>> chart = list_orders({"order received": rows, "draw 0": drawn_order(rows, draw=0)})
    >>> print(*chart.to_dict()["title"]["text"])
    One list in 2 orders
    """
    frames = {clean(name, 40): to_polars(rows, "orders") for name, rows in orders.items()}
    first = next(iter(frames.values()), pl.DataFrame())
    filled(first, "the list has no items")
    missing = [name for frame in frames.values() for name in COLUMNS if name not in frame.columns]
    if missing:
        raise ColumnError(f"orders: no column {missing[0]!r}; expected what ranking_ties returns")
    mean = pl.col("relevance").cast(pl.Float64).mean().over("tie")
    frames[EXPECTED] = first.with_columns(mean, item=pl.lit("any of the tie"))
    rows = pl.concat([_ranks(frame, name) for name, frame in frames.items()])
    shade = pl.col("relevance") / max(float(str(rows["relevance"].max())), 1.0)
    rows = rows.with_columns(shade=shade, left=pl.col("rank") - 0.42, right=pl.col("rank") + 0.42)
    ties = rows.filter(pl.col("tie_size") > 1).group_by("label", "tie", maintain_order=True)
    ends = ties.agg(pl.col("left").min(), pl.col("right").max())
    last = float(str(rows["rank"].max()))
    line = pl.DataFrame({"cutoff": [cutoff] if cutoff is not None and cutoff < last else []})
    axis = alt.Axis(tickMinStep=1, grid=False, format="d")
    scale = alt.Scale(domain=[0.4, last + 0.6], nice=False)
    x, y = number_axis(alt.X, "rank in the list", scale=scale, axis=axis), row_axis(frames)
    opacity = alt.Opacity("shade:Q", scale=alt.Scale(domain=[0, 1], range=[0.07, 1]), legend=None)
    tips = "label rank item relevance tie_size"
    layers = [
        span(rows, SQUARE, x, "left", "right", y=y, opacity=opacity, tips=tips),
        span(ends, TIE, x, "left", "right", y=y),
        layer(line.select(at=pl.col("cutoff") + 0.5), CUTOFF, x=x("at")),
    ]
    text = (
        "green: relevant, paler: less so; a frame is a tie, whose items could be in any order; the "
        f"line is the cutoff; the first {min(first.height, RANKS)} of {first.height} ranks"
    )
    relevant = rows.filter(pl.col("relevance") > 0, pl.col("label") != EXPECTED)
    return finish(
        row_chart(layers, len(frames), step=STEP),
        f"One list in {len(orders)} orders",
        text,
        relevant,
        "rank",
        "relevance",
    )


def _ranks(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The first ranks of one order, with names that can be shown."""
    return (
        frame.sort("tie", maintain_order=True)
        .head(RANKS)
        .select(
            pl.lit(name).alias("label"),
            pl.col("item").cast(pl.String).map_elements(lambda item: clean(item, 60), pl.String),
            pl.col("relevance").cast(pl.Float64),
            "tie",
            "tie_size",
            rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
        )
    )

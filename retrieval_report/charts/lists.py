"""Draw one ranked list: as the ties it consists of, and in several orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import NUMBER, fixed_scale, keyed, row_axis, texts
from retrieval_report.charts.colours import AMBER, BLUE, GREEN, GREY, SKY, VERMILLION
from retrieval_report.charts.data import inline
from retrieval_report.charts.theme import WIDTH, empty_chart, finish, layered
from retrieval_report.contracts.arguments import number_text
from retrieval_report.contracts.errors import ColumnError, DataError
from retrieval_report.contracts.frames import order_column
from retrieval_report.reading.frames import to_polars
from retrieval_report.writing.names import clean, joined, quoted

LIST_WIDTH, HEIGHT, STEP = 640, 280, 34
ITEMS, RANKS = 400, 60  # that are drawn of one list, and of several orders
COLUMNS = ("model", "query", "item", "relevance", "tie", "tie_start", "tie_size", "tie_relevant")
MIXED, PURE, ALONE = "tie of different relevances", "tie of one relevance", "alone at its distance"
EXPECTED = "mean of all orders"
GRADES = (BLUE, GREEN, AMBER, VERMILLION)


def ranked_list(tie_groups_rows: object) -> ChartType:
    """Draw one list: its distances along the ranks, ties as horizontal bars, relevant items as
    filled dots.

    Parameters
    ----------
    tie_groups_rows
        The rows of one model and query from :func:`tie_groups`.

    Returns
    -------
    altair.Chart
        Each tie is one horizontal bar; its items are in the order received, but any other order
        would be as good. The first 400 ranks are drawn, and the whole tie of the last of them.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report.lists import tie_groups
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> ranked_list(tie_groups(rankings)).to_dict()["title"]["text"]
    ['Query q: 2 of 4 items are in ties whose order decides the score']
    """
    frame = to_polars(tie_groups_rows, "tie_groups_rows")
    if not frame.height:
        return empty_chart("the list has no items")
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing or not {"distance", "score"} & {*frame.columns}:
        raise ColumnError(
            f"tie_groups_rows: no column {', '.join(map(repr, missing or ['distance']))}; "
            "expected what tie_groups returns"
        )
    lists = frame.select("model", "query").n_unique()
    if lists > 1:
        raise DataError(f"tie_groups_rows: {lists} lists; pass the rows of one model and query")
    order = order_column(frame)
    rows = _items(frame, order)
    shown = rows.filter(pl.col("tie_start") <= ITEMS).head(10 * ITEMS)
    height = min(HEIGHT, 64 + 36 * shown[order].n_unique())
    chart = layered(*_ties(shown, order), *_dots(shown, order)).properties(
        width=LIST_WIDTH, height=height
    )
    lines = ["a horizontal bar is a tie: its items could be in any order"]
    if shown.height < rows.height:
        lines[0] += f"; the first {shown.height} of {rows.height} items"
    return finish(
        chart, _title(rows, frame["model"][0], str(frame["query"][0])), lines, _spoken(rows), 88
    )


def _received(frame: pl.DataFrame, most: int) -> pl.DataFrame:
    """The first items in the order received inside each tie, with their rank, and names that can be
    shown.
    """
    frame = frame.sort("tie", maintain_order=True).head(most)
    return frame.with_columns(
        pl.col("relevance").cast(pl.Float64),
        item=pl.Series([clean(str(item), 60) for item in frame["item"]], dtype=pl.String),
        rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
    )


def _items(frame: pl.DataFrame, order: str) -> pl.DataFrame:
    """Items with the ends of their ties."""
    mixed = pl.col("relevance").n_unique().over("tie") > 1
    kind = (
        pl.when(pl.col("tie_size") == 1)
        .then(pl.lit(ALONE))
        .when(mixed)
        .then(pl.lit(MIXED))
        .otherwise(pl.lit(PURE))
    )
    after = pl.col("tie_start") + pl.col("tie_size")
    ends = {"tie_end": after - 1, "left": pl.col("tie_start") - 0.45, "right": after - 0.55}
    return _received(frame, frame.height).select(
        *COLUMNS[2:], pl.col(order).cast(pl.Float64), "rank", kind=kind, **ends
    )


def _y(rows: pl.DataFrame, order: str) -> alt.Y:
    axis = (
        alt.Axis(values=[rows[order][0]], format=NUMBER)
        if rows[order].n_unique() == 1
        else alt.Axis()
    )
    return alt.Y(f"{order}:Q", title=order, scale=alt.Scale(zero=False, padding=12), axis=axis)


def _ties(rows: pl.DataFrame, order: str) -> list[alt.Chart]:
    ties = rows.group_by("tie", maintain_order=True).first()
    symbol: dict[str, Any] = {"symbolType": "square", "symbolStrokeWidth": 6, "symbolSize": 30}
    colour = keyed(
        alt.Color, ties["kind"], {MIXED: VERMILLION, PURE: SKY, ALONE: GREY}, "ranks", **symbol
    )
    titled = {
        "tie_start": "from rank",
        "tie_end": "to rank",
        "tie_size": "items",
        "tie_relevant": "relevant items",
    }
    tooltip = _numbers({order: order, "tie": "tie", **titled})
    x = alt.X("left:Q", scale=alt.Scale(zero=False, nice=False), axis=_rank_axis())
    bar = alt.Chart(inline(ties)).mark_rule(strokeWidth=13, opacity=0.38, strokeCap="butt")
    return [bar.encode(x=x, x2="right:Q", y=_y(rows, order), color=colour, tooltip=tooltip)]


def _numbers(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{name}:Q", title=title) for name, title in titles.items()]


def _rank_axis() -> alt.Axis:
    return alt.Axis(title="rank in the list", tickMinStep=1, format="d")  # there is no rank 1.5


def _dots(rows: pl.DataFrame, order: str) -> list[alt.Chart]:
    grades = sorted(rows["relevance"].unique().to_list())
    colours = [
        "transparent" if grade == 0 else GRADES[min(index, len(GRADES) - 1)]
        for index, grade in enumerate(grades, start=-1 if grades[0] == 0 else 0)
    ]
    rows = rows.with_columns(
        grade=pl.col("relevance").map_elements(number_text, return_dtype=pl.String)
    )
    looks = dict(zip(map(number_text, grades), colours, strict=True))
    fill = keyed(alt.Fill, rows["grade"], looks, "relevance", symbolStrokeWidth=1)
    size = 34 if rows.height <= 120 else 14
    tie = {"tie_start": "tie from rank", "tie_end": "to rank", "tie_size": "items in the tie"}
    of_item = {"relevance": "relevance", order: order, "rank": "rank received", **tie}
    tooltip = [*texts("item"), *_numbers(of_item)]
    x = alt.X("rank:Q", scale=alt.Scale(zero=False, nice=False), axis=_rank_axis())
    dot = alt.Chart(inline(rows)).mark_point(size=size, stroke=GREY, strokeWidth=1, opacity=1)
    return [dot.encode(x=x, y=_y(rows, order), fill=fill, tooltip=tooltip)]


def _title(rows: pl.DataFrame, model: str, query: str) -> str:
    mixed = rows.filter(kind=MIXED).height
    name = f"Query {quoted(query)}" + (f" of {quoted(model)}" if model != "model" else "")
    return f"{name}: {mixed} of {rows.height} items are in ties whose order decides the score"


def _spoken(rows: pl.DataFrame) -> str:
    ties = (
        rows.filter(pl.col("tie_size") > 1)
        .group_by("tie", maintain_order=True)
        .first()
        .sort("tie")
        .head(5)
    )
    parts = [
        f"ranks {start} to {end} tie, {relevant} of {size} relevant"
        for start, end, size, relevant in ties.select(
            "tie_start", "tie_end", "tie_size", "tie_relevant"
        ).rows()
    ]
    return f"A ranked list of {rows.height} items. " + (
        "; ".join(parts) + "." if parts else "No two items tie."
    )


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
    2 of the first 3 ranks are in ties of different relevances: tie order alone decides what stands
    there
    """
    frames = {name: to_polars(rows, "orders") for name, rows in orders.items()}
    first = next(iter(frames.values()), pl.DataFrame())
    if not first.height:
        return empty_chart("the list has no items")
    missing = [
        name for frame in frames.values() for name in COLUMNS[2:] if name not in frame.columns
    ]
    if missing:
        raise ColumnError(f"orders: no column {missing[0]!r}; expected what ranking_ties returns")
    rows = pl.concat([_ranks(frame, clean(name, 40)) for name, frame in frames.items()])
    most = max(float(str(rows["relevance"].max())), 1.0)
    mean = _averages(first)
    shown = pl.concat([rows, mean]).with_columns(shade=pl.col("relevance") / most)
    names = [*(clean(name, 40) for name in frames), EXPECTED]
    line = _line(cutoff, shown["rank"].to_numpy().max())
    chart = layered(*_squares(shown, names), *line).properties(
        width=WIDTH, height=STEP * len(names)
    )
    lines = ["green: relevant, paler: less so; a frame is a tie, whose items could be in any order"]
    if line:
        lines[0] += f"; the line is the cutoff {cutoff}"
    if first.height > RANKS:
        lines[0] += f"; the first {RANKS} of {first.height} ranks"
    return finish(chart, _orders_title(first), lines, _orders_spoken(rows, names[:-1], cutoff), 88)


def _ranks(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The first ranks of one order."""
    rows = _received(frame, RANKS)
    return rows.select(
        pl.lit(name).alias("order"), "rank", "item", "relevance", "tie", "tie_start", "tie_size"
    )


def _averages(frame: pl.DataFrame) -> pl.DataFrame:
    """What stands at every rank on average: the mean relevance of its tie."""
    mean = frame.with_columns(pl.col("relevance").cast(pl.Float64).mean().over("tie"))
    return _ranks(mean, EXPECTED).with_columns(item=pl.lit("any of the tie"))


def _squares(rows: pl.DataFrame, names: list[str]) -> list[alt.Chart]:
    y = row_axis(names, "order")
    y["scale"] = alt.Scale(domain=names, paddingInner=0.25)
    last = int(rows["rank"].to_numpy().max())
    axis = alt.Axis(title="rank in the list", tickMinStep=1, grid=False, format="d")
    x = alt.X("left:Q", scale=fixed_scale(0.4, last + 0.6), axis=axis)
    rows = rows.with_columns(left=pl.col("rank") - 0.42, right=pl.col("rank") + 0.42)
    numbers = [
        alt.Tooltip("relevance:Q", format=".3~f"),
        alt.Tooltip("tie_size:Q", title="items in the tie"),
    ]
    tooltip = ["order:N", "rank:Q", "item:N", *numbers]
    opacity = alt.Opacity("shade:Q", scale=alt.Scale(domain=[0, 1], range=[0.07, 1]), legend=None)
    squares = alt.Chart(inline(rows)).mark_bar(color=GREEN, cornerRadius=1)
    ties = rows.filter(pl.col("tie_size") > 1).group_by("order", "tie", maintain_order=True)
    ends = ties.agg(
        left=pl.col("left").min(), right=pl.col("right").max(), tie_size=pl.col("tie_size").first()
    )
    frames = alt.Chart(inline(ends)).mark_bar(
        filled=False, color=VERMILLION, strokeWidth=1.3, cornerRadius=2
    )
    return [
        squares.encode(x=x, x2="right:Q", y=y, opacity=opacity, tooltip=tooltip),
        frames.encode(x=x, x2="right:Q", y=y),
    ]


def _line(cutoff: int | None, last: int) -> list[alt.Chart]:
    if cutoff is None or cutoff >= last:
        return []
    rule = alt.Chart(alt.InlineData(values=[{"at": cutoff + 0.5}])).mark_rule(
        strokeWidth=1.6, strokeDash=[4, 3]
    )
    return [rule.encode(x="at:Q")]


def _orders_title(frame: pl.DataFrame) -> str:
    top = frame.with_columns(mixed=pl.col("relevance").n_unique().over("tie") > 1).head(RANKS)
    mixed = top.filter("mixed").height
    if not mixed:
        return f"None of the first {top.height} ranks depends on the order inside ties"
    start = f"{mixed} of the first {top.height} ranks are in ties of different relevances"
    return f"{start}: tie order alone decides what stands there"


def _orders_spoken(rows: pl.DataFrame, names: list[str], cutoff: int | None) -> str:
    top = rows if cutoff is None else rows.filter(pl.col("rank") <= cutoff)
    parts = []
    for name in names:
        ranks = top.filter((pl.col("order") == name) & (pl.col("relevance") > 0))["rank"].to_list()
        listed = ", ".join(map(str, ranks[:12])) + (" …" if len(ranks) > 12 else "")
        parts.append(f"{name}: relevant items at rank {listed or 'none'}")
    return (
        f"Ranks of the relevant items{'' if cutoff is None else f' up to the cutoff {cutoff}'}. "
        + joined(parts)
    )

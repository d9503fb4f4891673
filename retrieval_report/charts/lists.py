"""Draw one ranked list as the ties it consists of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import NUMBER, keyed, texts
from retrieval_report.charts.colours import AMBER, BLUE, GREEN, GREY, SKY, VERMILLION
from retrieval_report.charts.data import inline
from retrieval_report.charts.theme import empty_chart, finish, layered
from retrieval_report.contracts.arguments import number_text
from retrieval_report.contracts.errors import ColumnError, DataError
from retrieval_report.contracts.frames import order_column
from retrieval_report.reading.frames import to_polars
from retrieval_report.writing.names import clean, quoted

WIDTH, HEIGHT = 640, 280
ITEMS = 400
COLUMNS = ("model", "query", "item", "relevance", "tie", "tie_start", "tie_size", "tie_relevant")
MIXED, PURE, ALONE = "tie of different relevances", "tie of one relevance", "alone at its distance"
GRADES = (BLUE, GREEN, AMBER, VERMILLION)


def ranked_list(tie_groups_rows: object) -> ChartType:
    """Draw one list: its distances along the ranks, ties as horizontal bars, relevant items as filled dots.

    Parameters
    ----------
    tie_groups_rows
        The rows of one model and query from :func:`tie_groups`.

    Returns
    -------
    altair.Chart
        Each tie is one horizontal bar; its items are in the order received, but any other order would be as good. The
        first 400 ranks are drawn, and the whole tie of the last of them.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report.lists import tie_groups
    >>> rankings = pl.DataFrame({
    ...     "query": ["q"] * 4, "item": list("abcd"), "distance": [0, 2, 2, 5], "relevance": [0, 1, 0, 1]})
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
    chart = layered(*_ties(shown, order), *_dots(shown, order)).properties(width=WIDTH, height=height)
    lines = ["a horizontal bar is a tie: its items could be in any order"]
    if shown.height < rows.height:
        lines[0] += f"; the first {shown.height} of {rows.height} items"
    return finish(chart, _title(rows, frame["model"][0], str(frame["query"][0])), lines, _spoken(rows), 88)


def _items(frame: pl.DataFrame, order: str) -> pl.DataFrame:
    """Items in the order received inside each tie, with their rank."""
    mixed = pl.col("relevance").n_unique().over("tie") > 1
    kind = pl.when(pl.col("tie_size") == 1).then(pl.lit(ALONE)).when(mixed).then(pl.lit(MIXED)).otherwise(pl.lit(PURE))
    frame = frame.sort("tie", maintain_order=True).with_columns(pl.col(order).cast(pl.Float64))
    return frame.with_columns(
        kind=kind,
        rank=pl.int_range(1, pl.len() + 1),
        tie_end=pl.col("tie_start") + pl.col("tie_size") - 1,
        left=pl.col("tie_start") - 0.45,
        right=pl.col("tie_start") + pl.col("tie_size") - 0.55,
        item=pl.Series([clean(str(item), 60) for item in frame.sort("tie", maintain_order=True)["item"]]),
        relevance=pl.col("relevance").cast(pl.Float64),
    ).select(*COLUMNS[2:], "tie_end", order, "kind", "rank", "left", "right")


def _y(rows: pl.DataFrame, order: str) -> alt.Y:
    axis = alt.Axis(values=[rows[order][0]], format=NUMBER) if rows[order].n_unique() == 1 else alt.Axis()
    return alt.Y(f"{order}:Q", title=order, scale=alt.Scale(zero=False, padding=12), axis=axis)


def _ties(rows: pl.DataFrame, order: str) -> list[alt.Chart]:
    ties = rows.group_by("tie", maintain_order=True).first()
    symbol: dict[str, Any] = {"symbolType": "square", "symbolStrokeWidth": 6, "symbolSize": 30}
    colour = keyed(alt.Color, ties["kind"], {MIXED: VERMILLION, PURE: SKY, ALONE: GREY}, "ranks", **symbol)
    titled = {"tie_start": "from rank", "tie_end": "to rank", "tie_size": "items", "tie_relevant": "relevant items"}
    tooltip = _numbers({order: order, "tie": "tie", **titled})
    x = alt.X("left:Q", scale=alt.Scale(zero=False, nice=False), axis=_ranks())
    bar = alt.Chart(inline(ties)).mark_rule(strokeWidth=13, opacity=0.38, strokeCap="butt")
    return [bar.encode(x=x, x2="right:Q", y=_y(rows, order), color=colour, tooltip=tooltip)]


def _numbers(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{name}:Q", title=title) for name, title in titles.items()]


def _ranks() -> alt.Axis:
    return alt.Axis(title="rank in the list", tickMinStep=1, format="d")  # there is no rank 1.5


def _dots(rows: pl.DataFrame, order: str) -> list[alt.Chart]:
    grades = sorted(rows["relevance"].unique().to_list())
    colours = [
        "transparent" if grade == 0 else GRADES[min(index, len(GRADES) - 1)]
        for index, grade in enumerate(grades, start=-1 if grades[0] == 0 else 0)
    ]
    rows = rows.with_columns(grade=pl.col("relevance").map_elements(number_text, return_dtype=pl.String))
    looks = dict(zip(map(number_text, grades), colours, strict=True))
    fill = keyed(alt.Fill, rows["grade"], looks, "relevance", symbolStrokeWidth=1)
    size = 34 if rows.height <= 120 else 14
    tie = {"tie_start": "tie from rank", "tie_end": "to rank", "tie_size": "items in the tie"}
    of_item = {"relevance": "relevance", order: order, "rank": "rank received", **tie}
    tooltip = [*texts("item"), *_numbers(of_item)]
    x = alt.X("rank:Q", scale=alt.Scale(zero=False, nice=False), axis=_ranks())
    dot = alt.Chart(inline(rows)).mark_point(size=size, stroke=GREY, strokeWidth=1, opacity=1)
    return [dot.encode(x=x, y=_y(rows, order), fill=fill, tooltip=tooltip)]


def _title(rows: pl.DataFrame, model: str, query: str) -> str:
    mixed = rows.filter(kind=MIXED).height
    name = f"Query {quoted(query)}" + (f" of {quoted(model)}" if model != "model" else "")
    return f"{name}: {mixed} of {rows.height} items are in ties whose order decides the score"


def _spoken(rows: pl.DataFrame) -> str:
    ties = rows.filter(pl.col("tie_size") > 1).group_by("tie", maintain_order=True).first().sort("tie").head(5)
    parts = [
        f"ranks {start} to {end} tie, {relevant} of {size} relevant"
        for start, end, size, relevant in ties.select("tie_start", "tie_end", "tie_size", "tie_relevant").rows()
    ]
    return f"A ranked list of {rows.height} items. " + ("; ".join(parts) + "." if parts else "No two items tie.")

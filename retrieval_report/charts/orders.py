"""Draw one list in several orders, and the scores of all its orders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.analysis.distributions import DISTRIBUTION
from retrieval_report.charts.channels import NUMBER, along, fixed_scale, keyed, row_axis, texts
from retrieval_report.charts.colours import AMBER, BLUE, GREEN, GREY, VERMILLION
from retrieval_report.charts.data import SAME, held, inline
from retrieval_report.charts.theme import WIDTH, empty_chart, finish, layered, sentence_chart
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.reading.frames import to_polars
from retrieval_report.writing.names import clean, joined, measure_name
from retrieval_report.writing.numbers import number, span

HEIGHT, STEP = 170, 34
MOST_BARS, BINS = 30, 40
PLACES = 60
COLOURS = (BLUE, VERMILLION, GREEN, AMBER, GREY)
ORDER_COLUMNS = ("item", "relevance", "tie", "tie_start", "tie_size", "tie_relevant")
DASHES = ([1, 0], [6, 3], [2, 2], [1, 3], [8, 2])
EXPECTED = "mean of all orders"


def score_distribution(
    distribution: object,
    *,
    metric: object,
    cutoff: int | str | None = None,
    marks: Mapping[str, float | None] | None = None,
) -> ChartType:
    """Draw how probable every score of one list is under random tie order.

    Parameters
    ----------
    distribution
        The result of :func:`score_distribution`.
    metric, cutoff
        The measure of the scores: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    marks
        Scores to mark by name, such as those of the order received and of one draw; None leaves one out. If there are
        two, the title mentions the second.

    Returns
    -------
    altair.Chart
        One bar per score, or per fortieth of their range if there are more than thirty. If every order has the same
        score, the chart is a sentence.

    Examples
    --------
    >>> import retrieval_report as rr
    >>> rankings = {"query": ["q"] * 4, "item": list("abcd"), "distance": [1] * 4, "relevance": [1, 0, 0, 0]}
    >>> found = rr.lists.score_distribution(rankings, model="model", query="q", metric="rr", cutoff=None)
    >>> chart = score_distribution(found, metric="rr", cutoff=None, marks={"expected": 0.5208, "order received": 1.0})
    >>> print(*chart.to_dict()["title"]["text"])
    rr@all can be anything from 0.2500 to 1.0000; order received: 1.0000, more than 75% of the orders give
    """
    frame = held(distribution, DISTRIBUTION, "distribution", "score_distribution")
    metric, cutoff = parse_measure(metric, cutoff)
    where = measure_name(metric, cutoff)
    if frame is None:
        return empty_chart(f"the list has no {where}")
    orders, method = frame["orders"][0], frame["method"][0]
    if frame.height == 1:
        found = "every tie order gives" if method == "exact" else f"all {orders} random tie orders give"
        return sentence_chart(f"{found.capitalize()} the same {where} here: {number(frame['value'][0])}.")
    known = {name: value for name, value in (marks or {}).items() if value is not None}
    bars = _bars(frame)
    ends = [*frame["value"], *known.values()]  # half a bar may stand beyond them; no score does
    scale = fixed_scale(min(ends), max(ends))
    x = alt.X("low:Q", title=where, scale=scale, axis=alt.Axis(labelFlush=False))
    layers = [*_probabilities(bars, x), *_marks(known, x)]
    chart = layered(*layers).properties(width=WIDTH, height=HEIGHT)
    count = f"exact: the {orders} orders that differ" if method == "exact" else f"{orders} random orders drawn"
    line = f"bars: share of the tie orders that give the score; {count}"
    return finish(chart, _title(frame, where, known), [line], _spoken(frame, known), 76)


def _bars(frame: pl.DataFrame) -> pl.DataFrame:
    """Return bars that do not touch if scores are few, else a fixed number of bars side by side."""
    values = frame["value"].to_list()
    span = values[-1] - values[0]
    if frame.height <= MOST_BARS:
        gap = min(second - first for first, second in pairwise(values))
        half = max(min(gap * 0.3, span / 100), span / 250)  # narrow, because a bar stands for one score
        return frame.with_columns(low=pl.col("value") - half, high=pl.col("value") + half, scores=pl.lit(1))
    width = span / BINS
    rank = ((pl.col("value") - values[0]) / width + 1e-9).floor().clip(upper_bound=BINS - 1)
    bars = frame.group_by(rank.alias("rank")).agg(pl.col("probability").sum(), scores=pl.len()).sort("rank")
    low = values[0] + pl.col("rank") * width
    return bars.with_columns(low=low, high=low + width, value=low + width / 2)


def _probabilities(bars: pl.DataFrame, x: alt.X) -> list[alt.Chart]:
    tooltip = [
        alt.Tooltip("value:Q", format=NUMBER, title="score (middle of the bar)"),
        alt.Tooltip("probability:Q", format=".2%"),
        alt.Tooltip("scores:Q", title="different scores"),
    ]
    y = alt.Y(
        "probability:Q", title="share of orders", axis=alt.Axis(format="~%", tickCount=4), scale=alt.Scale(domainMin=0)
    )
    base = alt.Chart(inline(bars.select("low", "high", "value", "probability", "scores")))
    bar = base.mark_bar(color=GREY, opacity=0.6)
    return [bar.encode(x=x, x2="high:Q", y=y, y2=alt.datum(0), tooltip=tooltip)]


def _marks(known: Mapping[str, float], x: alt.X) -> list[alt.Chart]:
    if not known:
        return []
    names = [clean(name, 40) for name in known]
    rows = pl.DataFrame({"what": names, "at": [*known.values()]})
    legend: dict[str, Any] = {"orient": "top", "symbolType": "stroke", "columns": 3}
    look: dict[str, Any] = {
        "color": keyed(alt.Color, rows["what"], dict(zip(names, COLOURS, strict=False)), **legend),
        "strokeDash": keyed(alt.StrokeDash, rows["what"], dict(zip(names, DASHES, strict=False)), **legend),
    }
    tooltip = [*texts("what"), alt.Tooltip("at:Q", format=NUMBER, title="score")]
    return [alt.Chart(inline(rows)).mark_rule(strokeWidth=2).encode(x=along(x, "at"), tooltip=tooltip, **look)]


def _title(frame: pl.DataFrame, where: str, known: Mapping[str, float]) -> str:
    values = frame["value"].to_list()
    reach = f"from {span(values[0], values[-1])}"
    drawn = frame["method"][0] != "exact"  # then there are orders beyond
    start = f"{frame['orders'][0]} random orders give {where} {reach}" if drawn else f"{where} can be anything {reach}"
    if len(known) < 2:
        return start
    name, value = list(known.items())[1]
    below, above = (
        math.fsum(frame.filter(beyond)["probability"])
        for beyond in (pl.col("value") < value - SAME, pl.col("value") > value + SAME)
    )
    side = "more" if below >= above else "less"
    share = math.floor(100 * max(below, above) + 1e-9)  # 99.7% must not read 100%
    whose = "them" if drawn else "the orders"
    return f"{start}; {clean(name, 40)}: {number(value)}, {side} than {share}% of {whose} give"


def _spoken(frame: pl.DataFrame, known: Mapping[str, float]) -> str:
    likely = frame.sort("probability", "value", descending=[True, False]).head(3)
    parts = [f"{share:.0%} give {number(value)}" for value, share in likely.select("value", "probability").rows()]
    marked = [f"{clean(name, 40)} {number(value)}" for name, value in known.items()]
    return f"Bar chart of {frame.height} different scores. Of the orders, " + joined([*parts, *marked])


def list_orders(orders: Mapping[str, object], *, cutoff: int | None = None) -> ChartType:
    """Draw the same list in several orders below each other, and the average relevance at every rank.

    Parameters
    ----------
    orders
        Rows of one list by the name of the order, first rank first: the result of :func:`ranking_ties` for the order
        received, and of :func:`drawn_order`.
    cutoff
        Where to draw the line; None means the whole list.

    Returns
    -------
    altair.Chart
        One square per item, filled by its relevance, and a frame around every tie, whose items could be in any order.
        The first sixty ranks are drawn.

    Examples
    --------
    >>> from retrieval_report.analysis.orders import drawn_order, ranking_ties
    >>> rankings = {"query": ["q"] * 3, "item": ["a", "b", "c"], "distance": [1, 1, 2], "relevance": [1, 0, 0]}
    >>> rows = ranking_ties(rankings, model="model", query="q")
    >>> chart = list_orders({"order received": rows, "draw 0": drawn_order(rows, draw=0)})
    >>> print(*chart.to_dict()["title"]["text"])
    2 of the first 3 ranks are in ties of different relevances: tie order alone decides what stands there
    """
    frames = {name: to_polars(rows, "orders") for name, rows in orders.items()}
    first = next(iter(frames.values()), pl.DataFrame())
    if not first.height:
        return empty_chart("the list has no items")
    missing = [name for frame in frames.values() for name in ORDER_COLUMNS if name not in frame.columns]
    if missing:
        raise ColumnError(f"orders: no column {missing[0]!r}; expected what ranking_ties returns")
    rows = pl.concat([_ranks(frame, clean(name, 40)) for name, frame in frames.items()])
    most = max(float(str(rows["relevance"].max())), 1.0)
    mean = _averages(first)
    shown = pl.concat([rows, mean]).with_columns(shade=pl.col("relevance") / most)
    names = [*(clean(name, 40) for name in frames), EXPECTED]
    line = _line(cutoff, shown["rank"].to_numpy().max())
    chart = layered(*_squares(shown, names), *line).properties(width=WIDTH, height=STEP * len(names))
    lines = ["green: relevant, paler: less so; a frame is a tie, whose items could be in any order"]
    if line:
        lines[0] += f"; the line is the cutoff {cutoff}"
    if first.height > PLACES:
        lines[0] += f"; the first {PLACES} of {first.height} ranks"
    return finish(chart, _orders_title(first), lines, _orders_spoken(rows, names[:-1], cutoff), 88)


def _ranks(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The first ranks of one order."""
    frame = frame.sort("tie", maintain_order=True).head(PLACES)
    return frame.select(
        order=pl.lit(name),
        rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
        item=pl.Series([clean(str(item), 60) for item in frame["item"]], dtype=pl.String),
        relevance=pl.col("relevance").cast(pl.Float64),
        tie=pl.col("tie"),
        tie_start=pl.col("tie_start"),
        tie_size=pl.col("tie_size"),
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
    numbers = [alt.Tooltip("relevance:Q", format=".3~f"), alt.Tooltip("tie_size:Q", title="items in the tie")]
    tooltip = ["order:N", "rank:Q", "item:N", *numbers]
    opacity = alt.Opacity("shade:Q", scale=alt.Scale(domain=[0, 1], range=[0.07, 1]), legend=None)
    squares = alt.Chart(inline(rows)).mark_bar(color=GREEN, cornerRadius=1)
    ties = rows.filter(pl.col("tie_size") > 1).group_by("order", "tie", maintain_order=True)
    ends = ties.agg(left=pl.col("left").min(), right=pl.col("right").max(), tie_size=pl.col("tie_size").first())
    frames = alt.Chart(inline(ends)).mark_bar(filled=False, color=VERMILLION, strokeWidth=1.3, cornerRadius=2)
    return [
        squares.encode(x=x, x2="right:Q", y=y, opacity=opacity, tooltip=tooltip),
        frames.encode(x=x, x2="right:Q", y=y),
    ]


def _line(cutoff: int | None, last: int) -> list[alt.Chart]:
    if cutoff is None or cutoff >= last:
        return []
    rule = alt.Chart(alt.InlineData(values=[{"at": cutoff + 0.5}])).mark_rule(strokeWidth=1.6, strokeDash=[4, 3])
    return [rule.encode(x="at:Q")]


def _orders_title(frame: pl.DataFrame) -> str:
    top = frame.with_columns(mixed=pl.col("relevance").n_unique().over("tie") > 1).head(PLACES)
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
    return "Places of the relevant items. " + joined(parts)

"""Draw the scores of all orders of one list."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import NUMBER, along, fixed_scale, keyed, texts
from retrieval_report.charts.colours import AMBER, BLUE, GREEN, GREY, VERMILLION
from retrieval_report.charts.data import SAME, held, inline
from retrieval_report.charts.theme import WIDTH, empty_chart, finish, layered, sentence_chart
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.ties.distributions import DISTRIBUTION
from retrieval_report.writing.names import clean, joined, measure_name
from retrieval_report.writing.numbers import number, span

HEIGHT = 170
MOST_BARS, BINS = 30, 40
COLOURS = (BLUE, VERMILLION, GREEN, AMBER, GREY)
DASHES = ([1, 0], [6, 3], [2, 2], [1, 3], [8, 2])


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
        The measure of the scores: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole
        list.
    marks
        Scores to mark by name, such as those of the order received and of one draw; None leaves one
        out. If there are two, the title mentions the second.

    Returns
    -------
    altair.Chart
        One bar per score, or per fortieth of their range if there are more than thirty. If every
        order has the same score, the chart is a sentence.

    Examples
    --------
    >>> import retrieval_report as rr
    >>> rankings = {
    ...     "query": ["q"] * 4,
    ...     "item": list("abcd"),
    ...     "distance": [1] * 4,
    ...     "relevance": [1, 0, 0, 0],
    ... }
    >>> found = rr.lists.score_distribution(
    ...     rankings, model="model", query="q", metric="rr", cutoff=None
    ... )
    >>> chart = score_distribution(
    ...     found, metric="rr", cutoff=None, marks={"expected": 0.5208, "order received": 1.0}
    ... )
    >>> print(*chart.to_dict()["title"]["text"])
    rr@all can be anything from 0.2500 to 1.0000; order received: 1.0000, more than 75% of the
    orders give
    """
    frame = held(distribution, DISTRIBUTION, "distribution", "score_distribution")
    metric, cutoff = parse_measure(metric, cutoff)
    where = measure_name(metric, cutoff)
    if frame is None:
        return empty_chart(f"the list has no {where}")
    orders, method = frame["orders"][0], frame["method"][0]
    if frame.height == 1:
        found = (
            "every tie order gives" if method == "exact" else f"all {orders} random tie orders give"
        )
        return sentence_chart(
            f"{found.capitalize()} the same {where} here: {number(frame['value'][0])}."
        )
    known = {name: value for name, value in (marks or {}).items() if value is not None}
    bars = _bars(frame)
    ends = [*frame["value"], *known.values()]  # half a bar may stand beyond them; no score does
    scale = fixed_scale(min(ends), max(ends))
    x = alt.X("low:Q", title=where, scale=scale, axis=alt.Axis(labelFlush=False))
    layers = [*_probabilities(bars, x), *_marks(known, x)]
    chart = layered(*layers).properties(width=WIDTH, height=HEIGHT)
    count = (
        f"exact: the {orders} orders that differ"
        if method == "exact"
        else f"{orders} random orders drawn"
    )
    line = f"bars: share of the tie orders that give the score; {count}"
    return finish(chart, _title(frame, where, known), [line], _spoken(frame, known), 76)


def _bars(frame: pl.DataFrame) -> pl.DataFrame:
    """Return bars that do not touch if scores are few, else a fixed number of bars side by side."""
    values = frame["value"].to_list()
    span = values[-1] - values[0]
    if frame.height <= MOST_BARS:
        gap = min(second - first for first, second in pairwise(values))
        half = max(
            min(gap * 0.3, span / 100), span / 250
        )  # narrow, because a bar stands for one score
        return frame.with_columns(
            low=pl.col("value") - half, high=pl.col("value") + half, scores=pl.lit(1)
        )
    width = span / BINS
    rank = ((pl.col("value") - values[0]) / width + 1e-9).floor().clip(upper_bound=BINS - 1)
    bars = (
        frame.group_by(rank.alias("rank"))
        .agg(pl.col("probability").sum(), scores=pl.len())
        .sort("rank")
    )
    low = values[0] + pl.col("rank") * width
    return bars.with_columns(low=low, high=low + width, value=low + width / 2)


def _probabilities(bars: pl.DataFrame, x: alt.X) -> list[alt.Chart]:
    tooltip = [
        alt.Tooltip("value:Q", format=NUMBER, title="score (middle of the bar)"),
        alt.Tooltip("probability:Q", format=".2%"),
        alt.Tooltip("scores:Q", title="different scores"),
    ]
    y = alt.Y(
        "probability:Q",
        title="share of orders",
        axis=alt.Axis(format="~%", tickCount=4),
        scale=alt.Scale(domainMin=0),
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
        "strokeDash": keyed(
            alt.StrokeDash, rows["what"], dict(zip(names, DASHES, strict=False)), **legend
        ),
    }
    tooltip = [*texts("what"), alt.Tooltip("at:Q", format=NUMBER, title="score")]
    return [
        alt.Chart(inline(rows))
        .mark_rule(strokeWidth=2)
        .encode(x=along(x, "at"), tooltip=tooltip, **look)
    ]


def _title(frame: pl.DataFrame, where: str, known: Mapping[str, float]) -> str:
    values = frame["value"].to_list()
    reach = f"from {span(values[0], values[-1])}"
    drawn = frame["method"][0] != "exact"  # then there are orders beyond
    start = (
        f"{frame['orders'][0]} random orders give {where} {reach}"
        if drawn
        else f"{where} can be anything {reach}"
    )
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
    parts = [
        f"{share:.0%} give {number(value)}"
        for value, share in likely.select("value", "probability").rows()
    ]
    marked = [f"{clean(name, 40)} {number(value)}" for name, value in known.items()]
    return f"Bar chart of {frame.height} different scores. Of the orders, " + joined(
        [*parts, *marked]
    )

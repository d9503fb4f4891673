"""Draw what random tie orders print, and how probable each number is: of the mean of a model, and
of one list.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.data import (
    SAME,
    at_measure,
    checked_frame,
    models_at,
    with_labels,
)
from retrieval_report.charts.layers import (
    PALETTE,
    RULE,
    Axis,
    is_cut,
    keyed,
    layer,
    left_out,
    number_axis,
    span,
)
from retrieval_report.charts.theme import WIDTH, Said, chart, finish, layered
from retrieval_report.engines.check_scores import at_measure as measure_is
from retrieval_report.engines.check_scores import check_result_frame, join_left
from retrieval_report.metrics.parsing import Cutoff, parse_measure
from retrieval_report.reading.frames import to_polars
from retrieval_report.ties.distributions import MEAN_DISTRIBUTION
from retrieval_report.writing.colours import BLUE, GREY, VERMILLION
from retrieval_report.writing.names import clean, measure_name
from retrieval_report.writing.numbers import number
from retrieval_report.writing.numbers import span as range_text

PANELS, COLUMNS = 6, 3
PANEL_WIDTH, PANEL_HEIGHT, HEIGHT = 225, 130, 170
MAX_BARS = 60  # bars; of more values, some share one
SEEN = 1e-3  # of the highest bar: lower ones are left out at both ends
BAR = {"type": "bar", "color": GREY, "opacity": 0.6}
RULES = {
    "expected": {**RULE, "color": BLUE},
    "naive": {**RULE, "color": VERMILLION, "strokeDash": [5, 3]},
}


@chart
def shuffled_distribution(
    shuffled: object,
    summary: object,
    *,
    metric: object,
    cutoff: Cutoff = None,
    distribution: object = None,
) -> ChartType:
    """Draw how the mean score varies from one random
    tie order to the next, with one panel per model.

    Parameters
    ----------
    shuffled
        The result of :func:`shuffled_means`.
    summary
        The result of :func:`summarise` for the same rankings and options.
    metric, cutoff
        A measure in both: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    distribution
        The result of ``mean_distribution``; models in it are drawn by their exact probabilities.

    Returns
    -------
    altair.Chart
        Bars: the exact probability of every mean, or the share of draws; rules: exact mean and
        naive order, for the six models with the largest exact deviation, or of cut lists that of
        the draws. The range of tie order is in the heading of the panel. If all draws agree, the
        chart is a sentence.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate, shuffled_means, summarise
    >>> rankings = pl.DataFrame(
    ...     {"query": ["q"] * 2, "item": list("ab"), "distance": [0, 2], "relevance": [0, 1]}
    ... )
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=2))
    >>> means = shuffled_means(rankings, metrics="rr", cutoffs=2, shuffles=10)
    >>> shuffled_distribution(means, summary, metric="rr", cutoff=2).to_dict()["description"]
    'All random tie orders give the same rr@2.'
    """
    draws = at_measure(shuffled, "shuffled", metric, cutoff, "value")[0]
    wide, where = models_at(summary, metric, cutoff)
    width = pl.max("value") - pl.min("value")
    drawn = draws.group_by("model").agg(width=width, std=pl.std("value"), orders=pl.len())
    varying = join_left(drawn.filter(pl.col("width") > SAME), wide, "model")
    if varying.is_empty():
        raise Said(f"All random tie orders give the same {where}.")
    # The draws stand in where cut lists have no exact deviation.
    spread = pl.coalesce("tie_std", "std")
    panel_models = varying.sort(spread, "model", descending=[True, False]).head(PANELS)
    exact = pl.DataFrame(schema=MEAN_DISTRIBUTION)
    if distribution is not None and to_polars(distribution, "distribution").height:
        exact = check_result_frame(
            distribution, MEAN_DISTRIBUTION, "distribution", "mean_distribution"
        )
    exact = exact.filter(measure_is(*parse_measure(metric, cutoff)))
    exact_shares = exact.select("model", "value", "probability")
    drawn_shares = draws.group_by("model", pl.col("value").round(12)).agg(probability=pl.len())
    drawn_shares = drawn_shares.with_columns(
        pl.col("probability") / pl.sum("probability").over("model")
    )
    shares = pl.concat([exact_shares, drawn_shares.join(exact_shares, on="model", how="anti")])
    bars = [_bars(_visible_values(shares.filter(model=model))) for model in panel_models["model"]]
    of_orders = pl.format("share of {} draws", "orders")
    is_exact = pl.col("model").is_in(exact["model"].implode())
    share = pl.when(is_exact).then(pl.lit("probability")).otherwise(of_orders)
    rows = with_labels(panel_models.with_columns(share=share))
    x = number_axis(alt.X, where, axis=alt.Axis(tickCount=4, grid=False))
    panels = [_panel(*panel, x) for panel in zip(rows.iter_slices(1), bars, strict=True)]
    panels_chart = alt.concat(*panels, columns=COLUMNS, spacing={"row": 22, "column": 26})
    text = (
        "bars: exact probability of every mean where it is known, else the share of draws; solid "
        "line: expected score; dashed line: naive order; the largest ± tie std first"
    )
    text += left_out(
        "models with a smaller one", sorted({*draws["model"]} - {*panel_models["model"]})
    )
    return finish(
        panels_chart, f"{where} under random tie orders", text, rows, "expected", "tie_std"
    )


def _panel(row: pl.DataFrame, bars: pl.DataFrame, x: Axis) -> alt.LayerChart:
    """One model: its bars, and its expected and naive score."""
    layers = [_bar_layer(bars, x, row["share"][0])]
    layers += [
        span(row, mark, x, name, tips=f"model {name} tie_std") for name, mark in RULES.items()
    ]
    low, high = row.select("lowest", "highest").row(0)
    what = "ties or missing items" if row.filter(is_cut(row)).height else "tie order"
    reach = "" if low is None else f"{what} could give {range_text(low, high)}"
    title = alt.Title(text=row["label"][0], subtitle=reach, fontSize=12, fontWeight="normal")
    return layered(layers, PANEL_WIDTH, PANEL_HEIGHT).properties(title=title)


def _visible_values(shares: pl.DataFrame) -> pl.DataFrame:
    """The values between the first and the last that are not too rare to see."""
    visible_values = shares.filter(pl.col("probability") >= SEEN * pl.max("probability"))["value"]
    return shares.filter(pl.col("value").is_between(visible_values.min(), visible_values.max()))


def _bars(shares: pl.DataFrame) -> pl.DataFrame:
    """Return a thin bar for every value, or, if they are many, bars side by side that stand for
    equally many steps between values, since a mean of n queries has steps.
    """
    rows = shares.sort("value").select("value", "probability")
    start = rows["value"][0]
    reach = rows["value"][-1] - rows["value"][0]
    gap = min(rows["value"].diff().drop_nulls(), default=1.0)
    if rows.height <= MAX_BARS:
        half = max(min(0.3 * gap, reach / 100), reach / 250)
        return rows.with_columns(low=pl.col("value") - half, high=pl.col("value") + half, values=1)
    width = gap * math.ceil((reach / gap + 1) / MAX_BARS)
    bar = ((pl.col("value") - start) / width + 1e-6).floor()
    bars = rows.group_by(bar=bar).agg(pl.sum("probability"), values=pl.len()).sort("bar")
    low = start + pl.col("bar") * width - gap / 2
    return bars.with_columns(low=low, high=low + width, value=low + width / 2)


def _bar_layer(bars: pl.DataFrame, x: Axis, share: str) -> alt.Chart | None:
    # Bars are wider than the values they stand for, but no score is below 0 or, of most metrics,
    # above 1.
    ends = pl.col("low").clip(0), pl.col("high").clip(upper_bound=pl.max_horizontal(1, "low"))
    axis = alt.Axis(format="~%", tickCount=4)
    y = alt.Y("probability:Q", title=share, axis=axis, scale=alt.Scale(domainMin=0))
    bars = bars.with_columns(ends)
    return span(bars, BAR, x, "low", "high", tips="value probability values", y=y, y2=alt.datum(0))


@chart
def score_distribution(
    list_scores: object,
    *,
    metric: object,
    cutoff: Cutoff = None,
    marks: Mapping[str, float | None] | None = None,
) -> ChartType:
    """Draw how probable every score of one list is under random tie order.

    Parameters
    ----------
    list_scores
        The result of :func:`score_distribution`.
    metric, cutoff
        The measure of the scores: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole
        list.
    marks
        Scores to mark by name, such as those of the order received and of one draw; None leaves one
        out.

    Returns
    -------
    altair.Chart
        One bar per score, or at most sixty side by side if there are more. If every order has the
        same score, the chart is a sentence.

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
    rr@all of one list under its tie orders
    """
    where = measure_name(*parse_measure(metric, cutoff))
    frame = checked_frame(list_scores, "score_distribution")
    method_text = "" if frame["method"][0] == "exact" else f"{frame['orders'][0]} random orders"
    if frame.height == 1:
        orders = f"All {method_text} give" if method_text else "Every order of these ties gives"
        raise Said(f"{orders} the same {where}: {number(frame['value'][0])}.")
    present_marks = [
        (clean(name, 40), value) for name, value in (marks or {}).items() if value is not None
    ]
    marked = pl.DataFrame(present_marks, schema={"mark": pl.String, "at": pl.Float64}, orient="row")
    looks = dict(zip(marked["mark"], PALETTE, strict=False))
    x = number_axis(alt.X, where)
    layers = [
        _bar_layer(_bars(frame), x, "share of orders"),
        layer(
            marked,
            {**RULE, "strokeWidth": 2},
            "mark at",
            x=x("at"),
            color=keyed(marked["mark"], looks, orient="top"),
        ),
    ]
    likely = frame.sort("probability", "value", descending=[True, False])
    spoken = likely.with_columns(label=pl.col("value").map_elements(number, pl.String))
    return finish(
        layered(layers, WIDTH, HEIGHT),
        f"{where} of one list under its tie orders",
        f"bars: share of {method_text or 'the tie orders'} that give the score; different scores: "
        f"{frame.height}",
        spoken,
        "probability",
    )

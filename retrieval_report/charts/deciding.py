"""Draw the difference of two models query by query, and how tie order could change it."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.colours import BLUE, GREY, VERMILLION
from retrieval_report.charts.data import SAME, expected_at, held, with_labels
from retrieval_report.charts.layers import RULE, keyed, layer, number_axis, row_axis, span
from retrieval_report.charts.theme import chart, filled, finish, row_chart
from retrieval_report.comparison.verdicts import first_that_holds
from retrieval_report.metrics.parsing import Cutoff
from retrieval_report.writing.names import quoted

MOST = 40  # queries
SURE, UNSURE = "the difference", "it may have the other sign"
COLOURS = {SURE: BLUE, UNSURE: VERMILLION}
BAR = {"type": "bar", "height": 10, "opacity": 0.75}
TIPS = "query model_a model_b order value_a value_b difference lowest highest tie_std share decides"


@chart
def deciding_queries(
    deciding: object,
    *,
    metric: object,
    cutoff: Cutoff = None,
) -> ChartType:
    """Draw the queries that decide between two models, the largest differences first.

    Parameters
    ----------
    deciding
        The result of :func:`retrieval_report.stats.deciding_queries`.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Bar: difference; line: its range over tie orders and, where lists are cut, missing items;
        the colour shows whether that includes both signs. Forty queries at most.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report.stats import deciding_queries as decide
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": f"q{number}",
    ...             "metric": "ap",
    ...             "cutoff": None,
    ...             "policy": "expected",
    ...             "value": value,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for model, column in {"a": [0.9, 0.5, 0.4], "b": [0.2, 0.5, 0.5]}.items()
    ...         for number, value in enumerate(column)
    ...     ]
    ... )
    >>> chart = deciding_queries(decide(scores, "a", "b"), metric="ap", cutoff=None)
    >>> chart.to_dict()["title"]["text"]
    ['Queries that decide between a and b at ap@all']
    """
    frame = held(deciding, "deciding")
    everything, where = expected_at(frame, metric, cutoff)
    able = pl.any_horizontal(pl.col("difference", "lowest", "highest").abs().fill_null(0) > SAME)
    differing = filled(everything.filter(able), f"no query tells the two apart by {where}")
    rows = differing.head(MOST).with_columns(pl.col("query").cast(pl.String))
    rows = with_labels(rows, "query", "model_a", "model_b").with_columns(
        order=first_that_holds({UNSURE: pl.col("order_unsure").fill_null(False)}, SURE),
    )
    x = number_axis(alt.X, f"difference of {where}", scale=alt.Scale(zero=True))
    y = row_axis(rows["label"])
    colour = keyed(alt.Color, rows["order"], COLOURS)
    layers = [
        layer(rows, BAR, TIPS, x=x("difference"), y=y, color=colour),
        span(rows, {**RULE, "color": GREY}, x, "lowest", "highest", y=y, tips=TIPS),
    ]
    one, other = (quoted(everything[f"model_{side}"][0]) for side in "ab")
    missing = " and missing items" if rows["tie_std"].has_nulls() else ""
    text = (
        f"bar: {where} of {one} minus that of {other}; line: its range over tie orders{missing}; the "
        f"{rows.height} largest of {differing.height} differences, {everything.height} queries in all"
    )
    title = f"Queries that decide between {one} and {other} at {where}"
    return finish(row_chart(layers, rows.height, step=16), title, text, rows, "difference")

"""Draw the scores of models against their costs, with the effect of tie order and sampling."""

from __future__ import annotations

import math

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.colours import BLUE
from retrieval_report.charts.data import expected_at, held, with_labels
from retrieval_report.charts.layers import (
    MODEL,
    RANGES,
    TEXT,
    layer,
    models,
    number_axis,
)
from retrieval_report.charts.theme import chart, finish, layered
from retrieval_report.contracts.checks import check_choice
from retrieval_report.metrics.parsing import Cutoff
from retrieval_report.writing.names import clean

NAMED = 8  # of more models, only those on the front are named
FRONT = {"type": "line", "interpolate": "step-after", "strokeWidth": 1.2, "color": BLUE}


@chart
def costs(
    costs: object,
    *,
    metric: object,
    cutoff: Cutoff = None,
    cost: str | None = None,
) -> ChartType:
    """Draw score against cost, each model with its tie range and interval.

    Parameters
    ----------
    costs
        The result of :func:`retrieval_report.stats.cost_table`.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    cost
        The kind of cost; by default the first.

    Returns
    -------
    altair.Chart
        Dot: score; line: confidence interval over queries; bar: the range over tie orders; steps:
        the front. The axis of costs is logarithmic if all are above 0 and the largest is more than
        twenty times the smallest.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import summarise
    >>> from retrieval_report.stats import cost_table
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": query,
    ...             "metric": "ndcg",
    ...             "cutoff": 10,
    ...             "policy": "expected",
    ...             "value": value,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for model, value in (("float32", 0.62), ("int8", 0.61), ("pq", 0.5))
    ...         for query in "pq"
    ...     ]
    ... )
    >>> table = cost_table(summarise(scores), {"float32": 3072, "int8": 768, "pq": 800})
    >>> costs(table, metric="ndcg", cutoff=10).to_dict()["title"]["text"]
    ['Scores at ndcg@10 against cost']
    """
    frame = held(costs, "costs")
    kinds = list(dict.fromkeys(frame["cost"]))
    cost = kinds[0] if cost is None else cost
    check_choice("cost", cost, kinds)
    rows, where = expected_at(frame.filter(cost=cost), metric, cutoff)
    rows, what = with_labels(rows, "model", "beaten_by"), clean(cost, 60)
    low, high = float(str(rows["amount"].min())), float(str(rows["amount"].max()))
    on_log = high > 20 * low > 0
    scale = alt.Scale(type="log") if on_log else alt.Scale(zero=False)
    x = number_axis(alt.X, what, scale=scale)("amount")
    y = number_axis(alt.Y, where)
    tips = f"model amount front beaten_by {MODEL}"
    layers = [
        layer(rows.filter("front"), FRONT, x=x, y=y("value")),
        *models(rows, y, tips, x=x),
    ]
    named = rows if rows.height <= NAMED else rows.filter("front")
    right = pl.col("amount") > (math.sqrt(low * high) if on_log else (low + high) / 2)
    for part, align, dx in ((~right, "left", 7), (right, "right", -7)):  # into the plot
        name = {**TEXT, "align": align, "dx": dx, "dy": -7, "limit": {"expr": "width / 2.5"}}
        layers.append(layer(named.filter(part), name, x=x, y=y("value"), text="label:N"))
    text = f"{RANGES}; steps: the front, where no other model costs as little and scores as much"
    drawn = layered(layers)
    return finish(
        drawn, f"Scores at {where} against {what}", text, rows.filter("front"), "value", "amount"
    )

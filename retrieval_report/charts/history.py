"""Draw the versions of models over time."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.colours import GREY, VERMILLION
from retrieval_report.charts.data import at_measure, held, with_labels
from retrieval_report.charts.layers import RANGES, how_to_read, keyed, models, number_axis, span
from retrieval_report.charts.theme import chart, filled, finish, layered
from retrieval_report.metrics.parsing import Cutoff

TIPS = "version value tie_std lowest highest ci_low ci_high difference step_p p_tie"
LINE = {"type": "line", "strokeWidth": 1, "opacity": 0.5}
RING = {"type": "point", "shape": "circle", "size": 190, "strokeWidth": 2, "opacity": 1}
STEP = "a step that neither ties nor queries explain"


@chart
def history(
    history: object, *, metric: object, cutoff: Cutoff = None, series: str | None = None
) -> ChartType:
    """Draw the versions of one model over time, and ring the steps that are more than noise.

    Parameters
    ----------
    history
        The result of :func:`retrieval_report.stats.history`.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    series
        The model; by default the first.

    Returns
    -------
    altair.Chart
        Dot: expected; line: confidence interval over queries; bar: from the worst to the best tie
        order; ring: a marked step.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate, stats
    >>> rows = {"query": ["q"] * 4, "item": list("abab"), "distance": [1, 1, 1, 2]}
    >>> rows |= {"model": ["v1", "v1", "v2", "v2"], "relevance": [1, 0, 1, 0]}
    >>> steps = stats.history(evaluate(pl.DataFrame(rows), metrics="rr@2"), "(?P<version>.+)")
    >>> history(steps, metric="rr@2").to_dict()["title"]["text"]
    ['rr@2 by version']
    """
    every, where = at_measure(held(history, "history"), metric, cutoff)
    first = every["series"].head(1).to_list()
    rows = every.filter(pl.col("series").is_in([series] if series is not None else first))
    filled(rows.drop_nulls("value"), f"no version has a score for {where}")
    rows = with_labels(rows, "version").with_columns(mark=pl.lit(STEP))
    order = rows["label"].to_list()
    x = alt.X("label:O", sort=None, title="version", scale=alt.Scale(domain=order))
    y = number_axis(alt.Y, where)
    marked = rows.filter("marked")
    colour = keyed(alt.Color, marked["mark"], {STEP: VERMILLION}, symbolType="circle")
    layers = [
        span(rows, {**LINE, "color": GREY}, y, "value", x=x),
        *models(rows, y, TIPS, x=x),
        span(marked, RING, y, "value", x=x, color=colour, tips=TIPS),
    ]
    drawn = layered(layers)
    return finish(drawn, f"{where} by version", how_to_read(RANGES, rows), rows, "value", "tie_std")

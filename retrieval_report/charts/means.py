"""Draw the mean scores of models: at one cutoff, with the effect of ties and sampling and naive
scores; against their costs; and over their versions.
"""

from __future__ import annotations

import math
from itertools import accumulate

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.data import (
    at_measure,
    checked_frame,
    models_at,
    with_labels,
)
from retrieval_report.charts.layers import (
    DOT,
    MODEL,
    OPEN_TIES,
    RANGES,
    TEXT,
    TIES,
    how_to_read,
    is_cut,
    keyed,
    layer,
    models,
    number_axis,
    row_axis,
    span,
)
from retrieval_report.charts.theme import HEIGHT, STEP, chart, filled, finish, layered, row_chart
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.checks import check_choice
from retrieval_report.engines.check_scores import NAIVE_ERROR
from retrieval_report.metrics.parsing import Cutoff
from retrieval_report.writing.colours import BLUE, GREY, SKY, VERMILLION
from retrieval_report.writing.names import clean

READ = "the longer a bar, the more of the score is decided by the order inside ties"
TIPS = "model expected tie_std lowest highest naive naive_error shuffled query_se ci_low ci_high queries"
TICK = {"type": "tick", "thickness": 2, "size": 9, "opacity": 1, "yOffset": -8}
SCORE, RANGE, PRINTED = "expected score", "range over tie orders", "printed in the naive order"
LOOKS = {SCORE: BLUE, RANGE: f"{SKY}73", PRINTED: VERMILLION}
MAX_MODELS = 60  # models, from the top
COMFORTABLE_ROWS = 12
TIGHT_STEP = 16  # of more rows, so that most of them are on the first screen of a report
NAMED = 8  # of more models, only those on the front are named
NAME_HEIGHT = 15  # pixels, of one line
ENDS = ("lowest", "ci_low", "value", "highest", "ci_high")
FRONT = {"type": "line", "interpolate": "step-after", "strokeWidth": 1.2, "color": BLUE}
VERSION_TIPS = "version value tie_std lowest highest ci_low ci_high difference step_p p_tie"
VERSION_LINE = {"type": "line", "strokeWidth": 1, "opacity": 0.5}
STEP_RING = {"type": "point", "shape": "circle", "size": 190, "strokeWidth": 2, "opacity": 1}
MARKED = "a step that neither ties nor queries explain"


@chart
def policies(summary: object, *, metric: object, cutoff: Cutoff = None) -> ChartType:
    """Draw the scores of models at one cutoff, best first, and how far printed scores are off.

    Parameters
    ----------
    summary
        The result of :func:`summarise`; policies it lacks are not drawn.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Dot: expected (or, without it, the mean of shuffles or the naive order); bar: from the worst
        to the best tie order, dashed if lists are cut and it allows for what a deeper retrieval
        could show; tick: the naive order. The interval over queries is in the tool tip.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate, summarise
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "model": ["coarse"] * 4 + ["fine"] * 4,
    ...         "query": ["q"] * 8,
    ...         "item": list("abcd") * 2,
    ...         "distance": [1, 1, 1, 1, 2, 1, 3, 4],
    ...         "relevance": [1, 0, 0, 0] * 2,
    ...     }
    ... )
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=2, truncated="no"))
    >>> policies(summary, metric="rr", cutoff=2).to_dict()["title"]["text"]
    ['Scores at rr@2']
    """
    wide, where = models_at(summary, metric, cutoff)
    scored_rows = wide.filter(pl.any_horizontal(pl.col("value", "lowest").is_not_null()))
    rows = with_labels(filled(scored_rows, f"no model has a score for {where}").head(MAX_MODELS))
    rows = rows.with_columns(naive_error=NAIVE_ERROR)
    x, y = number_axis(alt.X, where), row_axis(rows["label"])
    cut = is_cut(rows)
    parts = [
        (RANGE, rows.filter(~cut), {**TIES, "opacity": 1}, ["lowest", "highest"]),
        (SCORE, rows, DOT, ["value"]),
        (PRINTED, rows, TICK, ["naive"]),
    ]
    used = [what for what, part, _, ends in parts if part[ends[0]].count()]
    colour = keyed(pl.Series("shown", used), LOOKS, symbolType="square", symbolStrokeWidth=0)
    how: Named = {"tips": TIPS, "y": y}
    wider = rows.filter(cut)
    layers = [
        span(part.with_columns(shown=pl.lit(what)), mark, x, *ends, color=colour, **how)
        for what, part, mark, ends in parts
    ]
    layers.append(span(wider, OPEN_TIES, x, "lowest", "highest", **how))
    rows_chart = row_chart(
        layers, rows.height, step=STEP if rows.height <= COMFORTABLE_ROWS else TIGHT_STEP
    )
    text = f"{READ} or, if it is dashed, by missing items" if wider.height else READ
    return finish(rows_chart, f"Scores at {where}", text, rows, "value", "naive", "tie_std")


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
    frame = checked_frame(costs, "costs")
    kinds = list(dict.fromkeys(frame["cost"]))
    cost = kinds[0] if cost is None else cost
    check_choice("cost", cost, kinds)
    rows, where = at_measure(frame.filter(cost=cost), "costs", metric, cutoff, expected=True)
    rows = with_labels(rows, "model", "beaten_by")
    what = clean(cost, 60)
    low = float(str(rows["amount"].min()))
    high = float(str(rows["amount"].max()))
    on_log = high > 20 * low > 0
    scale = alt.Scale(zero=False)
    if on_log or low == 0:  # from 0, a nice axis would begin at a negative cost
        scale = alt.Scale(type="log" if on_log else "linear", nice=False, padding=24)
    x = number_axis(alt.X, what, scale=scale, axis=alt.Axis(labelFlush=16))("amount")
    y = number_axis(alt.Y, where)
    *ranges, dots = models(rows, y, f"model amount front beaten_by {MODEL}", x=x)
    # Above the ranges, under which a small step would be lost.
    layers = [*ranges, layer(rows.filter("front"), FRONT, x=x, y=y("value")), dots]
    labelled_rows = (
        (rows if rows.height <= NAMED else rows.filter("front")).drop_nulls("value").sort("value")
    )
    # Names of models that score nearly the same are lifted off one another.
    axis_length = pl.max_horizontal(ENDS).max() - pl.min_horizontal(ENDS).min()
    line = rows.select(axis_length).item() * NAME_HEIGHT / HEIGHT
    heights = accumulate(labelled_rows["value"], lambda below, value: max(value, below + line))
    labelled_rows = labelled_rows.with_columns(named_at=pl.Series([*heights], dtype=pl.Float64))
    right = pl.col("amount") > (math.sqrt(low * high) if on_log else (low + high) / 2)
    for part, align, dx in ((~right, "left", 7), (right, "right", -7)):  # into the plot
        name = {**TEXT, "align": align, "dx": dx, "dy": -7, "limit": {"expr": "width / 2.5"}}
        layers.append(layer(labelled_rows.filter(part), name, x=x, y=y("named_at"), text="label:N"))
    alone = rows["front"].sum() == 1  # no steps are drawn
    front = "one model alone is on the front, as" if alone else "steps: the front, where"
    return finish(
        layered(layers),
        f"Scores at {where} against {what}",
        f"{RANGES}; {front} no other model costs as little and scores as much; a "
        "baseline is not on it if a cheaper model is shown to be no worse",
        rows.filter("front"),
        "value",
        "amount",
    )


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
    versions, where = at_measure(history, "history", metric, cutoff)
    first = versions["series"].head(1).to_list()
    rows = versions.filter(pl.col("series").is_in([series] if series is not None else first))
    filled(rows.drop_nulls("value"), f"no version has a score for {where}")
    rows = with_labels(rows, "version").with_columns(mark=pl.lit(MARKED))
    scale = alt.Scale(domain=rows["label"].to_list())
    x = alt.X("label:O", sort=None, title="version", scale=scale)
    y = number_axis(alt.Y, where)
    marked = rows.filter("marked")
    colour = keyed(marked["mark"], {MARKED: VERMILLION}, symbolType="circle")
    layers = [
        span(rows, {**VERSION_LINE, "color": GREY}, y, "value", x=x),
        *models(rows, y, VERSION_TIPS, x=x),
        span(marked, STEP_RING, y, "value", x=x, color=colour, tips=VERSION_TIPS),
    ]
    return finish(
        layered(layers), f"{where} by version", how_to_read(RANGES, rows), rows, "value", "tie_std"
    )

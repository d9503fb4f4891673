"""Draw the scores of models at one cutoff, the effect of ties and sampling, and naive scores."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.colours import BLUE, SKY, VERMILLION
from retrieval_report.charts.data import models_at, with_labels
from retrieval_report.charts.layers import (
    DOT,
    OPEN_TIES,
    TIES,
    Mark,
    is_cut,
    keyed,
    number_axis,
    row_axis,
    span,
)
from retrieval_report.charts.theme import STEP, chart, filled, finish, row_chart
from retrieval_report.contracts.arguments import Named
from retrieval_report.metrics.parsing import Cutoff

READ = "the longer a bar, the more of the score is decided by the order inside ties"
TIPS = "model expected tie_std lowest highest naive naive_error shuffled query_se ci_low ci_high queries"
TICK = {"type": "tick", "thickness": 2, "size": 9, "opacity": 1, "yOffset": -8}
SCORE, RANGE, PRINTED = "expected score", "range over tie orders", "printed in the naive order"
LOOKS = {SCORE: BLUE, RANGE: f"{SKY}73", PRINTED: VERMILLION}
MOST = 60  # models, from the top
FEW, LOW = 12, 16  # more rows are lower, so that most of them are on the first screen of a report
WIDER = "range where lists may be cut"
HOLLOW = {"symbolType": "square", "symbolFillColor": "transparent", "symbolStrokeColor": SKY}


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
    shown = wide.filter(pl.any_horizontal(pl.col("value", "lowest").is_not_null()))
    rows = with_labels(filled(shown, f"no model has a score for {where}").head(MOST))
    rows = rows.with_columns(naive_error=pl.col("naive") - pl.col("expected"))
    x, y = number_axis(alt.X, where), row_axis(rows["label"])
    cut = is_cut(rows)
    parts: list[tuple[str, pl.DataFrame, Mark, list[str]]] = [
        (RANGE, rows.filter(~cut), {**TIES, "opacity": 1}, ["lowest", "highest"]),
        (SCORE, rows, DOT, ["value"]),
        (PRINTED, rows, TICK, ["naive"]),
    ]
    used = [what for what, part, _, ends in parts if part[ends[0]].count()]
    plain: Named = {"symbolType": "square", "symbolStrokeWidth": 0}
    colour = keyed(alt.Color, pl.Series("shown", used), LOOKS, **plain)
    how: Named = {"tips": TIPS, "y": y}
    wider = rows.filter(cut).with_columns(wider=pl.lit(WIDER))
    dash = keyed(alt.StrokeDash, wider["wider"], {WIDER: [4, 3]}, **HOLLOW)
    layers = [
        span(part.with_columns(shown=pl.lit(what)), mark, x, *ends, color=colour, **how)
        for what, part, mark, ends in parts
    ]
    layers.append(span(wider, OPEN_TIES, x, "lowest", "highest", strokeDash=dash, **how))
    drawn = row_chart(layers, rows.height, step=STEP if rows.height <= FEW else LOW)
    text = f"{READ} or, if it is dashed, by missing items" if wider.height else READ
    return finish(drawn, f"Scores at {where}", text, rows, "value", "naive", "tie_std")

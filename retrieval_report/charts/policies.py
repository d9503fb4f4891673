"""Draw the scores of models at one cutoff, the effect of ties and sampling, and printed scores."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.colours import AMBER, GREY, VERMILLION
from retrieval_report.charts.data import held, models_at, with_labels
from retrieval_report.charts.layers import (
    RANGES,
    how_to_read,
    keyed,
    layer,
    models,
    number_axis,
    row_axis,
)
from retrieval_report.charts.theme import chart, filled, finish, row_chart
from retrieval_report.engines.check_scores import at_measure
from retrieval_report.metrics.parsing import Cutoff, parse_measure
from retrieval_report.systems.audit import AUDIT

NAIVE = "naive order"
SAME_DEFINITION = "other systems, same definition"
OTHER_DEFINITION = "other systems, own definition"
COLOURS = {NAIVE: VERMILLION, SAME_DEFINITION: AMBER, OTHER_DEFINITION: GREY}
TIPS = "model expected tie_std lowest highest naive shuffled query_se ci_low ci_high queries"
PRINTED = "system version call definition order prints z definition_shift"
TICK = {"type": "tick", "thickness": 2, "size": 9, "opacity": 1}


@chart
def policies(
    summary: object, *, metric: object, cutoff: Cutoff = None, audit: object = None
) -> ChartType:
    """Draw the scores of models at one cutoff, best first, and how far printed scores are off.

    Parameters
    ----------
    summary
        The result of :func:`summarise`; policies it lacks are not drawn.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    audit
        The result of :func:`audit` for the same rankings: what other systems would print, one tick
        each (none for a system whose tie order is not defined: the bar covers all it could print);
        grey if it computes something else.

    Returns
    -------
    altair.Chart
        Dot: expected (or, without it, the mean of shuffles or the naive order); line: confidence
        interval over queries; bar: from the worst to the best tie order, dashed if lists are cut
        and it allows for what a deeper retrieval could show; ticks above the line: the naive order,
        below it: other systems.

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
    rows = with_labels(wide)
    naive = rows.drop_nulls("naive").select(
        "label",
        "model",
        "expected",
        mark=pl.lit(NAIVE),
        at="naive",
        off=pl.col("naive") - pl.col("expected"),
    )
    ticks = pl.concat([naive, _printed(audit, metric, cutoff, rows)], how="diagonal")
    shown = rows.filter(pl.any_horizontal(pl.col("value", "lowest").is_not_null()))
    filled(shown if ticks.is_empty() else ticks, f"no model has a score for {where}")
    x, y = number_axis(alt.X, where), row_axis(rows["label"])
    look = {
        "x": x("at"),
        "y": y,
        "color": keyed(alt.Color, ticks["mark"], COLOURS, columns=1, symbolType="square"),
    }
    tips = "model mark at expected off"
    received = pl.col("mark") == NAIVE
    layers = [
        *models(rows, x, TIPS, y=y),
        layer(ticks.filter(received), {**TICK, "yOffset": -8}, tips, **look),
        layer(ticks.filter(~received), {**TICK, "yOffset": 8}, f"{tips} {PRINTED}", **look),
    ]
    text = f"{RANGES}; ticks: printed scores, above in the naive order, below by other systems"
    drawn = row_chart(layers, rows.height)
    return finish(
        drawn, f"Scores at {where}", how_to_read(text, rows), rows, "value", "naive", "tie_std"
    )


def _printed(audit: object, metric: object, cutoff: object, rows: pl.DataFrame) -> pl.DataFrame:
    """Return what other systems print for this metric and cutoff."""
    frame = held(pl.DataFrame() if audit is None else audit, AUDIT, "audit", "audit")
    printed = frame.filter(at_measure(*parse_measure(metric, cutoff))).drop_nulls("prints")
    same = pl.when(pl.col("definition_shift") == 0).then(pl.lit(SAME_DEFINITION))
    printed = printed.select(
        "model",
        "expected",
        "off",
        *PRINTED.split(),
        at="prints",
        mark=same.otherwise(pl.lit(OTHER_DEFINITION)),
    )
    return printed.join(rows.select("model", "label"), on="model", maintain_order="left")

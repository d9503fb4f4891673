"""Draw what every evaluator would print for one model, beside the exact score."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.colours import AMBER, BLUE, GREY, VERMILLION
from retrieval_report.charts.data import at_measure, held, with_labels
from retrieval_report.charts.layers import (
    DOT,
    RULE,
    TIES,
    keyed,
    layer,
    number_axis,
    row_axis,
    span,
)
from retrieval_report.charts.theme import Said, chart, filled, finish, row_chart
from retrieval_report.comparison.verdicts import first_that_holds
from retrieval_report.contracts.checks import check_choice
from retrieval_report.metrics.parsing import Cutoff
from retrieval_report.systems.audit import AUDIT, furthest_off
from retrieval_report.writing.names import clean, quoted
from retrieval_report.writing.numbers import number

EXACT, BY_DEFINITION, BY_TIES = "as exact", "off by definition only", "off by tie order"
OPEN = "anywhere on its line"
COLOURS = {BY_DEFINITION: AMBER, BY_TIES: VERMILLION, OPEN: VERMILLION}
TEXTS = "system version call definition order"
TIPS = f"{TEXTS} prints prints_low prints_high exact expected definition_shift off z lowest highest"


@chart
def evaluators(audit: object, *, metric: object, cutoff: Cutoff = None, model: str) -> ChartType:
    """Draw what every evaluator would print for one model.

    Parameters
    ----------
    audit
        The result of :func:`audit`.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    model
        One of its models.

    Returns
    -------
    altair.Chart
        One row per evaluator and call that prints another number than the exact one, the furthest
        off first. Line: the exact score; bar: the range of its own definition from the worst to the
        best tie order; tick: the exact mean of its own definition; dot: what it prints, or a
        line over what it could print if its tie order is not defined. If all print the exact score,
        the chart is a sentence.

    Examples
    --------
    >>> from retrieval_report import audit
    >>> rankings = {
    ...     "query": ["q"] * 3,
    ...     "item": ["a", "b", "c"],
    ...     "distance": [1, 1, 2],
    ...     "relevance": [1, 0, 1],
    ... }
    >>> frame = audit(rankings, metrics="ap@1", systems=["pytrec_eval", "Recommenders"])
    >>> chart = evaluators(frame, metric="ap", cutoff=1, model="model")
    >>> print(*chart.to_dict()["title"]["text"])
    What evaluators print for model at ap@1
    """
    frame = held(audit, AUDIT, "audit", "audit", "no evaluator prints such a number")
    here, where = at_measure(frame, metric, cutoff)
    check_choice("model", model, list(dict.fromkeys(here["model"])))
    everything = here.filter(pl.col("model") == model).drop_nulls(["prints_low", "exact"])
    everything = _named(filled(everything, f"no evaluator prints {where} for {quoted(model)}"))
    rows = everything.filter(pl.col("kind") != EXACT)
    title = f"What evaluators print for {quoted(model)} at {where}"
    exact = everything["exact"][0]
    if not rows.height:
        raise Said(f"{title}: all print the exact score, {number(exact)}.")
    x, y = number_axis(alt.X, where), row_axis(rows["label"])
    look = {"y": y, "color": keyed(alt.Color, rows["kind"], COLOURS, "prints")}
    tick = {"type": "tick", "thickness": 2, "size": 13, "color": GREY}
    layers = [
        span(rows, {**TIES, "color": GREY}, x, "lowest", "highest", y=y),
        layer(rows, tick, x=x("expected"), y=y),
        layer(rows.head(1), {**RULE, "color": BLUE}, "exact", x=x("exact")),
        span(rows.filter(kind=OPEN), RULE, x, "prints_low", "prints_high", tips=TIPS, **look),
        layer(rows.drop_nulls("prints"), DOT, TIPS, x=x("prints"), **look),
    ]
    text = (
        "line: exact score; grey: worst to best tie order of the evaluator's own definition; tick: "
        f"its exact mean; printed exactly by {everything.height - rows.height} more"
    )
    return finish(row_chart(layers, rows.height), title, text, rows, "prints", "off")


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """A label for every evaluator and call, and the reason for what it prints; the furthest off
    come first.
    """
    off, shifted = pl.col("off") != 0, pl.col("definition_shift") != 0
    reasons = {OPEN: pl.col("prints").is_null(), BY_TIES: off, BY_DEFINITION: shifted}
    texts = pl.col(TEXTS.split()).fill_null("").map_elements(clean, return_dtype=pl.String)
    # The same call of another version may order ties differently.
    version = pl.when(pl.struct("system", "call").is_duplicated()).then(", " + pl.col("version"))
    name = pl.concat_str("system", pl.lit(": "), "call", version.fill_null(""))
    rows = rows.with_columns(texts, name=name, kind=first_that_holds(reasons, EXACT))
    rows = rows.sort(furthest_off, "name", descending=[True, False])
    return with_labels(rows, "name", 44)

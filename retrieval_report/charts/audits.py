"""Draw what every evaluator would print for one model, beside the exact score."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import along, keyed, nice_scale, row_axis, texts, tooltips
from retrieval_report.charts.colours import AMBER, BLUE, GREY, VERMILLION
from retrieval_report.charts.data import at_measure, bounds, held, inline, with_labels
from retrieval_report.charts.theme import empty_chart, finish, row_chart, sentence_chart
from retrieval_report.comparison.verdicts import first_that_holds
from retrieval_report.contracts.checks import check_choice
from retrieval_report.systems.audit import AUDIT, furthest_off
from retrieval_report.writing.names import clean, joined, quoted, unique_labels
from retrieval_report.writing.numbers import number, size, span

STEP = 21
EXACT, BY_DEFINITION, BY_TIES = "as exact", "off by definition only", "off by tie order"
OPEN = "anywhere between its two crosses"
COLOURS = {EXACT: BLUE, BY_DEFINITION: AMBER, BY_TIES: VERMILLION, OPEN: VERMILLION}
SHAPES = {EXACT: "circle", BY_DEFINITION: "square", BY_TIES: "diamond", OPEN: "cross"}
TEXTS = ("system", "version", "call", "definition", "order")
NUMBERS = (
    *("prints", "prints_low", "prints_high", "exact", "expected"),
    *("definition_shift", "off", "z", "lowest", "highest"),
)


def evaluators(
    audit: object, *, metric: object, cutoff: int | str | None = None, model: str
) -> ChartType:
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
        best tie order; tick: the exact mean of its own definition; mark: what it prints; line
        between two ends: what it could print if its tie order is not defined. If all print the
        exact score, the chart is a sentence.

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
    3 of 3 evaluators print an accident of tie order for model: off by −0.2500 to +0.5000
    """
    frame = held(audit, AUDIT, "audit", "audit")
    if frame is None:
        return empty_chart("no evaluator prints such a number")
    here, where = at_measure(frame, metric, cutoff)
    check_choice("model", model, list(dict.fromkeys(here["model"])))
    rows = here.filter(pl.col("model") == model).drop_nulls(["prints_low", "exact"])
    if not rows.height:
        return empty_chart(f"no evaluator prints {where} for {quoted(model)}")
    everything = _named(rows)
    rows = everything.filter(pl.col("kind") != EXACT)
    exact = everything.height - rows.height
    title = _title(everything, model)
    if not rows.height:
        return sentence_chart(
            f"{title}: all print the exact {where}, {number(everything['exact'][0])}."
        )
    ends = rows.select("prints_low", "prints_high", "exact", "lowest", "highest")
    x = alt.X(title=where, scale=nice_scale(*ends))
    y = row_axis(rows["label"], labelLimit=260)
    layers = [*_ranges(rows, x, y), *_exact(rows, x), *_open(rows, x, y), *_prints(rows, x, y)]
    chart = row_chart(layers, rows.height, STEP)
    lines = [
        (
            "line: exact score; grey: worst to best tie order of the evaluator's own definition; tick: "
            "its exact mean"
        )
    ]
    lines += ["two crosses: the order inside ties is not defined"] * (OPEN in rows["kind"])
    lines += [f"{exact} more print{'s' * (exact == 1)} the exact score"] * (exact > 0)
    return finish(chart, title, lines, _spoken(rows, where))


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """A label for every evaluator and call, and the reason for what it prints; the furthest off
    come first.
    """
    off, shifted = pl.col("off") != 0, pl.col("definition_shift") != 0
    reasons = {OPEN: pl.col("prints").is_null(), BY_TIES: off, BY_DEFINITION: shifted}
    rows = rows.with_columns(
        name=pl.concat_str("system", pl.lit(": "), "call"),
        again=pl.struct("system", "call").is_duplicated(),
        kind=first_that_holds(reasons, EXACT),
        **{
            column: pl.col(column).fill_null("").map_elements(clean, return_dtype=pl.String)
            for column in TEXTS
        },
    )
    # The same call of another version may order ties differently.
    full = pl.when("again").then(pl.concat_str("name", pl.lit(", "), "version")).otherwise("name")
    rows = rows.with_columns(name=full).sort(furthest_off, "name", descending=[True, False])
    labels = unique_labels(rows["name"], 44)
    return with_labels(rows, labels, "name").select("label", "kind", "model", *TEXTS, *NUMBERS)


def _ranges(rows: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draw the range over tie orders under the evaluator's own definition, and its mean."""
    data = inline(rows.select("label", "lowest", "highest", "expected"))
    bars = alt.Chart(data).mark_bar(size=9, color=GREY, opacity=0.3, cornerRadius=3)
    ticks = alt.Chart(data).mark_tick(thickness=2, size=13, color=GREY, opacity=1)
    return [
        bars.encode(x=along(x, "lowest"), x2="highest:Q", y=y),
        ticks.encode(x=along(x, "expected"), y=y),
    ]


def _open(rows: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draw the range of a system whose tie order is not defined."""
    rows = rows.filter(kind=OPEN).select("label", "prints_low", "prints_high")
    if not rows.height:
        return []
    lines = alt.Chart(inline(rows)).mark_rule(strokeWidth=2.5, color=VERMILLION)
    return [lines.encode(x=along(x, "prints_low"), x2="prints_high:Q", y=y)]


def _exact(rows: pl.DataFrame, x: alt.X) -> list[alt.Chart]:
    rule = alt.Chart(inline(rows.select("exact").head(1))).mark_rule(color=BLUE, strokeWidth=1.6)
    return [rule.encode(x=along(x, "exact"), tooltip=tooltips(["exact"]))]


def _prints(rows: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    ends = rows.filter(kind=OPEN)
    marks = [rows.filter(pl.col("kind") != OPEN).with_columns(at="prints")]
    marks += [ends.with_columns(at=end) for end in ("prints_low", "prints_high")]
    points = alt.Chart(inline(pl.concat(marks))).mark_point(filled=True, opacity=1, size=62)
    colour, shape = (
        keyed(alt.Color, rows["kind"], COLOURS, "prints"),
        keyed(alt.Shape, rows["kind"], SHAPES, "prints"),
    )
    tooltip = [*texts(*TEXTS), *tooltips(NUMBERS)]
    return [points.encode(x=along(x, "at"), y=y, color=colour, shape=shape, tooltip=tooltip)]


def _title(rows: pl.DataFrame, model: str) -> str:
    wrong = rows.filter(pl.col("kind").is_in([BY_TIES, OPEN]))
    if not wrong.height:
        return f"Tie order misleads none of {rows.height} evaluators about {quoted(model)}"
    off = pl.concat([wrong[end] - wrong["expected"] for end in ("prints_low", "prints_high")])
    low, high = bounds(off)
    ends = dict.fromkeys(size(end, sign="+") for end in (low, high))
    start = (
        f"{wrong.height} of {rows.height} evaluators print an accident of tie order for "
        f"{quoted(model)}"
    )
    return f"{start}: off by {' to '.join(ends)}"


def _spoken(rows: pl.DataFrame, where: str) -> str:
    parts = [
        f"{label} could print {span(low, high)}"
        if prints is None
        else f"{label} prints {number(prints)}, {size(off, sign='+')} by tie order"
        for label, prints, low, high, off in rows.head(5)
        .select("label", "prints", "prints_low", "prints_high", "off")
        .rows()
    ]
    return f"Dot plot of what {rows.height} evaluators print for {where}. " + joined(parts)

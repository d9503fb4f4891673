"""Draw the scores of models at one cutoff, the effect of ties and sampling, and how far printed
scores are off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import (
    OPEN,
    along,
    keyed,
    nice_scale,
    open_dash,
    row_axis,
    texts,
    tooltips,
)
from retrieval_report.charts.colours import AMBER, BLUE, GREY, VERMILLION
from retrieval_report.charts.data import (
    SAME,
    best_of,
    held,
    inline,
    models_at,
    summary_frame,
    with_labels,
)
from retrieval_report.charts.theme import empty_chart, finish, layered
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.systems.audit import AUDIT
from retrieval_report.writing.names import joined, listed, quoted, unique_labels
from retrieval_report.writing.numbers import number, span

SCORES, OFFSETS, STEP, SMALL_STEP, MANY = 400, 240, 28, 22, 20
ABOVE, BELOW = -8, 8  # pixels from the middle of a row: naive above it, others below
NAIVE = "naive order"
SAME_DEFINITION, OTHER_DEFINITION = (
    "other systems, same definition",
    "other systems, own definition",
)
COLOURS = {NAIVE: VERMILLION, SAME_DEFINITION: AMBER, OTHER_DEFINITION: GREY}
NUMBERS = (
    "expected",
    "tie_std",
    "lowest",
    "highest",
    "naive",
    "shuffled",
    "query_se",
    "ci_low",
    "ci_high",
)
COLUMNS = ("label", "model", "queries", *NUMBERS)
SAID = {"expected": "in expectation", "naive": "in the naive order"}
TICK: dict[str, Any] = {"symbolType": "square", "symbolSize": 80}


def policies(
    summary: object, *, metric: object, cutoff: int | str | None = None, audit: object = None
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
        Left, scores. Dot: expected; line: confidence interval over queries; bar: from the worst to
        the best tie order, dashed if lists are cut and it allows for what a deeper retrieval could
        show; ticks above the line: the naive order, below it: other systems. Right, on a separate
        scale: how far these are from the expected value of their own definition; bar: ±2 standard
        deviations under random tie order. It is left out if nothing is off.

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
    ['fine leads at rr@2 in expectation; the naive order shows coarse first']
    """
    frame = summary_frame(summary)
    if frame is None:
        return empty_chart("the summary has no rows")
    wide, where = models_at(frame, metric, cutoff)
    labels = unique_labels(wide["model"])
    rows = with_labels(wide, labels)
    ticks = pl.concat(
        [_naive(rows), _printed(audit, *parse_measure(metric, cutoff), labels)], how="diagonal"
    )
    if rows.select("expected", "lowest").count().sum_horizontal().item() + ticks.height == 0:
        return empty_chart(f"no model has a score for {where}")
    colour = keyed(alt.Color, ticks["mark"], COLOURS, columns=1, **TICK)
    scores = _scores(rows, ticks, where, colour).properties(width=SCORES, height=_height(rows))
    offsets = _offsets(rows, ticks, where, colour)
    chart: ChartType = (
        scores if offsets is None else alt.concat(scores, offsets, columns=2, spacing=24)
    )
    return finish(chart, lead_title(wide, where), _legend(rows, ticks), _spoken(rows))


def _height(rows: pl.DataFrame) -> int:
    return max((STEP if rows.height <= MANY else SMALL_STEP) * rows.height, 40)


def lead_title(wide: pl.DataFrame, where: str) -> str:
    """Say who leads in expectation, and whether the naive order agrees."""
    expected, naive = best_of(wide, "expected"), best_of(wide, "naive")
    if wide.height == 1:
        said = [
            f"{number(wide[name][0])} {words}" for name, words in SAID.items() if wide[name].count()
        ]
        cut = ", but items may be missing" if (wide["truncated_share"] > 0).any() else ""
        return (
            f"{quoted(wide['model'][0])}: {where} is "
            f"{', '.join(said) or 'known by its bounds only'}{cut}"
        )
    if not expected:
        lead = naive or best_of(wide, "order")
        return (
            f"{_lead(lead)} at {where}" + (" in the naive order" if naive else "")
            if lead
            else where
        )
    start = f"{_lead(expected)} at {where} in expectation"
    if (wide["truncated_share"] > 0).any():
        return f"{start}, but items may be missing"
    if not naive:
        return start
    if naive == expected:
        return f"{start} and in the naive order"
    return f"{start}; the naive order shows {listed(naive)} first"


def _lead(models: Sequence[str]) -> str:
    return f"{quoted(models[0])} leads" if len(models) == 1 else f"{listed(models)} share the lead"


def _naive(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the naive scores, and how far they are off."""
    known = rows.filter(pl.col("naive").is_not_null())
    off = pl.col("naive") - pl.col("expected")
    return known.select(
        "label", "model", "expected", mark=pl.lit(NAIVE), at=pl.col("naive"), off=off
    )


def _printed(
    audit: object, metric: str, cutoff: int | None, labels: Mapping[str, str]
) -> pl.DataFrame:
    """Return what other systems print for this metric and cutoff."""
    frame = None if audit is None else held(audit, AUDIT, "audit", "audit")
    if frame is None:
        frame = pl.DataFrame(schema=AUDIT)
    here = (
        (pl.col("metric") == metric)
        & pl.col("cutoff").eq_missing(cutoff)
        & pl.col("model").is_in(list(labels))
    )
    frame = frame.filter(here & pl.col("prints").is_not_null())
    same = pl.col("definition_shift") == 0
    columns = [
        "system",
        "version",
        "call",
        "definition",
        "prints",
        "expected",
        "off",
        "z",
        "definition_shift",
        "order",
    ]
    frame = frame.select("model", *columns, at=pl.col("prints")).with_columns(
        mark=pl.when(same).then(pl.lit(SAME_DEFINITION)).otherwise(pl.lit(OTHER_DEFINITION))
    )
    return with_labels(frame, labels)


def _scores(
    rows: pl.DataFrame, ticks: pl.DataFrame, where: str, colour: alt.Color
) -> alt.LayerChart:
    """Draw bar, line and dot of every model, with the printed scores as ticks above and below."""
    scale = nice_scale(
        *rows.select("expected", "lowest", "highest", "ci_low", "ci_high"), ticks["at"]
    )
    x = alt.X("expected:Q", scale=scale, title=where)
    y = row_axis(rows["label"], grid=True)
    found = [*texts("model"), *tooltips(NUMBERS), alt.Tooltip("queries:Q")]
    data = inline(rows.select(COLUMNS).filter(pl.col("expected").is_not_null()))
    line = alt.Chart(data).mark_rule(strokeWidth=1.8, color=BLUE)
    dot = alt.Chart(data).mark_point(
        filled=True, size=58, opacity=1, color=BLUE, stroke="white", strokeWidth=0.8
    )
    layers = [
        *_bars(rows, along(x, "lowest"), y, found),
        line.encode(x=along(x, "ci_low"), x2="ci_high:Q", y=y, tooltip=found),
    ]
    layers += [*_ticks(ticks, along(x, "at"), y, colour), dot.encode(x=x, y=y, tooltip=found)]
    return layered(*layers)


def _bars(rows: pl.DataFrame, x: alt.X, y: alt.Y, found: Sequence[alt.Tooltip]) -> list[alt.Chart]:
    """Draw bars from the worst to the best tie order, with dashed frames if lists are cut."""
    bounded = rows.filter(pl.col("lowest").is_not_null() & pl.col("highest").is_not_null())
    cut = pl.col("truncated_share").fill_null(0) > 0
    layers, whole = [], bounded.filter(~cut).select(COLUMNS)
    if whole.height:
        bar = alt.Chart(inline(whole)).mark_bar(size=12, color=GREY, opacity=0.38, cornerRadius=3)
        layers.append(bar.encode(x=x, x2="highest:Q", y=y, tooltip=found))
    frames = bounded.filter(cut).select(*COLUMNS, range=pl.lit(OPEN))
    if frames.height:
        frame = alt.Chart(inline(frames)).mark_bar(
            size=12, filled=False, stroke=GREY, strokeWidth=1.2
        )
        layers.append(
            frame.encode(x=x, x2="highest:Q", y=y, strokeDash=open_dash("range"), tooltip=found)
        )
    return layers


def _ticks(ticks: pl.DataFrame, x: alt.X, y: alt.Y, colour: alt.Color) -> list[alt.Chart]:
    """Draw ticks for naive scores above the middle of the row, and for other systems below it."""
    found = [*texts("model", mark="what"), *tooltips(["at", "expected", "off"])]
    others = [
        *texts("system", "version", "call", "definition", "order"),
        *tooltips(["z", "definition_shift"]),
    ]
    layers = []
    for offset, here, extra in (
        (ABOVE, pl.col("mark") == NAIVE, []),
        (BELOW, pl.col("mark") != NAIVE, others),
    ):
        part = ticks.filter(here)
        if part.height:
            kept = part.select(
                name for name in part.columns if part[name].count() or name in ("at", "off")
            )
            tick = alt.Chart(inline(kept)).mark_tick(thickness=2, size=9, opacity=1, yOffset=offset)
            own = [tip for tip in extra if str(tip.shorthand).split(":")[0] in kept.columns]
            layers.append(tick.encode(x=x, y=y, color=colour, tooltip=[*found, *own]))
    return layers


def _offsets(
    rows: pl.DataFrame, ticks: pl.DataFrame, where: str, colour: alt.Color
) -> alt.LayerChart | None:
    """Draw how far printed scores are off for models where any is, beside the effect of tie
    order.
    """
    off = ticks.filter(pl.col("off").abs() > SAME)
    if not off.height:
        return None
    left = rows.height
    rows = rows.filter(pl.col("label").is_in(off["label"].to_list()))
    ticks = ticks.filter(pl.col("label").is_in(off["label"].to_list()))
    left -= rows.height
    two = 2 * pl.col("tie_std")
    spans = rows.filter(pl.col("tie_std") > SAME).select(
        "label", "model", "tie_std", low=-two, high=two
    )
    scale = nice_scale(spans["low"], spans["high"], ticks["off"])
    y = row_axis(rows["label"], grid=True)
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=BLUE, strokeWidth=1.4)
    x = alt.X(
        "off:Q", scale=scale, title=f"off from the expected {where}", axis=alt.Axis(tickCount=5)
    )
    layers = [zero.encode(x=along(x, "zero"))]
    if spans.height:
        bar = alt.Chart(inline(spans)).mark_bar(size=8, color=BLUE, opacity=0.28, cornerRadius=2)
        tooltip = [*texts("model"), *tooltips(["tie_std"])]
        layers.append(bar.encode(x=along(x, "low"), x2="high:Q", y=y, tooltip=tooltip))
    known = ticks.filter(pl.col("off").is_not_null())
    chart = layered(*layers, *_ticks(known, x, y, colour))
    rest = f"nothing is off for {left} other{'s' * (left > 1)}" if left else ""
    heading = alt.Title(
        text="How far printed scores are off", subtitle=rest, fontSize=12, fontWeight="normal"
    )
    return chart.properties(width=OFFSETS, height=_height(rows), title=heading)


def _legend(rows: pl.DataFrame, ticks: pl.DataFrame) -> list[str]:
    bounded = rows.filter(pl.col("lowest").is_not_null())
    cut = bounded.filter(pl.col("truncated_share") > 0).height
    parts = ["dot: expected score"] * (rows["expected"].count() > 0)
    parts += ["line: its 95% confidence interval over queries"] * (rows["ci_low"].count() > 0)
    parts += ["grey bar: worst to best tie order"] * (bounded.height > cut)
    parts += ["dashed bar: worst to best that a deeper retrieval could show"] * (cut > 0)
    above, below = (
        ticks.filter(part).height > 0 for part in (pl.col("mark") == NAIVE, pl.col("mark") != NAIVE)
    )
    printed = ["above the line in the naive order"] * above + ["below it by other systems"] * below
    parts += [f"ticks: printed scores, {', '.join(printed)}"] * (ticks.height > 0)
    off = ticks.filter(pl.col("off").abs() > SAME).height > 0
    parts += ["pale blue bar: ±2 standard deviations under random tie order"] * (
        off and rows["tie_std"].count() > 0
    )
    return ["; ".join(parts)]


def _spoken(rows: pl.DataFrame) -> str:
    parts = []
    for row in rows.head(5).iter_rows(named=True):
        said = [
            f"{name} {number(row[name])}" for name in ("expected", "naive") if row[name] is not None
        ]
        if row["lowest"] is not None and row["highest"] is not None:
            said.append(f"by tie order {span(row['lowest'], row['highest'])}")
        parts.append(f"{row['label']}: {', '.join(said)}")
    return f"Dot plot of {rows.height} models, best first. " + joined(parts)

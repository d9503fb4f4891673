"""All policies side by side for every model, at one cutoff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.analysis.audit import AUDIT
from retrieval_report.charts.data import (
    at_measure,
    best_of,
    held,
    inline,
    joined,
    nice_domain,
    side_by_side,
    summary_frame,
    with_labels,
)
from retrieval_report.charts.theme import (
    AMBER,
    BLUE,
    GREEN,
    GREY,
    OPEN,
    VERMILLION,
    empty_chart,
    finish,
    layered,
    open_dash,
)
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.writing.names import listed, measure_name, quoted, unique_labels

__all__ = ["lead_title", "policies"]

WIDTH, STEP = 470, 24
EXPECTED, NAIVE, SHUFFLED = "expected", "order received (naive)", "mean of shuffles"
SAME_DEFINITION, OTHER_DEFINITION = "other systems, same definition", "other systems, own definition"
X_SHAPE = "M-1,-1L1,1M1,-1L-1,1"
MARKS = {  # what it is: shape, outline, filling, size
    EXPECTED: ("circle", BLUE, BLUE, 46),
    NAIVE: ("circle", VERMILLION, "transparent", 140),
    SHUFFLED: (X_SHAPE, GREEN, "transparent", 110),
    SAME_DEFINITION: ("diamond", AMBER, AMBER, 30),
    OTHER_DEFINITION: ("diamond", AMBER, "transparent", 30),
}
RANGES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("lowest", "highest", {"size": 11, "color": GREY, "opacity": 0.35, "cornerRadius": 3}),
    ("two_low", "two_high", {"size": 3, "color": BLUE, "opacity": 0.8}),
)
NUMBERS = ("expected", "tie_std", "lowest", "highest", "naive", "shuffled", "query_se", "ci_low", "ci_high")


def policies(summary: object, *, metric: object, cutoff: int | str | None = None, audit: object = None) -> ChartType:
    """Draw what every policy says of every model at one cutoff, best model first.

    Parameters
    ----------
    summary
        What :func:`summarise` returns; policies it lacks are not drawn.
    metric, cutoff
        One that it has: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    audit
        What :func:`audit` returns for the same rankings: what other systems would print, a diamond each (none for a
        system of which nobody can say how it orders ties: the bar has all it could print); hollow where
        they compute another quantity.

    Returns
    -------
    altair.Chart
        Dot: expected; whisker: ±2 standard deviations under random tie order; bar: from the worst to the best tie
        order, dashed where lists are cut and it allows for what a deeper retrieval could show; ring: the order
        received; cross: mean of the shuffles.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate, summarise
    >>> rankings = pl.DataFrame({
    ...     "model": ["coarse"] * 4 + ["fine"] * 4, "query": ["q"] * 8, "item": list("abcd") * 2,
    ...     "distance": [1, 1, 1, 1, 2, 1, 3, 4], "relevance": [1, 0, 0, 0] * 2})
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=2))
    >>> policies(summary, metric="rr", cutoff=2).to_dict()["title"]["text"]
    ['fine leads at rr@2 in expectation; the order received shows coarse first']
    """
    frame = summary_frame(summary)
    if frame is None:
        return empty_chart("the summary has no rows")
    metric, cutoff = parse_measure(metric, cutoff)
    wide = side_by_side(at_measure(frame, metric, cutoff))
    where = measure_name(metric, cutoff)
    labels = unique_labels(wide["model"])
    rows = with_labels(wide, labels).with_columns(
        two_low=pl.col("expected") - 2 * pl.col("tie_std"), two_high=pl.col("expected") + 2 * pl.col("tie_std")
    )
    points = _points(rows)
    printed = _printed(audit, metric, cutoff, labels)
    if points.height + printed.height + rows["lowest"].count() == 0:
        return empty_chart(f"no model has a score for {where}")
    y = alt.Y(
        "label:N",
        title=None,
        scale=alt.Scale(domain=list(labels.values())),
        sort=None,
        axis=alt.Axis(grid=True, ticks=False, domain=False, labelPadding=8),
    )
    names = [name for name in MARKS if name in {*points["mark"], *printed["mark"]}]
    x = alt.X(title=where, scale=_across(rows, printed))
    layers = [*_ranges(rows, x, y), *_dots(points, x, y, names), *_diamonds(printed, x, y, names)]
    chart = layered(*layers).properties(width=WIDTH, height=max(STEP * len(labels), 40))
    return finish(chart, lead_title(wide, where), _legend(rows), _spoken(rows))


def lead_title(wide: pl.DataFrame, where: str) -> str:
    """Who leads in expectation, and whether the order received says so."""
    expected, naive = best_of(wide, "expected"), best_of(wide, "naive")
    if wide.height == 1:
        number = {name: wide[name][0] for name in ("expected", "naive")}
        said = [
            f"{value:.4f} {words}"
            for value, words in ((number["expected"], "in expectation"), (number["naive"], "in the order received"))
            if value is not None
        ]
        cut = ", but its lists are cut" if (wide["truncated_share"] > 0).any() else ""
        return f"{quoted(wide['model'][0])}: {where} is {', '.join(said) or 'known by its bounds only'}{cut}"
    if not expected:
        lead = naive or best_of(wide, "order")
        return f"{_lead(lead)} at {where}" + (" in the order received" if naive else "") if lead else where
    start = f"{_lead(expected)} at {where} in expectation"
    if (wide["truncated_share"] > 0).any():
        return f"{start}, but the lists are cut"
    if not naive:
        return start
    if naive == expected:
        return f"{start} and in the order received"
    return f"{start}; the order received shows {listed(naive)} first"


def _lead(models: Sequence[str]) -> str:
    return f"{quoted(models[0])} leads" if len(models) == 1 else f"{listed(models)} share the lead"


def _points(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for every dot, ring and cross, each with all numbers of its model."""
    kept = rows.select("label", "model", "queries", *NUMBERS)
    parts = [
        kept.with_columns(mark=pl.lit(mark), at=pl.col(column))
        for mark, column in ((NAIVE, "naive"), (EXPECTED, "expected"), (SHUFFLED, "shuffled"))
    ]
    return pl.concat(parts).filter(pl.col("at").is_not_null())


def _printed(audit: object, metric: str, cutoff: int | None, labels: Mapping[str, str]) -> pl.DataFrame:
    """What other systems print for this metric and cutoff."""
    columns = ["system", "version", "call", "definition", "prints", "expected", "off", "z", "definition_shift", "order"]
    frame = None if audit is None else held(audit, AUDIT, "audit", "audit")
    if frame is None:
        frame = pl.DataFrame(schema=AUDIT)
    frame = frame.filter(
        (pl.col("metric") == metric) & pl.col("cutoff").eq_missing(cutoff) & pl.col("model").is_in(list(labels))
    ).filter(pl.col("prints").is_not_null())
    same = pl.col("definition_shift") == 0
    frame = frame.with_columns(mark=pl.when(same).then(pl.lit(SAME_DEFINITION)).otherwise(pl.lit(OTHER_DEFINITION)))
    return with_labels(frame.select("model", *columns, "mark"), labels)


def _across(rows: pl.DataFrame, printed: pl.DataFrame) -> alt.Scale:
    """An axis around all that is drawn; where everything is one value, Vega would call it 0."""
    numbers = ("expected", "naive", "shuffled", "lowest", "highest", "two_low", "two_high")
    shown = [rows.select(at=name) for name in numbers] + [printed.select(at="prints")]
    return alt.Scale(domain=list(nice_domain(pl.concat(shown), ["at"])), nice=False, zero=False)


def _axis(x: alt.X, column: str) -> alt.X:
    return alt.X(f"{column}:Q", scale=x["scale"], title=x["title"])


def _ranges(rows: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    cut = (pl.col("truncated_share") > 0).fill_null(False)
    layers = []
    tooltip = _tooltip()
    for low, high, look in RANGES:
        wide = rows.filter(pl.col(low).is_not_null() & (pl.col(high) > pl.col(low)))
        part = wide.filter(~cut).select("label", "model", *NUMBERS, "two_low", "two_high")
        if part.height:
            bar = alt.Chart(inline(part)).mark_bar(**look)
            layers.append(bar.encode(y=y, x=_axis(x, low), x2=f"{high}:Q", tooltip=tooltip))
        part = wide.filter(cut).select("label", "model", *NUMBERS, range=pl.lit(OPEN))
        if part.height:
            frame = alt.Chart(inline(part)).mark_bar(filled=False, stroke=GREY, strokeWidth=1.3, size=11)
            dash = open_dash("range")
            layers.append(frame.encode(y=y, x=_axis(x, low), x2=f"{high}:Q", strokeDash=dash, tooltip=tooltip))
    return layers


def _tooltip() -> list[alt.Tooltip]:
    numbers = [alt.Tooltip(f"{name}:Q", format=".4f", title=name.replace("_", " ")) for name in NUMBERS]
    return [alt.Tooltip("model:N"), *numbers]


def _looks(names: Sequence[str]) -> dict[str, alt.Shape | alt.Stroke | alt.Fill]:
    """One legend for shape, outline and filling."""
    legend = alt.Legend(title=None, orient="bottom", columns=3)

    def scale(measure: int) -> alt.Scale:
        return alt.Scale(domain=list(names), range=[MARKS[name][measure] for name in names])

    return {
        "shape": alt.Shape("mark:N", scale=scale(0), legend=legend),
        "stroke": alt.Stroke("mark:N", scale=scale(1), legend=legend),
        "fill": alt.Fill("mark:N", scale=scale(2), legend=legend),
    }


def _dots(points: pl.DataFrame, x: alt.X, y: alt.Y, names: Sequence[str]) -> list[alt.Chart]:
    tooltip = [*_tooltip(), alt.Tooltip("queries:Q")]
    layers = []
    for name in (NAIVE, EXPECTED, SHUFFLED):
        part = points.filter(mark=name)
        if part.height:
            point = alt.Chart(inline(part)).mark_point(strokeWidth=1.8, opacity=1, size=MARKS[name][3])
            layers.append(point.encode(x=_axis(x, "at"), y=y, tooltip=tooltip, **_looks(names)))
    return layers


def _diamonds(printed: pl.DataFrame, x: alt.X, y: alt.Y, names: Sequence[str]) -> list[alt.Chart]:
    """Below the bar, so that they hide nothing."""
    if not printed.height:
        return []
    texts = ["model", "system", "version", "call", "definition", "order"]
    numbers = ["prints", "expected", "off", "z", "definition_shift"]
    tooltip = [alt.Tooltip(f"{name}:N") for name in texts]
    tooltip += [alt.Tooltip(f"{name}:Q", format=".4f", title=name.replace("_", " ")) for name in numbers]
    point = alt.Chart(inline(printed)).mark_point(
        strokeWidth=1.2, opacity=0.8, yOffset=9, size=MARKS[SAME_DEFINITION][3]
    )
    return [point.encode(x=_axis(x, "prints"), y=y, tooltip=tooltip, **_looks(names))]


def _legend(rows: pl.DataFrame) -> list[str]:
    bounded = rows.filter(pl.col("lowest").is_not_null())
    cut = bounded.filter(pl.col("truncated_share") > 0).height
    parts = ["grey bar: worst to best tie order"] * (bounded.height > cut)
    parts += ["dashed bar: worst to best of all that a deeper retrieval could show"] * (cut > 0)
    parts += ["blue whisker: ±2 standard deviations under random tie order"] * (rows["tie_std"].count() > 0)
    return ["; ".join(parts)]


def _spoken(rows: pl.DataFrame) -> str:
    parts = []
    for row in rows.head(5).iter_rows(named=True):
        said = [
            f"{name} {row[name]:.4f}" for name in ("expected", "naive", "lowest", "highest") if row[name] is not None
        ]
        parts.append(f"{row['label']}: {', '.join(said)}")
    return f"Dot plot of {rows.height} models, best first. " + joined(parts)

"""Draw lines of many models in one chart, the leading ones coloured, the others grey: scores along
the cutoffs, and precision along recall.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.data import (
    SAME,
    checked_frame,
    of_metric,
    with_labels,
)
from retrieval_report.charts.layers import (
    NAMED,
    PALETTE,
    Axis,
    cutoff_axis,
    how_to_read,
    is_cut,
    keyed,
    number_axis,
    span,
)
from retrieval_report.charts.theme import chart, filled, finish, layered
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import CUTOFF_TEXT, NAIVE_ERROR, board, join_left
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.writing.colours import GREY
from retrieval_report.writing.names import EQUALS, clean, first_names

OTHERS = "other models"
TIPS = "model k expected tie_std naive shuffled lowest highest"
POINTS = {"size": 26, "filled": True}
LIT = {"type": "line", "strokeWidth": 2.2, "point": POINTS}
UNLIT = {"type": "line", "strokeWidth": 1.1, "opacity": 0.6, "point": POINTS}
RING = {"type": "point", "shape": "circle", "size": 60, "strokeWidth": 1.3, "opacity": 1}
MEASURES = {"precision": [1, 0], "recall": [4, 3]}  # how their lines are dashed
HIGHEST = pl.col("value") >= pl.max("value").over("k") - SAME
MOST_POINTS = 2_000  # of all models
CURVE = ("model", "recall", "value")


@chart
def scores_by_cutoff(summary: object, *, metric: object) -> ChartType:
    """Draw the expected score of every model along the cutoffs.

    The leading models are coloured, the others grey. Rings are at naive scores that differ from
    expected ones. Lines are dashed where lists are cut.

    Parameters
    ----------
    summary
        The result of :func:`summarise`.
    metric
        One of its metrics.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate, summarise
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> summary = summarise(evaluate(rankings, metrics="precision", cutoffs=(1, 2, None)))
    >>> scores_by_cutoff(summary, metric="precision").to_dict()["title"]["text"]
    ['precision along the cutoffs']
    """
    name = parse_measure(metric)[0]
    wide = board(of_metric(checked_frame(summary, "summary"), name)).sort(
        "cutoff", nulls_last=True, maintain_order=True
    )
    filled(wide.drop_nulls("value"), "no policy of this summary is expected, shuffled or naive")
    filled(wide.filter(pl.n_unique("cutoff") > 1), f"{clean(name, 60)} has one cutoff")
    rows = wide.with_columns(k=CUTOFF_TEXT)
    x = cutoff_axis(rows["k"], title="cutoff k", labelOverlap="greedy")
    y = number_axis(alt.Y, clean(name, 60))
    rows, colour = _shaded(rows, {*rows.filter(HIGHEST)["model"]})
    look: Named = {"x": x, "color": colour, "detail": "label:N"}
    off = rows.filter(NAIVE_ERROR.abs() > SAME)
    layers = [*_lines(rows, y, TIPS, **look), span(off, RING, y, "naive", tips=TIPS, **look)]
    ring = "; ring: naive order, where it differs" if off.height else ""
    text = f"line: expected score{ring}"
    text += f"; highest as drawn, without a test: {_highest(rows)}{_covered(rows)}"
    text = how_to_read(text, rows)
    last = rows.filter("lit").group_by("label", maintain_order=True).last()
    return finish(
        layered(layers), f"{clean(name, 60)} along the cutoffs", text, last, "expected", "naive"
    )


def _highest(rows: pl.DataFrame) -> str:
    """Say who is highest at which cutoffs, since lines that lie on each other do not show it."""
    leads = (
        rows.filter(HIGHEST)
        .group_by("k", maintain_order=True)
        .agg(pl.col("label").str.join(EQUALS))
    )
    ahead = leads.group_by("label", maintain_order=True).agg("k")
    if ahead.height == 1:
        return f"{ahead['label'][0]} at every cutoff"
    return "; ".join(f"{label} at {', '.join(cutoffs)}" for label, cutoffs in ahead.iter_rows())


def _covered(rows: pl.DataFrame) -> str:
    """Name coloured models whose lines lie on each other all along, as those of copies do."""
    lines = rows.filter("lit").group_by("label", maintain_order=True).agg("value")
    same = lines.group_by("value", maintain_order=True).agg("label")["label"]
    equal_lines = same.filter(same.list.len() > 1).list.join(EQUALS).to_list()
    return f"; on one line: {first_names(equal_lines, NAMED)}" if equal_lines else ""


@chart
def recall_curve(recall_curve: object) -> ChartType:
    """Draw interpolated precision along recall, a line for every model.

    Parameters
    ----------
    recall_curve
        ``recall_curve`` of a study.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> curve = {"model": ["a", "a"], "recall": [0.0, 1.0], "value": [1.0, 0.5]}
    >>> recall_curve(curve).to_dict()["title"]["text"]
    ['Precision along recall']
    """
    rows = checked_frame(recall_curve, "recall_curve", schema("recall_curve", *CURVE)).drop_nulls()
    filled(rows, "no model has an expected precision")
    rows, colour = _shaded(rows.sort("model", "recall"))
    x = number_axis(alt.X, "recall")
    y = number_axis(alt.Y, "interpolated precision")
    layers = _lines(rows, y, "model recall value", x=x("recall"), color=colour, detail="label:N")
    text = (
        "the best precision at any rank with at least recall × R + 0.9 hits, rounded down (R: "
        "relevant items of the query), means over tie orders; lists are treated as complete; both as "
        f"in trec_eval{_covered(rows)}"
    )
    return finish(layered(layers), "Precision along recall", text, rows, "recall", "value")


@chart
def thresholds(thresholds: object) -> ChartType:
    """Draw precision and recall along the thresholds, two lines for every model.

    Parameters
    ----------
    thresholds
        ``table`` of :func:`retrieval_report.thresholds`.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from retrieval_report import thresholds as found
    >>> rankings = {"query": list("qq"), "item": list("ab"), "distance": [1, 2]}
    >>> table = found(rankings, judgements={"q": {"a": 1}}).table
    >>> thresholds(table).to_dict()["title"]["text"]
    ['Precision and recall by threshold']
    """
    contract = schema("thresholds", "model", *MEASURES) | {"threshold": pl.Float64}
    frame = checked_frame(thresholds, "thresholds", contract)
    apart = -(-frame.height // MOST_POINTS)  # every n-th is drawn
    frame = frame.filter(pl.int_range(pl.len()).mod(apart).eq(0).over("model"))
    frame = frame.unpivot([*MEASURES], index=["model", "threshold"], variable_name="measure")
    rows, colour = _shaded(frame)
    # Rounded ends would suggest negative distances.
    x = number_axis(alt.X, "threshold", scale=alt.Scale(zero=False, nice=False))
    y = number_axis(alt.Y, "precision, recall")
    layers = [
        span(
            rows.filter(measure=measure),
            {"type": "line", "strokeWidth": 2, "strokeDash": dash},
            y,
            "value",
            tips="model measure threshold value",
            x=x("threshold"),
            color=colour,
            detail="label:N",
        )
        for measure, dash in MEASURES.items()
    ]
    return finish(
        layered(layers),
        "Precision and recall by threshold",
        "line: precision; dashed: recall, of all pairs up to this distance or from this score on"
        + (f"; one in {apart} thresholds is drawn" if apart > 1 else ""),
        rows,
        "threshold",
        "value",
    )


def _shaded(rows: pl.DataFrame, first: Collection[str] = ()) -> tuple[pl.DataFrame, alt.Color]:
    """Add ``label`` and ``shade`` (the label, or OTHERS), and return the colours.

    The leading models have one, ``first`` before others, as many as the palette tells apart; the
    legend has the best first.
    """
    means = rows.group_by("model").agg(pl.mean("value"))
    leading = means.sort("value", "model", descending=[True, False], nulls_last=True)["model"]
    lit = pl.col("model").is_in(sorted(leading, key=lambda name: name not in first)[: len(PALETTE)])
    rows = with_labels(rows.with_columns(lit=lit, name="model"))
    rows = rows.with_columns(shade=pl.when("lit").then("label").otherwise(pl.lit(OTHERS)))
    colours = dict(zip(sorted({*rows["shade"]} - {OTHERS}), PALETTE, strict=False))
    labels = join_left(leading.to_frame("name"), rows.unique("name"), "name")["label"]
    best_first = {label: colours[label] for label in labels if label in colours}
    return rows, keyed(rows["shade"], {**best_first, OTHERS: GREY})


def _lines(rows: pl.DataFrame, y: Axis, tips: str, **look: Any) -> list[alt.Chart | None]:
    """Draw grey lines below coloured ones, dashed from the last exact point to those of cut lists."""
    rows = rows.drop_nulls("value")
    rows = rows.with_columns(cut=is_cut(rows))
    dashed = pl.col("cut") | pl.col("cut").shift(-1, fill_value=False).over("label")
    parts = [(rows.filter(~pl.col("cut")), [1, 0]), (rows.filter(dashed), [4, 3])]
    return [
        span(
            part.filter(lit=lit),
            {**mark, "strokeDash": dash},
            y,
            "value",
            tips=tips,
            **look,
        )
        for lit, mark in ((False, UNLIT), (True, LIT))
        for part, dash in parts
    ]

"""Draw scores of distances as received beside those of rounded ones."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.analysis.rounding import ROUNDING_EFFECT
from retrieval_report.charts.channels import along, keyed, nice_scale, row_axis, texts, tooltips
from retrieval_report.charts.colours import BLUE, VERMILLION
from retrieval_report.charts.data import at_measure, best_of, held, inline, with_labels
from retrieval_report.charts.theme import empty_chart, finish, row_chart
from retrieval_report.writing.names import joined, listed, unique_labels
from retrieval_report.writing.numbers import size, span

STEP = 24
RECEIVED, ROUNDED = "distances as received", "rounded distances"
SHAPES, COLOURS = {RECEIVED: "circle", ROUNDED: "diamond"}, {RECEIVED: BLUE, ROUNDED: VERMILLION}
BELOW = {RECEIVED: -4, ROUNDED: 4}  # the line
NUMBERS = ("value", "value_rounded", "change", "tie_std", "tie_std_rounded")


def rounding(effect: object, *, metric: object, cutoff: int | str | None = None) -> ChartType:
    """Draw the effect of rounding distances on the score of every model, best model first.

    Parameters
    ----------
    effect
        The result of :func:`rounding_effect`.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Dot: expected score of the distances as received; diamond: of the rounded ones; both with ±2 standard deviations
        under random tie order.

    Examples
    --------
    >>> from retrieval_report import evaluate, summarise
    >>> from retrieval_report.analysis.rounding import rounding_effect
    >>> rankings = {"query": ["q", "q"], "item": ["a", "b"], "distance": [0.9, 1.1], "relevance": [1, 0]}
    >>> one, other = (summarise(evaluate(rankings, metrics="rr@2", decimals=decimals)) for decimals in (None, 0))
    >>> rounding(rounding_effect(one, other), metric="rr", cutoff=2).to_dict()["title"]["text"]
    ['Rounding changes rr@2 by up to 0.2500 (model, down)']
    """
    frame = held(effect, ROUNDING_EFFECT, "effect", "rounding_effect")
    if frame is None:
        return empty_chart("there are no rounded scores")
    here, where = at_measure(frame, metric, cutoff)
    rows = here.drop_nulls(["value", "value_rounded"])
    if not rows.height:
        return empty_chart(f"no model has a score for {where}")
    labels = unique_labels(rows["model"])
    long = pl.concat([_points(rows, RECEIVED, ""), _points(rows, ROUNDED, "_rounded")])
    long = with_labels(long, labels)
    y = row_axis(labels.values(), grid=True)
    x = alt.X(title=where, scale=nice_scale(long["low"], long["high"]))
    layers = [part for what in SHAPES for part in _marks(long, what, x, y)]
    chart = row_chart(layers, len(labels), STEP)
    lines = ["whiskers: ±2 standard deviations under random tie order"]
    return finish(chart, _title(rows, where), lines, _spoken(rows))


def _points(rows: pl.DataFrame, what: str, suffix: str) -> pl.DataFrame:
    """Return one row per model, slightly above its line as received, and slightly below it rounded."""
    at, two = pl.col(f"value{suffix}"), 2 * pl.col(f"tie_std{suffix}").fill_null(0.0)
    return rows.select("model", *NUMBERS, what=pl.lit(what), at=at, low=at - two, high=at + two)


def _marks(long: pl.DataFrame, what: str, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draw whiskers and dots on one side of the line of every model."""
    base = alt.Chart(inline(long.filter(what=what))).encode(y=y, color=keyed(alt.Color, long["what"], COLOURS))
    span = base.mark_bar(size=3, opacity=0.5, yOffset=BELOW[what]).encode(x=along(x, "low"), x2="high:Q")
    dots = base.mark_point(filled=True, opacity=1, size=55, yOffset=BELOW[what])
    shape, tooltip = keyed(alt.Shape, long["what"], SHAPES), [*texts("model", "what"), *tooltips(NUMBERS)]
    return [span, dots.encode(x=along(x, "at"), shape=shape, tooltip=tooltip)]


def _title(rows: pl.DataFrame, where: str) -> str:
    """Say which other winner rounding makes, or how far it changes scores."""
    best, rounded = best_of(rows, "value"), best_of(rows, "value_rounded")
    if rows.height > 1 and best != rounded:
        leads = [f"{listed(names)} lead{'s' if len(names) == 1 else ''}" for names in (best, rounded)]
        return f"As received, {leads[0]} at {where}; rounded, {leads[1]}"
    most = rows.sort(pl.col("change").abs(), "model", descending=[True, False]).row(0, named=True)
    if most["change"] == 0:
        return f"Rounding changes no {where}"
    way = "up" if most["change"] > 0 else "down"
    return f"Rounding changes {where} by up to {size(abs(most['change']))} ({listed([most['model']])}, {way})"


def _spoken(rows: pl.DataFrame) -> str:
    parts = [
        f"{listed([model])}: {span(value, rounded, ', rounded ')}"
        for model, value, rounded in rows.head(5).select("model", "value", "value_rounded").rows()
    ]
    return f"Dot plot of {rows.height} models, best first. " + joined(parts)

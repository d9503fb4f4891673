"""Draw the usual charts for binary codes: scores within a radius, and precision against recall."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import nice_scale, texts, tooltips
from retrieval_report.charts.data import best_of, by_mean, held, inline, side_by_side, summary_frame
from retrieval_report.charts.lines import K, grey_and_lit, lighted, shaded, unlit
from retrieval_report.charts.theme import empty_chart, finish, layered
from retrieval_report.contracts.registry import schema
from retrieval_report.writing.names import joined, listed
from retrieval_report.writing.numbers import number

RADIUS = {**schema("radius"), "radius": pl.Float64}
PANELS = {
    "precision": "precision within the radius",
    "recall": "recall within the radius",
    "empty": "queries with no item inside",
}
WIDTH, HEIGHT = 210, 260
CURVE = 380
AXES = "expected recall", "expected precision"


def radius(radius_frame: object) -> ChartType:
    """Draw precision, recall and the share of empty results within each radius.

    Parameters
    ----------
    radius_frame
        The result of :func:`evaluate_radius`.

    Returns
    -------
    altair.Chart
        Three panels. Tie order cannot change these scores, because either all items at a distance
        are inside, or none.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report.scoring.radius import evaluate_radius
    >>> counts = pl.DataFrame(
    ...     {
    ...         "query": ["a", "a", "b"],
    ...         "distance": [0, 2, 3],
    ...         "relevance": [1, 0, 1],
    ...         "count": [1, 3, 1],
    ...     }
    ... )
    >>> radius(evaluate_radius(counts, radii=(0, 2))).to_dict()["title"]["text"]
    ['model has the best F1 within a radius: 0.500 at radius 0']
    """
    frame = held(radius_frame, RADIUS, "radius", "evaluate_radius")
    if frame is None:
        return empty_chart("no radius was evaluated")
    means = frame.group_by("model").agg(pl.col("f1").max())
    order = means.sort("f1", "model", descending=[True, False], nulls_last=True)["model"].to_list()
    rows, lit = lighted(frame, order)
    panels = [_radius_panel(rows, name, title, lit) for name, title in PANELS.items()]
    chart = alt.hconcat(*panels, spacing=22)
    best = frame.sort(
        "f1", "model", "radius", descending=[True, False, False], nulls_last=True
    ).row(0, named=True)
    title = "No model has an F1 within any radius"
    if best["f1"] is not None:
        value = f"{number(best['f1'], 3)} at radius {best['radius']:g}"
        title = f"{listed([best['model']])} has the best F1 within a radius: {value}"
    grey = len(order) - len(lit)
    note = (
        "either all items at a distance are inside or none, so tie order does not change these "
        "scores"
    )
    return finish(chart, title, [note + unlit(grey)], _spoken_radius(rows, lit), 96)


def _radius_panel(rows: pl.DataFrame, name: str, title: str, lit: list[str]) -> alt.LayerChart:
    x = alt.X(
        "radius:Q",
        title="radius",
        scale=alt.Scale(nice=False, zero=False),
        axis=alt.Axis(grid=False, tickMinStep=1),
    )
    y = alt.Y(f"{name}:Q", scale=nice_scale(rows[name]), title=title)
    numbers = tooltips(("precision", "recall", "f1", "hit_rate", "empty"))
    tooltip = [*texts("model"), alt.Tooltip("radius:Q"), *numbers, alt.Tooltip("queries:Q")]
    shown: dict[str, Any] = {"color": shaded(rows, lit), "detail": "label:N", "tooltip": tooltip}
    rows = rows.filter(pl.col(name).is_not_null())
    layers = [
        _line(part, bright, 18).encode(x=x, y=y, **shown) for part, bright in grey_and_lit(rows)
    ]
    return layered(*layers).properties(width=WIDTH, height=HEIGHT)


def _line(part: pl.DataFrame, bright: bool, size: int) -> alt.Chart:
    points = {"size": size, "filled": True}
    line: alt.Chart = alt.Chart(inline(part)).mark_line(
        strokeWidth=2.2 if bright else 1.0, point=points
    )
    return line


def _spoken_radius(rows: pl.DataFrame, lit: list[str]) -> str:
    parts = []
    for label in lit:
        best = rows.filter(label=label).sort(
            "f1", "radius", descending=[True, False], nulls_last=True
        )
        if best["f1"][0] is not None:
            parts.append(f"{label}: F1 {number(best['f1'][0])} at radius {best['radius'][0]:g}")
    return "Lines of precision, recall and empty results by radius. " + joined(parts)


def precision_recall(summary: object) -> ChartType:
    """Draw expected precision against expected recall, with one point per cutoff at which the
    summary has both.

    Parameters
    ----------
    summary
        The result of :func:`summarise`, with the metrics ``precision`` and ``recall``.

    Returns
    -------
    altair.Chart
        Lines run from the smallest cutoff to the whole list.

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
    >>> summary = summarise(evaluate(rankings, metrics=("precision", "recall"), cutoffs=(1, 2, 4)))
    >>> precision_recall(summary).to_dict()["title"]["text"]
    ['model: expected precision and recall at 3 cutoffs']
    """
    frame = summary_frame(summary)
    if frame is None:
        return empty_chart("the summary has no rows")
    rows = _both(frame)
    if not rows.height:
        return empty_chart("precision and recall are not both in the summary, at one cutoff")
    models = by_mean(rows, "precision")
    shown, lit = lighted(rows.with_columns(k=K), models)
    chart = _curves(shown, lit, texts("model", k="cutoff"))
    cutoffs = rows["cutoff"].n_unique()
    note = "points from the smallest cutoff (left) to the largest, exact means over tie orders"
    ends = shown.filter(pl.col("label").is_in(lit)).group_by("label", maintain_order=True).last()
    rows_of_ends = ends.select("label", "precision", "recall").rows()
    parts = [
        f"{label}: precision {number(p)} at recall {number(r)}" for label, p, r in rows_of_ends
    ]
    spoken = "Precision against recall, at the largest cutoff: " + joined(parts)
    return finish(
        chart, _curve_title(rows, cutoffs), [note + unlit(len(models) - len(lit))], spoken
    )


def _both(frame: pl.DataFrame) -> pl.DataFrame:
    """Expected precision and recall side by side, smallest cutoff first."""
    parts = []
    for name in ("precision", "recall"):
        part = side_by_side(frame.filter(metric=name))
        parts.append(
            part.filter(pl.col("order").is_not_null()).select(
                "model", "cutoff", pl.col("order").alias(name)
            )
        )
    return (
        parts[0]
        .join(parts[1], on=["model", "cutoff"], nulls_equal=True)
        .sort("model", "cutoff", nulls_last=True)
    )


def _curves(
    rows: pl.DataFrame, lit: list[str], names: list[alt.Tooltip], axes: tuple[str, str] = AXES
) -> alt.LayerChart:
    """Draw precision along recall, grey lines below coloured ones; ``axes`` are the titles of
    both.
    """
    x = alt.X(
        "recall:Q", scale=nice_scale(rows["recall"]), title=axes[0], axis=alt.Axis(tickCount=6)
    )
    y = alt.Y(
        "precision:Q",
        scale=nice_scale(rows["precision"]),
        title=axes[1],
        axis=alt.Axis(tickCount=6),
    )
    tooltip = [*names, *tooltips(("precision", "recall"))]
    shown: dict[str, Any] = {"color": shaded(rows, lit), "detail": "label:N", "tooltip": tooltip}
    parts = [
        (part.with_columns(step=pl.int_range(pl.len())), bright)
        for part, bright in grey_and_lit(rows)
    ]
    lines = [
        _line(part, bright, 26).encode(x=x, y=y, order="step:Q", **shown) for part, bright in parts
    ]
    return layered(*lines).properties(width=CURVE, height=CURVE)


def _curve_title(rows: pl.DataFrame, cutoffs: int) -> str:
    if rows["model"].n_unique() == 1:
        return f"{listed([rows['model'][0]])}: expected precision and recall at {cutoffs} cutoffs"
    last = rows.filter(pl.col("cutoff").eq_missing(rows["cutoff"][-1]))
    leaders = best_of(last, "recall")
    where = "over whole lists" if last["cutoff"][0] is None else f"at k = {last['cutoff'][0]}"
    verb = "finds" if len(leaders) == 1 else "find"
    value = float(last.filter(model=leaders[0])["recall"][0])
    return f"{listed(leaders)} {verb} most of the relevant items {where}: recall {number(value, 3)}"


def recall_curve(curve: object) -> ChartType:
    """Draw interpolated precision along recall, a line for every model.

    Parameters
    ----------
    curve
        ``recall_curve`` of a study.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> curve = {"model": ["a", "a"], "recall": [0.0, 1.0], "value": [1.0, 0.5]}
    >>> recall_curve(curve).to_dict()["title"]["text"]
    ['a: mean precision 0.750 along 2 levels of recall']
    """
    wanted: dict[str, type[pl.DataType] | None] = {
        "model": pl.String,
        "recall": pl.Float64,
        "value": pl.Float64,
    }
    frame = held(curve, wanted, "curve", "recall_curve of a study")
    if frame is None:
        return empty_chart("the curve has no rows")
    rows = frame.select("model", "recall", precision="value").drop_nulls().sort("model", "recall")
    if rows.is_empty():
        return empty_chart("no model has an expected precision")
    models = by_mean(rows, "precision")
    shown, lit = lighted(rows, models)
    chart = _curves(shown, lit, texts("model"), ("recall", "interpolated precision"))
    means = dict(rows.group_by("model").agg(pl.col("precision").mean()).iter_rows())
    best, levels = number(means[models[0]], 3), rows["recall"].n_unique()
    title = f"{listed(models[:1])}: mean precision {best} along {levels} levels of recall"
    note = (
        "the best precision at any rank at which at least this recall is reached, exact means "
        "over tie orders"
    )
    spoken = "Precision along recall: " + joined(
        [
            f"{label}: mean precision {number(means[model])}"
            for label, model in zip(lit, models, strict=False)
        ]
    )
    return finish(chart, title, [note + unlit(len(models) - len(lit))], spoken)

"""Draw how much the distances of every model tie, and what rounding them does to its score."""

from __future__ import annotations

import math
from collections.abc import Mapping

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import along, keyed, nice_scale, row_axis, texts, tooltips
from retrieval_report.charts.colours import BLUE, GREY, VERMILLION
from retrieval_report.charts.data import at_measure, best_of, held, inline, with_labels
from retrieval_report.charts.theme import IN_CELL, empty_chart, finish, row_chart
from retrieval_report.contracts.registry import title_of
from retrieval_report.ties.profile import PROFILE
from retrieval_report.ties.rounding import ROUNDING_EFFECT
from retrieval_report.writing.names import joined, listed, quoted, unique_labels
from retrieval_report.writing.numbers import size, span

STEP, NARROW, COLUMN = 20, 170, 30
MOST = 20  # models, those whose ties are cut most
SHAPES = ("circle", "diamond", "triangle-left")
DECADES = [10**power for power in range(10)]
TALL_STEP = 24
RECEIVED, ROUNDED = "distances as received", "rounded distances"
ROUNDED_SHAPES, ROUNDED_COLOURS = (
    {RECEIVED: "circle", ROUNDED: "diamond"},
    {RECEIVED: BLUE, ROUNDED: VERMILLION},
)
BELOW = {RECEIVED: -4, ROUNDED: 4}  # the line
NUMBERS = ("value", "value_rounded", "change", "tie_std", "tie_std_rounded")


def profile(profile_frame: object) -> ChartType:
    """Draw how large ties are, for how many queries a cutoff splits one, and how many distinct
    distances there are.

    Parameters
    ----------
    profile_frame
        The result of :func:`tie_profile`.

    Returns
    -------
    altair.Chart
        Three panels side by side, with the models whose ties are split most at the top: size of the
        ties (at the largest cutoff), share of queries whose cutoff is inside a tie, and distinct
        distances beside items of a list.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import tie_profile
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> profile(tie_profile(rankings, cutoffs=(1, 2))).to_dict()["title"]["text"]
    ['k = 2 splits a tie in 100% of the queries of model']
    """
    frame = held(profile_frame, PROFILE, "profile", "tie_profile")
    if frame is None:
        return empty_chart("the tie profile has no rows")
    order = (
        frame.group_by("model")
        .agg(pl.col("cut_share").max())
        .sort("cut_share", "model", descending=[True, False])
    )
    left = order.height - order.head(MOST).height
    order = order.head(MOST)
    shown = frame.filter(pl.col("model").is_in(order["model"].to_list()))
    labels = unique_labels(order["model"])
    rows = with_labels(shown, labels).with_columns(
        k=pl.col("cutoff").cast(pl.String).fill_null("all")
    )
    cut = rows.filter(pl.col("cutoff").is_not_null())
    widest = rows.sort("cutoff", nulls_last=True).group_by("label", maintain_order=True).last()
    depth = (
        "whole list" if widest["cutoff"].null_count() else f"top {widest['cutoff'].to_list()[-1]}"
    )
    panels: list[alt.LayerChart] = [_sizes(widest, labels, depth)]
    if cut.height:
        panels.append(_cuts(cut, labels))
    panels.append(_distances(widest, labels))
    chart: alt.HConcatChart = alt.hconcat(*panels, spacing=26).resolve_scale(
        color="independent", shape="independent", stroke="independent", fill="independent"
    )
    lines = [
        (
            "ties: items at the same distance from the query; if a cutoff splits one, chance decides "
            "which of them count"
        )
    ]
    rest = [f"{left} more models have fewer cut ties"] * (left > 0)
    return finish(chart, _title(frame), [*lines, *_open_ends(cut), *rest], _spoken(frame), 96)


def _open_ends(cut: pl.DataFrame) -> list[str]:
    """Say that lists which end before the cutoff are not counted among the split ties."""
    ending = cut.filter(pl.col("ends_in_cut_tie") > 0).sort(
        "ends_in_cut_tie", "cutoff", descending=[True, False]
    )
    if ending.is_empty():
        return []
    share, k = ending.select("ends_in_cut_tie", "k").row(0)
    return [
        (
            f"lists that end first are not counted: up to {share:.0%} reach into a last tie that may "
            f"continue (k = {k})"
        )
    ]


def _tooltip() -> list[alt.Tooltip]:
    shares = (
        "cut_share",
        "mixed_share",
        "ends_in_cut_tie",
        "tied_items",
        "mixed_items",
        "near_ties",
    )
    numbers = ("queries", "tie_median", "tie_p90", "tie_max", "items", "distances")
    rest = [*tooltips(shares, ".1%"), *tooltips(numbers), *tooltips(["bits"], ".1f")]
    return [*texts("model", k="cutoff"), *rest]


def _decades(column: str, numbers: pl.Series, title: str) -> alt.X:
    """Return an axis from 1 to the power of ten beyond the largest number, since a single one would
    give no axis.
    """
    most = max([10, *numbers.drop_nulls().to_list()])
    scale = alt.Scale(type="log", domain=[1, 10 ** math.ceil(math.log10(most))], nice=False)
    return alt.X(
        f"{column}:Q", title=title, scale=scale, axis=alt.Axis(values=DECADES, format="~s")
    )


def _sizes(rows: pl.DataFrame, labels: Mapping[str, str], depth: str) -> alt.LayerChart:
    """Draw median, 90th percentile and largest tie on one line."""
    data = inline(rows.filter(pl.col("tie_median") > 0))
    x, y = (
        _decades("size", rows["tie_max"], f"items in a tie ({depth})"),
        row_axis(labels.values(), grid=True),
    )
    names = {name: title_of(name) for name in ("tie_median", "tie_p90", "tie_max")}
    long = _long(rows, names, "size")
    shapes, colours = (
        dict(zip(names.values(), looks, strict=True))
        for looks in (SHAPES, (BLUE, GREY, VERMILLION))
    )
    shape = keyed(alt.Shape, long["what"], shapes, columns=1)
    colour = keyed(alt.Color, long["what"], colours, columns=1)
    line = (
        alt.Chart(data)
        .mark_rule(strokeWidth=1.6, color=GREY)
        .encode(x=along(x, "tie_median"), x2="tie_max:Q", y=y)
    )
    dots = alt.Chart(inline(long)).mark_point(filled=True, size=50, opacity=1, strokeWidth=2)
    dots = dots.encode(x=x, y=y, tooltip=_tooltip(), shape=shape, color=colour)
    return row_chart([line, dots], len(labels), STEP, NARROW)


def _long(rows: pl.DataFrame, names: Mapping[str, str], value: str) -> pl.DataFrame:
    """A row for every number above 0 of some columns, with what it is, beside all of them."""
    index = [name for name in rows.columns if name not in names]
    long = rows.unpivot([*names], index=index, variable_name="what", value_name=value)
    long = long.join(rows.select("label", *names), on="label").with_columns(
        pl.col("what").replace_strict(names)
    )
    return long.filter(pl.col(value) > 0)


def _cuts(rows: pl.DataFrame, labels: Mapping[str, str]) -> alt.LayerChart:
    """Draw one tile per model and cutoff."""
    cutoffs = rows["cutoff"].unique().sort().to_list()
    scale = alt.Scale(domain=[*map(str, cutoffs)])
    axis = alt.Axis(labelAngle=0, ticks=False, domain=False, labelPadding=6)
    x = alt.X(
        "k:O", sort=None, title="% of queries whose cutoff k splits a tie", scale=scale, axis=axis
    )
    rows = rows.with_columns(
        text=pl.col("cut_share").map_elements(
            lambda share: f"{100 * share:.0f}", return_dtype=pl.String
        ),
        strong=pl.col("cut_share") > 0.5,
    )
    colour = alt.Color(
        "cut_share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=["#ececec", "#0a5f96"])
    )
    ink = alt.Color(
        "strong:N", legend=None, scale=alt.Scale(domain=[False, True], range=["#222222", "#ffffff"])
    )
    base = alt.Chart(inline(rows))
    y = row_axis(labels.values(), grid=False)
    tiles = base.mark_rect().encode(x=x, y=y, color=colour, tooltip=_tooltip())
    text = base.mark_text(style=IN_CELL).encode(
        x=x, y=y, text="text:N", color=ink, tooltip=_tooltip()
    )
    chart = row_chart([tiles, text], len(labels), STEP, max(COLUMN * len(cutoffs), NARROW))
    own: alt.LayerChart = chart.resolve_scale(color="independent")
    return own


def _distances(rows: pl.DataFrame, labels: Mapping[str, str]) -> alt.LayerChart:
    """Draw the number of distinct distances as a bar, and of the items that they order as a
    ring.
    """
    y = row_axis(labels.values(), grid=True)
    names = {"distances": "different distances", "items": "items in the list"}
    x = _decades("number", rows["items"], "different distances in a list (median)")
    long = _long(rows, names, "number")
    dots = alt.Chart(inline(long)).mark_point(size=55, strokeWidth=1.8, opacity=1)
    distances, items = names.values()
    stroke = keyed(alt.Stroke, long["what"], {distances: BLUE, items: GREY}, columns=1)
    fill = keyed(alt.Fill, long["what"], {distances: BLUE, items: "transparent"}, columns=1)
    dots = dots.encode(x=x, y=y, stroke=stroke, fill=fill, tooltip=_tooltip())
    return row_chart([dots], len(labels), STEP, NARROW)


def _title(frame: pl.DataFrame) -> str:
    worst = frame.filter(pl.col("cutoff").is_not_null()).sort(
        "cut_share", "model", descending=[True, False]
    )
    if not worst.height or not worst["cut_share"][0]:
        return "No cutoff falls inside a tie" if worst.height else "Ties in the whole lists"
    row = worst.row(0, named=True)
    return (
        f"k = {row['cutoff']} splits a tie in {row['cut_share']:.0%} of the queries of "
        f"{quoted(row['model'])}"
    )


def _spoken(frame: pl.DataFrame) -> str:
    top = (
        frame.filter(pl.col("cutoff").is_not_null())
        .sort("cut_share", "model", descending=[True, False])
        .head(5)
    )
    rows = top.select("model", "cutoff", "cut_share", "tie_max").rows()
    parts = [
        f"{quoted(model)} at k = {k}: {share:.0%} of queries cut, largest tie {size}"
        for model, k, share, size in rows
    ]
    return "Tie sizes, cut ties and different distances of every model. " + joined(parts)


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
        Dot: expected score of the distances as received; diamond: of the rounded ones; both with ±2
        standard deviations under random tie order.

    Examples
    --------
    >>> from retrieval_report import evaluate, summarise
    >>> from retrieval_report.ties.rounding import rounding_effect
    >>> rankings = {
    ...     "query": ["q", "q"],
    ...     "item": ["a", "b"],
    ...     "distance": [0.9, 1.1],
    ...     "relevance": [1, 0],
    ... }
    >>> one, other = (
    ...     summarise(evaluate(rankings, metrics="rr@2", decimals=decimals))
    ...     for decimals in (None, 0)
    ... )
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
    layers = [part for what in ROUNDED_SHAPES for part in _marks(long, what, x, y)]
    chart = row_chart(layers, len(labels), TALL_STEP)
    lines = ["whiskers: ±2 standard deviations under random tie order"]
    return finish(chart, _rounding_title(rows, where), lines, _spoken_rounding(rows))


def _points(rows: pl.DataFrame, what: str, suffix: str) -> pl.DataFrame:
    """Return one row per model, slightly above its line as received, and slightly below it
    rounded.
    """
    at, two = pl.col(f"value{suffix}"), 2 * pl.col(f"tie_std{suffix}").fill_null(0.0)
    return rows.select("model", *NUMBERS, what=pl.lit(what), at=at, low=at - two, high=at + two)


def _marks(long: pl.DataFrame, what: str, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draw whiskers and dots on one side of the line of every model."""
    base = alt.Chart(inline(long.filter(what=what))).encode(
        y=y, color=keyed(alt.Color, long["what"], ROUNDED_COLOURS)
    )
    span = base.mark_bar(size=3, opacity=0.5, yOffset=BELOW[what]).encode(
        x=along(x, "low"), x2="high:Q"
    )
    dots = base.mark_point(filled=True, opacity=1, size=55, yOffset=BELOW[what])
    shape, tooltip = (
        keyed(alt.Shape, long["what"], ROUNDED_SHAPES),
        [*texts("model", "what"), *tooltips(NUMBERS)],
    )
    return [span, dots.encode(x=along(x, "at"), shape=shape, tooltip=tooltip)]


def _rounding_title(rows: pl.DataFrame, where: str) -> str:
    """Say which other winner rounding makes, or how far it changes scores."""
    best, rounded = best_of(rows, "value"), best_of(rows, "value_rounded")
    if rows.height > 1 and best != rounded:
        leads = [
            f"{listed(names)} lead{'s' if len(names) == 1 else ''}" for names in (best, rounded)
        ]
        return f"As received, {leads[0]} at {where}; rounded, {leads[1]}"
    most = rows.sort(pl.col("change").abs(), "model", descending=[True, False]).row(0, named=True)
    if most["change"] == 0:
        return f"Rounding changes no {where}"
    way = "up" if most["change"] > 0 else "down"
    return (
        f"Rounding changes {where} by up to {size(abs(most['change']))} "
        f"({listed([most['model']])}, {way})"
    )


def _spoken_rounding(rows: pl.DataFrame) -> str:
    parts = [
        f"{listed([model])}: {span(value, rounded, ', rounded ')}"
        for model, value, rounded in rows.head(5).select("model", "value", "value_rounded").rows()
    ]
    return f"Dot plot of {rows.height} models, best first. " + joined(parts)

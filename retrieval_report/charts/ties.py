"""Draw how much the distances of every model tie."""

from __future__ import annotations

import math
from collections.abc import Mapping

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import along, keyed, row_axis, texts, tooltips
from retrieval_report.charts.colours import BLUE, GREY, VERMILLION
from retrieval_report.charts.data import held, inline, with_labels
from retrieval_report.charts.theme import IN_CELL, empty_chart, finish, row_chart
from retrieval_report.contracts.registry import title_of
from retrieval_report.ties.profile import PROFILE
from retrieval_report.writing.names import joined, quoted, unique_labels

STEP, NARROW, COLUMN = 20, 170, 30
MOST = 20  # models, those whose ties are cut most
SHAPES = ("circle", "diamond", "triangle-left")
DECADES = [10**power for power in range(10)]


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

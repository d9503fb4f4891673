"""What repeated runs under random tie order print, beside the exact mean and its normal curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.data import at_measure, bounds, held, inline, joined, side_by_side, summary_frame
from retrieval_report.charts.theme import BLUE, GREY, VERMILLION, empty_chart, finish, layered, sentence_chart
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.writing.names import clean, listed, measure_name, quoted, short

__all__ = ["shuffled_distribution"]

MEANS = {"model": pl.String, "metric": pl.String, "cutoff": pl.Int64, "draw": pl.Int64, "value": pl.Float64}
PANELS, COLUMNS = 12, 3
PANEL_WIDTH, PANEL_HEIGHT = 225, 130
BINS, POINTS = 24, 81
SAME = 1e-12
RULED = ("expected", "naive", "lowest", "highest")
RULES = {"expected": BLUE, "order received": VERMILLION, "worst and best": GREY}


def shuffled_distribution(
    means: object,
    summary: object,
    *,
    metric: object,
    cutoff: int | str | None = None,
    models: Sequence[str] | None = None,
    one_axis: bool = False,
) -> ChartType:
    """Draw how the mean score varies from one random tie order to the next, a panel for every model.

    Parameters
    ----------
    means
        What :func:`shuffled_means` returns.
    summary
        What :func:`summarise` returns for the same rankings and options.
    metric, cutoff
        One that both have: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    models
        Which to draw; default: those that vary most, twelve at most.
    one_axis
        Give all panels the same range of scores, one below the other, so that models can be compared by eye; it is
        that of the draws, without the worst and the best order, which are far away.

    Returns
    -------
    altair.Chart
        Bars: draws; curve: the normal distribution around the exact mean with the exact standard deviation; rules:
        exact mean, order received, worst and best tie order. A sentence where all draws agree.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate, shuffled_means, summarise
    >>> rankings = pl.DataFrame({"query": ["q"] * 2, "item": list("ab"), "distance": [0, 2], "relevance": [0, 1]})
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=2))
    >>> means = shuffled_means(rankings, metrics="rr", cutoffs=2, shuffles=10)
    >>> shuffled_distribution(means, summary, metric="rr", cutoff=2).to_dict()["description"]
    'All 10 random tie orders give the same rr@2 for model.'
    """
    draws, frame = held(means, MEANS, "means", "shuffled_means"), summary_frame(summary)
    if draws is None or frame is None:
        return empty_chart("there are no draws" if draws is None else "the summary has no rows")
    metric, cutoff = parse_measure(metric, cutoff)
    draws, where = (
        at_measure(draws, metric, cutoff).filter(pl.col("value").is_not_null()),
        measure_name(metric, cutoff),
    )
    wide = {row["model"]: row for row in side_by_side(at_measure(frame, metric, cutoff)).iter_rows(named=True)}
    if not draws.height:
        return empty_chart(f"no draw has a value for {where}")
    span = draws.group_by("model").agg(width=pl.col("value").max() - pl.col("value").min(), draws=pl.len())
    varying = span.filter(pl.col("width") > SAME).sort("width", "model", descending=[True, False])["model"].to_list()
    asked = _asked(models, span["model"].to_list(), varying)
    shown = [model for model in asked if model in set(varying)]
    if not shown:
        named = listed(sorted(asked or span["model"].to_list()))
        number = span["draws"].max()
        return sentence_chart(f"All {int(str(number))} random tie orders give the same {where} for {named}.")
    kept = RULED[:2] if one_axis else RULED
    drawn = [(draws.filter(model=model), _numbers(wide.get(model, {}), kept), model) for model in shown]
    ends = [_ends(values, row) for values, row, _ in drawn]
    everything = (min(low for low, _ in ends), max(high for _, high in ends))
    panel_width = PANEL_WIDTH * (2 if one_axis or len(shown) == 1 else 1)
    panels = [
        _panel(values, row, model, where, everything if one_axis else own).properties(width=panel_width)
        for (values, row, model), own in zip(drawn, ends, strict=True)
    ]
    chart = alt.concat(*panels, columns=1 if one_axis else COLUMNS, spacing={"row": 22, "column": 26})
    steady = len(asked) - len(shown) if models is not None else span.height - len(varying)
    return finish(
        chart,
        _title(draws, {} if one_axis else wide, shown[0], where),
        _legend(shown, varying, steady, models is None),
        _spoken(draws, shown, wide),
    )


def _asked(models: Sequence[str] | None, known: Sequence[str], varying: Sequence[str]) -> list[str]:
    if models is None:
        return list(varying[:PANELS])
    unknown = [model for model in models if model not in set(known)]
    if unknown:
        raise ParameterError(f"models: {clean(str(unknown[0]), 80)!r} has no draws")
    return list(dict.fromkeys(models))


def _bins(values: Sequence[float]) -> tuple[float, float]:
    """Start and width of bins that each hold as many of the possible values: a mean of n queries moves in steps."""
    distinct = sorted(set(values))
    gap = min(second - first for first, second in pairwise(distinct) if second - first > SAME)
    width = (distinct[-1] - distinct[0]) / BINS
    if gap * 40 * BINS > distinct[-1] - distinct[0]:
        width = gap * max(1, math.ceil(width / gap - 1e-6))
    return distinct[0] - (gap / 2 if gap * BINS * 40 > distinct[-1] - distinct[0] else width / 2), width


def _numbers(row: dict[str, float | None], ruled: Sequence[str]) -> dict[str, float | None]:
    """What a panel marks, and the spread of its curve."""
    return {name: row.get(name) for name in (*RULED, "tie_std") if name in ruled or name == "tie_std"}


def _ends(draws: pl.DataFrame, row: dict[str, float | None]) -> tuple[float, float]:
    """Lowest and highest score of a panel, with half of a bar at either side."""
    start, width = _bins(draws["value"].to_list())
    _, highest = bounds(draws["value"])
    bars = math.floor((highest - start) / width + 1e-9) + 1
    known = [value for name, value in row.items() if name != "tie_std" and value is not None]
    return min([start, *known]), max([start + bars * width, *known])


def _panel(
    draws: pl.DataFrame, numbers: dict[str, float | None], model: str, where: str, ends: tuple[float, float]
) -> alt.LayerChart:
    start, width = _bins(draws["value"].to_list())
    bar = ((pl.col("value") - start) / width + 1e-9).floor()
    bars = draws.group_by(bar.alias("bar")).agg(pl.len().alias("draws")).sort("bar")
    bars = bars.with_columns(
        low=start + pl.col("bar") * width, high=start + (pl.col("bar") + 1) * width, model=pl.lit(clean(model))
    )
    pad = (ends[1] - ends[0]) * 0.02
    scale = alt.Scale(domain=[ends[0] - pad, ends[1] + pad], nice=False, zero=False)
    axis = alt.Axis(tickCount=4, title=where, grid=False)
    layers = [_bars(bars, scale, axis), *_curve(numbers, draws.height * width, scale, axis)]
    layers += _rules(numbers, model, scale, axis)
    return layered(*layers).properties(width=PANEL_WIDTH, height=PANEL_HEIGHT, title=_panel_title(model))


def _panel_title(model: str) -> alt.Title:
    return alt.Title(text=short(model), fontSize=12, fontWeight="normal", offset=6, frame="group")


def _bars(bars: pl.DataFrame, scale: alt.Scale, axis: alt.Axis) -> alt.Chart:
    y = alt.Y("draws:Q", title="draws", axis=alt.Axis(tickCount=3), scale=alt.Scale(domainMin=0))
    tooltip = [alt.Tooltip("model:N"), *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("low", "high")), "draws:Q"]
    bar = alt.Chart(inline(bars)).mark_bar(color=GREY, opacity=0.55)
    x = alt.X("low:Q", scale=scale, axis=axis)
    drawn: alt.Chart = bar.encode(x=x, x2="high:Q", y=y, y2=alt.datum(0), tooltip=tooltip)
    return drawn


def _curve(numbers: dict[str, float | None], area: float, scale: alt.Scale, axis: alt.Axis) -> list[alt.Chart]:
    """The normal curve that has as much area as the bars."""
    mean, deviation = numbers.get("expected"), numbers.get("tie_std")
    if mean is None or not deviation:
        return []
    steps = [8 * (measure / (POINTS - 1)) - 4 for measure in range(POINTS)]
    height = area / (deviation * math.sqrt(2 * math.pi))
    rows = pl.DataFrame(
        {
            "at": [mean + step * deviation for step in steps],
            "density": [height * math.exp(-step * step / 2) for step in steps],
        }
    )
    return [
        alt.Chart(inline(rows))
        .mark_line(color=BLUE, strokeWidth=1.6, clip=True)
        .encode(x=alt.X("at:Q", scale=scale, axis=axis), y=alt.Y("density:Q", title="draws"))
    ]


def _rules(numbers: dict[str, float | None], model: str, scale: alt.Scale, axis: alt.Axis) -> list[alt.Chart]:
    what = {"lowest": "worst and best", "highest": "worst and best", "expected": "expected", "naive": "order received"}
    rows = [
        {"what": what[name], "at": numbers[name], "model": clean(model), "tie_std": numbers["tie_std"]}
        for name in what
        if numbers.get(name) is not None
    ]
    shown = list(dict.fromkeys(word for name, word in what.items() if name in numbers))
    rules = {name: RULES[name] for name in RULES if name in shown}
    colour = alt.Color(
        "what:N",
        scale=alt.Scale(domain=list(rules), range=list(rules.values())),
        legend=alt.Legend(title=None, orient="top", symbolType="stroke"),
    )
    dash = alt.StrokeDash(
        "what:N",
        scale=alt.Scale(domain=list(rules), range=[[1, 0], [5, 3], [2, 2]][: len(rules)]),
        legend=alt.Legend(title=None, orient="top"),
    )
    tooltip = ["model:N", "what:N", alt.Tooltip("at:Q", format=".4f"), alt.Tooltip("tie_std:Q", format=".4f")]
    data = alt.InlineData(values=rows)
    return (
        [
            alt.Chart(data)
            .mark_rule(strokeWidth=1.6)
            .encode(x=alt.X("at:Q", scale=scale, axis=axis), color=colour, strokeDash=dash, tooltip=tooltip)
        ]
        if rows
        else []
    )


def _title(draws: pl.DataFrame, wide: dict[str, dict[str, float | None]], model: str, where: str) -> str:
    """How far tie order alone moves the model that it moves most."""
    low, high = (wide.get(model, {}).get(name) for name in ("lowest", "highest"))
    if low is None or high is None:
        values = draws.filter(model=model)["value"]
        low, high = bounds(values)
        return f"Random tie orders put {where} of {quoted(model)} between {low:.3f} and {high:.3f}"
    return f"Tie order alone can put {where} of {quoted(model)} anywhere from {low:.3f} to {high:.3f}"


def _legend(shown: Sequence[str], varying: Sequence[str], steady: int, chosen: bool) -> list[str]:
    parts = ["bars: mean over the queries in one draw; curve: normal with the exact mean and standard deviation"]
    if chosen and len(varying) > len(shown):
        parts.append(f"{len(shown)} of {len(varying)} models that tie order moves")
    if steady > 0:
        parts.append(f"{steady} more give the same in every draw")
    return ["; ".join(parts)]


def _spoken(draws: pl.DataFrame, shown: Sequence[str], wide: dict[str, dict[str, float | None]]) -> str:
    parts = []
    for model in shown[:5]:
        values = draws.filter(model=model)["value"]
        low, high = bounds(values)
        expected = wide.get(model, {}).get("expected")
        exact = "" if expected is None else f", exact mean {expected:.4f}"
        parts.append(f"{short(model)}: {len(values)} draws from {low:.4f} to {high:.4f}{exact}")
    return "Histograms of the mean score under random tie order. " + joined(parts)

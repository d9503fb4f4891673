"""Draw what repeated runs under random tie order print, and how probable each number is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import along, fixed_scale, texts, tooltips
from retrieval_report.charts.colours import BLUE, GREY, VERMILLION
from retrieval_report.charts.data import (
    SAME,
    at_measure,
    bounds,
    check_models,
    held,
    inline,
    models_at,
    summary_frame,
)
from retrieval_report.charts.theme import empty_chart, finish, layered, sentence_chart
from retrieval_report.contracts.registry import schema
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.ties.distributions import MEAN_DISTRIBUTION
from retrieval_report.writing.names import clean, joined, listed, quoted, short
from retrieval_report.writing.numbers import number, span

MEANS = schema("shuffled")
PANELS, COLUMNS = 6, 3
PANEL_WIDTH, PANEL_HEIGHT = 225, 130
BINS, POINTS = 24, 81
BARS = 60  # exact probabilities of more values are added up, as many steps of the lattice a bar
SEEN = 1e-3  # of the highest bar: lower ones are left out at both ends
THIN = 50  # half a bar that stands for one value is at most this part of the range
FEW = 20  # different values, to which no curve fits
RULES = {"expected": ("expected", BLUE, [1, 0]), "naive": ("naive order", VERMILLION, [5, 3])}


def shuffled_distribution(
    means: object,
    summary: object,
    *,
    metric: object,
    cutoff: int | str | None = None,
    exact: object = None,
    models: Sequence[str] | None = None,
    one_axis: bool = False,
) -> ChartType:
    """Draw how the mean score varies from one random tie order to the next, with one panel per
    model.

    Parameters
    ----------
    means
        The result of :func:`shuffled_means`.
    summary
        The result of :func:`summarise` for the same rankings and options.
    metric, cutoff
        A measure in both: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    exact
        The result of ``mean_distribution`` (in ``analysis``); models in it are drawn by their exact
        probabilities.
    models
        The models to draw; by default those that vary most, up to six.
    one_axis
        Whether all panels have the same range of scores, one below the other, so that models can be
        compared by eye.

    Returns
    -------
    altair.Chart
        Bars: the exact probability of every mean, or the share of draws; rules: exact mean and
        naive order. If draws have many values, a curve shows the normal distribution with the exact
        mean and standard deviation, within the range of tie order, which is in the heading of the
        panel. If all draws agree, the chart is a sentence.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate, shuffled_means, summarise
    >>> rankings = pl.DataFrame(
    ...     {"query": ["q"] * 2, "item": list("ab"), "distance": [0, 2], "relevance": [0, 1]}
    ... )
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=2))
    >>> means = shuffled_means(rankings, metrics="rr", cutoffs=2, shuffles=10)
    >>> shuffled_distribution(means, summary, metric="rr", cutoff=2).to_dict()["description"]
    'All 10 random tie orders give the same rr@2 for model.'
    """
    draws, frame = held(means, MEANS, "means", "shuffled_means"), summary_frame(summary)
    if draws is None or frame is None:
        return empty_chart("there are no draws" if draws is None else "the summary has no rows")
    draws = at_measure(draws, metric, cutoff)[0].drop_nulls("value")
    means_at, where = models_at(frame, metric, cutoff)
    wide = {row["model"]: row for row in means_at.iter_rows(named=True)}
    if not draws.height:
        return empty_chart(f"no draw has a value for {where}")
    spread = draws.group_by("model").agg(
        width=pl.col("value").max() - pl.col("value").min(), draws=pl.len()
    )
    varying = (
        spread.filter(pl.col("width") > SAME)
        .sort("width", "model", descending=[True, False])["model"]
        .to_list()
    )
    asked = _asked(models, spread["model"].to_list(), varying)
    shown = [model for model in asked if model in set(varying)]
    if not shown:
        named = listed(sorted(asked or spread["model"].to_list()))
        count = int(str(spread["draws"].max()))
        return sentence_chart(f"All {count} random tie orders give the same {where} for {named}.")
    sure = _exact_parts(exact, *parse_measure(metric, cutoff))
    panels = [
        _Panel(model, draws.filter(model=model), sure.get(model), wide.get(model, {}))
        for model in shown
    ]
    everything = (min(panel.ends[0] for panel in panels), max(panel.ends[1] for panel in panels))
    width = PANEL_WIDTH * (2 if one_axis or len(shown) == 1 else 1)
    drawn = [
        panel.drawn(where, everything if one_axis else panel.ends).properties(width=width)
        for panel in panels
    ]
    chart = alt.concat(
        *drawn, columns=1 if one_axis else COLUMNS, spacing={"row": 22, "column": 26}
    )
    steady = len(asked) - len(shown) if models is not None else spread.height - len(varying)
    left = len(varying) - len(shown) if models is None else 0
    title = _title(draws, {} if one_axis else wide, shown[0], where)
    return finish(chart, title, _legend(panels, left, steady), _spoken(draws, shown, wide))


def _asked(models: Sequence[str] | None, known: Sequence[str], varying: Sequence[str]) -> list[str]:
    if models is None:
        return list(varying[:PANELS])
    check_models("models", models, known, "has no draws")
    return list(dict.fromkeys(models))


def _exact_parts(exact: object, metric: str, cutoff: int | None) -> dict[str, pl.DataFrame]:
    """Return the exact distributions at this measure by model."""
    frame = None if exact is None else held(exact, MEAN_DISTRIBUTION, "exact", "mean_distribution")
    if frame is None:
        return {}
    here = frame.filter((pl.col("metric") == metric) & pl.col("cutoff").eq_missing(cutoff))
    return {str(part["model"][0]): part for part in here.partition_by("model", maintain_order=True)}


class _Panel:
    """One model: its bars, and what is marked beside them."""

    def __init__(
        self,
        model: str,
        draws: pl.DataFrame,
        exact: pl.DataFrame | None,
        row: dict[str, float | None],
    ) -> None:
        self.model, self.row = model, row
        self.exact = exact is not None
        self.bars = _counted(draws) if exact is None else _probable(exact)
        self.bars = self.bars.with_columns(model=pl.lit(clean(model)))
        many = draws["value"].round(12).n_unique() >= FEW
        width = self.bars["high"][0] - self.bars["low"][0]
        self.curve = _curve(row, width) if many and not self.exact else None
        low, high = bounds(self.bars["low"])[0], bounds(self.bars["high"])[1]
        marked = [value for name in RULES if (value := row.get(name)) is not None]
        self.ends = (min([low, *marked]), max([high, *marked]))

    def drawn(self, where: str, ends: tuple[float, float]) -> alt.LayerChart:
        pad = (ends[1] - ends[0]) * 0.02
        scale = fixed_scale(ends[0] - pad, ends[1] + pad)
        x = alt.X("low:Q", scale=scale, axis=alt.Axis(tickCount=4, title=where, grid=False))
        y = alt.Axis(
            format="~%", tickCount=3, title="probability" if self.exact else "share of draws"
        )
        layers = _bars(self.bars, x, y)
        if self.curve is not None:
            line = alt.Chart(inline(self.curve)).mark_line(color=BLUE, strokeWidth=1.6, clip=True)
            layers.append(line.encode(x=along(x, "at"), y=alt.Y("density:Q", axis=y)))
        layers += _rules(self.row, self.model, x)
        title = alt.Title(
            text=short(self.model),
            subtitle=self._reach(),
            fontSize=12,
            fontWeight="normal",
            offset=6,
            frame="group",
        )
        return layered(*layers).properties(width=PANEL_WIDTH, height=PANEL_HEIGHT, title=title)

    def _reach(self) -> str:
        low, high = self.row.get("lowest"), self.row.get("highest")
        return "" if low is None or high is None else f"tie order could give {span(low, high)}"


def _probable(exact: pl.DataFrame) -> pl.DataFrame:
    """Return one bar per value, or per equal number of lattice steps, without ends too small to
    see.
    """
    seen = exact.filter(pl.col("probability") >= SEEN * pl.col("probability").max())
    low, high = bounds(seen["value"])
    rows = exact.filter(pl.col("value").is_between(low, high)).sort("value")
    values = rows["value"].to_list()
    gap = min((second - first for first, second in pairwise(values)), default=abs(low) or 1.0)
    steps = math.ceil((round((high - low) / gap) + 1) / BARS)
    bar = ((pl.col("value") - low) / gap + 1e-6).floor() // steps
    bars = (
        rows.group_by(bar.alias("bar")).agg(pl.col("probability").sum().alias("share")).sort("bar")
    )
    start, edge = (
        low + pl.col("bar") * gap * steps,
        gap / 2 if steps > 1 else min(0.35 * gap, (high - low) / THIN),
    )
    return bars.with_columns(low=start - edge, high=start + gap * (steps - 1) + edge)


def _counted(draws: pl.DataFrame) -> pl.DataFrame:
    """Return bars of the draws, one per value if there are few."""
    if draws["value"].round(12).n_unique() < FEW:
        shares = draws.group_by(value=pl.col("value").round(12)).agg(
            probability=pl.len() / draws.height
        )
        bars = _probable(shares.sort("value"))  # without values too rare to see
        return bars.with_columns(draws=(pl.col("share") * draws.height).round().cast(pl.UInt32))
    start, width = _bins(draws["value"].to_list())
    bar = ((pl.col("value") - start) / width + 1e-9).floor()
    bars = draws.group_by(bar.alias("bar")).agg(pl.len().alias("draws")).sort("bar")
    low = start + pl.col("bar") * width
    return bars.with_columns(low=low, high=low + width, share=pl.col("draws") / draws.height)


def _bins(values: Sequence[float]) -> tuple[float, float]:
    """Return start and width of bins with equally many possible values each, since a mean of n
    queries has steps.
    """
    distinct = sorted(set(values))
    gap = min(second - first for first, second in pairwise(distinct) if second - first > SAME)
    width = (distinct[-1] - distinct[0]) / BINS
    if gap * 40 * BINS <= distinct[-1] - distinct[0]:
        return distinct[0] - width / 2, width
    return distinct[0] - gap / 2, gap * max(1, math.ceil(width / gap - 1e-6))


def _bars(bars: pl.DataFrame, x: alt.X, y_axis: alt.Axis) -> list[alt.Chart]:
    y = alt.Y("share:Q", axis=y_axis, scale=alt.Scale(domainMin=0))
    counts = ["draws:Q"] * ("draws" in bars.columns)
    tooltip = [
        *texts("model"),
        *tooltips(["low", "high"]),
        alt.Tooltip("share:Q", format=".2%"),
        *counts,
    ]
    bar = alt.Chart(inline(bars.drop("bar"))).mark_bar(color=GREY, opacity=0.6)
    return [bar.encode(x=x, x2="high:Q", y=y, y2=alt.datum(0), tooltip=tooltip)]


def _curve(row: dict[str, float | None], width: float) -> pl.DataFrame | None:
    """Return the normal curve with the same area as the bars, between the worst and the best tie
    order.
    """
    mean, deviation = row.get("expected"), row.get("tie_std")
    if mean is None or not deviation:
        return None
    steps = [8 * (index / (POINTS - 1)) - 4 for index in range(POINTS)]
    height = width / (deviation * math.sqrt(2 * math.pi))
    density = [height * math.exp(-step * step / 2) for step in steps]
    rows = pl.DataFrame({"at": [mean + step * deviation for step in steps], "density": density})
    low, high = row.get("lowest"), row.get("highest")
    return rows.filter(
        pl.col("at").is_between(
            -math.inf if low is None else low, math.inf if high is None else high
        )
    )


def _rules(row: dict[str, float | None], model: str, x: alt.X) -> list[alt.Chart]:
    layers = []
    for name, (what, colour, dash) in RULES.items():
        if row.get(name) is None:
            continue
        found: dict[str, Any] = {
            "what": what,
            "at": row[name],
            "model": clean(model),
            "tie_std": row.get("tie_std"),
        }
        rule = alt.Chart(alt.InlineData(values=[found])).mark_rule(
            strokeWidth=1.8, color=colour, strokeDash=dash
        )
        tooltip = ["model:N", "what:N", *tooltips(["at", "tie_std"])]
        layers.append(rule.encode(x=along(x, "at"), tooltip=tooltip))
    return layers


def _title(
    draws: pl.DataFrame, wide: dict[str, dict[str, float | None]], model: str, where: str
) -> str:
    """Say how far tie order alone changes the score of the most affected model."""
    low, high = (wide.get(model, {}).get(name) for name in ("lowest", "highest"))
    if low is None or high is None:
        low, high = bounds(draws.filter(model=model)["value"])
        return (
            f"Random tie orders put {where} of {quoted(model)} between {span(low, high, ' and ')}"
        )
    return f"Tie order alone can put {where} of {quoted(model)} anywhere from {span(low, high)}"


def _legend(panels: Sequence[_Panel], left: int, steady: int) -> list[str]:
    exact, drawn = any(panel.exact for panel in panels), any(not panel.exact for panel in panels)
    parts = ["bars: exact probability of every mean"] * exact
    parts += [f"bars{' of the others' * exact}: share of the random draws"] * drawn
    parts += ["curve: normal distribution"] * any(panel.curve is not None for panel in panels)
    parts.append("solid line: expected score; dashed line: naive order")
    parts += [f"{left} of the models vary less, and are not drawn"] * (left > 0)
    parts += [f"{steady} of the models do not vary"] * (steady > 0)
    return ["; ".join(parts)]


def _spoken(
    draws: pl.DataFrame, shown: Sequence[str], wide: dict[str, dict[str, float | None]]
) -> str:
    parts = []
    for model in shown[:5]:
        values = draws.filter(model=model)["value"]
        expected = wide.get(model, {}).get("expected")
        exact = "" if expected is None else f", exact mean {number(expected)}"
        parts.append(f"{short(model)}: {len(values)} draws from {span(*bounds(values))}{exact}")
    return "Histograms of the mean score under random tie order. " + joined(parts)

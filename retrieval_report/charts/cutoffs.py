"""Draw scores along the cutoffs: of every model with its bands, and in one panel per policy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import OPEN, along, nice_scale, open_dash, texts, tooltips
from retrieval_report.charts.data import (
    best_of,
    by_mean,
    check_models,
    inline,
    of_metric,
    side_by_side,
    summary_frame,
)
from retrieval_report.charts.lines import (
    CUT,
    OTHERS,
    K,
    dashed_ends,
    end_labels,
    grey_and_lit,
    lighted,
    shaded,
    unlit,
)
from retrieval_report.charts.theme import HEIGHT, WIDTH, empty_chart, finish, layered
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.writing.names import clean, joined, listed, quoted
from retrieval_report.writing.numbers import number

TICKS = 10
LOOKS: dict[str, dict[str, Any]] = {
    "order": {"shape": "circle", "filled": True, "size": 22, "opacity": 1},
    "naive": {"shape": "circle", "filled": False, "size": 60, "strokeWidth": 1.3, "opacity": 1},
}
NUMBERS = ("expected", "tie_std", "naive", "shuffled", "lowest", "highest")
PANEL_WIDTH, PANEL_HEIGHT, COLUMNS = 235, 170, 3
PANELS = {
    "expected": "expected",
    "naive": "naive order",
    "shuffled": "mean of shuffles",
    "worst": "worst tie order",
    "best": "best tie order",
}


def scores_by_cutoff(
    summary: object, *, metric: object, bands: Sequence[str] = (), log: bool = True
) -> ChartType:
    """Draw the expected score of every model along the cutoffs.

    The leading models are coloured and named at their right end, with rings at naive scores; the
    others are grey.

    Parameters
    ----------
    summary
        The result of :func:`summarise`.
    metric
        One of its metrics.
    bands
        Models to draw with bands too: the range over all tie orders (pale), and ±2 standard
        deviations under random tie order (dark).
    log
        Whether the axis of the cutoffs is logarithmic. The whole list is at its right end.

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
    ['model: precision at 3 cutoffs']
    """
    frame = summary_frame(summary)
    if frame is None:
        return empty_chart("the summary has no rows")
    metric, _ = parse_measure(metric)
    wide = side_by_side(of_metric(frame, metric))
    check_models("bands", bands, wide["model"], "is not a model of this summary")
    if wide["order"].null_count() == wide.height:
        return empty_chart("no policy of this summary is expected, shuffled or naive")
    rows, lit = lighted(wide, by_mean(wide, "order"), bands)
    x, at = _cutoff_axis(wide["cutoff"], log)
    rows = rows.with_columns(
        at=at,
        k=K,
        two_low=pl.col("expected") - 2 * pl.col("tie_std"),
        two_high=pl.col("expected") + 2 * pl.col("tie_std"),
    )
    banded = rows.filter(pl.col("label").is_in(lit[: len(set(bands))]))
    limits = [
        *rows.select("order", "naive"),
        *banded.select("lowest", "highest", "two_low", "two_high"),
    ]
    name = clean(str(metric), 60)
    y = alt.Y("order:Q", scale=nice_scale(*limits), title=name)
    colour = shaded(rows, lit, legend=False)
    layers = [
        *_bands(banded, x, y, colour),
        *_lines(rows, x, y, colour),
        *_marks(rows, lit, x, y, colour),
    ]
    last = rows.sort("at").group_by("label", maintain_order=True)
    ends = last.agg(pl.col("model", "shade").last(), end=pl.col("order").last())
    layers += end_labels(ends, lit, y, colour)
    chart = layered(*layers).properties(width=WIDTH, height=HEIGHT)
    return finish(chart, _title(wide, name), _legend(rows, lit, bool(bands)), _spoken(rows, lit))


def _cutoff_axis(cutoffs: pl.Series, log: bool) -> tuple[alt.X, pl.Expr]:
    """Return the axis of the cutoffs, and the position of each on it, with the whole list to the
    right of the last.
    """
    known = sorted(cutoffs.drop_nulls().unique().to_list())
    last = float(known[-1]) if known else 1.0
    whole = (
        last * (last / known[0]) ** 0.15 * 1.25
        if known and log
        else last * 1.12 + 1
        if known
        else 1.0
    )
    indexes: dict[int | None, float] = {cutoff: float(cutoff) for cutoff in known}
    if cutoffs.null_count():
        indexes[None] = whole
    keep = known[:: math.ceil(len(known) / TICKS)] if known else []
    ticks = [indexes[cutoff] for cutoff in [*keep, *([None] if None in indexes else [])]]
    low, high = min(indexes.values()), max(indexes.values())
    margin = (
        (low / 1.1, high * 1.005)
        if log
        else (low - 0.02 * (high - low) - 0.1, high + 0.002 * (high - low) + 0.01)
    )
    kind = (
        {"type": "log"} if log else {"type": "linear", "zero": False}
    )  # Vega warns of any zero on a log scale
    scale = alt.Scale(domain=margin, nice=False, **kind)
    text = f"datum.value > {last if known else 0} ? 'all' : format(datum.value, 'd')"
    axis = alt.Axis(
        values=ticks, labelExpr=text, title="cutoff k", grid=False, labelOverlap="greedy"
    )
    return alt.X("at:Q", scale=scale, axis=axis), pl.col("cutoff").replace_strict(
        indexes, return_dtype=pl.Float64
    )


def _lines(rows: pl.DataFrame, x: alt.X, y: alt.Y, colour: alt.Color) -> list[alt.Chart]:
    """Draw grey lines below coloured ones, dashed towards the whole list (not a cutoff) and where
    lists are cut.
    """
    whole = pl.col("cutoff").is_null() | CUT
    step = dashed_ends(rows, whole)
    layers, tooltip = [], [*texts("model"), *tooltips(["expected"])]
    parts = [
        (*part, dash)
        for here, dash in ((rows.filter(~whole), [1, 0]), (step, [3, 3]))
        for part in grey_and_lit(here)
    ]
    for part, lit, dash in sorted(parts, key=itemgetter(1)):
        width, opacity = (2.2, 1) if lit else (1.1, 0.6)
        part = part.select("model", "label", "shade", "at", "k", "order", "expected").sort(
            "label", "at"
        )
        line = alt.Chart(inline(part)).mark_line(
            strokeWidth=width, strokeDash=dash, opacity=opacity, clip=True
        )
        layers.append(line.encode(x=x, y=y, color=colour, detail="label:N", tooltip=tooltip))
    return layers


def _marks(
    rows: pl.DataFrame, lit: Sequence[str], x: alt.X, y: alt.Y, colour: alt.Color
) -> list[alt.Chart]:
    """Draw a dot for the expectation and a ring for the naive score, both with all numbers as tool
    tips.
    """
    rows = rows.filter(pl.col("label").is_in(list(lit))).select(
        "model", "label", "shade", "at", "k", "order", *NUMBERS
    )
    tooltip = [*texts("model", k="cutoff"), *tooltips(NUMBERS)]
    layers = []
    for name, look in LOOKS.items():
        part = rows.filter(pl.col(name).is_not_null())
        if part.height:
            point = alt.Chart(inline(part)).mark_point(**look)
            layers.append(point.encode(x=x, y=along(y, name), color=colour, tooltip=tooltip))
    return layers


def _bands(rows: pl.DataFrame, x: alt.X, y: alt.Y, colour: alt.Color) -> list[alt.Chart]:
    layers = []
    bounded = rows.filter(pl.col("lowest").is_not_null() & pl.col("highest").is_not_null())
    if bounded.filter(CUT).height:
        part = dashed_ends(bounded, CUT).select(
            "label", "shade", "at", "lowest", "highest", range=pl.lit(OPEN)
        )
        for end in ("lowest", "highest"):
            edge = alt.Chart(inline(part)).mark_line(strokeWidth=1.3)
            look: dict[str, Any] = {"color": colour, "strokeDash": open_dash("range")}
            layers.append(edge.encode(x=x, y=along(y, end), detail="label:N", **look))
    for low, high, opacity in (("lowest", "highest", 0.13), ("two_low", "two_high", 0.25)):
        part = rows.filter(pl.col(low).is_not_null() & pl.col(high).is_not_null() & ~CUT)
        if part.height:
            area = alt.Chart(inline(part.select("label", "shade", "at", low, high))).mark_area(
                opacity=opacity
            )
            layers.append(
                area.encode(x=x, y=along(y, low), y2=f"{high}:Q", color=colour, detail="label:N")
            )
    return layers


def _title(wide: pl.DataFrame, metric: str) -> str:
    """Say who leads where, and where the naive order disagrees."""
    cutoffs = sorted(
        wide["cutoff"].unique().to_list(), key=lambda cutoff: math.inf if cutoff is None else cutoff
    )
    if wide["model"].n_unique() == 1:
        return (
            f"{quoted(wide['model'][0])}: {metric} at {len(cutoffs)} "
            f"cutoff{'s' * (len(cutoffs) > 1)}"
        )
    at = {cutoff: wide.filter(pl.col("cutoff").eq_missing(cutoff)) for cutoff in cutoffs}
    leaders = [best_of(rows, "order") for rows in at.values()]
    names = [lead[0] if len(lead) == 1 else "" for lead in leaders]
    changes = [index for index in range(1, len(names)) if names[index] != names[index - 1]]
    always = [name for name in leaders[0] if all(name in lead for lead in leaders)]
    if always:
        first = (
            f"{listed(always)} {'leads' if len(always) == 1 else 'lead'} in {metric} at every "
            "cutoff"
        )
        level = [
            cutoff for cutoff, lead in zip(cutoffs, leaders, strict=True) if len(lead) > len(always)
        ]
        first += f" (level with others at k = {_some(level)})" if level else ""
    elif len(changes) == 1 and "" not in names:
        turn = (
            "over whole lists" if cutoffs[changes[0]] is None else f"from k = {cutoffs[changes[0]]}"
        )
        first = (
            f"{quoted(names[0])} leads in {metric} up to k = {cutoffs[changes[0] - 1]}, "
            f"{quoted(names[-1])} {turn}"
        )
    else:
        count = len({name for lead in leaders for name in lead})
        first = f"{'Two' if count == 2 else count} models take turns leading in {metric}"
    wrong = [
        cutoff
        for (cutoff, rows), lead in zip(at.items(), leaders, strict=True)
        if best_of(rows, "naive") not in ([], lead)
    ]
    if not wrong:
        return first
    return f"{first}; the naive order shows another leader at k = {_some(wrong)}"


def _some(cutoffs: Sequence[int | None]) -> str:
    """Name at most five cutoffs."""
    return ", ".join("all" if cutoff is None else str(cutoff) for cutoff in cutoffs[:5]) + (
        " …" if cutoffs[5:] else ""
    )


def _legend(rows: pl.DataFrame, lit: Sequence[str], bands: bool) -> list[str]:
    marks = ["dot and line: expected"]
    marks += ["ring: naive order"] * (rows["naive"].null_count() < rows.height)
    marks += [f"dashed: {OPEN}"] * (rows.filter(CUT).height > 0)
    marks += ["bands: worst–best tie order, and ±2 std under random tie order"] * bands
    grey = rows["label"].n_unique() - len(lit)
    return [", ".join(marks) + unlit(grey)]


def _spoken(rows: pl.DataFrame, lit: Sequence[str]) -> str:
    parts = []
    for label in lit:
        mine = rows.filter(label=label).sort("at")
        ends = [
            f"{number(value)} at {k}"
            for k, value in mine.select("k", "order").rows()
            if value is not None
        ]
        parts.append(
            f"{label}: {' to '.join(dict.fromkeys([ends[0], ends[-1]]))}"
            if ends
            else f"{label}: no score"
        )
    return "Line chart of scores by cutoff. " + joined(parts)


def policy_panels(
    summary: object, *, metric: object, first: Sequence[str] = (), log: bool = True
) -> ChartType:
    """Draw the scores of all models along the cutoffs, with one panel per policy on a common scale.

    Parameters
    ----------
    summary
        The result of :func:`summarise`; policies it lacks have no panel.
    metric
        One of its metrics.
    first
        Models that get a colour first; the other colours go to the leading models.
    log
        Whether the axis of the cutoffs is logarithmic. The whole list is at its right end.

    Returns
    -------
    altair.Chart

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
    >>> summary = summarise(
    ...     evaluate(rankings, metrics="rr", cutoffs=(2, 3), policies=("naive", "expected"))
    ... )
    >>> " ".join(policy_panels(summary, metric="rr").to_dict()["title"]["text"])
    'Averaged over the cutoffs, coarse leads in rr in the naive order, fine in expectation'
    """
    frame = summary_frame(summary)
    if frame is None:
        return empty_chart("the summary has no rows")
    metric, _ = parse_measure(metric)
    frame = of_metric(frame, metric)
    name = clean(metric, 60)
    rows = frame.filter(pl.col("policy").is_in(list(PANELS)) & pl.col("value").is_not_null())
    shown = [policy for policy in PANELS if policy in set(rows["policy"])]
    if "expected" in shown:  # shuffles only repeat it with noise
        shown = [policy for policy in shown if policy != "shuffled"]
    if not shown:
        return empty_chart(f"no policy has a score for {name}")
    models = by_mean(side_by_side(frame), "order")
    x, at = _cutoff_axis(frame["cutoff"], log)
    rows = rows.select("model", "cutoff", "policy", "value", "truncated_share", k=K, at=at)
    rows, lit = lighted(rows, models, first)
    y = alt.Y("value:Q", scale=nice_scale(rows["value"]), title=None)
    colour = shaded(rows, lit)
    panels = [_panel(rows.filter(policy=policy), PANELS[policy], colour, x, y) for policy in shown]
    chart = alt.concat(*panels, columns=COLUMNS, spacing={"row": 22, "column": 26})
    legend = f"{name} along the cutoffs, one scale{unlit(len(models) - len(lit))}"
    return finish(chart, _panels_title(rows, shown, name), [legend], _spoken_panels(rows, shown))


def _panel(
    rows: pl.DataFrame, title: str, colour: alt.Color, x: alt.X, y: alt.Y
) -> alt.Chart | alt.LayerChart:
    """Draw lines with a dot at every cutoff, dashed where lists are cut, grey ones at the
    bottom.
    """
    columns = ["model", "label", "shade", "at", "k", "value"]
    ordered = rows.sort(pl.col("shade") != OTHERS, "label", "at")
    tooltip = [*texts("model", k="cutoff"), *tooltips(["value"])]
    shown: dict[str, Any] = {
        "title": alt.Title(title, fontSize=12),
        "width": PANEL_WIDTH,
        "height": PANEL_HEIGHT,
    }
    look: dict[str, Any] = {"strokeWidth": 1.8}
    dots: dict[str, Any] = {"point": {"size": 22, "filled": True}}
    axes: dict[str, Any] = {
        "x": x,
        "y": y,
        "color": colour,
        "detail": "label:N",
        "tooltip": tooltip,
    }
    line: alt.Chart = (
        alt.Chart(inline(ordered.filter(~CUT).select(columns)))
        .mark_line(**look, **dots)
        .encode(**axes)
    )
    if not ordered.filter(CUT).height:
        return line.properties(**shown)
    dashed = dashed_ends(ordered, CUT).select(*columns, range=pl.lit(OPEN))
    dashed_line = (
        alt.Chart(inline(dashed)).mark_line(**look).encode(**axes, strokeDash=open_dash("range"))
    )
    points = alt.Chart(inline(dashed)).mark_point(filled=True, size=22, opacity=1).encode(**axes)
    return layered(line, dashed_line, points).properties(**shown)


def _leaders(rows: pl.DataFrame, shown: Sequence[str]) -> dict[str, str]:
    """Return who is ahead on average over the cutoffs, under each policy."""
    means = rows.group_by("policy", "label", maintain_order=True).agg(
        pl.col("value").mean().round(12)
    )
    best = means.sort("value", "label", descending=[True, False])
    return {policy: best.filter(policy=policy)["label"][0] for policy in shown}


def _panels_title(rows: pl.DataFrame, shown: Sequence[str], name: str) -> str:
    """Say whether the expectation and the naive order have different leaders."""
    leaders = _leaders(rows, shown)
    if rows["label"].n_unique() == 1:
        return f"{quoted(rows['label'][0])}: {name} under {len(shown)} policies"
    if "naive" in leaders and "expected" in leaders and leaders["naive"] != leaders["expected"]:
        naive, expected = quoted(leaders["naive"]), quoted(leaders["expected"])
        return (
            f"Averaged over the cutoffs, {naive} leads in {name} in the naive order, {expected} "
            "in expectation"
        )
    if len(set(leaders.values())) == 1 and rows.filter(CUT).height:
        leader = quoted(leaders[shown[0]])
        return (
            f"Averaged over the cutoffs, {leader} leads in {name} under every policy, but items "
            "may be missing"
        )
    if len(set(leaders.values())) == 1:
        return (
            f"Averaged over the cutoffs, {quoted(leaders[shown[0]])} leads in {name} whatever "
            "the order of ties"
        )
    return f"{name} under {len(shown)} policies"


def _spoken_panels(rows: pl.DataFrame, shown: Sequence[str]) -> str:
    parts = [f"{PANELS[policy]}: {label} leads" for policy, label in _leaders(rows, shown).items()]
    return (
        "Line charts of scores by cutoff, one for each policy, averaged over the cutoffs. "
        + joined(parts)
    )

"""Draw the scores along the cutoffs as small multiples, with one panel per policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import OPEN, open_dash, texts, tooltips, vertical_scale
from retrieval_report.charts.cutoffs import cutoff_axis
from retrieval_report.charts.data import by_mean, inline, of_metric, side_by_side, summary_frame
from retrieval_report.charts.lines import CUT, OTHERS, K, dashed_ends, lighted, shaded, unlit
from retrieval_report.charts.theme import empty_chart, finish, layered
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.writing.names import clean, joined, quoted

PANEL_WIDTH, PANEL_HEIGHT, COLUMNS = 235, 170, 3
PANELS = {
    "expected": "expected",
    "naive": "naive order",
    "shuffled": "mean of shuffles",
    "worst": "worst tie order",
    "best": "best tie order",
}


def policy_panels(summary: object, *, metric: object, first: Sequence[str] = (), log: bool = True) -> ChartType:
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
    >>> rankings = pl.DataFrame({
    ...     "model": ["coarse"] * 4 + ["fine"] * 4, "query": ["q"] * 8, "item": list("abcd") * 2,
    ...     "distance": [1, 1, 1, 1, 2, 1, 3, 4], "relevance": [1, 0, 0, 0] * 2})
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=(2, 3), policies=("naive", "expected")))
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
    x, at = cutoff_axis(frame["cutoff"], log)
    rows = rows.select("model", "cutoff", "policy", "value", "truncated_share", k=K, at=at)
    rows, lit = lighted(rows, models, first)
    scale, _ = vertical_scale(rows, ["value"])
    y = alt.Y("value:Q", scale=scale, title=None)
    colour = shaded(rows, lit)
    panels = [_panel(rows.filter(policy=policy), PANELS[policy], colour, x, y) for policy in shown]
    chart = alt.concat(*panels, columns=COLUMNS, spacing={"row": 22, "column": 26})
    legend = f"{name} along the cutoffs, one scale{unlit(len(models) - len(lit))}"
    return finish(chart, _title(rows, shown, name), [legend], _spoken(rows, shown))


def _panel(rows: pl.DataFrame, title: str, colour: alt.Color, x: alt.X, y: alt.Y) -> alt.Chart | alt.LayerChart:
    """Draw lines with a dot at every cutoff, dashed where lists are cut, grey ones at the bottom."""
    columns = ["model", "label", "shade", "at", "k", "value"]
    ordered = rows.sort(pl.col("shade") != OTHERS, "label", "at")
    tooltip = [*texts("model", k="cutoff"), *tooltips(["value"])]
    shown: dict[str, Any] = {"title": alt.Title(title, fontSize=12), "width": PANEL_WIDTH, "height": PANEL_HEIGHT}
    look: dict[str, Any] = {"strokeWidth": 1.8}
    dots: dict[str, Any] = {"point": {"size": 22, "filled": True}}
    axes: dict[str, Any] = {"x": x, "y": y, "color": colour, "detail": "label:N", "tooltip": tooltip}
    line: alt.Chart = alt.Chart(inline(ordered.filter(~CUT).select(columns))).mark_line(**look, **dots).encode(**axes)
    if not ordered.filter(CUT).height:
        return line.properties(**shown)
    dashed = dashed_ends(ordered, CUT).select(*columns, range=pl.lit(OPEN))
    dashed_line = alt.Chart(inline(dashed)).mark_line(**look).encode(**axes, strokeDash=open_dash("range"))
    points = alt.Chart(inline(dashed)).mark_point(filled=True, size=22, opacity=1).encode(**axes)
    return layered(line, dashed_line, points).properties(**shown)


def _leaders(rows: pl.DataFrame, shown: Sequence[str]) -> dict[str, str]:
    """Return who is ahead on average over the cutoffs, under each policy."""
    means = rows.group_by("policy", "label", maintain_order=True).agg(pl.col("value").mean().round(12))
    best = means.sort("value", "label", descending=[True, False])
    return {policy: best.filter(policy=policy)["label"][0] for policy in shown}


def _title(rows: pl.DataFrame, shown: Sequence[str], name: str) -> str:
    """Say whether the expectation and the naive order have different leaders."""
    leaders = _leaders(rows, shown)
    if rows["label"].n_unique() == 1:
        return f"{quoted(rows['label'][0])}: {name} under {len(shown)} policies"
    if "naive" in leaders and "expected" in leaders and leaders["naive"] != leaders["expected"]:
        naive, expected = quoted(leaders["naive"]), quoted(leaders["expected"])
        return f"Averaged over the cutoffs, {naive} leads in {name} in the naive order, {expected} in expectation"
    if len(set(leaders.values())) == 1 and rows.filter(CUT).height:
        leader = quoted(leaders[shown[0]])
        return f"Averaged over the cutoffs, {leader} leads in {name} under every policy, but the lists are cut"
    if len(set(leaders.values())) == 1:
        return f"Averaged over the cutoffs, {quoted(leaders[shown[0]])} leads in {name} whatever the order of ties"
    return f"{name} under {len(shown)} policies"


def _spoken(rows: pl.DataFrame, shown: Sequence[str]) -> str:
    parts = [f"{PANELS[policy]}: {label} leads" for policy, label in _leaders(rows, shown).items()]
    return "Line charts of scores by cutoff, one for each policy, averaged over the cutoffs. " + joined(parts)

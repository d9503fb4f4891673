"""Draw the difference of every pair of models with its intervals."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.analysis.comparison import turned
from retrieval_report.analysis.verdicts import CUT, DEPENDS, EQUAL, NOT_SIGNIFICANT, SAFE, UNTESTED
from retrieval_report.charts.channels import OPEN, along, keyed, open_dash, row_axis
from retrieval_report.charts.colours import AMBER, BLUE, GREEN, GREY, PINK, SKY, VERMILLION
from retrieval_report.charts.comparisons import CHANCES, COUNTS, NUMBERS, pair_tooltip, pairs_at, spoken_pairs
from retrieval_report.charts.data import at_measure, check_models, inline, summary_frame, with_labels
from retrieval_report.charts.theme import empty_chart, finish, row_chart
from retrieval_report.writing.names import quoted, unique_labels

PAIRS, STEP = 40, 18
COLOURS = {SAFE: GREEN, UNTESTED: SKY, EQUAL: AMBER, NOT_SIGNIFICANT: BLUE, DEPENDS: VERMILLION, CUT: PINK}
DOUBTS = {
    NOT_SIGNIFICANT: ", but that may not hold on other queries",
    DEPENDS: ", but tie order could reverse that",
    CUT: ", but the lists are cut, which could reverse that",
}


def intervals(
    comparison: object,
    *,
    metric: object,
    cutoff: int | str | None = None,
    policy: str = "expected",
    model: str | None = None,
    summary: object = None,
) -> ChartType:
    """Draw the difference of every pair of models with its interval, better model first.

    Parameters
    ----------
    comparison
        The result of :func:`compare`.
    metric, cutoff, policy
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    model
        Draw only the pairs of this model; by default all pairs, or those of the best model if there are more than 40.
    summary
        The result of :func:`summarise` for the same scores, with plain means and policies best and worst. If lists are
        cut, the range that this leaves open is drawn too.

    Returns
    -------
    altair.Chart
        Dot: difference; thin line: confidence interval over queries; thick line: ±2 standard deviations under random
        tie order; dashed frame, if lists of either model are cut: from the lowest of the one minus the highest of the
        other to the opposite.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import compare, evaluate
    >>> rankings = pl.DataFrame({
    ...     "model": ["coarse"] * 8 + ["fine"] * 8, "query": list("ppqqrrss") * 2, "item": list("xy") * 8,
    ...     "distance": [1] * 8 + [1, 2] * 3 + [2, 1], "relevance": [1, 0] * 8})
    >>> comparison = compare(evaluate(rankings, metrics="rr", cutoffs=None, policies="expected"))
    >>> intervals(comparison, metric="rr", cutoff=None).to_dict()["title"]["text"]
    ['fine is ahead of coarse at rr@all, but tie order could reverse that']
    """
    known = pairs_at(comparison, metric, cutoff, policy)
    if known is None:
        return empty_chart("there are no pairs of models to compare")
    pairs, order, where = known
    check_models("model", [] if model is None else [model], order, "is not in the comparison")
    lead = order[0] if model is None and pairs.height > PAIRS else model
    if lead is not None:
        pairs = pairs.filter((pl.col("model_a") == lead) | (pl.col("model_b") == lead))
    bounds = None if summary is None else summary_frame(summary)
    bounds = None if bounds is None else at_measure(bounds, metric, cutoff)[0]
    rows = _oriented(pairs, unique_labels(order), lead, bounds)
    chart = _interval_chart(rows, f"difference of {where}")
    whose = f", {quoted(lead)} minus the other" if lead else ""
    lines = [
        f"dot: difference{whose};",
        "thin line: 95% confidence interval over queries, not adjusted for the number of pairs;",
        "thick line: ±2 standard deviations under random tie order",
        *(["dashed frame: open, whatever a deeper retrieval could show"] if rows["open_low"].count() else []),
    ]
    return finish(chart, _interval_title(rows, where, lead), lines, spoken_pairs(pairs))


def _oriented(
    pairs: pl.DataFrame, labels: Mapping[str, str], lead: str | None, bounds: pl.DataFrame | None
) -> pl.DataFrame:
    """Return pairs with the better model first (or the requested one), smallest differences on top."""
    turn = pl.col("difference") < 0 if lead is None else pl.col("model_b") == lead
    rows = _with_open(turned(pairs, turn).sort("difference", "model_a", "model_b"), bounds)
    first, second = (with_labels(rows.select(model=f"model_{side}"), labels) for side in "ab")
    named = zip(first["label"], second["label"], strict=True)
    text = [f"{a} − {b}" if lead is None else b for a, b in named]
    return rows.with_columns(
        pair=pl.Series(text),
        model_a=first["model"],
        model_b=second["model"],
        two_low=pl.col("difference") - 2 * pl.col("tie_std"),
        two_high=pl.col("difference") + 2 * pl.col("tie_std"),
    )


def _with_open(rows: pl.DataFrame, bounds: pl.DataFrame | None) -> pl.DataFrame:
    """Add the smallest and largest possible difference if lists of either model are cut."""
    if bounds is None:
        nothing = pl.lit(None, pl.Float64)
        return rows.with_columns(open_low=nothing, open_high=nothing)
    own = bounds.group_by("model").agg(
        pl.col("lowest", "highest").drop_nulls().first(), cut=(pl.col("truncated_share") > 0).any()
    )
    for side in "ab":
        of_side = own.select(pl.all().name.suffix(f"_{side}"))
        rows = rows.join(of_side, on=f"model_{side}", how="left", maintain_order="left")
    is_open = pl.col("cut_a") | pl.col("cut_b")
    return rows.with_columns(
        open_low=pl.when(is_open).then(pl.col("lowest_a") - pl.col("highest_b")),
        open_high=pl.when(is_open).then(pl.col("highest_a") - pl.col("lowest_b")),
    )


def _interval_chart(rows: pl.DataFrame, title: str) -> alt.LayerChart:
    y = row_axis(rows["pair"], "pair", labelLimit=330)
    colour, tooltip = keyed(alt.Color, rows["verdict"], COLOURS, "the difference"), pair_tooltip("model_a")
    x = alt.X("difference:Q", title=title)
    kept = [*("pair", "model_a", "model_b", "verdict", "chance", "p_tie", "two_low", "two_high")]
    kept += [*NUMBERS, *CHANCES, *COUNTS]
    frames = rows.filter(pl.col("open_high") > pl.col("open_low")).select(*kept, "open_low", "open_high")
    rows = rows.select(kept)
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeDash=[4, 3], opacity=0.8)
    layers = [zero.encode(x=along(x, "zero"))]
    for low, high, width in (("ci_low", "ci_high", 1.4), ("two_low", "two_high", 4.5)):
        part = rows.filter(pl.col(low).is_not_null() & (pl.col(high) > pl.col(low)))
        if part.height:
            line = alt.Chart(inline(part)).mark_rule(strokeWidth=width, opacity=1 if width < 2 else 0.45)
            layers.append(line.encode(x=along(x, low), x2=f"{high}:Q", y=y, color=colour, tooltip=tooltip))
    if frames.height:
        frame = alt.Chart(inline(frames.with_columns(range=pl.lit(OPEN))))
        frame = frame.mark_bar(filled=False, stroke=GREY, strokeWidth=1.2, size=11)
        dash = open_dash("range")
        layers.append(frame.encode(x=along(x, "open_low"), x2="open_high:Q", y=y, strokeDash=dash, tooltip=tooltip))
    dot = alt.Chart(inline(rows)).mark_point(filled=True, size=48, opacity=1)
    layers.append(dot.encode(x=x, y=y, color=colour, tooltip=tooltip))
    return row_chart(layers, rows.height, STEP)


def _interval_title(rows: pl.DataFrame, where: str, lead: str | None) -> str:
    if rows.height == 1:
        row = rows.row(0, named=True)
        first, second = row["model_a"], row["model_b"]
        if row["difference"] == 0:
            return f"{quoted(first)} and {quoted(second)} are level at {where}"
        if row["difference"] < 0:
            first, second = second, first
        return f"{quoted(first)} is ahead of {quoted(second)} at {where}{DOUBTS.get(row['verdict'], '')}"
    counts = {name: rows.filter(verdict=name).height for name in (SAFE, DEPENDS)}
    depend = counts[DEPENDS]
    rest = f", {depend} {'depends' if depend == 1 else 'depend'} on tie order" if depend else ""
    if lead is not None:
        return f"{quoted(lead)} against {rows.height} others at {where}: {counts[SAFE]} differences are safe{rest}"
    return f"{counts[SAFE]} of {rows.height} differences at {where} are safe{rest}"

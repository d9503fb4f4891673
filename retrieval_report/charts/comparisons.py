"""Draw every pair of models: how far apart they are, and whether queries or tie order could explain
it.
"""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import (
    OPEN,
    along,
    keyed,
    open_dash,
    row_axis,
    texts,
    tooltips,
)
from retrieval_report.charts.colours import AMBER, BLUE, GREEN, GREY, PINK, SKY, VERMILLION
from retrieval_report.charts.data import (
    at_measure,
    check_models,
    held,
    inline,
    of_policy,
    summary_frame,
    with_labels,
)
from retrieval_report.charts.theme import IN_CELL, empty_chart, finish, layered, row_chart
from retrieval_report.comparison.flips import JUDGED_PAIRS, pair_verdicts
from retrieval_report.comparison.pairs import turned
from retrieval_report.comparison.verdicts import (
    CUT,
    DEPENDS,
    EQUAL,
    NOT_SIGNIFICANT,
    SAFE,
    UNTESTED,
    with_chances,
)
from retrieval_report.contracts.registry import title_of
from retrieval_report.reading.frames import to_polars
from retrieval_report.writing.names import joined, quoted, unique_labels
from retrieval_report.writing.numbers import chance_percent, size

CELL, SMALL_CELL, WRITTEN = (
    46,
    16,
    16,
)  # with up to sixteen models, there is room for numbers in the cells
NUMBERS = ("value_a", "value_b", "difference", "ci_low", "ci_high", "tie_std")
CHANCES = ("family_p", "permutation_p")
COUNTS = ("wins", "ties", "losses", "queries")
OF_PAIR = ("verdict", "chance", "p_tie", *NUMBERS, *CHANCES, *COUNTS)
PAIRS, STEP = 40, 18
COLOURS = {
    SAFE: GREEN,
    UNTESTED: SKY,
    EQUAL: AMBER,
    NOT_SIGNIFICANT: BLUE,
    DEPENDS: VERMILLION,
    CUT: PINK,
}
DOUBTS = {
    NOT_SIGNIFICANT: ", but that may not hold on other queries",
    DEPENDS: ", but tie order could reverse that",
    CUT: ", but items that may be missing could reverse that",
}


def comparison_matrix(
    comparison: object, *, metric: object, cutoff: int | str | None = None, policy: str = "expected"
) -> ChartType:
    """Draw every pair of models as two cells: the difference below the diagonal, the chance of a
    flip above it.

    Parameters
    ----------
    comparison
        The result of :func:`compare`.
    metric, cutoff, policy
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Below the diagonal: the score of the column minus that of the row, with * if it is
        significant. Above it: the probability that random tie order reverses the pair (``p_tie``).
        Best model first.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import compare, evaluate
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "model": ["coarse"] * 8 + ["fine"] * 8,
    ...         "query": list("ppqqrrss") * 2,
    ...         "item": list("xy") * 8,
    ...         "distance": [1] * 8 + [1, 2] * 3 + [2, 1],
    ...         "relevance": [1, 0] * 8,
    ...     }
    ... )
    >>> comparison = compare(evaluate(rankings, metrics="rr", cutoffs=None, policies="expected"))
    >>> comparison_matrix(comparison, metric="rr", cutoff=None).to_dict()["title"]["text"]
    ['0 of 1 pairs differ significantly at rr@all; 1 depends on tie order']
    """
    known = _pairs_at(comparison, metric, cutoff, policy)
    if known is None:
        return empty_chart("there are no pairs of models to compare")
    pairs, order, where = known
    labels = unique_labels(order)
    cells = _cells(pairs, labels)
    named = len(labels) <= WRITTEN
    step = CELL if named else SMALL_CELL
    axis = alt.Axis(
        orient="top", labels=named, labelAngle=-40, ticks=False, domain=False, grid=False
    )
    x = alt.X(
        "column:N", scale=alt.Scale(domain=[*labels.values()]), sort=None, title=None, axis=axis
    )
    y = row_axis(labels.values(), grid=False)
    layers = _tiles(cells, x, y)
    if named:
        layers += _numbers(cells, x, y)
    sides = {"width": step * len(labels), "height": min(step, 30) * len(labels)}
    chart: alt.LayerChart = layered(*layers).resolve_scale(color="independent").properties(**sides)
    lines = [
        "below the diagonal: column − row, * if the difference is significant;",
        "above: probability that random tie order reverses the pair",
        *([] if named else ["columns are in the order of the rows"]),
    ]
    return finish(chart, _title(pairs, where), lines, _spoken(pairs))


def _pairs_at(
    comparison: object, metric: object, cutoff: object, policy: str
) -> tuple[pl.DataFrame, list[str], str] | None:
    """Return the pairs by one measure with their verdicts, the models, best first, and the name of
    the measure.

    If there are no pairs, it is None.
    """
    given = to_polars(comparison, "comparison")
    judged = given if "verdict" in given.columns or not given.height else pair_verdicts(given)
    frame = held(judged, JUDGED_PAIRS, "comparison", "pair_verdicts")
    if frame is None:
        return None
    here, where = of_policy(frame, metric, cutoff, policy)
    pairs = here.drop_nulls("difference")
    if not pairs.height:
        return None
    return with_chances(pairs, "chance"), _best_first(pairs), where


def _best_first(pairs: pl.DataFrame) -> list[str]:
    """Models, best first."""
    sides = [pairs.select(model=f"model_{side}", value=f"value_{side}") for side in "ab"]
    means = pl.concat(sides).group_by("model").agg(pl.col("value").first())
    return means.sort("value", "model", descending=[True, False])["model"].to_list()


def _cells(pairs: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Return two cells for every pair: one shows the difference, the other the probability of a
    reversal.
    """
    measure = {name: number for number, name in enumerate(labels)}
    behind = [
        pl.col(f"model_{side}").replace_strict(measure, return_dtype=pl.Int64) for side in "ab"
    ]
    upper = turned(pairs, behind[0] > behind[1])
    lower = turned(upper, pl.lit(True)).with_columns(ahead=-pl.col("difference"))
    largest = pairs["difference"].abs().max()
    star = pl.when("significant").then(pl.lit("*")).otherwise(pl.lit(""))
    number = pl.col("ahead").map_elements(_rounded, return_dtype=pl.String)
    strong = pl.col("ahead") > 0.5 * float(str(largest))
    lower = lower.with_columns(
        half=pl.lit("difference"), shown="ahead", text=number + star, strong=strong
    )
    chance = pl.Series(
        [chance_percent(row["p_tie"], row["p_tie_high"]) for row in upper.iter_rows(named=True)]
    )
    upper = upper.with_columns(
        half=pl.lit("p_tie"),
        shown="p_tie",
        text=chance,
        strong=(pl.col("p_tie") > 0.3).fill_null(False),
    )
    cells = with_labels(
        pl.concat([lower, upper], how="diagonal").rename({"model_a": "model"}), labels
    )
    column = with_labels(cells.select(model="model_b"), labels)
    return cells.with_columns(column=column["label"], model_b=column["model"])


def _rounded(value: float) -> str:
    return size(value, 3) if value else "0"


def _tooltip(first: str) -> list[alt.Tooltip]:
    """Return tool tips with all numbers of a pair; ``first`` is the column that names its first
    model.
    """
    return [
        *texts(**{first: title_of("model_a"), "model_b": title_of("model_b")}),
        *tooltips(NUMBERS),
        *tooltips(CHANCES, ".3~g"),
        *texts(chance=title_of("p_tie")),
        *(alt.Tooltip(f"{name}:Q", title=title_of(name)) for name in COUNTS),
        *texts(verdict=title_of("verdict")),
    ]


def _tiles(cells: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draw opaque tiles, so that text on them is readable on any page."""
    kept = ["model", "model_b", "label", "column", "shown", *OF_PAIR]
    largest = cells["difference"].abs().max() or 1.0
    blues = alt.Scale(domain=[0, float(str(largest))], range=["#ececec", "#0a5f96"])
    reds = alt.Scale(domain=[0, 0.5], range=["#ececec", "#8a3b7c"], clamp=True)
    layers = []
    for half, scale, title, pattern in (
        ("difference", blues, "column − row", ".2f"),
        ("p_tie", reds, title_of("p_tie"), "%"),
    ):
        legend = alt.Legend(
            title=title, format=pattern, orient="bottom", gradientLength=150, tickCount=2
        )
        colour = alt.Color("shown:Q", scale=scale, legend=legend)
        tiles = alt.Chart(inline(cells.filter(half=half).select(kept))).mark_rect(strokeWidth=0)
        layers.append(tiles.encode(x=x, y=y, color=colour, tooltip=_tooltip("model")))
    return layers


def _numbers(cells: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    ink = alt.Color(
        "strong:N", scale=alt.Scale(domain=[False, True], range=["#222222", "#ffffff"]), legend=None
    )
    text = alt.Chart(inline(cells.select("label", "column", "text", "strong"))).mark_text(
        style=IN_CELL
    )
    return [text.encode(x=x, y=y, text="text:N", color=ink)]


def _title(pairs: pl.DataFrame, where: str) -> str:
    sure = pairs.filter("significant").height
    turned = pairs.filter(verdict=DEPENDS).height
    start = f"{sure} of {pairs.height} pairs differ significantly at {where}"
    return f"{start}; {turned or 'none'} {'depends' if turned <= 1 else 'depend'} on tie order"


def _spoken(pairs: pl.DataFrame) -> str:
    """Describe the closest pairs for a screen reader."""
    closest = pairs.sort(pl.col("difference").abs(), "model_a", "model_b").head(4)
    parts = []
    for row in closest.iter_rows(named=True):
        percent = chance_percent(row["p_tie"], row["p_tie_high"])
        chance = "" if row["p_tie"] is None else f", reversed by ties {percent}"
        names = f"{quoted(row['model_a'])} less {quoted(row['model_b'])}"
        parts.append(f"{names}: {size(row['difference'], sign='+')}{chance}")
    return f"{pairs.height} pairs of models; the closest: " + joined(parts)


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
        Draw only the pairs of this model; by default all pairs, or those of the best model if there
        are more than 40.
    summary
        The result of :func:`summarise` for the same scores, with plain means and policies best and
        worst. If lists are cut, the range that this leaves open is drawn too.

    Returns
    -------
    altair.Chart
        Dot: difference; thin line: confidence interval over queries; thick line: ±2 standard
        deviations under random tie order; dashed frame, if lists of either model are cut: from the
        lowest of the one minus the highest of the other to the opposite.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import compare, evaluate
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "model": ["coarse"] * 8 + ["fine"] * 8,
    ...         "query": list("ppqqrrss") * 2,
    ...         "item": list("xy") * 8,
    ...         "distance": [1] * 8 + [1, 2] * 3 + [2, 1],
    ...         "relevance": [1, 0] * 8,
    ...     }
    ... )
    >>> comparison = compare(evaluate(rankings, metrics="rr", cutoffs=None, policies="expected"))
    >>> intervals(comparison, metric="rr", cutoff=None).to_dict()["title"]["text"]
    ['fine is ahead of coarse at rr@all, but tie order could reverse that']
    """
    known = _pairs_at(comparison, metric, cutoff, policy)
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
        *(
            ["dashed frame: open, whatever a deeper retrieval could show"]
            if rows["open_low"].count()
            else []
        ),
    ]
    return finish(chart, _interval_title(rows, where, lead), lines, _spoken(pairs))


def _oriented(
    pairs: pl.DataFrame, labels: Mapping[str, str], lead: str | None, bounds: pl.DataFrame | None
) -> pl.DataFrame:
    """Return pairs with the better model first (or the requested one), smallest differences on
    top.
    """
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
    colour, tooltip = (
        keyed(alt.Color, rows["verdict"], COLOURS, "the difference"),
        _tooltip("model_a"),
    )
    x = alt.X("difference:Q", title=title)
    kept = ["pair", "model_a", "model_b", "two_low", "two_high", *OF_PAIR]
    frames = rows.filter(pl.col("open_high") > pl.col("open_low")).select(
        *kept, "open_low", "open_high"
    )
    rows = rows.select(kept)
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeDash=[4, 3], opacity=0.8)
    layers = [zero.encode(x=along(x, "zero"))]
    for low, high, width in (("ci_low", "ci_high", 1.4), ("two_low", "two_high", 4.5)):
        part = rows.filter(pl.col(low).is_not_null() & (pl.col(high) > pl.col(low)))
        if part.height:
            line = alt.Chart(inline(part)).mark_rule(
                strokeWidth=width, opacity=1 if width < 2 else 0.45
            )
            layers.append(
                line.encode(x=along(x, low), x2=f"{high}:Q", y=y, color=colour, tooltip=tooltip)
            )
    if frames.height:
        frame = alt.Chart(inline(frames.with_columns(range=pl.lit(OPEN))))
        frame = frame.mark_bar(filled=False, stroke=GREY, strokeWidth=1.2, size=11)
        dash = open_dash("range")
        layers.append(
            frame.encode(
                x=along(x, "open_low"), x2="open_high:Q", y=y, strokeDash=dash, tooltip=tooltip
            )
        )
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
        return (
            f"{quoted(first)} is ahead of {quoted(second)} at "
            f"{where}{DOUBTS.get(row['verdict'], '')}"
        )
    counts = {name: rows.filter(verdict=name).height for name in (SAFE, DEPENDS)}
    depend = counts[DEPENDS]
    rest = f", {depend} {'depends' if depend == 1 else 'depend'} on tie order" if depend else ""
    if lead is not None:
        return (
            f"{quoted(lead)} against {rows.height} others at {where}: {counts[SAFE]} "
            f"differences are safe{rest}"
        )
    return f"{counts[SAFE]} of {rows.height} differences at {where} are safe{rest}"

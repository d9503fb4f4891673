"""Draw every pair of models: how far apart they are, and whether queries or tie order could explain it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.analysis.comparison import turned
from retrieval_report.analysis.flips import JUDGED_PAIRS, pair_verdicts
from retrieval_report.analysis.verdicts import DEPENDS, with_chances
from retrieval_report.charts.channels import row_axis, texts, tooltips
from retrieval_report.charts.data import held, inline, of_policy, with_labels
from retrieval_report.charts.theme import IN_CELL, empty_chart, finish, layered
from retrieval_report.contracts.registry import title_of
from retrieval_report.reading.frames import to_polars
from retrieval_report.writing.names import joined, quoted, unique_labels
from retrieval_report.writing.numbers import chance_percent, size

CELL, SMALL_CELL, WRITTEN = 46, 16, 16  # with up to sixteen models, there is room for numbers in the cells
NUMBERS = ("value_a", "value_b", "difference", "ci_low", "ci_high", "tie_std")
CHANCES = ("family_p", "permutation_p")
COUNTS = ("wins", "ties", "losses", "queries")


def comparison_matrix(
    comparison: object, *, metric: object, cutoff: int | str | None = None, policy: str = "expected"
) -> ChartType:
    """Draw every pair of models as two cells: the difference below the diagonal, the chance of a flip above it.

    Parameters
    ----------
    comparison
        The result of :func:`compare`.
    metric, cutoff, policy
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Below the diagonal: the score of the column minus that of the row, with * if it is significant. Above it: the
        probability that random tie order reverses the pair (``p_tie``). Best model first.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import compare, evaluate
    >>> rankings = pl.DataFrame({
    ...     "model": ["coarse"] * 8 + ["fine"] * 8, "query": list("ppqqrrss") * 2, "item": list("xy") * 8,
    ...     "distance": [1] * 8 + [1, 2] * 3 + [2, 1], "relevance": [1, 0] * 8})
    >>> comparison = compare(evaluate(rankings, metrics="rr", cutoffs=None, policies="expected"))
    >>> comparison_matrix(comparison, metric="rr", cutoff=None).to_dict()["title"]["text"]
    ['0 of 1 pairs differ significantly at rr@all; 1 depends on tie order']
    """
    known = pairs_at(comparison, metric, cutoff, policy)
    if known is None:
        return empty_chart("there are no pairs of models to compare")
    pairs, order, where = known
    labels = unique_labels(order)
    cells = _cells(pairs, labels)
    named = len(labels) <= WRITTEN
    step = CELL if named else SMALL_CELL
    domain = alt.Scale(domain=list(labels.values()))
    x = alt.X(
        "column:N",
        scale=domain,
        sort=None,
        title=None,
        axis=alt.Axis(orient="top", labels=named, labelAngle=-40, ticks=False, domain=False, grid=False),
    )
    y = row_axis(labels.values(), grid=False)
    layers = _tiles(cells, x, y)
    if named:
        layers += _numbers(cells, x, y)
    chart: alt.LayerChart = (
        layered(*layers)
        .resolve_scale(color="independent")
        .properties(width=step * len(labels), height=min(step, 30) * len(labels))
    )
    lines = [
        "below the diagonal: column − row, * if the difference is significant;",
        "above: probability that random tie order reverses the pair",
        *([] if named else ["columns are in the order of the rows"]),
    ]
    return finish(chart, _title(pairs, where), lines, spoken_pairs(pairs))


class Pairs(NamedTuple):
    """Pairs by one measure with their verdicts, the models, best first, and the name of the measure."""

    rows: pl.DataFrame
    order: list[str]
    where: str


def pairs_at(comparison: object, metric: object, cutoff: object, policy: str) -> Pairs | None:
    """Return the pairs by one measure with their verdicts; None if there are none."""
    given = to_polars(comparison, "comparison")
    judged = given if "verdict" in given.columns or not given.height else pair_verdicts(given)
    frame = held(judged, JUDGED_PAIRS, "comparison", "pair_verdicts")
    if frame is None:
        return None
    here, where = of_policy(frame, metric, cutoff, policy)
    pairs = here.drop_nulls("difference")
    if not pairs.height:
        return None
    rows = with_chances(pairs, "chance")
    return Pairs(rows, _best_first(rows), where)


def _best_first(pairs: pl.DataFrame) -> list[str]:
    """Models, best first."""
    sides = [pairs.select(model=f"model_{side}", value=f"value_{side}") for side in "ab"]
    means = pl.concat(sides).group_by("model").agg(pl.col("value").first())
    return means.sort("value", "model", descending=[True, False])["model"].to_list()


def _cells(pairs: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Return two cells for every pair: one shows the difference, the other the probability of a reversal."""
    measure = {name: number for number, name in enumerate(labels)}
    behind = [pl.col(f"model_{side}").replace_strict(measure, return_dtype=pl.Int64) for side in "ab"]
    upper = turned(pairs, behind[0] > behind[1])
    lower = turned(upper, pl.lit(True)).with_columns(ahead=-pl.col("difference"))
    largest = pairs["difference"].abs().max()
    star = pl.when("significant").then(pl.lit("*")).otherwise(pl.lit(""))
    number = pl.col("ahead").map_elements(_rounded, return_dtype=pl.String)
    strong = pl.col("ahead") > 0.5 * float(str(largest))
    lower = lower.with_columns(half=pl.lit("difference"), shown="ahead", text=number + star, strong=strong)
    chance = pl.Series([chance_percent(row["p_tie"], row["p_tie_high"]) for row in upper.iter_rows(named=True)])
    upper = upper.with_columns(
        half=pl.lit("p_tie"), shown="p_tie", text=chance, strong=(pl.col("p_tie") > 0.3).fill_null(False)
    )
    cells = with_labels(pl.concat([lower, upper], how="diagonal").rename({"model_a": "model"}), labels)
    column = with_labels(cells.select(model="model_b"), labels)
    return cells.with_columns(column=column["label"], model_b=column["model"])


def _rounded(value: float) -> str:
    return size(value, 3) if value else "0"


def pair_tooltip(first: str) -> list[alt.Tooltip]:
    """Return tool tips with all numbers of a pair; ``first`` is the column that names its first model."""
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
    kept = ["model", "model_b", "label", "column", "shown", "verdict", "chance", "p_tie", *NUMBERS, *CHANCES, *COUNTS]
    largest = cells["difference"].abs().max() or 1.0
    blues = alt.Scale(domain=[0, float(str(largest))], range=["#ececec", "#0a5f96"])
    reds = alt.Scale(domain=[0, 0.5], range=["#ececec", "#8a3b7c"], clamp=True)
    layers = []
    for half, scale, title, pattern in (
        ("difference", blues, "column − row", ".2f"),
        ("p_tie", reds, title_of("p_tie"), "%"),
    ):
        colour = alt.Color(
            "shown:Q",
            scale=scale,
            legend=alt.Legend(title=title, format=pattern, orient="bottom", gradientLength=150, tickCount=2),
        )
        tiles = alt.Chart(inline(cells.filter(half=half).select(kept))).mark_rect(strokeWidth=0)
        layers.append(tiles.encode(x=x, y=y, color=colour, tooltip=pair_tooltip("model")))
    return layers


def _numbers(cells: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    ink = alt.Color("strong:N", scale=alt.Scale(domain=[False, True], range=["#222222", "#ffffff"]), legend=None)
    text = alt.Chart(inline(cells.select("label", "column", "text", "strong"))).mark_text(style=IN_CELL)
    return [text.encode(x=x, y=y, text="text:N", color=ink)]


def _title(pairs: pl.DataFrame, where: str) -> str:
    sure = pairs.filter("significant").height
    turned = pairs.filter(verdict=DEPENDS).height
    start = f"{sure} of {pairs.height} pairs differ significantly at {where}"
    return f"{start}; {turned or 'none'} {'depends' if turned <= 1 else 'depend'} on tie order"


def spoken_pairs(pairs: pl.DataFrame) -> str:
    """Describe the closest pairs for a screen reader."""
    closest = pairs.sort(pl.col("difference").abs(), "model_a", "model_b").head(4)
    parts = []
    for row in closest.iter_rows(named=True):
        percent = chance_percent(row["p_tie"], row["p_tie_high"])
        chance = "" if row["p_tie"] is None else f", reversed by ties {percent}"
        names = f"{quoted(row['model_a'])} less {quoted(row['model_b'])}"
        parts.append(f"{names}: {size(row['difference'], sign='+')}{chance}")
    return f"{pairs.height} pairs of models; the closest: " + joined(parts)

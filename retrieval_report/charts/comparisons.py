"""Draw every pair of models: how far apart they are,
and whether queries or tie order could explain it.
"""

from __future__ import annotations

from typing import Literal

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.data import at_measure, with_labels
from retrieval_report.charts.layers import STRONG, row_axis, tiles
from retrieval_report.charts.theme import chart, finish, layered
from retrieval_report.comparison.flips import pair_verdicts
from retrieval_report.comparison.pairs import turned
from retrieval_report.comparison.verdicts import CUT, DEPENDS, LEVEL, first_that_holds, with_chances
from retrieval_report.contracts.registry import title_of
from retrieval_report.engines.score_grid import DIGITS
from retrieval_report.metrics.parsing import Cutoff
from retrieval_report.reading.frames import to_polars
from retrieval_report.writing.names import with_number
from retrieval_report.writing.numbers import chance_percent, size

CELL, MAX_NUMBERED_MODELS = 46, 16  # models whose cells have room for numbers
SHORT = 5  # letters of a name that fits the width of a cell
TIPS = (
    "model_a model_b value_a value_b difference ci_low ci_high tie_std family_p permutation_p "
    "chance wins ties losses queries verdict"
)
SIGN = first_that_holds({"?": pl.col("verdict") == CUT, "*": pl.col("significant")}, "")
MOST_LIKELY = 0.5  # the probability of a reversal from which on tiles are as dark as they get
READ = (
    "below the diagonal: column − row of expected scores, * if significant over the queries; above: probability "
    "that random tie order reverses the pair"
)
MARKS = {"none": "not known", "?": "missing items could, too"}  # in tiles above


@chart
def comparison_matrix(comparison: object, *, metric: object, cutoff: Cutoff = None) -> ChartType:
    """Draw every pair of models as two cells: the difference below the diagonal, the chance of a
    flip above it.

    Parameters
    ----------
    comparison
        The result of :func:`compare`.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Below the diagonal: the score of the column minus that of the row, with * if it is
        significant. Above it: the probability that random tie order reverses the pair (``p_tie``).
        Both have a "?" instead where missing items and tie order could. Best model first,
        sixteen at most, by their ranks: those of pairs whose order depends on ties, then the best.

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
    ['Every pair of 2 models at rr@all']
    """
    pairs_checked = to_polars(comparison, "comparison")
    judged = (
        pairs_checked
        if "verdict" in pairs_checked.columns or not pairs_checked.height
        else pair_verdicts(pairs_checked)
    )
    pairs, where = at_measure(judged, "judged_pairs", metric, cutoff, "difference", expected=True)
    signed_pairs = pairs.with_columns(sign=SIGN)
    ranked = _best_first(signed_pairs)
    pairs = _better_as_a(with_chances(signed_pairs, "chance"), ranked)
    doubt = pairs.filter(verdict=DEPENDS)
    unsure = pl.col("rank").is_in(pl.concat([doubt["rank_a"], doubt["rank_b"]]).implode())
    models = (
        ranked.sort((pl.col("rank") > pl.min("rank")) & ~unsure, maintain_order=True)
        .head(MAX_NUMBERED_MODELS)
        .sort("rank")
    )
    among_best = pl.all_horizontal(pl.col("rank_a", "rank_b").is_in(models["rank"].implode()))
    undrawn = pairs.filter(~among_best, "significant").height
    pairs = pairs.filter(among_best)
    below, above = _halves(pairs)
    part = f"{MAX_NUMBERED_MODELS} of the " if ranked.height > MAX_NUMBERED_MODELS else ""
    title = f"Every pair of {part}{ranked.height} models at {where}"
    y = row_axis(models["label"])
    short = y["axis"]["labelExpr"]
    angle = -90 if (models["label"].str.len_chars() > SHORT).any() else 0
    axis = alt.Axis(orient="top", labelAngle=angle, labelExpr=short, ticks=False, domain=False)
    x = alt.X("column:N", scale=y["scale"], sort=None, title=None, axis=axis)
    largest = float(str(pairs["difference"].abs().max())) or 1.0
    ahead = _colour("ahead", "column − row", "ramp", largest)
    reversed_by_ties = _colour("p_tie", title_of("p_tie"), "heatmap", MOST_LIKELY)
    layers = [
        *tiles(below, x, y, ahead, STRONG * largest, TIPS),
        *tiles(above, x, y, reversed_by_ties, STRONG * MOST_LIKELY, TIPS),
    ]
    whole = layered(layers, CELL * models.height, 30 * models.height)
    matrix: alt.LayerChart = whole.resolve_scale(color="independent")
    marks = "; ".join(f"{mark}: {MARKS[mark]}" for mark in MARKS if mark in above["text"])
    text = READ + f" ({marks})" * bool(marks) + _undrawn(ranked.height - models.height, undrawn)
    closest = pairs.sort(pl.col("difference").abs(), maintain_order=True)
    spoken = closest.with_columns(label=pl.format("{} − {}", "label_a", "label_b"))
    return finish(matrix, title, text, spoken, "difference", "p_tie")


def _undrawn(models: int, significant_pairs: int) -> str:
    """Return the end of the subtitle: how much is not drawn."""
    if not models:
        return ""
    others = with_number(models, "other model")
    pairs = f", with {with_number(significant_pairs, 'significant pair')}"
    return f"; not drawn: {others}{pairs if significant_pairs else ''}"


def _colour(
    column: str, title: str, tones: Literal["ramp", "heatmap"], largest: float
) -> alt.Color:
    scale = alt.Scale(domain=[0, largest], range=tones, clamp=True)
    legend = alt.Legend(title=title, format="~g", gradientLength=150, tickCount=2)
    return alt.Color(f"{column}:Q", scale=scale, legend=legend)


def _best_first(pairs: pl.DataFrame) -> pl.DataFrame:
    """Models with their labels, best first; of more than are drawn, the labels begin with the
    ranks, so that gaps are seen.
    """
    sides = [pairs.select(name=f"model_{side}", value=f"value_{side}") for side in "ab"]
    means = pl.concat(sides).unique("name").sort("value", "name", descending=[True, False])
    ranked = with_labels(means.with_columns(model="name").with_row_index("rank"))
    if ranked.height <= MAX_NUMBERED_MODELS:
        return ranked
    rounded_rank = pl.col("value").round(DIGITS).rank("min", descending=True)
    return ranked.with_columns(label=pl.format("{}. {}", rounded_rank, "label"))


def _better_as_a(pairs: pl.DataFrame, ranked: pl.DataFrame) -> pl.DataFrame:
    """Add the ranks and labels of both models, and make the better one A, the best pairs first."""
    numbered_pairs = pairs.with_columns(
        pl.col(f"model_{side}")
        .replace_strict(ranked["name"], ranked[column])
        .alias(f"{column}_{side}")
        for column in ("rank", "label", "model")
        for side in "ab"
    )
    return turned(numbered_pairs, pl.col("rank_a") > pl.col("rank_b")).sort("rank_a", "rank_b")


def _halves(pairs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tiles below the diagonal, which show how far the better model is ahead, and those
    above it, which show the probability of a reversal.
    """
    below = turned(pairs, pl.lit(True)).with_columns(ahead=-pl.col("difference"))
    # Without the first 0, numbers fit the cells of a phone.
    texts = [size(value, 3).removeprefix("0") if value else "0" for value in below["ahead"]]
    percent = [
        "?" if sign == "?" else LEVEL if text == LEVEL else chance_percent(*chance)
        for sign, text, *chance in pairs.select("sign", "chance", "p_tie", "p_tie_high").rows()
    ]
    names = {"label": pl.col("label_a"), "column": pl.col("label_b")}
    return (
        below.with_columns(text=pl.Series(texts, dtype=pl.String) + pl.col("sign"), **names),
        pairs.with_columns(text=pl.Series(percent, dtype=pl.String), **names),
    )

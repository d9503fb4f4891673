"""Draw which models change their rank from one policy to another."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.colours import BLUE, GREY, VERMILLION
from retrieval_report.charts.data import models_at, with_labels
from retrieval_report.charts.layers import TEXT, keyed, number_axis, span
from retrieval_report.charts.theme import Said, chart, filled, finish, row_chart
from retrieval_report.comparison.verdicts import first_that_holds
from retrieval_report.metrics.parsing import Cutoff
from retrieval_report.writing.numbers import column_decimals, number

WIDTH = 260
COLUMNS = {"naive": "naive order", "expected": "expected", "shuffled": "mean of shuffles"}
DIGITS = 12
UP, DOWN, SAME = "ranked higher", "ranked lower", "same rank"
COLOURS = {UP: BLUE, DOWN: VERMILLION, SAME: GREY}
LINE = {"type": "rule", "strokeWidth": 2.4}
TIPS = "model change from_rank to_rank from_score to_score"


@chart
def rank_flips(summary: object, *, metric: object, cutoff: Cutoff = None) -> ChartType:
    """Draw the ranks of the models by the naive scores and in expectation, joined by lines.

    Parameters
    ----------
    summary
        The result of :func:`summarise`, with two of the policies naive, expected and shuffled;
        shuffles repeat the expectation with noise, and are drawn only if one of the others is
        missing.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Lines are coloured if the rank changes; models that are not next to any that changes are left
        out. Models with equal scores share a rank, such as "3=", and are drawn one below the other.
        If no rank changes, the chart is a sentence.

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
    ...     evaluate(rankings, metrics="rr", cutoffs=2, policies=("naive", "expected"))
    ... )
    >>> rank_flips(summary, metric="rr", cutoff=2).to_dict()["title"]["text"]
    ['Models that change rank at rr@2']
    """
    wide, where = models_at(summary, metric, cutoff)
    filled(wide[1:], f"there is one model at {where}")
    policies = [name for name in COLUMNS if wide[name].count()][:2]
    needed = f"ranks at {where} need two of the policies naive, expected and shuffled"
    filled(wide[policies[1:]], needed)
    models = _ranked(with_labels(wide).drop_nulls(policies), *policies)
    moved = models.filter(pl.col("from_rank") != pl.col("to_rank"))
    names = [COLUMNS[name] for name in policies]
    if moved.is_empty():
        raise Said(f"No model changes rank at {where}: {' and '.join(names)} agree.")
    ends = pl.col("from_row", "to_row")
    near = {row + step for row in {*moved["from_row"], *moved["to_row"]} for step in (-1, 0, 1)}
    rows = models.filter(pl.any_horizontal(ends.is_in(near))).with_columns(ends.rank("ordinal"))
    rows = rows.sort(pl.col("change") != SAME, maintain_order=True)
    scale = alt.Scale(domain=[0.5, rows.height + 0.5], reverse=True, nice=False)
    y = number_axis(alt.Y, None, axis=None, scale=scale)
    left, right = alt.value(0), alt.value("width")
    colour = keyed(alt.Color, rows["change"], COLOURS, "from left to right")
    layers = [
        span(rows, LINE, y, "from_row", "to_row", tips=TIPS, x=left, x2=right, color=colour),
        span(
            rows, {**TEXT, "align": "right", "dx": -10}, y, "from_row", text="from_text:N", x=left
        ),
        span(rows, {**TEXT, "dx": 10}, y, "to_row", text="to_text:N", x=right),
    ]
    text = (
        f"left: {names[0]}, right: {names[1]}; rank (=: shared) and score; models not drawn, whose rank "
        f"is the same: {models.height - rows.height}"
    )
    drawn = row_chart(layers, rows.height, WIDTH)
    return finish(drawn, f"Models that change rank at {where}", text, rows, "from_rank", "to_rank")


def _ranked(models: pl.DataFrame, *policies: str) -> pl.DataFrame:
    """Add rank and score by two policies, as numbers and as the texts at both ends of a line."""
    digits = column_decimals([score for name in policies for score in models[name]])
    for name, end in zip(policies, ("from", "to"), strict=True):
        score = pl.col(name).round(DIGITS)
        shared = pl.when(score.is_duplicated()).then(pl.lit("=")).otherwise(pl.lit(""))
        rank = score.rank("min", descending=True).cast(pl.Int64)
        shown = pl.Series([number(value, digits) for value in models[name]], dtype=pl.String)
        models = models.with_columns(
            rank.alias(f"{end}_rank"),
            score.rank("ordinal", descending=True).cast(pl.Int64).alias(f"{end}_row"),
            pl.col(name).alias(f"{end}_score"),
            pl.concat_str(rank, shared, pl.lit(" · "), shown).alias(f"{end}_text"),
        )
    fall = pl.col("to_rank") - pl.col("from_rank")
    return models.with_columns(
        # A right-to-left name does not reorder the rest.
        to_text=pl.format("{} · \u2068{}\u2069", "to_text", "label"),
        change=first_that_holds({UP: fall < 0, DOWN: fall > 0}, SAME),
    )

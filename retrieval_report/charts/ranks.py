"""Draw which models change their rank from one policy to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import fixed_scale, keyed, texts, tooltips
from retrieval_report.charts.colours import BLUE, GREY, VERMILLION
from retrieval_report.charts.data import inline, models_at, summary_frame, with_labels
from retrieval_report.charts.theme import empty_chart, finish, row_chart, sentence_chart
from retrieval_report.writing.names import joined, quoted
from retrieval_report.writing.numbers import column_decimals, number

COLUMN, STEP = 260, 20
COLUMNS = {"naive": "naive order", "expected": "expected", "shuffled": "mean of shuffles"}
SCORES = {
    "naive": "in the naive order",
    "expected": "by the expected score",
    "shuffled": "over shuffles",
}
KEPT = 3  # rows above and below those that change
DIGITS = 12
# Alignment, distance and content of the texts at both ends; a right-to-left name does not reorder
# the rest.
ENDS: tuple[tuple[Literal["left", "right"], int, str], ...] = (
    ("right", -10, "{score} · {place}"),
    ("left", 10, "{place} · {score} · \u2068{label}\u2069"),
)
SAME, UP, DOWN = "same rank", "ranked higher", "ranked lower"


def rank_flips(summary: object, *, metric: object, cutoff: int | str | None = None) -> ChartType:
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
        Lines are coloured if the rank changes; models far from any that changes are left out.
        Models with equal scores share a rank, such as "3=", and are drawn one below the other. If
        no rank changes, the chart is a sentence.

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
    ['2 of 2 models change rank at rr@2: coarse and fine']
    """
    frame = summary_frame(summary)
    if frame is None:
        return empty_chart("the summary has no rows")
    wide, where = models_at(frame, metric, cutoff)
    columns = [name for name in COLUMNS if wide[name].count()][:2]
    if len(columns) < 2:
        return empty_chart(
            f"ranks at {where} need two of the policies naive, expected and shuffled"
        )
    ranks = _ranks(with_labels(wide), columns)
    moved = (
        ranks.group_by("label")
        .agg(pl.col("rank").n_unique())
        .filter(pl.col("rank") > 1)["label"]
        .to_list()
    )
    moved = [label for label in dict.fromkeys(ranks["label"]) if label in set(moved)]
    title = _title(moved, wide.height, where)
    if not moved:
        scores = [SCORES[name] for name in columns]
        return sentence_chart(f"{title}, {scores[0]} or {scores[1]}.")
    ranks, left = _near(ranks, moved)
    scale = alt.Scale(domain=[COLUMNS[name] for name in columns], padding=0)
    axis = alt.Axis(
        orient="top", labelAngle=0, domain=False, ticks=False, labelFontSize=12, labelPadding=12
    )
    x = alt.X("column:N", title=None, sort=None, scale=scale, axis=axis)
    rows = ranks["label"].n_unique()
    y = alt.Y("row:Q", axis=None, scale=fixed_scale(rows - 0.5, -0.5))
    layers = [*_lines(_segments(ranks, *columns), x, y), *_names(ranks, columns, x, y)]
    chart = row_chart(layers, rows, STEP, COLUMN)
    lines = ["rank and score; equal scores share a rank (=)"]
    lines += [f"models not drawn, whose rank is the same: {left}"] * (left > 0)
    return finish(chart, title, lines, _spoken(ranks, moved), 66)


def _ranks(wide: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return one row per model and policy, with its rank and the row it is drawn in."""
    parts = []
    for name in columns:
        score = pl.col(name).round(DIGITS)
        part = wide.filter(pl.col(name).is_not_null()).select(
            "label",
            "model",
            score=pl.col(name),
            column=pl.lit(COLUMNS[name]),
            policy=pl.lit(name),
            rank=score.rank("min", descending=True).cast(pl.Int64),
            sharing=pl.len().over(score),
        )
        # Equal models keep the order of the expectation, which is that of `wide`.
        parts.append(part.sort("rank", maintain_order=True).with_row_index("row"))
    sign = pl.when(pl.col("sharing") > 1).then(pl.lit("=")).otherwise(pl.lit(""))
    return pl.concat(parts).with_columns(
        place=pl.format("{}{}", pl.col("rank"), sign), row=pl.col("row").cast(pl.Int64)
    )


def _near(ranks: pl.DataFrame, moved: Sequence[str]) -> tuple[pl.DataFrame, int]:
    """Return the models that change and their neighbours, in rows without gaps, and how many are
    left out.
    """
    rows = set(ranks.filter(pl.col("label").is_in(list(moved)))["row"])
    near = {row + step for row in rows for step in range(-KEPT, KEPT + 1)}
    kept = (
        ranks.group_by("label")
        .agg(pl.col("row").is_in(list(near)).any())
        .filter("row")["label"]
        .to_list()
    )
    shown = ranks.filter(pl.col("label").is_in(kept))
    close = pl.col("row").rank("ordinal").over("policy").cast(pl.Int64) - 1
    return shown.with_columns(row=close), ranks["label"].n_unique() - len(kept)


def _segments(ranks: pl.DataFrame, left: str, right: str) -> pl.DataFrame:
    """Return two rows per model, for the start and the end of its line."""
    ends = ranks.filter(policy=right).select(
        "label", to_rank="rank", to_score="score", end_row="row"
    )
    start = ranks.filter(policy=left).rename({"rank": "from_rank", "score": "from_score"})
    start = start.join(ends, on="label", how="inner", maintain_order="left")
    change = pl.col("to_rank") - pl.col("from_rank")
    start = start.with_columns(
        change=pl.when(change < 0)
        .then(pl.lit(UP))
        .when(change > 0)
        .then(pl.lit(DOWN))
        .otherwise(pl.lit(SAME)),
        segment=pl.format("{} to {}", pl.lit(COLUMNS[left]), pl.lit(COLUMNS[right])),
    )
    kept = ["label", "model", "segment", "change", "from_rank", "to_rank", "from_score", "to_score"]
    end = start.select(*kept, column=pl.lit(COLUMNS[right]), row="end_row")
    return pl.concat([start.select(*kept, "column", "row"), end])


def _lines(segments: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draw grey lines below coloured ones."""
    colour = keyed(
        alt.Color,
        segments["change"],
        {UP: BLUE, DOWN: VERMILLION, SAME: GREY},
        "read from left to right",
    )
    numbers = [
        alt.Tooltip(name, title=name[:-2].replace("_", " "))
        for name in ("from_rank:Q", "to_rank:Q")
    ]
    tooltip = [*texts("model", "segment"), *numbers, *tooltips(["from_score", "to_score"])]
    layers = []
    for part, width in (
        (segments.filter(change=SAME), 1.0),
        (segments.filter(pl.col("change") != SAME), 2.4),
    ):
        if part.height:
            line = alt.Chart(inline(part)).mark_line(
                strokeWidth=width, point={"size": 26, "filled": True}
            )
            detail = ["label:N", "segment:N"]
            layers.append(line.encode(x=x, y=y, detail=detail, color=colour, tooltip=tooltip))
    return layers


def _names(ranks: pl.DataFrame, columns: Sequence[str], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draw rank and score at both ends, and the name at the end of the line."""
    digits = column_decimals(ranks["score"])
    layers = []
    for name, (align, dx, text) in zip(columns, ENDS, strict=True):
        part = ranks.filter(policy=name)
        rows = part.select("place", "score", "label").rows()
        words = [
            text.format(place=place, score=number(score, digits), label=label)
            for place, score, label in rows
        ]
        said = pl.Series("text", words, dtype=pl.String)
        part = part.select("model", "score", "rank", "column", "row").with_columns(said)
        mark = alt.Chart(inline(part)).mark_text(align=align, dx=dx, dy=0, baseline="middle")
        tooltip = [*texts("model"), "rank:Q", *tooltips(["score"])]
        layers.append(mark.encode(x=x, y=y, text="text:N", tooltip=tooltip))
    return layers


def _title(moved: Sequence[str], models: int, where: str) -> str:
    if not moved:
        return (
            f"No model changes rank at {where}" if models > 1 else f"There is one model at {where}"
        )
    start = f"{len(moved)} of {models} models change rank at {where}"
    return f"{start}: {' and '.join(quoted(label) for label in moved)}" if len(moved) < 3 else start


def _spoken(ranks: pl.DataFrame, moved: Sequence[str]) -> str:
    parts = []
    for label in moved[:6]:
        places = ranks.filter(label=label).select("place", "column").rows()
        parts.append(f"{label}: " + ", ".join(f"{place} by {column}" for place, column in places))
    return "Slope chart of ranks. " + (joined(parts) if parts else "All lines are level.")

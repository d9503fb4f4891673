"""Which models change their rank from one policy to another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.data import at_measure, inline, joined, side_by_side, summary_frame, with_labels
from retrieval_report.charts.theme import BLUE, GREY, VERMILLION, empty_chart, finish, layered
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.writing.names import measure_name, quoted

__all__ = ["rank_flips"]

COLUMN, STEP = 220, 20
COLUMNS = {"naive": "order received", "expected": "expected", "shuffled": "mean of shuffles"}
DIGITS = 12
Side = Literal["left", "center", "right"]
SAME, UP, DOWN = "same rank", "ranked higher", "ranked lower"


def rank_flips(summary: object, *, metric: object, cutoff: int | str | None = None) -> ChartType:
    """Draw the ranks of the models by the order received, in expectation and over shuffles, joined by lines.

    Parameters
    ----------
    summary
        What :func:`summarise` returns, with two of the policies naive, expected and shuffled.
    metric, cutoff
        One that it has: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Lines are coloured where the rank changes. Models with equal scores share a rank, such as "3=", and stand one
        below the other.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate, summarise
    >>> rankings = pl.DataFrame({
    ...     "model": ["coarse"] * 4 + ["fine"] * 4, "query": ["q"] * 8, "item": list("abcd") * 2,
    ...     "distance": [1, 1, 1, 1, 2, 1, 3, 4], "relevance": [1, 0, 0, 0] * 2})
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=2, policies=("naive", "expected")))
    >>> rank_flips(summary, metric="rr", cutoff=2).to_dict()["title"]["text"]
    ['2 of 2 models change rank at rr@2: coarse and fine']
    """
    frame = summary_frame(summary)
    if frame is None:
        return empty_chart("the summary has no rows")
    metric, cutoff = parse_measure(metric, cutoff)
    wide = side_by_side(at_measure(frame, metric, cutoff))
    where = measure_name(metric, cutoff)
    columns = [name for name in COLUMNS if wide[name].count()]
    if len(columns) < 2:
        return empty_chart(f"ranks at {where} need two of the policies naive, expected and shuffled")
    ranks = _ranks(with_labels(wide), columns)
    segments = pl.concat([_segment(ranks, left, right) for left, right in pairwise(columns)])
    x = alt.X(
        "column:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=[COLUMNS[name] for name in columns]),
        axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False, labelFontSize=12, labelPadding=12),
    )
    chart = layered(*_lines(segments, x, wide.height), *_names(ranks, columns, x, wide.height))
    chart = chart.properties(width=COLUMN * (len(columns) - 1), height=max(STEP * wide.height, 40))
    moved = ranks.group_by("label").agg(pl.col("rank").n_unique()).filter(pl.col("rank") > 1)["label"].to_list()
    moved = [label for label in dict.fromkeys(ranks["label"]) if label in set(moved)]
    title = _title(moved, wide.height, where)
    return finish(chart, title, ["rank and score; equal scores share a rank (=)"], _spoken(ranks, moved), 66)


def _ranks(wide: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """A row for every model and policy: its rank, and the row it is drawn in."""
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
        # Equal models keep the order of the expectation, in which they stand in `wide`.
        parts.append(part.sort("rank", maintain_order=True).with_row_index("row"))
    sign = pl.when(pl.col("sharing") > 1).then(pl.lit("=")).otherwise(pl.lit(""))
    return pl.concat(parts).with_columns(
        place=pl.format("{}{}", pl.col("rank"), sign), row=pl.col("row").cast(pl.Int64)
    )


def _segment(ranks: pl.DataFrame, left: str, right: str) -> pl.DataFrame:
    """Two rows for every model: where its line starts and where it ends."""
    ends = ranks.filter(policy=right).select("label", end_rank="rank", end_score="score", end_row="row")
    start = ranks.filter(policy=left).join(ends, on="label", how="inner", maintain_order="left")
    change = pl.col("end_rank") - pl.col("rank")
    start = start.with_columns(
        change=pl.when(change < 0).then(pl.lit(UP)).when(change > 0).then(pl.lit(DOWN)).otherwise(pl.lit(SAME)),
        segment=pl.format("{} to {}", pl.lit(COLUMNS[left]), pl.lit(COLUMNS[right])),
        from_rank="rank",
        to_rank="end_rank",
        from_score="score",
        to_score="end_score",
    )
    kept = ["label", "model", "segment", "change", "from_rank", "to_rank", "from_score", "to_score"]
    return pl.concat(
        [
            start.select(*kept, "column", "row"),
            start.select(*kept, pl.lit(COLUMNS[right]).alias("column"), row="end_row"),
        ]
    )


def _rows(models: int) -> alt.Y:
    return alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[models - 0.5, -0.5], nice=False, zero=False))


def _lines(segments: pl.DataFrame, x: alt.X, models: int) -> list[alt.Chart]:
    """Grey below, coloured above."""
    scale = alt.Scale(domain=[UP, DOWN, SAME], range=[BLUE, VERMILLION, GREY])
    legend = alt.Legend(title="read from left to right", orient="bottom")
    numbers = [alt.Tooltip(name, title=name[:-2].replace("_", " ")) for name in ("from_rank:Q", "to_rank:Q")]
    numbers += [
        alt.Tooltip(name, format=".4f", title=name[:-2].replace("_", " ")) for name in ("from_score:Q", "to_score:Q")
    ]
    layers = []
    for part, width in ((segments.filter(change=SAME), 1.0), (segments.filter(pl.col("change") != SAME), 2.4)):
        if part.height:
            line = alt.Chart(inline(part)).mark_line(strokeWidth=width, point={"size": 26, "filled": True})
            layers.append(
                line.encode(
                    x=x,
                    y=_rows(models),
                    detail=["label:N", "segment:N"],
                    color=alt.Color("change:N", scale=scale, legend=legend),
                    tooltip=["model:N", "segment:N", *numbers],
                )
            )
    return layers


def _names(ranks: pl.DataFrame, columns: Sequence[str], x: alt.X, models: int) -> list[alt.Chart]:
    """Rank, name and score at both ends, ranks alone between."""
    score = pl.col("score").map_elements(lambda value: f"{value:.4f}", return_dtype=pl.String)
    texts: dict[str, tuple[pl.Expr, Side, int, int]] = {
        # isolates: a name that runs from right to left leaves score and place where they are
        columns[0]: (pl.format("\u2068{}\u2069 · {} · {}", "label", score, "place"), "right", -10, 0),
        columns[-1]: (pl.format("{} · {} · \u2068{}\u2069", "place", score, "label"), "left", 10, 0),
    }
    between: tuple[pl.Expr, Side, int, int] = (pl.col("place"), "center", 0, -9)
    layers = []
    for name in columns:
        text, align, dx, dy = texts.get(name, between)
        part = ranks.filter(policy=name).select("model", "score", "rank", "column", "row", text=text)
        mark = alt.Chart(inline(part)).mark_text(align=align, dx=dx, dy=dy, baseline="middle")
        layers.append(
            mark.encode(
                x=x, y=_rows(models), text="text:N", tooltip=["model:N", "rank:Q", alt.Tooltip("score:Q", format=".4f")]
            )
        )
    return layers


def _title(moved: Sequence[str], models: int, where: str) -> str:
    if not moved:
        return f"No model changes rank at {where}"
    start = f"{len(moved)} of {models} models change rank at {where}"
    return f"{start}: {' and '.join(quoted(label) for label in moved)}" if len(moved) < 3 else start


def _spoken(ranks: pl.DataFrame, moved: Sequence[str]) -> str:
    parts = []
    for label in moved[:6]:
        places = ranks.filter(label=label).select("place", "column").rows()
        parts.append(f"{label}: " + ", ".join(f"{place} by {column}" for place, column in places))
    return "Slope chart of ranks. " + (joined(parts) if parts else "All lines are level.")

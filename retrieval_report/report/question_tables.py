"""Tables that each answer one question: who ranks where, which queries decide, which segments differ, what it costs."""

from __future__ import annotations

from typing import Any

import polars as pl

from retrieval_report.analysis.inputs import at_measure
from retrieval_report.contracts.registry import schema
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.report.contents import Report
from retrieval_report.report.table_columns import (
    Column,
    Row,
    column_of,
    columns_of,
    ranks_column,
)

Question = tuple[str, str, list[Column], list[dict[str, Any]], bool]  # id, caption, columns, rows, chosen by measure?


def questions(report: Report) -> tuple[Question, ...]:
    """Return all question tables; those that were not requested have no rows."""
    wanted = (_leaderboard, _deciding, _similarity, _curve, _coverage, _segments, _no_worse, _costs)
    return tuple(question(report) for question in wanted)


def _leaderboard(report: Report) -> Question:
    name = "leaderboard"
    columns = [
        *columns_of(name, "rank", "model", "measure", "value", "tie_std", "letters"),
        ranks_column(name, ("tie_rank_low", "tie_rank_high"), "Ranks by tie order"),
        ranks_column(name, ("query_rank_low", "query_rank_high"), "Ranks by queries"),
        *columns_of(name, "interval"),
    ]
    several = report.leaderboard["model"].n_unique() > 1
    rows = measured_rows(report, report.leaderboard) if several else []
    return name, "Models, best first", columns, rows, True


def _deciding(report: Report) -> Question:
    here = report.deciding
    if here.width:
        here = here.filter(at_measure(report.metric, report.cutoff))
    able = (pl.col("difference") != 0) | (pl.col("lowest") != 0) | (pl.col("highest") != 0)
    rows = measured_rows(report, here.filter(able.fill_null(False))) if here.height else []
    names = [rows[0]["model_a"], rows[0]["model_b"]] if rows else ["", ""]
    columns = [
        column_of("deciding", "query"),
        *(column_of("deciding", f"value_{side}", title=name) for side, name in zip("ab", names, strict=True)),
        *columns_of("deciding", "difference", "lowest", "highest", "share", "decides", "order_unsure"),
    ]
    caption = f"Which queries decide {report.measure} between the first two models"
    alike = here.height - len(rows)
    caption += f"; on {alike} {'other' if alike == 1 else 'others'} they never differ" if rows and alike else ""
    return "deciding", caption, columns, rows, False


def _similarity(report: Report) -> Question:
    columns = columns_of("similarity_means", *schema("similarity_means"))
    rows = list(report.similarity_means.iter_rows(named=True))
    return "similarity", "How alike the lists of the first two models are", columns, rows, False


def _curve(report: Report) -> Question:
    """A row for every model, a column for every level of recall."""
    frame, name = report.recall_curve, "recall_curve"
    levels = [f"{level:g}" for level in frame["recall"].unique().sort()] if frame.width else []
    columns = [column_of(name, "model"), *(column_of(name, "value", key=level, title=level) for level in levels)]
    rows: dict[str, dict[str, Any]] = {}
    for model, recall, value in frame.select("model", "recall", "value").iter_rows() if frame.width else ():
        rows.setdefault(model, {"model": model})[f"{recall:g}"] = value
    return "recall-curve", "Interpolated precision along recall", columns, list(rows.values()), False


def _coverage(report: Report) -> Question:
    columns = columns_of("coverage", "model", "measure", "value", "tie_std", "queries")
    rows = measured_rows(report, report.coverage)
    caption = "How much of the lists is judged, and what rank-biased precision leaves open"
    return "coverage", caption, columns, rows, False


def _segments(report: Report) -> Question:
    shown = ("queries", "winner", "value", "overall_winner", "overall_value", "segments_p", "verdict")
    columns = columns_of("segments", "segment", "measure", *shown)
    rows = measured_rows(report, report.segments)
    return "segments", f"Winners by {report.parameters.get('by', 'segment')}", columns, rows, True


def _no_worse(report: Report) -> Question:
    shown = ("value", "difference", "bound_low", "verdict", "detectable", "queries_needed")
    columns = columns_of("no_worse", "model", "measure", *shown)
    rows = measured_rows(report, report.no_worse)
    base, margin = report.parameters.get("baseline"), report.parameters.get("margin")
    return "no-worse", f"No worse than {base} by more than {margin}?", columns, rows, True


def _costs(report: Report) -> Question:
    columns = columns_of("costs", "model", "cost", "amount", "measure", "value", "tie_std", "front", "beaten_by")
    frame = report.costs.filter(policy="expected") if report.costs.width else report.costs
    return "costs", "Scores against costs", columns, measured_rows(report, frame), True


def measure(row: Row) -> str:
    """Return metric and cutoff as one text."""
    return measure_text(row["metric"], row["cutoff"])


def measured_rows(report: Report, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with their measure, those of the headline first."""
    if not frame.width:  # the question was not asked
        return []
    rows = [{**row, "measure": measure(row)} for row in frame.iter_rows(named=True)]
    return sorted(rows, key=lambda row: row["measure"] != report.measure)

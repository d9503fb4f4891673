"""Tables that each answer one question: who ranks where, which queries decide, which segments differ, what it costs."""

from __future__ import annotations

from typing import Any

import polars as pl

from retrieval_report.analysis.inputs import at_measure
from retrieval_report.contracts.registry import schema
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.report.contents import Report
from retrieval_report.report.table_columns import (
    INTERVAL_COLUMN,
    Column,
    Row,
    Table,
    column_of,
    columns_of,
    range_column,
    table_of,
)


def questions(report: Report) -> tuple[Table, ...]:
    """Return all question tables; those that were not requested have no rows."""
    wanted = (_leaderboard, _deciding, _similarity, _curve, _coverage, _segments, _no_worse, _costs)
    return tuple(question(report) for question in wanted)


def _leaderboard(report: Report) -> Table:
    ranks = (_ranks("tie", "Ranks by tie order"), _ranks("query", "Ranks by queries"))
    shown = ("rank", "model", "measure", "value", "tie_std", "letters", *ranks, INTERVAL_COLUMN)
    several = report.leaderboard["model"].n_unique() > 1
    return measured_table(
        report,
        "leaderboard",
        "Models, best first",
        columns_of("leaderboard", *shown),
        report.leaderboard if several else pl.DataFrame(),
    )


def _ranks(source: str, title: str) -> Column:
    """Return a column with the range of ranks by tie order or by queries, or one rank."""
    low, high = (column_of("leaderboard", f"{source}_rank_{end}") for end in ("low", "high"))
    help = f"{low.help}; {high.help}"
    return range_column(low.name, high.name, lambda a, b: str(a) if a == b else f"{a} to {b}", title, help)


def _deciding(report: Report) -> Table:
    here = report.deciding
    if here.width:
        here = here.filter(at_measure(report.metric, report.cutoff))
    able = (pl.col("difference") != 0) | (pl.col("lowest") != 0) | (pl.col("highest") != 0)
    rows = measured_rows(report, here.filter(able.fill_null(False))) if here.height else []
    names = [rows[0]["model_a"], rows[0]["model_b"]] if rows else ["", ""]
    values = [column_of("deciding", f"value_{side}", title=name) for side, name in zip("ab", names, strict=True)]
    shown = ("difference", "lowest", "highest", "share", "decides", "order_unsure")
    caption = f"Which queries decide {report.measure} between the first two models"
    alike = here.height - len(rows)
    caption += f"; on {alike} {'other' if alike == 1 else 'others'} they never differ" if rows and alike else ""
    return table_of("deciding", caption, columns_of("deciding", "query", *values, *shown), rows)


def _similarity(report: Report) -> Table:
    columns = columns_of("similarity_means", *schema("similarity_means"))
    rows = report.similarity_means.iter_rows(named=True)
    return table_of("similarity", "How alike the lists of the first two models are", columns, rows)


def _curve(report: Report) -> Table:
    """A row for every model, a column for every level of recall."""
    frame, name = report.recall_curve, "recall_curve"
    levels = [f"{level:g}" for level in frame["recall"].unique().sort()] if frame.width else []
    columns = [column_of(name, "model"), *(column_of(name, "value", key=level, title=level) for level in levels)]
    rows: dict[str, dict[str, Any]] = {}
    for model, recall, value in frame.select("model", "recall", "value").iter_rows() if frame.width else ():
        rows.setdefault(model, {"model": model})[f"{recall:g}"] = value
    return table_of("recall-curve", "Interpolated precision along recall", columns, rows.values())


def _coverage(report: Report) -> Table:
    columns = columns_of("coverage", "model", "measure", "value", "tie_std", "queries")
    caption = "How much of the lists is judged, and what rank-biased precision leaves open"
    return table_of("coverage", caption, columns, measured_rows(report, report.coverage))


def _segments(report: Report) -> Table:
    shown = ("queries", "winner", "value", "overall_winner", "overall_value", "segments_p", "verdict")
    columns = columns_of("segments", "segment", "measure", *shown)
    caption = f"Winners by {report.parameters.get('by', 'segment')}"
    return measured_table(report, "segments", caption, columns, report.segments)


def _no_worse(report: Report) -> Table:
    shown = ("value", "difference", "bound_low", "verdict", "detectable", "queries_needed")
    columns = columns_of("no_worse", "model", "measure", *shown)
    base, margin = report.parameters.get("baseline"), report.parameters.get("margin")
    return measured_table(report, "no-worse", f"No worse than {base} by more than {margin}?", columns, report.no_worse)


def _costs(report: Report) -> Table:
    shown = ("model", "cost", "amount", "measure", "value", "tie_std", "front", "beaten_by")
    frame = report.costs.filter(policy="expected") if report.costs.width else report.costs
    return measured_table(report, "costs", "Scores against costs", columns_of("costs", *shown), frame)


def measure(row: Row) -> str:
    """Return metric and cutoff as one text."""
    return measure_text(row["metric"], row["cutoff"])


def measured_rows(report: Report, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with their measure, those of the headline first."""
    if not frame.width:  # the question was not asked
        return []
    rows = [{**row, "measure": measure(row)} for row in frame.iter_rows(named=True)]
    return sorted(rows, key=lambda row: row["measure"] != report.measure)


def measured_table(
    report: Report, id: str, caption: str, columns: list[Column], frame: pl.DataFrame, note: str = ""
) -> Table:
    """Return a table that readers can filter by measure, with that of the headline shown at first."""
    return table_of(id, caption, columns, measured_rows(report, frame), chosen=report.measure, note=note)

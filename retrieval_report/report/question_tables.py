"""Tables that answer one question each: who ranks where, which queries decide, which segments differ, at what cost."""

from __future__ import annotations

from typing import Any

import polars as pl

from retrieval_report.metrics.parsing import measure_text
from retrieval_report.report.contents import Report
from retrieval_report.report.table_columns import (
    NOTHING,
    Cell,
    Column,
    Row,
    chance_column,
    deviation_column,
    interval_column,
    number_column,
    share_column,
    text_column,
    yes_column,
)

__all__ = ["Question", "questions"]

Question = tuple[str, str, list[Column], list[dict[str, Any]], bool]  # id, caption, columns, rows, chosen by measure?


def questions(report: Report) -> tuple[Question, ...]:
    """All of them; those without rows were not asked."""
    return (_leaderboard(report), _deciding(report), _segments(report), _no_worse(report), _costs(report))


def _leaderboard(report: Report) -> Question:
    columns = [
        _ranks("Rank", "rank", "rank"),
        text_column("Model", "model"),
        text_column("Measure", "measure"),
        number_column("Expected", "value", help="exact mean over all orders inside ties"),
        deviation_column("± tie std", "tie_std"),
        text_column("Letters", "letters", help="models that share a letter cannot be told apart by these queries"),
        _ranks("Ranks by tie order", "tie_rank_low", "tie_rank_high", help="under random tie order alone, 95%"),
        _ranks("Ranks by queries", "query_rank_low", "query_rank_high", help="under sampling of queries alone, 95%"),
        interval_column("95% interval", help="of the expected mean, under sampling of queries; for this model alone"),
    ]
    several = report.leaderboard["model"].n_unique() > 1
    return "leaderboard", "Models, best first", columns, _rows(report, report.leaderboard) if several else [], True


def _deciding(report: Report) -> Question:
    rows = _rows(report, _here(report, report.deciding)) if report.deciding.width else []
    names = [rows[0]["model_a"], rows[0]["model_b"]] if rows else ["", ""]
    columns = [
        text_column("Query", "query"),
        number_column(names[0], "value_a"),
        number_column(names[1], "value_b"),
        number_column("Difference", "difference", sign="+"),
        number_column("Lowest", "lowest", sign="+", help="under the tie orders that favour the second model most"),
        number_column("Highest", "highest", sign="+", help="under the tie orders that favour the first model most"),
        share_column("Share", "share", help="of the difference of the means"),
        yes_column("Decides", "decides", help="one of the fewest queries without which the winner would not be ahead"),
        yes_column("Tie order may turn it", "order_unsure"),
    ]
    return "deciding", f"Which queries decide {report.measure} between the first two models", columns, rows, False


def _segments(report: Report) -> Question:
    columns = [
        text_column("Segment", "segment"),
        text_column("Measure", "measure"),
        number_column("Queries", "queries", 0),
        text_column("Winner", "winner"),
        number_column("Its mean", "value"),
        text_column("Winner of all queries", "overall_winner"),
        number_column("Its mean here", "overall_value"),
        chance_column("p", "segments_p", help="corrected for the number of models and of segments"),
        text_column("Verdict", "verdict"),
    ]
    rows = _rows(report, report.segments) if report.segments.width else []
    return "segments", f"Winners by {report.parameters.get('by', 'segment')}", columns, rows, True


def _no_worse(report: Report) -> Question:
    columns = [
        text_column("Model", "model"),
        text_column("Measure", "measure"),
        number_column("Mean", "value"),
        number_column("Difference", "difference", sign="+", help="model − baseline"),
        number_column("Lower bound", "bound_low", sign="+", help="95%, one-sided"),
        text_column("Verdict", "verdict", help="no worse: the lower bound lies above −margin"),
        number_column("Detectable", "detectable", help="the smallest loss that these queries would have shown"),
        number_column("Queries needed", "queries_needed", 0, help="to show a loss of the margin"),
    ]
    rows = _rows(report, report.no_worse) if report.no_worse.width else []
    base, margin = report.parameters.get("baseline"), report.parameters.get("margin")
    return "no-worse", f"No worse than {base} by more than {margin}?", columns, rows, True


def _costs(report: Report) -> Question:
    columns = [
        text_column("Model", "model"),
        text_column("Cost", "cost"),
        number_column("Amount", "amount", 2),
        text_column("Measure", "measure"),
        number_column("Expected", "value"),
        deviation_column("± tie std", "tie_std"),
        yes_column("On the front", "front", help="no other model is as good for less, or better for as much"),
        text_column("Beaten by", "beaten_by"),
    ]
    frame = report.costs.filter(policy="expected") if report.costs.width else report.costs
    return "costs", "Scores against costs", columns, _rows(report, frame) if frame.width else [], True


def _here(report: Report, frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of the headline measure."""
    return frame.filter(
        pl.col("metric") == report.metric, pl.col("cutoff").eq_missing(pl.lit(report.cutoff, dtype=pl.Int64))
    )


def _rows(report: Report, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with their measure, those of the headline first."""
    rows = [{**row, "measure": measure_text(row["metric"], row["cutoff"])} for row in frame.iter_rows(named=True)]
    return sorted(rows, key=lambda row: row["measure"] != report.measure)


def _ranks(header: str, low: str, high: str, *, help: str = "") -> Column:
    """One rank, or the range of ranks."""

    def fill(row: Row) -> Cell:
        first, last = row[low], row[high]
        if first is None or last is None:
            return Cell(NOTHING)
        return Cell(str(first) if first == last else f"{first} to {last}", str(first))

    return Column(header, fill, help)

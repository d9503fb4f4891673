"""Choose the cheaper plan: to count ties before the exchange, or to send every row."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from retrieval_report.spark.sources import Source

PLANS = ("auto", "ties", "rows")
SAMPLE_ROWS = 20_000  # rows of the first files that are sampled
# CPU seconds of counting first and of sending every row, 4·10⁶ rows on a busy machine of 2 cores,
# by cells per row: 0.04: 4.5 and 12.7; 0.22: 5.4 and 9.0; 0.45: 7.2 and 7.9; 0.69: 11.4 and 8.2.
# Counting once lost at 0.40.
TIES_BELOW = 0.3


def choose_plan(source: Source) -> str:
    """Choose a plan from the first rows: few cells per row mean long ties.

    If the rows of a list are scattered, few of them are among the first, and every row is sent:
    slower, not wrong.
    """
    sample = [tuple(row) for row in source.rows.select(_tie_columns(source)).head(SAMPLE_ROWS)]
    return "ties" if len(set(sample)) < TIES_BELOW * len(sample) else "rows"


def with_counts(source: Source, plan: str) -> DataFrame:
    """Return the input of the stream: counts of equal rows, or every row as a count of one."""
    rows, keys = source.rows, _tie_columns(source)
    counted = "count" in rows.columns
    if plan == "rows":
        count = F.col("count").cast("long") if counted else F.lit(1).cast("long")
        return rows.select(*keys, *source.naive, count.alias("count"))
    if not counted:
        return rows.groupBy(*keys).agg(F.count("*").alias("count"))
    least, known = F.min("count"), F.count("count")
    total = F.when((known == F.count("*")) & (least > 0), F.sum(F.col("count").cast("long"))).when(
        least < 1, least
    )
    # Null and counts below 1 stay, so that the stream refuses them.
    return rows.groupBy(*keys).agg(total.cast("long").alias("count"))


def _tie_columns(source: Source) -> list[str]:
    keys = ["model", "query", source.order, "relevance"]
    return [*keys, *(name for name in ("role", "truncated") if name in source.rows.columns)]

"""Say of a segment of the queries with another winner whether its lead there can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from retrieval_report.comparison.segments import NO_VALUE
from retrieval_report.comparison.verdicts import NOT_SIGNIFICANT, OTHER_WINNER, SAFE
from retrieval_report.engines.check_scores import at_measure

if TYPE_CHECKING:
    from retrieval_report.study.study import Study


def with_doubts(segments: pl.DataFrame, study: Study, by: str) -> pl.DataFrame:
    """Return the result of `segment_winners`, whose tests know the queries alone, where a segment's
    other winner has the verdict of that pair on these queries if it is not safe: its lead may
    depend on tie order, on missing items or on the runs.
    """
    if segments.is_empty():
        return segments
    queries = study.frames["queries"]
    names = queries[by].cast(pl.String).fill_null(NO_VALUE)
    verdicts = segments["verdict"].to_list()
    for number, row in enumerate(segments.iter_rows(named=True)):
        if row["verdict"] == OTHER_WINNER:
            here = study.where(query=queries.filter(names == row["segment"])["query"].to_list())
            flips = here.pair(row["winner"], row["overall_winner"]).flips
            verdict = flips.filter(at_measure(row["metric"], row["cutoff"]))["verdict"].item()
            verdicts[number] = row["verdict"] if verdict in (SAFE, NOT_SIGNIFICANT) else verdict
    return segments.with_columns(verdict=pl.Series(verdicts, dtype=pl.String))

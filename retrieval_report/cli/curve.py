"""`curve`: interpolated precision along recall, as trec_eval defines it."""

from __future__ import annotations

from typing import Any

from retrieval_report.cli.engines import study_of
from retrieval_report.cli.files import Data, Output, data_options, output_options
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import explains, options
from retrieval_report.report.terminal import frame_table

SHOWN = ("model", "recall", "value", "tie_std", "lowest", "highest", "naive", "queries")
RULES = ("no_relevant", "missing_query", "unjudged", "unjudged_query", "null_distance", "relevant_from", "naive_order")


@cli.command(short_help="Show interpolated precision at levels of recall.")
@data_options
@options(*RULES)
@output_options("recall_curve.csv")
@explains("recall_curve", "recall", "value")
def curve(data: Data, output: Output, **settings: Any) -> None:
    """Show the interpolated precision of RANKINGS at 11 levels of recall, in the mean over the queries."""
    output.check(data.paths, "recall_curve.csv")
    found = study_of(data, {"metrics": "ap", "truncated": "no", **settings}).recall_curve
    output.show({"recall_curve": found}, frame_table(found, SHOWN))

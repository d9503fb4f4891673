"""`curve`: interpolated precision along recall, as trec_eval defines it."""

from __future__ import annotations

from typing import Any

import click

from retrieval_report.cli.engines import as_study
from retrieval_report.cli.group import cli
from retrieval_report.cli.scoring import tell_written
from retrieval_report.cli.settings import data_options, explains, options, output_options, read_data, results_folder
from retrieval_report.report.terminal import frame_table
from retrieval_report.writing.files import csv_bytes, write_files

__all__ = ["curve"]

SHOWN = ("model", "recall", "value", "tie_std", "lowest", "highest", "naive", "queries")
RULES = ("no_relevant", "missing_query", "unjudged", "unjudged_query", "null_distance", "relevant_from", "naive_order")


@cli.command(short_help="Show interpolated precision at levels of recall.")
@data_options
@options(*RULES)
@output_options("recall_curve.csv")
@explains("recall_curve", "recall", "value")
def curve(
    rankings: tuple[str, ...],
    judgements: str | None,
    queries: str | None,
    columns: dict[str, str] | None,
    name_by: str | None,
    out: str | None,
    raw: bool,
    **settings: Any,
) -> None:
    """Show the interpolated precision of RANKINGS at 11 levels of recall, in the mean over the queries."""
    import retrieval_report as rr

    folder = results_folder(out, ["recall_curve.csv"], [*rankings, judgements, queries])
    data = read_data(rankings, judgements, queries, columns, name_by)
    found = rr.Study(**data, **as_study({"metrics": "ap", "truncated": "no", **settings})).recall_curve
    files = {} if folder is None else {folder / "recall_curve.csv": csv_bytes(found, raw=raw)}
    write_files(files)
    click.echo(frame_table(found, SHOWN))
    tell_written(files)

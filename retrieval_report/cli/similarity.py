"""`similarity`: whether another index changed the results, or the order of ties alone."""

from __future__ import annotations

import click

from retrieval_report.cli.files import Output, file_options, output_options
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import explains
from retrieval_report.report.terminal import frame_table

SHOWN = ("queries", "none", "ties", "order", "items", "tau_b", "tau_ap", "rbo_a", "rbo_low", "rbo_high")


@cli.command(short_help="Say whether two lists per query differ in more than ties.")
@click.argument("first")
@click.argument("second")
@file_options("columns", "trust_files")
@click.option("--p", type=float, default=0.9, help="Persistence of rank-biased overlap.")
@output_options("similarity.csv, a row for every query")
@explains("similarity_means", *SHOWN[1:])
def similarity(first: str, second: str, columns: dict[str, str] | None, p: float, output: Output) -> None:
    """Compare the lists of FIRST and SECOND query by query: the same, other ties, another order, or other items.

    Both hold one model. Relevance does not matter here.
    """
    import retrieval_report as rr

    output.check([first, second], "similarity.csv")
    one, other = (rr.read_rankings(path, columns=columns) for path in (first, second))
    found = rr.lists.ranking_similarity(one, other, p=p)
    output.show({"similarity": found.queries}, frame_table(found.mean, SHOWN))

"""`similarity`: whether another index changed the results, or the order of ties alone."""

from __future__ import annotations

import click

from retrieval_report.cli.group import cli
from retrieval_report.cli.scoring import tell_written
from retrieval_report.cli.settings import DATA, explains, output_options, results_folder, trust_option
from retrieval_report.report.terminal import frame_table
from retrieval_report.writing.files import csv_bytes, write_files

__all__ = ["similarity"]

SHOWN = ("queries", "none", "ties", "order", "items", "tau_b", "tau_ap", "rbo_a", "rbo_low", "rbo_high")


@cli.command(short_help="Say whether two lists per query differ in more than ties.")
@click.argument("first")
@click.argument("second")
@DATA[3]
@trust_option
@click.option("--p", type=float, default=0.9, show_default=True, help="Persistence of rank-biased overlap.")
@output_options("similarity.csv, a row for every query")
@explains("similarity_means", *SHOWN[1:])
def similarity(first: str, second: str, columns: dict[str, str] | None, p: float, out: str | None, raw: bool) -> None:
    """Compare the lists of FIRST and SECOND query by query: the same, other ties, another order, or other items.

    Both hold one model. Relevance does not matter here.
    """
    import retrieval_report as rr

    folder = results_folder(out, ["similarity.csv"], [first, second])
    one, other = (rr.read_rankings(path, columns=columns) for path in (first, second))
    found = rr.lists.ranking_similarity(one, other, p=p)
    files = {} if folder is None else {folder / "similarity.csv": csv_bytes(found.queries, raw=raw)}
    write_files(files)
    click.echo(frame_table(found.mean, SHOWN))
    tell_written(files)

"""`codes`: binary and small-integer codes in files, scored without a distance matrix."""

from __future__ import annotations

import sys
from typing import Any

import click

from retrieval_report.cli.group import cli
from retrieval_report.cli.scoring import tell_written
from retrieval_report.cli.settings import (
    READING,
    options,
    output_options,
    read_judgements,
    results_folder,
    trust_option,
)
from retrieval_report.report.terminal import frame_table, summary_table

__all__ = ["codes"]


@cli.command()
@click.argument("query", metavar="QUERY.npz")
@click.argument("items", metavar="ITEM.npz…", nargs=-1, required=True)
@options("metrics", "cutoffs")
@click.option(
    "--relevance",
    type=click.Choice(["any", "shared"]),
    default="any",
    show_default=True,
    help="Relevant with any shared class, or graded by the number of shared classes.",
)
@click.option("--judgements", metavar="FILE", help="Relevance per query and item instead of labels.")
@READING[0]
@READING[2]
@trust_option
@click.option(
    "--distance",
    type=click.Choice(["hamming", "l1", "dot"]),
    default="hamming",
    show_default=True,
    help="Distance of two codes.",
)
@click.option("--bits", type=int, help="Bits of packed codes; without it every column is a bit.")
@click.option("--depth", type=int, help="Count the nearest so many items only, the last tie whole.")
@click.option("--exclude-self", is_flag=True, help="The queries are among the items: leave each out of its own list.")
@click.option("--model", default="model", show_default=True, help="Name of the model.")
@output_options("counts.parquet, scores.csv, summary.csv and, where there is a radius table, radius.csv")
def codes(
    query: str,
    items: tuple[str, ...],
    metrics: list[str],
    cutoffs: list[int | str],
    judgements: str | None,
    out: str | None,
    raw: bool,
    **settings: Any,
) -> None:  # fmt: skip
    """Score the codes of QUERY.npz against those of ITEM.npz, any number of files, one at a time.

    A file holds an array ``codes`` (±1, 0/1, or packed), and ``labels`` (class ids or multi-hot) and ``ids`` if
    there are any; .npy files hold codes alone. Besides the scores, a table tells how good the items within a
    Hamming radius are; not with --depth, for items of that radius may be left out, and not for other distances.
    """
    from retrieval_report.cli.code_scores import codes_command

    person = sys.stderr is not None and sys.stderr.isatty()
    names = ("counts.parquet", "scores.csv", "summary.csv", "radius.csv")
    results_folder(out, names, [query, *items, judgements])
    judged = read_judgements(judgements)
    result = codes_command(
        query, items, out, metrics=metrics, cutoffs=cutoffs, raw=raw, judgements=judged, progress=person, **settings
    )
    click.echo(summary_table(result.summary))
    if result.radius is not None:
        shown = ["model", "radius", "precision", "recall", "f1", "hit_rate", "empty", "queries"]
        click.echo("\nwithin a radius\n" + frame_table(result.radius, shown))
    elif settings["depth"] is not None:
        click.echo(f"\nNo radius table: with --depth {settings['depth']} items within a radius may be left out.")
    else:
        click.echo(f"\nNo radius table: a radius is one of Hamming distances, not of {settings['distance']}.")
    tell_written(result.files)

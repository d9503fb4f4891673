"""`codes` and `neighbours`: score codes without a
distance matrix, and judge what an exact search found.
"""

from pathlib import Path
from typing import Any

import click

import retrieval_report as rr
from retrieval_report.cli.engines import watched
from retrieval_report.cli.files import (
    NAMED_COLUMNS,
    Output,
    output_options,
    tell_written,
)
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import options
from retrieval_report.contracts.steps import step
from retrieval_report.reading.sources import base_name
from retrieval_report.study.terminal import frame_table, summary_table
from retrieval_report.writing.files import csv_bytes, refuse_inputs, write_files
from retrieval_report.writing.names import with_number

WRITTEN = ("counts.parquet", "scores.csv", "summary.csv", "radius.csv")


@cli.command()
@click.argument("query")
@click.argument("items", metavar="ITEMS…", nargs=-1, required=True)
@options("metrics", "cutoffs")
@click.option(
    "--relevance",
    type=click.Choice(["any", "shared"]),
    default="any",
    help="Items are relevant if they share any class, or graded by the number of shared classes.",
)
@click.option(
    "--bits", type=int, help="Number of bits of packed codes; without it, every column is a bit."
)
@click.option(
    "--depth",
    type=int,
    help="Count only this many of the nearest items, and all that tie with the last.",
)
@click.option(
    "--exclude-self",
    is_flag=True,
    help="Leave each query out of its own list, if queries are among the items.",
)
@click.option("--model", help="Name of the model; default: that of the file QUERY.")
@click.option("--query-arrays", **NAMED_COLUMNS, help="Names of the arrays in QUERY: codes=qB.")
@click.option("--item-arrays", **NAMED_COLUMNS, help="Names of the arrays in ITEMS: codes=rB.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    help="Largest size in bytes of a file's arrays when unpacked; default: 4 GiB.",
)
@output_options(
    "counts.parquet, scores.csv, summary.csv and, if there is a radius table, radius.csv",
    shown=False,
)
def codes(query: str, items: tuple[str, ...], output: Output, **settings: Any) -> None:
    """Score the codes in the file QUERY against those
    of any number of ITEMS files, read one at a time.

    An .npz or .mat file holds an array ``codes`` (±1, 0/1, or packed), and optionally
    ``labels`` (class ids or multi-hot) and ``ids``; .npy files hold only codes. QUERY and ITEMS
    may be one file if --query-arrays and --item-arrays say which arrays are whose. A second
    table scores the items within a Hamming radius; it is left out with --depth, which may omit
    items within the radius.
    """
    from retrieval_report.cli.code_scores import codes_command

    output.check([query, *items], *WRITTEN)
    settings["progress"] = watched()
    settings["model"] = settings["model"] or base_name(Path(query))
    frames = step("codes", lambda: codes_command(query, items, **settings))
    files = output.write(frames)
    click.echo(summary_table(frames["summary.csv"]))
    if "radius.csv" in frames:
        column_names = "model radius precision recall f1 hit_rate empty queries"
        click.echo("\nwithin a radius\n" + frame_table(frames["radius.csv"], column_names))
    else:
        click.echo(
            f"\nNo radius table: with --depth {settings['depth']}, items within a radius may be "
            "missing."
        )
    tell_written(files)


@cli.command()
@click.argument("distances")
@click.argument("indices")
@click.option("--k", type=int, required=True, help="How many neighbours.")
@click.option("--epsilon", type=float, default=0.0, help="Items farther by this share count, too.")
@click.option(
    "--scores", is_flag=True, help="DISTANCES are scores such as inner products: large is near."
)
@click.option(
    "-o", "--out", metavar="FILE", default="neighbours.csv", help="Write the judgements here."
)
def neighbours(
    distances: str, indices: str, k: int, epsilon: float, scores: bool, out: str
) -> None:
    """Judge which items are among the K nearest, from the
    DISTANCES and INDICES (.npy) of a deeper exact search.

    All items that tie with the K-th count. With these judgements, precision@K of an approximate
    index is its recall.
    """
    from retrieval_report.codes.files import load_codes

    target = Path(out)
    refuse_inputs([target], map(Path, (distances, indices)))
    lengths, items = (load_codes(path).codes[:] for path in (distances, indices))
    judge_neighbours = rr.lists.neighbour_judgements
    judged = step("neighbours", lambda: judge_neighbours(lengths, items, k, epsilon, scores=scores))
    write_files({target: csv_bytes(judged, raw=True)})
    sizes = judged["query"].value_counts()["count"]
    found = f"{with_number(len(sizes), 'query')}, {with_number(len(judged), 'neighbour')}"
    click.echo(f"{found}; queries with more than {k}: {(sizes > k).sum()}")
    tell_written([target])

"""`neighbours`: judgements from exact nearest neighbours, for the recall of an approximate index."""

from __future__ import annotations

from pathlib import Path

import click

from retrieval_report.cli.files import tell_written
from retrieval_report.cli.group import cli
from retrieval_report.writing.files import csv_bytes, refuse_inputs, write_files


@cli.command(short_help="Judge the nearest items by an exact search.")
@click.argument("distances")
@click.argument("indices")
@click.option("--k", type=int, required=True, help="How many neighbours.")
@click.option("--epsilon", type=float, default=0.0, help="How much farther, as a share, may count.")
@click.option("--out", metavar="FILE", default="neighbours.csv", help="Write the judgements here.")
def neighbours(distances: str, indices: str, k: int, epsilon: float, out: str) -> None:
    """Judge which items are among the K nearest, from the DISTANCES and INDICES (.npy) of a deeper exact search.

    All items that tie with the K-th count. With these judgements, precision@K of an approximate index is its recall.
    """
    import retrieval_report as rr
    from retrieval_report.codes.files import load_codes

    target = Path(out)
    refuse_inputs([target], map(Path, (distances, indices)))
    lengths, items = (load_codes(path).codes[:] for path in (distances, indices))
    found = rr.lists.neighbour_judgements(lengths, items, k, epsilon)
    write_files({target: csv_bytes(found, raw=True)})
    tell_written([target])

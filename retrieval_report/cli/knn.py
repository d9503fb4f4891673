"""`knn`: the labels that the nearest items give to the queries."""

from __future__ import annotations

from typing import Any

import click

import retrieval_report as rr
from retrieval_report.cli.files import Data, Output, data_options, output_options
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import explains, labels_option
from retrieval_report.cli.streams import json_option
from retrieval_report.contracts.steps import step
from retrieval_report.study.terminal import frame_table

TABLES = {
    "accuracy": "model value tie_std lowest highest queries",
    "classes": "model label metric value tie_std lowest highest",
}
FRAMES = (*TABLES, "confusion", "chances")


@cli.command()
@data_options("rankings", "queries", "columns", "name_by", "query_columns")
@labels_option
@click.option("--k", type=int, default=1, help="How many of the nearest items vote.")
@click.option(
    "--vote",
    default="majority",
    help="Whether the majority of them decides, or the nearest alone: majority, nearest.",
)
@click.option(
    "--tied-votes",
    default="first",
    help="Which of the labels with the most votes wins: the first in sorted order, that of the "
    "nearest item, or one at random: first, nearest, random.",
)
@output_options("knn_accuracy.csv, knn_classes.csv, knn_confusion.csv and knn_chances.csv")
@json_option
@explains("knn_accuracy", "value", "lowest", "highest")
def knn(data: Data, output: Output, labels: str | None, **how: Any) -> None:
    """Classify the queries of RANKINGS by the labels of their nearest items.

    All orders of items at one distance are taken at once. --queries names the true label of every
    query.
    """
    if data.queries is None:
        raise click.UsageError("--queries is missing: a file of query and label")
    output.check([*data.paths, labels], *(f"knn_{name}.csv" for name in FRAMES))
    given = data.read()
    rankings, queries = given["rankings"], given["queries"]
    found = step("neighbours", lambda: rr.knn(rankings, labels, queries=queries, **how))
    frames = {f"knn_{name}": getattr(found, name) for name in FRAMES}
    texts = [frame_table(frames[f"knn_{name}"], shown) for name, shown in TABLES.items()]
    output.show(frames, "\n\n".join(texts))

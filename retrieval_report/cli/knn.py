"""`knn`: the labels that the nearest items give to the queries."""

from __future__ import annotations

from typing import Any

import click

from retrieval_report.cli.files import Data, Output, data_options, output_options
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import explains
from retrieval_report.cli.streams import json_option
from retrieval_report.contracts.steps import step
from retrieval_report.study.terminal import frame_table

TABLES = {
    "knn_accuracy": "model value tie_std lowest highest queries",
    "knn_classes": "model label metric value tie_std lowest highest",
    "knn_confusion": "model label predicted value tie_std lowest highest",
}


@cli.command()
@data_options("rankings", "queries", "columns", "name_by", "query_columns")
@click.option("--labels", metavar="FILE", required=True, help="One row per item: item and label.")
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
def knn(data: Data, output: Output, labels: str, as_json: bool, **how: Any) -> None:
    """Classify the queries of RANKINGS by the labels of their nearest items.

    All orders of items at one distance are taken at once. --queries names the true label of every
    query.
    """
    import retrieval_report as rr

    if data.queries is None:
        raise click.UsageError("--queries is missing: a file of query and label")
    output.check([*data.paths, labels], *(f"{name}.csv" for name in [*TABLES, "knn_chances"]))
    named = rr.read_queries(labels, columns={"query": "item"}).rename({"query": "item"})
    given = data.read()
    rankings, queries = given["rankings"], given["queries"]
    result = step("neighbours", lambda: rr.knn(rankings, named, queries=queries, **how))
    parts = result.accuracy, result.classes, result.confusion
    frames = dict(zip(TABLES, parts, strict=True))
    texts = [frame_table(frames[name], TABLES[name]) for name in list(TABLES)[:2]]
    frames["knn_chances"] = result.chances
    output.show(frames, "\n\n".join(texts), form="json" if as_json else None)

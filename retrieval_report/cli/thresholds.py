"""`thresholds`: what is right and wrong if all items up to a distance are accepted."""

from __future__ import annotations

from typing import Any

import click

import retrieval_report as rr
from retrieval_report.cli.analysis import JUDGED_RULES
from retrieval_report.cli.files import Data, Output, data_options, output_options
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import at_least_option, explains, options
from retrieval_report.cli.streams import json_option
from retrieval_report.contracts.steps import step
from retrieval_report.study.terminal import frame_table

TABLES = {
    "threshold_areas": "model roc_auc average_precision ap tie_std relevant_pairs all_pairs",
    "calibration": "model metric threshold strictest loosest value ci_low ci_high precision "
    "recall f1",
    "abstention": "model risk threshold bound answered wrong queries",
}


@cli.command()
@data_options()
@click.option("--k", type=int, help="Count only the k nearest items of every query.")
@click.option(
    "--metric", default="f1", help="Choose a threshold by precision, recall, f1, npv or accuracy."
)
@at_least_option
@click.option(
    "--risk",
    type=float,
    help="The share of the queries that may be answered wrongly, if their nearest item is given "
    "as an answer up to a distance; find this distance.",
)
@options("relevant_from", *JUDGED_RULES, "decimals")
@output_options(
    "thresholds.csv, threshold_areas.csv, calibration.csv and, with --risk, abstention.csv"
)
@json_option
@explains("calibration", "strictest", "loosest")
def thresholds(
    data: Data,
    output: Output,
    k: int | None,
    metric: str,
    at_least: float | None,
    risk: float | None,
    **settings: Any,
) -> None:
    """Choose up to which distance the items of RANKINGS are accepted as matches.

    The pairs of a query and an item at one distance are accepted together, so that tie order plays
    no part. The files hold what is right and wrong at every distance.
    """
    output.check(data.paths, "thresholds.csv", *(f"{name}.csv" for name in TABLES))
    given = data.read()
    result = step("thresholds", lambda: rr.thresholds(**given, k=k, **settings))
    frames = {
        "thresholds": result.table,
        "threshold_areas": result.areas,
        "calibration": result.calibrate(metric, at_least),
    }
    if risk is not None:
        frames["abstention"] = result.abstain(risk)
    texts = [frame_table(frames[name], shown) for name, shown in TABLES.items() if name in frames]
    output.show(frames, "\n\n".join(texts))

"""`estimate`: means by a few queries that people judged and many that a machine judged."""

from __future__ import annotations

from typing import Any

import click

from retrieval_report.cli.engines import study_of
from retrieval_report.cli.files import FILES, Data, Output, data_options, output_options
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import explains, study_options
from retrieval_report.cli.streams import json_option
from retrieval_report.study.terminal import frame_table

SHOWN = "model_a model_b value ci_low ci_high human_only human_low human_high machine_only gain"
FEW = 5  # models whose pairs are printed too


@cli.command()
@data_options(*FILES)
@study_options
@click.option("--human", metavar="JUDGE", default="human", help="Who judged some of the queries.")
@output_options("estimates.csv")
@json_option
@explains("estimates", "value", "gain")
def estimate(data: Data, output: Output, human: str, as_json: bool, **settings: Any) -> None:
    """Estimate what people would say of RANKINGS, of whose queries they judged some and a machine all.

    --judgements names both: --judgements human=few.txt,gpt=many.txt; of several machines, --judge one.
    The intervals hold however wrong it is, if the queries that people judged were drawn at random.
    """
    output.check(data.paths, "estimates.csv")
    table = study_of(data, settings).estimate(human)
    shown = table.sort("model_b", "value", descending=[False, True], nulls_last=False)
    alone = shown.filter(shown["model_b"].is_null())
    few = alone["model_a"].n_unique() <= FEW
    text = frame_table(shown if few else alone, SHOWN, by="metric cutoff")
    more = "" if few else f"\n\nThe {table.height - alone.height} pairs are in --json and --out."
    output.show({"estimates": table}, text + more, form="json" if as_json else None)

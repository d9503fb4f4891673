"""`leaderboard`: the ranks of models, how far to trust each, and other questions about many models."""

from __future__ import annotations

from typing import Any

import click

from retrieval_report.cli.engines import study_of
from retrieval_report.cli.files import Data, Output, data_options, output_options, tell_written
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import SETTINGS, average_option, like_option, options, question_options
from retrieval_report.cli.streams import form_options, print_json
from retrieval_report.report.terminal import frame_table, visible

BOARD = ("rank", "model", "value", "tie_std", "letters", "ranks_by_ties", "ranks_by_queries", "ci_low", "ci_high")
QUESTIONS = {  # frame of a study → columns that are shown
    "segments": ("segment", "queries", "winner", "value", "overall_winner", "overall_value", "segments_p", "verdict"),
    "no_worse": ("model", "value", "difference", "bound_low", "margin", "verdict", "detectable", "queries_needed"),
    "costs": ("model", "cost", "amount", "value", "tie_std", "front", "beaten_by"),
}


@cli.command(short_help="Rank the models, and say how far to trust each rank.")
@data_options
@options(*(name for name in SETTINGS if name != "policies"))
@like_option
@average_option
@question_options
@output_options("leaderboard.csv and one file for every other question")
@form_options
def leaderboard(data: Data, output: Output, costs: str | None, form: str | None, **settings: Any) -> None:
    """Rank the models of RANKINGS, best first, and say how far to trust each rank.

    letters: models that share a letter do not differ significantly on these queries; ranks_by_ties: ranks under
    random tie order alone; ranks_by_queries: ranks under another sample of queries. With --by, --margin and --costs:
    which segments have another winner, which models are no worse than a baseline, and which are worth their cost.
    """
    import polars as pl

    output.check([*data.paths, costs], *(f"{name}.csv" for name in ("leaderboard", *QUESTIONS)))
    study = study_of(data, settings, costs)
    frames = {"leaderboard": study.board, **{name: getattr(study, name) for name in QUESTIONS}}
    frames = {name: frame for name, frame in frames.items() if frame.width}
    files = output.write({f"{name}.csv": frame for name, frame in frames.items()})
    if form == "latex":
        click.echo(study.to_latex(), nl=False)
        return
    if form == "json":
        print_json(frames, study.notices)
        return
    heading = ("metric", "cutoff", "queries", "unpaired")
    texts = [frame_table(_with_ranges(frames["leaderboard"]), BOARD, by=heading)]
    for name, shown in QUESTIONS.items():
        if name in frames:
            rows = frames[name].filter(pl.col("policy") == "expected")
            texts.append(frame_table(rows, shown, by=("metric", "cutoff")))
    click.echo("\n\n".join([*texts, *(visible(line) for line in study.notices)]))
    tell_written(files)


def _with_ranges(board: Any) -> Any:
    """Return ranks as text: "1", or "1 to 3"."""
    import polars as pl

    def ranks(name: str) -> Any:
        low, high = pl.col(f"{name}_rank_low"), pl.col(f"{name}_rank_high")
        return pl.when(low == high).then(low.cast(pl.String)).otherwise(pl.format("{} to {}", low, high))

    return board.with_columns(ranks_by_ties=ranks("tie"), ranks_by_queries=ranks("query"))

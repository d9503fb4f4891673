"""`leaderboard`: the ranks of models, how far to trust each, and other questions about many models."""

from __future__ import annotations

from typing import Any

from retrieval_report.cli.engines import study_of
from retrieval_report.cli.files import Data, Output, data_options, output_options
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import question_options, study_options
from retrieval_report.cli.streams import form_options
from retrieval_report.report.terminal import frame_table

BOARD = ("rank", "model", "value", "tie_std", "letters", "ranks_by_ties", "ranks_by_queries", "ci_low", "ci_high")
QUESTIONS = {  # frame of a study → columns that are shown
    "segments": ("segment", "queries", "winner", "value", "overall_winner", "overall_value", "segments_p", "verdict"),
    "no_worse": ("model", "value", "difference", "bound_low", "margin", "verdict", "detectable", "queries_needed"),
    "costs": ("model", "cost", "amount", "value", "tie_std", "front", "beaten_by"),
}


@cli.command(short_help="Rank the models, and say how far to trust each rank.")
@data_options
@study_options
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

    from retrieval_report.analysis.leaderboard import rank_range

    output.check([*data.paths, costs], *(f"{name}.csv" for name in ("leaderboard", *QUESTIONS)))
    study = study_of(data, settings, costs)
    frames = {"leaderboard": study.board, **{name: getattr(study, name) for name in QUESTIONS}}
    frames = {name: frame for name, frame in frames.items() if frame.width}
    heading = ("metric", "cutoff", "queries", "unpaired")
    board = study.board.with_columns(
        ranks_by_ties=rank_range("tie", " to "), ranks_by_queries=rank_range("query", " to ")
    )
    texts = [frame_table(board, BOARD, by=heading)]
    for name, shown in QUESTIONS.items():
        if name in frames:
            rows = frames[name].filter(pl.col("policy") == "expected")
            texts.append(frame_table(rows, shown, by=("metric", "cutoff")))
    output.show(frames, "\n\n".join(texts), form=form, latex=study.to_latex, notices=lambda: study.notices)

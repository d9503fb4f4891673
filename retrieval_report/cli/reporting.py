"""`report` and `leaderboard`: all questions about the
models of the rankings, on one page or in the terminal.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import retrieval_report as rr
from retrieval_report.cli.engines import study_of
from retrieval_report.cli.files import (
    EXIT_CODES,
    FILES,
    IF_WRONG,
    InputFiles,
    Output,
    data_options,
    end_by_health,
    health_text,
    latex_option,
    output_options,
)
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import (
    at_least_option,
    explained,
    k_option,
    labels_option,
    question_options,
    study_options,
)
from retrieval_report.contracts.steps import step
from retrieval_report.reading.sources import base_name
from retrieval_report.study.caveats import model_text, uneven_lengths
from retrieval_report.study.terminal import frame_table, visible
from retrieval_report.writing.names import with_number

if TYPE_CHECKING:
    import polars as pl

    from retrieval_report.study.study import Study

PAIRS = 40  # printed at most, if there are more, unless --all is given

HIGHER_LEVEL_FRAMES = [
    "replicates",
    "replicate_pairs",
    "datasets",
    "dataset_scores",
]  # what ranks other than runs
OPTIONAL_FRAMES = ["segments", "no_worse", "costs"]
MAX_SCALES = 10  # models whose grades are printed
SCALE = "model grades value could_gain coarser_grades scale_gain"


@cli.command(epilog=EXIT_CODES)
@data_options(*FILES)
@study_options
@question_options
@labels_option
@k_option
@click.option(
    "--calibrate",
    metavar="METRIC",
    help="Choose a distance up to which items are matches, by precision, recall, f1, npv or "
    "accuracy.",
)
@at_least_option
@click.option(
    "--title", help="Heading of the page; by default the data, the models, the queries, the date."
)
@click.option(
    "--formats", default="html,csv", help="Any of html, csv, parquet, json, markdown, latex."
)
@output_options("the report", shown=False, default="report")
def report(
    data: InputFiles,
    output: Output,
    formats: str,
    title: str | None,
    **settings: Any,
) -> None:
    """Write a report on RANKINGS: one page that needs no network, and its numbers as files.

    The page says who wins by the first measure, whether that depends on tie order, and how far off
    naive scores are.
    """
    from retrieval_report.study.by_cutoff import cutoffs_sentence
    from retrieval_report.study.leaderboard_rows import leaderboard_table
    from retrieval_report.study.three_tables import three_table
    from retrieval_report.study.write import report_names

    paths = *data.paths, settings["costs"], settings["labels"]
    folder = output.check(paths, *report_names())
    assert folder is not None  # there is a default
    study = study_of(data, settings)
    words = shlex.join(["retrieval-report", *map(_relative, sys.argv[1:])])
    contents = study.contents(title=_title(data, study) if title is None else title, command=words)
    kinds = [part.strip() for part in formats.split(",")]
    files = step(
        "written",
        lambda: rr.write_report(folder, contents, formats=kinds, raw=output.raw),
    )
    depths = cutoffs_sentence(contents.by_cutoff)
    lines = *contents.verdict, depths, *contents.printed, *contents.notices
    click.echo(health_text(contents.health, *lines))
    tables = three_table(study), leaderboard_table(study, contents.leaderboard)
    click.echo("\n" + "\n\n".join(filter(None, tables)))
    first = ": open report.html first" if "html" in kinds else ""
    click.echo(f"\nWrote {with_number(len(files), 'file')} to {visible(str(folder))}{first}.")
    end_by_health(contents.health)


def _title(data: InputFiles, study: Study) -> str:
    """Return the default heading: the data, the models, the queries, and today's date, or that of
    SOURCE_DATE_EPOCH, by which builds are repeated.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = int(epoch) if epoch.isdecimal() else time.time()
    names = [base_name(Path(name)) for name in data.rankings if name != "-"]
    if len(names) > 1:  # files are not named anywhere else on the page
        first, *others = map(model_text, study.model_names)
        names = [f"{first} and {len(others)} more" if others else first]
    return ", ".join([*names, study.size, time.strftime("%Y-%m-%d", time.gmtime(now))])


def _relative(word: str) -> str:
    """Return a word of the command for the report, where paths are relative, since the report may
    be passed on.
    """
    option, equals, value = word.rpartition("=") if word.startswith("--") else ("", "", word)
    return f"{option}{equals}{os.path.relpath(value)}" if Path(value).is_absolute() else word


@cli.command(
    epilog=EXIT_CODES,
    columns=[
        *explained("board", "expected shuffled_range naive"),
        *explained("three_scores", "off_by expected_rank shuffled_rank naive_rank"),
        *explained("board", "answered tie_ranks query_ranks interval"),
        *explained("no_worse", "difference bound_low verdict queries_needed queries_if_observed"),
        *explained("grading_scale", "grades could_gain coarser_grades scale_gain"),
    ],
)
@data_options(*FILES)
@study_options
@question_options
@output_options(f"leaderboard.csv, one file for every other question {IF_WRONG}")
@latex_option
def leaderboard(data: InputFiles, output: Output, **settings: Any) -> None:
    """Rank the models of RANKINGS by the first measure, best first, and say who leads, and how far
    to trust each rank.

    The other measures are columns; files and --json rank the models by each of them.
    With --by, --margin and --costs: which segments have another winner, which models are no
    worse than a baseline, and which are worth their cost. With --labels-as-rankings: whether the
    scale of the grades is fine enough.
    """
    import polars as pl

    from retrieval_report.engines.check_scores import at_measure
    from retrieval_report.study.by_cutoff import sentence_by_cutoff
    from retrieval_report.study.leaderboard_rows import leaderboard_table
    from retrieval_report.study.terminal import frame_table
    from retrieval_report.study.three_tables import three_table
    from retrieval_report.ties.grading_scale import scale_sentence

    names = [
        "leaderboard",
        *("three_scores", "winners"),
        *HIGHER_LEVEL_FRAMES,
        *OPTIONAL_FRAMES,
        *(["grading_scale"] * data.labels_as_rankings),
    ]
    output.check([*data.paths, settings["costs"]], *(f"{name}.csv" for name in ["health", *names]))
    study = study_of(data, settings)
    old = ["health", *names]
    if settings["margin"] is None:
        names.remove("no_worse")
    frames = {name: frame for name in names if (frame := getattr(study, name)).width}
    texts = []
    if not (output.as_json or output.latex):
        texts = [health_text(study.health, *study.sentences, sentence_by_cutoff(study))]
        texts += filter(None, [three_table(study)])
    texts += question_tables(study, [name for name in HIGHER_LEVEL_FRAMES if name in frames])
    texts.append(leaderboard_table(study, study.leaderboard))
    texts += uneven_lengths(study.under("expected").scores, study.measures[1:])
    texts += question_tables(study, [name for name in OPTIONAL_FRAMES if name in frames])
    if (scale := frames.get("grading_scale")) is not None:
        at_headline = scale.filter(at_measure(*study.measures[0]))
        board = study.leaderboard.filter(at_measure(*study.measures[0]), pl.col("rank").is_null())
        unranked = pl.col("model").replace(study.of_run).is_in(board["model"].to_list())
        best = at_headline.sort(unranked, -pl.col("value"), nulls_last=True).head(MAX_SCALES)
        texts.append(scale_sentence(scale.remove(unranked), study.metric, study.cutoff))
        texts.append(frame_table(best, SCALE, by="metric cutoff"))
        if best.height < scale.height:
            texts.append("The grades of all models, by every measure, are in the files of --out.")
    output.show(
        frames,
        *texts,
        health=study.health,
        latex=study.to_latex,
        notices=lambda: study.notices,
        instead=old,
    )


def telling_pairs(study: Study, pairs: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return of many pairs, which begin with the best, those to print, and a line that counts them:
    neighbours in rank, what else tie order or missing items leave open, and the leader's, in this
    order while there is room; of models with the same lists, one.
    """
    import polars as pl

    from retrieval_report.comparison.identical import without_copies
    from retrieval_report.comparison.verdicts import CUT, DEPENDS
    from retrieval_report.engines.check_scores import MEASURE_NAME

    if pairs.height <= PAIRS:
        return pairs, ""
    first = pl.first("model_a").over("measure")
    near = pl.struct("measure", "model_a").is_first_distinct()
    unsure = pl.col("verdict").is_in([CUT, DEPENDS])
    kinds = [near & unsure, near, unsure, pl.col("model_a") == first]
    printed = (
        without_copies(pairs, study.identical)
        .filter(pl.any_horizontal(kinds))
        .sort("measure", *(~kind for kind in kinds), maintain_order=True)
    ).head(PAIRS)
    doubtful = [rows.filter(unsure).height for rows in (printed, pairs)]
    left_out = pairs.join(printed, on="measure", how="anti").unique("measure", maintain_order=True)
    measures = left_out.select(MEASURE_NAME).to_series()
    none = f", and none by {', '.join(measures)}" if len(measures) else ""
    cut = " or missing items" if CUT in pairs["verdict"] else ""
    decides, others = ", none of which tie order may decide", ""
    if doubtful[1]:
        decides = f", and {doubtful[0]} of the {doubtful[1]} that tie order{cut} may decide"
        others = " then others of these,"
    return printed, (
        f"{printed.height} of {pairs.height} pairs are printed{decides}: neighbours "
        f"in rank,{others} then the leader against each, as far as there is "
        f"room{none}; --all prints all."
    )


def question_tables(study: Study, names: Sequence[str]) -> list[str]:
    """Return the tables of some questions at the headline measure as text, in this order."""
    from retrieval_report.engines.check_scores import at_measure
    from retrieval_report.study.questions import QUESTIONS
    from retrieval_report.study.tables import queries_to_decide

    columns = {question.name: question.columns.replace("measure ", "") for question in QUESTIONS}
    texts = []
    for name in names:
        rows = getattr(study, name).filter(at_measure(*study.measures[0]))
        if "policy" in rows.columns:
            rows = rows.filter(policy="expected")
        if name == "no_worse":
            rows = rows.with_columns(queries_to_decide())
        texts.append(frame_table(rows, columns[name], by="metric cutoff"))
    return texts

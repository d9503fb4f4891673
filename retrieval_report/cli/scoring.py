"""`evaluate` and `demo`: compute scores and their summary."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import click

import retrieval_report as rr
from retrieval_report.cli.engines import Task, in_memory, on_disk, on_spark
from retrieval_report.cli.files import (
    READING,
    Data,
    Output,
    data_options,
    output_options,
    tell_written,
)
from retrieval_report.cli.group import EXAMPLES, cli
from retrieval_report.cli.settings import average_option, like_option, options, settled
from retrieval_report.cli.streams import json_option, print_json
from retrieval_report.cli.wording import option
from retrieval_report.study.samples import SAMPLES, Sample, sample_folder
from retrieval_report.study.terminal import visible
from retrieval_report.writing.files import check_writable_folder, made

ENGINES = {"memory": in_memory, "disk": on_disk, "spark": on_spark}


@cli.command(epilog=EXAMPLES)
@data_options()
@options()
@like_option
@average_option
@click.option(
    "--engine",
    type=click.Choice(list(ENGINES)),
    default="memory",
    help="'disk' scores Parquet larger than memory part by part, and writes scores.parquet; "
    "'spark' scores it on a "
    "cluster, and writes a folder named scores.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="For disk: keep finished parts beside the results until these are written, and continue "
    "from there if an "
    "earlier run was interrupted.",
)
@click.option(
    "--master",
    metavar="URL",
    help="For Spark: local[4], yarn, spark://…, sc://…; default: this machine.",
)
@output_options("scores.csv and summary.csv")
@json_option
def evaluate(
    data: Data,
    output: Output,
    average: str,
    engine: str,
    master: str | None,
    resume: bool,
    **settings: Any,
) -> None:
    """Score RANKINGS: files, folders or patterns (CSV, TSV, Parquet, Arrow, NDJSON, TREC runs).

    The table shows the mean over queries for each model: in the order of the file (naive), expected
    over all orders of tied items with its standard deviation, and the lowest and highest that any
    order can give.
    """
    reading = [name for name in READING if getattr(data, name) not in (None, "keep")]
    if engine == "spark" and reading:
        raise click.UsageError(
            f"{option(reading[0])} does not work with --engine spark: rename the columns of the files"
        )
    if engine != "memory" and data.group is not None:
        raise click.UsageError(f"--group is for --engine memory, not for --engine {engine}")
    settings = settled(settings)
    if "like" in settings and engine != "memory":
        raise click.UsageError(f"--like is for --engine memory, not for --engine {engine}")
    if master is not None and engine != "spark":
        raise click.UsageError(f"--master is for --engine spark, not for --engine {engine}")
    if resume and (engine != "disk" or output.out is None):
        raise click.UsageError("--resume needs --engine disk and --out")
    task = Task(data, output, average, settings, master or "local[*]", resume)
    # Files are written first, so that a reader that closes the pipe early, such as `head`, does not
    # lose them.
    summary, files, notes = ENGINES[engine](task)
    from retrieval_report.study.caveats import notices
    from retrieval_report.study.terminal import summary_table

    if output.as_json:
        print_json({"summary": summary}, [*notices(summary), *notes])
        return
    click.echo("\n\n".join([summary_table(summary), *notices(summary), *notes]))
    tell_written(files)


@cli.command()
@click.option(
    "-o",
    "--out",
    metavar="FOLDER",
    help="Write a report on each sample here: a page, and its numbers as CSV.",
)
def demo(out: str | None) -> None:
    """Say who wins in the two samples that come with the package: digit images and Python's
    docstrings.
    """
    folder = None if out is None else check_writable_folder(out)
    for number, sample in enumerate(SAMPLES):
        lines = _sample_verdict(sample, folder)
        click.echo(
            "\n".join(["", sample.title, "", *lines] if number else [sample.title, "", *lines])
        )
    click.echo(
        "\nTry next, on one of the samples or on your own files:\n  "
        f"{_next_command(sample_folder())}"
    )


def _sample_verdict(sample: Sample, folder: Path | None) -> list[str]:
    """Return the verdict on a sample, and the page of its report, which is written into the folder
    if there is one.
    """
    study = rr.Study(**Data(**sample.files).read(), truncated=sample.truncated)
    lines = [visible(sentence) for sentence in study.verdict]
    if folder is None:
        return lines
    contents = study.contents(title=sample.title, command=f"retrieval-report demo --out {folder}")
    with made(folder):
        rr.write_report(folder / sample.name, contents)
    return [*lines, f"The report: {folder / sample.name / 'report.html'}"]


def _next_command(data: Path) -> str:
    # As it can be typed here: even if the environment is not active, and with short paths if
    # possible.
    program = "retrieval-report"
    if Path(sys.argv[0]).name == program and shutil.which(program) is None:
        program = sys.argv[0]
    if data.is_relative_to(Path.cwd()):
        data = data.relative_to(Path.cwd())
    words = [
        program,
        "evaluate",
        str(data / "docs/runs"),
        "--judgements",
        str(data / "docs/qrels.txt"),
    ]
    return shlex.join(
        [*words, "--truncated", SAMPLES[-1].truncated, "--metrics", "ap,err", "--cutoffs", "5,all"]
    )

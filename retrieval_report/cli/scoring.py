"""`evaluate` and `demo`: compute scores and their summary."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import retrieval_report as rr
from retrieval_report.cli.engines import Scored, in_memory, on_disk, on_spark
from retrieval_report.cli.files import (
    EXIT_CODES,
    IF_WRONG,
    READING,
    InputFiles,
    Output,
    data_options,
    health_text,
    output_options,
)
from retrieval_report.cli.group import EXAMPLES, cli, option, speaker
from retrieval_report.cli.settings import (
    average_option,
    check,
    like_option,
    options,
    settled,
    was_given,
)
from retrieval_report.contracts.steps import listening
from retrieval_report.study.samples import SAMPLES, Sample, sample_folder
from retrieval_report.study.terminal import visible
from retrieval_report.writing.files import check_writable_folder

ENGINES: dict[str, Callable[..., Scored]] = {
    "memory": in_memory,
    "disk": on_disk,
    "spark": on_spark,
}
SHOWN_MODELS = 5  # of a sample: the table of all is in its report
# The options of an engine that not all others have.
ONLY = {
    "memory": {"group", "like", "labels_as_rankings", *READING},
    "disk": {"resume", *READING},
    "spark": {"master"},
}


@cli.command(epilog=f"{EXIT_CODES}\n{EXAMPLES}")
@data_options()
@options()
@like_option
@average_option
@click.option(
    "--engine",
    type=click.Choice(list(ENGINES)),
    default="memory",
    help="'disk' scores Parquet larger than memory part by part, and writes scores.parquet; "
    "'spark' scores it on a cluster, and writes a folder named scores.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="For disk: keep finished parts beside the results until these are written. If a run was "
    "interrupted, the same command continues after the last finished part.",
)
@click.option(
    "--master",
    metavar="URL",
    default="local[*]",
    help="For Spark: local[4], yarn, spark://…, sc://…",
)
@output_options(f"scores.csv, summary.csv {IF_WRONG}")
def evaluate(
    data: InputFiles,
    output: Output,
    average: str,
    engine: str,
    master: str,
    resume: bool,
    **settings: Any,
) -> None:
    """Score RANKINGS: files, folders or patterns (TREC runs, CSV, TSV, Parquet,
    Arrow, JSON, NDJSON).

    For each model, the table shows the mean over queries: over all orders of the tied items, with
    its standard deviation (expected), over random orders (shuffled), in the order of the file
    (naive), and the lowest and highest mean that any order can give, whatever items cut lists lack.
    """
    foreign_options = set[str]().union(*ONLY.values()) - ONLY[engine]
    refused = sorted(name for name in foreign_options if was_given(name))
    if refused:
        raise click.UsageError(f"{option(refused[0])} does not work with --engine {engine}")
    if resume and output.out is None:
        raise click.UsageError("--resume needs --out")
    settings = settled(settings, data.labels_as_rankings)
    check(**settings)
    # Files are written first, so that a reader that closes the pipe early, such as `head`, does not
    # lose them.
    summary, files, health, notes = ENGINES[engine](
        data, output, average, settings, master=master, resume=resume
    )
    from retrieval_report.study.caveats import notices
    from retrieval_report.study.terminal import summary_table

    output.show(
        {"summary": summary},
        health_text(health),
        summary_table(summary),
        health=health,
        files=files,
        notices=lambda: [*notices(summary), *notes],
    )


@cli.command(context_settings={"allow_extra_args": True})
@click.option(
    "-o",
    "--out",
    metavar="FOLDER",
    help="Write a report on each sample here: a page, and its numbers as CSV.",
)
@click.pass_context
def demo(context: click.Context, out: str | None) -> None:
    """Show who wins in the two samples of the package: digit images and Python's docstrings."""
    if context.args:
        raise click.UsageError(
            f"demo reads no file; to write into a folder, --out {context.args[0]}"
        )
    folder = None if out is None else check_writable_folder(out)
    for sample in SAMPLES:
        with listening(speaker()):  # steps are said again of every sample
            click.echo("\n".join([sample.title, "", *_sample_verdict(sample, folder), ""]))
    if folder is not None:
        pages = (f"  {folder / sample.name / 'report.html'}" for sample in SAMPLES)
        click.echo("\n".join(["Open the report on each sample:", *pages]))
    docs = sample_folder() / "docs"
    words = ("retrieval-report", "report", docs / "runs", "--judgements", docs / "qrels.txt")
    click.echo("For your own, put your files in place of these runs and judgements:")
    click.echo(f"  {shlex.join(map(str, words))}")


def _sample_verdict(sample: Sample, folder: Path | None) -> list[str]:
    """Return the verdict on a sample and its three scores; a report on it is written into the
    folder if there is one.
    """
    from retrieval_report.reading.readers import read_costs
    from retrieval_report.study.three_tables import three_table

    study = rr.Study(
        **InputFiles(**sample.files).read(),
        truncated=sample.truncated,
        costs=sample.costs and read_costs(str(sample_folder() / sample.costs)),
        **sample.decision,
    )
    lines = [visible(sentence) for sentence in study.verdict]
    scores = ["", three_table(study, SHOWN_MODELS)]
    if folder is None:
        return [*lines, *scores]
    contents = study.contents(title=sample.title, command=f"retrieval-report demo --out {folder}")
    folder.mkdir(exist_ok=True)
    rr.write_report(folder / sample.name, contents)
    return [*lines, *map(visible, contents.printed), *scores]

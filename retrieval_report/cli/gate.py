"""`gate`: a command for continuous integration, which answers by its exit code."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import retrieval_report as rr
from retrieval_report.cli.files import DASH, FILES, STUDIED, InputFiles, data_options
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import MEASURES, cluster_option, options, setting, settled
from retrieval_report.comparison.gate import ROLES
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import OutputError
from retrieval_report.contracts.options import RULES
from retrieval_report.contracts.steps import step
from retrieval_report.contracts.warning import warn
from retrieval_report.reading.sources import base_name
from retrieval_report.study.terminal import visible
from retrieval_report.writing.files import refuse_inputs, write_files

EXITS = """\b
Exit codes:
  0  passed: the candidate loses less than the margin
  1  failed: it loses more than the margin
  2  bad input: nothing was tested
  3  not decided: too few queries, cut lists, relevant items not known, or a
     margin so large that nothing could fail
"""


@cli.command(epilog=EXITS)
@click.argument("baseline")
@click.argument("candidate")
@data_options(*(name for name in FILES if name not in ("rankings", STUDIED)))
@click.option(
    *MEASURES,
    "measures",
    required=True,
    help="One metric with its cutoff, such as ndcg@10.",
)
@click.option(
    "--margin",
    required=True,
    help="The largest loss that does not matter, such as 0.005, or '1 %' of the baseline.",
)
@click.option(
    "--tie-order",
    type=click.Choice(["expected", "worst"]),
    default="expected",
    help="'worst' compares the candidate's worst tie order with the baseline's best.",
)
@click.option(
    "--alpha",
    type=float,
    default=0.05,
    help="Largest probability of passing falsely, and of failing falsely, in one run of the gate.",
)
@click.option(
    "--largest-loss",
    type=float,
    help="The largest loss that one query can have, by default that of the measure (1 for ndcg).",
)
@cluster_option
@options(*(name for name in RULES if name != "missing_query"))
@setting(
    "missing_query",
    default="error",
    help="How to treat judged queries without a list from either run, or from one of them.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the numbers as JSON instead of a sentence."
)
@click.option("--junit", metavar="FILE", help="Write a test report that CI systems can display.")
@click.option("--markdown", metavar="FILE", help="Write a table for a comment or a job summary.")
def gate(
    baseline: str,
    candidate: str,
    data: InputFiles,
    as_json: bool,
    junit: str | None,
    markdown: str | None,
    **settings: Any,
) -> None:
    """Decide whether CANDIDATE may replace BASELINE, that is, loses less than a margin.

    It tests over the queries whether the loss is below the margin, and whether it is above. The
    lower end of the interval allows for rare large losses, so it may lie much farther from the
    difference than the upper end. Runs with the same lists pass without a test, unless the lists
    are cut and missing items could differ, or the worst tie order decides. Runs of different
    queries (unless --missing-query says what they count as), empty runs, runs of several models,
    and judgements that match neither run are refused. Where more than 5% of the queries are
    missing, nothing is tested. If the gate runs every night, a bad candidate passes some night by
    chance: decide on one run, before a release.
    """  # fmt: skip
    from retrieval_report.reading.readers import read_each
    from retrieval_report.study.junit import junit_xml, markdown_summary

    summary_files = {junit: junit_xml, markdown: markdown_summary}
    if DASH in summary_files:
        raise OutputError(f"cannot write to '{DASH}': --junit and --markdown must name files")
    texts = {Path(path): text for path, text in summary_files.items() if path}
    files = baseline, candidate
    refuse_inputs(texts, [Path(path) for path in (*files, *data.paths) if path])
    if junit and markdown and len({*map(Path.resolve, texts)}) < 2:
        raise OutputError(
            f"cannot write to '{markdown}' twice: --junit and --markdown must be different files"
        )
    shared_frames = {"queries": data.read_queries(), "judgements": data.read_judgements()}
    how: Named = {"columns": data.columns, "name_by": data.name_by, "max_bytes": data.max_bytes}
    if data.labels_as_rankings:
        runs = [rr.from_labels(file, negative=data.negative) for file in files]
    else:
        runs = step("read", lambda: read_each(files, **how))
    runs = [*map(data.collapsed, runs)]
    models = [
        run["model"][0] if run["model"].n_unique() == 1 else file
        for run, file in zip(runs, files, strict=True)
    ]
    names = shown = files
    if Path(baseline).resolve() == Path(candidate).resolve():
        warn(f"{candidate}: baseline and candidate are the same file")
        names = shown = ROLES
    elif models[0] != models[1]:  # errors name the file too, for a name that may say little of it
        names = _with_file(models[0], baseline), _with_file(models[1], candidate)
        shown = models[0], models[1]
    settings = settled(settings, data.labels_as_rankings)
    result = step(
        "gate", lambda: rr.gate(runs[0], runs[1], **shared_frames, names=names, **settings)
    )
    result = replace(result, baseline=shown[0], candidate=shown[1])
    write_files({path: text(result).encode() for path, text in texts.items()})
    click.echo(json.dumps(result.as_dict()) if as_json else visible(result.line()))
    click.get_current_context().exit(result.exit_code)


def _with_file(model: str, file: str) -> str:
    """Return a model's name, with its file where that is named otherwise.

    >>> _with_file("bm25", "runs/bm25.run.gz"), _with_file("bm25", "half.run")
    ('bm25', 'bm25 (half.run)')
    """
    return model if base_name(Path(file)) == model else f"{model} ({file})"

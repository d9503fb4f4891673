"""The command `retrieval-report`: arguments in, tables and CSV out, exit code 2 on bad input.

What computes is imported inside the commands, so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import io
import shlex
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from retrieval_report.errors import RetrievalReportError
from retrieval_report.output import check_writable_folder, csv_bytes, write_files
from retrieval_report.samples import SAMPLES, sample_folder
from retrieval_report.terminal import summary_table, visible

if TYPE_CHECKING:
    import polars as pl

__all__ = ["cli", "main"]

# The arbitrary order others print, the exact mean, and the bounds of what any order can print.
POLICIES = ("naive", "expected", "worst", "best")

Command = TypeVar("Command", bound=Callable[..., Any])

EXAMPLES = """\b
Examples:
  retrieval-report demo
  retrieval-report evaluate runs/*.csv --metrics ap,ndcg@10 --cutoffs 1,10,all
  retrieval-report evaluate bm25.run lsa.run --judgements qrels.txt --out report
  retrieval-report evaluate hits.parquet --columns query=q_id,score=similarity
"""


def main() -> NoReturn:
    """Run the command line; the entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        # Tables hold ± and names hold anything: the locale must not decide whether they can be printed.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # As an exception, a request to end removes half-written files on its way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    cli(prog_name="retrieval-report")
    raise AssertionError("click ends the process")  # pragma: no cover


class _BadInput(click.ClickException):
    exit_code = 2


class _Commands(click.Group):
    """A group whose commands end in one plain message, not a traceback, when the input is at fault."""

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except RetrievalReportError as error:
                raise _BadInput(_visible_lines(str(error))) from error
            except KeyboardInterrupt:
                click.echo("Interrupted; nothing was written by half.", err=True)
                ctx.exit(128 + signal.SIGINT)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"Warning: {_visible_lines(str(message))}", err=True)


def _visible_lines(text: str) -> str:
    return "\n".join(visible(line) for line in text.splitlines())


@click.group(cls=_Commands, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="retrieval-report", message="%(prog)s %(version)s")
def cli() -> None:
    """Exact scores for rankings whose distances tie, and how far tie order could move them."""


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _names(_context: click.Context, _option: click.Parameter, text: str) -> list[str]:
    return _split(text)


def _metrics(_context: click.Context, _option: click.Parameter, text: str) -> list[str]:
    from retrieval_report.parsing import split_metrics

    return split_metrics(text)


def _cutoffs(_context: click.Context, _option: click.Parameter, text: str) -> list[int | str]:
    """Whole numbers as numbers; what is none stays text, for `evaluate` to accept ("all") or to refuse."""
    cutoffs: list[int | str] = []
    for part in _split(text):
        try:
            cutoffs.append(int(part))
        except ValueError:
            cutoffs.append(part)
    return cutoffs


def _columns(_context: click.Context, _option: click.Parameter, text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    columns: dict[str, str] = {}
    for part in _split(text):
        name, equals, column = (piece.strip() for piece in part.partition("="))
        if not (name and equals and column):
            raise click.BadParameter(f"'{part}' is not of the form name=column, such as query=q_id")
        if name in columns:
            raise click.BadParameter(f"'{name}' is given twice")
        columns[name] = column
    return columns


# Names and values are those of `evaluate`, so that both say the same thing.
SETTINGS = [
    click.option("--metrics", default="precision,recall,ap,rr,ndcg", show_default=True, callback=_metrics,
                 help="By name, with parameters and a cutoff of their own if wanted: ap(denominator=k)@10."),
    click.option("--cutoffs", default="1,5,10,all", show_default=True, callback=_cutoffs,
                 help="Depths for the metrics that name none; 'all' is the whole list."),
    click.option("--policies", default=",".join(POLICIES), show_default=True, callback=_names,
                 help="What to do with the order inside ties: naive, expected, shuffled, worst, best."),
    click.option("--shuffles", type=int, default=100, show_default=True,
                 help="Random orders that policy 'shuffled' draws."),
    click.option("--seed", type=int, default=0, show_default=True, help="Where those random orders start."),
    click.option("--no-relevant", type=click.Choice(["zero", "skip", "one", "error"]), default="zero",
                 show_default=True, help="Queries without a relevant item."),
    click.option("--missing-query", type=click.Choice(["zero", "skip", "error"]), default="zero",
                 show_default=True, help="Judged queries that a model did not answer."),
    click.option("--unjudged", type=click.Choice(["non_relevant", "drop", "error"]),
                 help="Retrieved items that nobody judged."),
    click.option("--unjudged-query", type=click.Choice(["error", "skip"]), default="error",
                 show_default=True, help="Queries without judgements."),
    click.option("--null-distance", type=click.Choice(["error", "not_retrieved"]), default="error",
                 show_default=True, help="Rows whose distance is empty."),
    click.option("--relevant-from", type=float, help="Smallest relevance that counts as relevant."),
    click.option("--distance-threshold", type=float, help="Items farther than this count as not relevant."),
    click.option("--decimals", type=int, help="Round distances to this many decimals first."),
    click.option("--naive-order", type=click.Choice(["row", "item", "item_descending"]), default="row",
                 show_default=True, help="The one order that policy 'naive' takes inside ties."),
]  # fmt: skip


def _evaluation_settings(command: Command) -> Command:
    for option in reversed(SETTINGS):
        command = option(command)
    return command


@cli.command(epilog=EXAMPLES)
@click.argument("rankings", nargs=-1, required=True)
@click.option("--judgements", metavar="FILE", help="Relevance per query and item, such as TREC qrels.")
@click.option("--queries", metavar="FILE", help="One row per query: label, weight or n_relevant.")
@click.option(
    "--columns", callback=_columns, metavar="NAME=COLUMN,…", help="Columns of RANKINGS: query=q_id,score=sim."
)
@_evaluation_settings
@click.option(
    "--average",
    type=click.Choice(["micro", "macro", "weighted"]),
    default="micro",
    show_default=True,
    help="Mean over queries, over labels, or by query weight.",
)
@click.option("--out", metavar="FOLDER", help="Write scores.csv and summary.csv here.")
@click.option("--raw", is_flag=True, help="Do not defuse CSV text that a spreadsheet would run as a formula.")
def evaluate(
    rankings: tuple[str, ...],
    judgements: str | None,
    queries: str | None,
    columns: dict[str, str] | None,
    average: str,
    out: str | None,
    raw: bool,
    **settings: Any,
) -> None:
    """Score RANKINGS: files, folders or patterns (CSV, TSV, Parquet, Arrow, NDJSON, TREC runs).

    The table shows, per model, the mean over queries: in the order of the file (naive), expected over all
    orders of tied items with its standard deviation, and the lowest and highest that any order can give.
    """
    folder = None if out is None else check_writable_folder(out)
    scores, summary = _score(rankings, judgements, queries, columns=columns, average=average, **settings)
    files = {} if folder is None else _csv_files(folder, scores, summary, raw=raw)
    # The files come first: a reader that closes the pipe early, such as `head`, does not lose them.
    write_files(files)
    click.echo(summary_table(summary))
    _tell_written(files)


@cli.command()
@click.option("--out", metavar="FOLDER", help="Write scores.csv and summary.csv of each sample here.")
def demo(out: str | None) -> None:
    """Score the two samples that come with the package: digit images and Python's docstrings."""
    folder = None if out is None else check_writable_folder(out)
    data = sample_folder()
    files: dict[Path, bytes] = {}
    tables = []
    for sample in SAMPLES:
        judgements, queries = (name and str(data / name) for name in (sample.judgements, sample.queries))
        scores, summary = _score(
            [str(data / sample.rankings)], judgements, queries, metrics=sample.metrics, policies=POLICIES
        )
        tables.append(f"{sample.title}\n\n{summary_table(summary)}")
        if folder is not None:
            files |= _csv_files(folder / sample.name, scores, summary)
    write_files(files)
    click.echo("\n\n\n".join(tables))
    _tell_written(files)
    click.echo(f"\nTry next, on one of the samples or on your own files:\n  {_next_command(data)}")


def _score(
    rankings: Sequence[str],
    judgements: str | None,
    queries: str | None,
    *,
    columns: dict[str, str] | None = None,
    average: str = "micro",
    **settings: Any,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read, evaluate and summarise; progress is shown to a person only."""
    import retrieval_report as rr

    _check(**settings)
    query_frame = None if queries is None else rr.read_queries(queries)
    scores = rr.evaluate(
        rr.read_rankings(list(rankings), columns=columns),
        judgements=None if judgements is None else rr.read_judgements(judgements),
        queries=query_frame,
        progress=sys.stderr is not None and sys.stderr.isatty(),
        **settings,
    )
    return scores, rr.summarise(scores, queries=query_frame, average=average)


def _check(*, metrics: Sequence[str], cutoffs: Sequence[int | str] = ("all",), **options: Any) -> None:
    """Refuse bad arguments before the time it takes to read the files."""
    from retrieval_report.options import Options
    from retrieval_report.parsing import parse_metrics

    parse_metrics(metrics, cutoffs)
    Options(**options)


def _csv_files(folder: Path, scores: pl.DataFrame, summary: pl.DataFrame, *, raw: bool = False) -> dict[Path, bytes]:
    return {
        folder / "scores.csv": csv_bytes(scores, raw=raw),
        folder / "summary.csv": csv_bytes(summary, raw=raw),
    }


def _tell_written(files: Mapping[Path, bytes]) -> None:
    if files:
        click.echo("\n".join(["", *(f"Wrote {visible(str(path))}" for path in files)]))


def _next_command(data: Path) -> str:
    # As it can be typed here: from an environment that is not active, and with short paths where possible.
    program = "retrieval-report"
    if Path(sys.argv[0]).name == program and shutil.which(program) is None:
        program = sys.argv[0]
    if data.is_relative_to(Path.cwd()):
        data = data.relative_to(Path.cwd())
    words = [program, "evaluate", str(data / "docs/runs"), "--judgements", str(data / "docs/qrels.txt")]
    return shlex.join([*words, "--metrics", "ap,err", "--cutoffs", "5,all"])

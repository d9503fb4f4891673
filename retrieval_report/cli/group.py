"""The group of commands: how they start, and how they end on bad input."""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NoReturn

import click

from retrieval_report.cli.streams import without_scratch
from retrieval_report.cli.wording import in_options
from retrieval_report.contracts.errors import RetrievalReportError, RetrievalReportWarning
from retrieval_report.study.terminal import visible

EXAMPLES = """\b
Examples:
  retrieval-report demo
  retrieval-report evaluate runs/*.run --qrels qrels.txt --metrics ap,ndcg@10
  retrieval-report evaluate hits.parquet --columns query=q_id,score=similarity
"""
COMPLETION = """
\b
Completion of commands and options by bash (or zsh_source, fish_source):
  eval "$(_RETRIEVAL_REPORT_COMPLETE=bash_source retrieval-report)"
"""


def main() -> NoReturn:
    """Run the command line; the entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        # Tables contain ± and names anything; the locale must not decide whether they can be
        # printed.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # Raised as an exception, a request to end removes half-written files on its way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        cli(prog_name="retrieval-report")
    except OSError as error:
        if error.filename is not None:  # an error of printing names no file
            raise
        _leave_standard_output()
        with suppress(OSError):
            click.echo(f"Error: cannot write to standard output: {error.strerror}", err=True)
        sys.exit(_BadInput.exit_code)
    raise AssertionError("click ends the process")  # pragma: no cover


def _leave_standard_output() -> None:
    """Discard what could not be printed, or else Python would try again at exit and complain."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _BadInput(click.ClickException):
    exit_code = 2


class _Commands(click.Group):
    """A group whose commands end in one plain message, not a traceback, when the input is at
    fault.
    """

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: click.echo(
                f"Warning: {self._said(str(message), ctx)}", err=True
            )
            if sys.warnoptions:  # warnings of libraries must not end in a traceback either
                warnings.simplefilter("default")
            # These are never errors, whatever PYTHONWARNINGS says.
            warnings.simplefilter("default", RetrievalReportWarning)
            try:
                return super().invoke(ctx)
            except RetrievalReportError as error:
                # A note says, for example, in which part of a large input an error was found.
                raise _BadInput(
                    self._said(str(error), ctx, getattr(error, "__notes__", ()))
                ) from error
            except KeyboardInterrupt:
                click.echo("Interrupted; no file was left half-written.", err=True)
                ctx.exit(128 + signal.SIGINT)

    def _said(self, message: str, ctx: click.Context, notes: Iterable[str] = ()) -> str:
        """Return a message in the words of the command that was called, with notes below."""
        command = self.commands.get(ctx.invoked_subcommand or "")
        params = command.params if command else []
        names = {option.name or "" for option in params if isinstance(option, click.Option)}
        text = without_scratch("\n".join([in_options(message, names), *notes]), ctx)
        return "\n".join(visible(line) for line in text.splitlines())


@click.group(
    cls=_Commands,
    epilog=EXAMPLES + COMPLETION,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(package_name="retrieval-report", message="%(prog)s %(version)s")
def cli() -> None:
    """Score rankings with ties exactly, and say how far tie order matters."""

"""The group of commands: how they start, and how they end on bad input."""

from __future__ import annotations

import _thread
import errno
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from traceback import extract_tb
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from retrieval_report.contracts.errors import RetrievalReportError, RetrievalReportWarning
from retrieval_report.contracts.steps import Listener, listening
from retrieval_report.contracts.wording import Reader, either, speaking_to

EXAMPLES = """\b
Examples:
  retrieval-report demo
  retrieval-report evaluate runs/*.run --judgements qrels.txt --measures ap
  retrieval-report evaluate hits.parquet --columns query=q_id,score=similarity
"""
COMPLETION = """
\b
Completion of commands and options by bash (or zsh_source, fish_source):
  eval "$(_RETRIEVAL_REPORT_COMPLETE=bash_source retrieval-report)"
"""

# The module of every command, which is imported when the command is called, and its line of help.
COMMANDS = {
    "audit": ("analysis", "Show what other evaluators would print."),
    "codes": ("codes", "Score binary codes, without a distance matrix."),
    "compare": ("analysis", "Show for every pair of models whether its order depends on ties."),
    "dashboard": ("dashboard", "Look at the samples or your data in a browser."),
    "demo": ("scoring", "Compare the models of the two samples that come with the package."),
    "estimate": ("analysis", "Estimate means from few human judgements and many from a machine."),
    "evaluate": ("scoring", "Score rankings: expected, shuffled, naive, and bounds."),
    "gate": ("gate", "Decide whether a candidate may replace a baseline."),
    "history": ("analysis", "Follow a model over its versions, and mark real steps."),
    "knn": ("analysis", "Classify the queries by their nearest items."),
    "leaderboard": ("reporting", "Rank the models, and say how far to trust each rank."),
    "neighbours": ("codes", "Judge the nearest items by an exact search."),
    "profile": ("analysis", "Show how much the distances tie."),
    "report": ("reporting", "Write a page that opens without a network, and its numbers."),
    "similarity": ("analysis", "Show whether two runs differ in more than the order of ties."),
    "thresholds": ("analysis", "Choose the distance up to which items are accepted."),
}


def main() -> NoReturn:
    """Run the command line; the entry point of the console script."""
    if sys.stdout is None:  # closed: files are written, and whatever is printed is an error
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        # Tables contain ± and names anything; the locale must not decide whether they can be
        # printed.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # Raised as an exception, a request to end removes half-written files on its way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.unraisablehook = _end_again
    try:
        cli(prog_name="retrieval-report")
    except OSError as error:
        _end_unwritten(error)
    raise AssertionError("click ends the process")  # pragma: no cover


def _end_again(lost: sys.UnraisableHookArgs) -> None:
    """Repeat a request to end that came in a callback
    of compiled code, where no exception can leave.
    """
    numbers = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}
    if lost.exc_type in numbers:
        threading.Timer(0.1, _thread.interrupt_main, [numbers[lost.exc_type]]).start()
    else:
        sys.__unraisablehook__(lost)


def _end_unwritten(error: OSError) -> NoReturn:
    """End the process if the output cannot be written, as on a full disk; pass on other errors."""
    if extract_tb(error.__traceback__)[-1].name != click.echo.__name__:
        raise error
    reason = "it is closed" if error.errno == errno.EBADF else error.strerror
    with suppress(OSError):
        click.echo(f"Error: the output cannot be written: {reason}", err=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes the rest there
    sys.exit(_BadInput.exit_code)


WORK = {  # what a step does, in words; other answers are looked up
    "read": "Reading",
    **dict.fromkeys(("health", "_health"), "Checking the data"),
    **dict.fromkeys(("exact", "expected", "scored", "scores", "judged"), "Scoring"),
    "drawn": "Scoring random orders",
    **dict.fromkeys(("comparison", "flips"), "Comparing pairs"),
    "leaderboard": "Ranking the models",
    "margin_rows": "Testing losses against the margin",
    **dict.fromkeys(("summary", "replicates", "datasets"), "Averaging"),
    **dict.fromkeys(("_profiles", "profile", "hints", "truncation"), "Looking at ties"),
    "_exact_means": "Finding what random orders print",
    "identical": "Looking for copies",
    "deciding": "Finding the queries that decide",
    "audit": "Emulating other evaluators",
    "written": "Writing",
    "gate": "Testing losses",
    "similarity": "Comparing lists",
    "codes": "Scoring codes",
    "neighbours": "Judging neighbours",
    "parts": "Scoring parts",
    "thresholds": "Trying thresholds",
    "coverage": "Counting judged items",
}


def speaker() -> Listener:
    """Return what writes a line on standard error about each step that took more than a second,
    once, however often parts of the data repeat it.
    """
    said = set[str]()

    def say(name: Hashable, seconds: float) -> None:
        kind = str(name[0] if isinstance(name, tuple) else name)
        words = WORK.get(kind) or f"Computing {kind.strip('_').replace('_', ' ')}"
        if words not in said:
            said.add(words)
            click.echo(f"{words} … {seconds:.1f} s", err=True)

    return say


COLUMNS_OF = {  # a frame, and the argument that names its columns
    "rankings": "columns",
    "counts": "columns",
    "judgements": "judgement_columns",
    "queries": "query_columns",
}


class Terminal(Reader):
    """Whoever reads messages in a terminal, and types options of the command that was called.

    ``names`` are the options of arguments that have another name there, and ``options`` all options
    of a command that was called in another process.

    >>> with click.Context(click.Command("c", params=[click.Option(["--unjudged"])])):
    ...     Terminal().setting("unjudged", ("drop", "error"), "evaluate")
    ...     Terminal().setting("decimals", (), "") is None  # the command has no such option
    '--unjudged drop or error'
    True
    """

    def __init__(self, options: dict[str, str | None] | None = None, **names: str) -> None:
        self.options, self.names = options or {}, names

    def argument(self, name: str) -> str | None:
        """Return the option of an argument."""
        if name in self.options:
            return self.options[name]
        context = click.get_current_context(silent=True)
        full_name = self.names.get(name, name)
        if context and full_name == "columns" and context.params.get("labels_as_rankings"):
            return None  # they are not read as rankings
        for parameter in context.command.params if context else ():
            names = (parameter.name, *parameter.opts)
            is_option = isinstance(parameter, click.Option) and not parameter.hidden
            if is_option and {full_name, option(full_name)} & {*names}:
                return option(full_name) if option(full_name) in names else parameter.opts[0]
        return None

    def setting(self, name: str, values: tuple[object, ...], function: str) -> str | None:
        """Return the option with one of these values; of a flag it is alone."""
        typed = self.argument(name)
        texts = either([_typed(value) for value in values if value is not True])
        return f"{typed} {texts}".strip() if typed else None

    def column(self, name: str, what: str) -> str:
        """Return the column of a file that an option of the command names."""
        context = click.get_current_context(silent=True)
        named = context.params.get(COLUMNS_OF.get(what, "")) if context else None
        return str((named or {}).get(name, name))

    def portable(self) -> Reader:
        """Return a terminal that knows the options of this command, where there is no command."""
        context = click.get_current_context(silent=True)
        names = {*self.names}
        for parameter in context.command.params if context else ():
            names |= {str(parameter.name), *(name.lstrip("-") for name in parameter.opts)}
        return Terminal({name: self.argument(name) for name in names})


def _typed(value: object) -> str:
    """Return a value as it follows an option.

    >>> _typed({"query": "q_id", "item": "doc"}), _typed(0.5)
    ('query=q_id,item=doc', '0.5')
    """
    if isinstance(value, dict):
        return ",".join(
            f"{name}={'…' if argument is ... else argument}" for name, argument in value.items()
        )
    return "…" if value is ... else str(value)


def option(name: str) -> str:
    """Return the option of an argument."""
    return f"--{name.replace('_', '-')}"


# Under which heading help lists the options that several commands share; a command's own come first.
OTHER_RULES = "Ties and lists"  # the heading of all other rules
SECTIONS = {
    "Measures": "metrics measures cutoffs policies shuffles seed like average",
    "Files": "judgements queries columns name_by group judgement_columns query_columns judge labels "
    "labels_as_rankings max_bytes",
    "Relevance": "no_relevant relevant_from missing_query relevant_items unjudged unjudged_query "
    "negative repeated_judgements",
    OTHER_RULES: "naive_order",
    "Output": "out raw as_json latex",
}


class _BadInput(click.ClickException):
    exit_code = 2


class _Command(click.Command):
    """A command whose help explains columns of its table, and puts its many options under headings."""

    def __init__(self, *names: Any, columns: Sequence[tuple[str, str]] = (), **how: Any) -> None:
        super().__init__(*names, **how)
        self.columns = columns

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the columns, the options that only this command has, and then the others."""
        if self.columns:
            with formatter.section("Columns of the table"):
                formatter.write_dl(self.columns)
        from retrieval_report.contracts.options import RULES

        sections = dict.fromkeys(RULES, OTHER_RULES)
        sections |= {name: title for title, names in SECTIONS.items() for name in names.split()}
        by_section: dict[str, list[tuple[str, str]]] = {
            title: [] for title in ("Options", *SECTIONS)
        }
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                by_section[sections.get(str(parameter.name), "Options")].append(record)
        for title, records in by_section.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class _Commands(click.Group):
    """A group that imports a command when it is called, and ends it in one plain message, not a
    traceback, when the input is at fault.
    """

    command_class = _Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; a word that is none is told the nearest."""
        if cmd_name in COMMANDS:
            import_module(f"retrieval_report.cli.{COMMANDS[cmd_name][0]}")
        elif not ctx.resilient_parsing:
            from retrieval_report.contracts.checks import did_you_mean

            ctx.fail(f"No such command {cmd_name!r}{did_you_mean(cmd_name, COMMANDS)}")
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line on every command, without importing it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what the shell may offer, without importing it."""
        commands = [
            CompletionItem(name, help=line)
            for name, (_, line) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> object:
        with warnings.catch_warnings():
            shown = set[str]()

            def show(message: object, *_: object, **__: object) -> None:
                text = f"Warning: {_visible([str(message)])}"
                if text not in shown:  # steps of one command may find the same
                    click.echo(text, err=True)
                shown.add(text)

            warnings.showwarning = show
            # These are never errors, whatever PYTHONWARNINGS says.
            warnings.simplefilter("default", RetrievalReportWarning)
            try:
                with listening(speaker()), speaking_to(Terminal()):
                    return super().invoke(ctx)
            except RetrievalReportError as error:
                # A note says, for example, in which part of a large input an error was found.
                raise _BadInput(_visible([str(error), *getattr(error, "__notes__", ())])) from error
            except KeyboardInterrupt:
                click.echo("Interrupted; no file was left half-written.", err=True)
                ctx.exit(128 + signal.SIGINT)


def _visible(messages: Iterable[str]) -> str:
    """Return messages below each other, without characters that act on a terminal."""
    from retrieval_report.study.terminal import visible

    return "\n".join(map(visible, "\n".join(messages).splitlines()))


@click.group(
    cls=_Commands,
    epilog=EXAMPLES + COMPLETION,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(package_name="retrieval-report", message="%(prog)s %(version)s")
def cli() -> None:
    """Score rankings with ties exactly, and say how far tie order matters."""
